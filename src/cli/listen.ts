import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { callAt, type EgressAnswer } from '../egress/client.ts'
import { base62 } from '../ids.ts'
import { listTenants } from '../tenants/store.ts'
import { isoUtc } from '../time.ts'
import { present } from '../verifications/present.ts'
import type { Verification } from '../verifications/schema.ts'
import { listEndedSince } from '../verifications/store.ts'
import { type SignedMessage, signedMessage } from '../webhooks/deliver.ts'
import type { Owner } from '../webhooks/store.ts'
import { requireTenant } from './key.ts'
import { CommandError, parseCall, print, UsageError, withDeps } from './output.ts'

const HELP = `usage: vidimus listen --forward URL [--tenant ID] [--json]

For development: forwards every result of a tenant, from now on, to a server on your machine that has no public address, signed like the real
webhook. It needs no webhook_url in the request. Each is sent once: what your server does not take is not tried again. Without --tenant there
must be exactly one. Stop it with Ctrl-C. With --json each event is one JSON line. Portraits are missing: they are in the memory of the service only.

example: vidimus listen --forward http://localhost:4000/hook`

const LOOK_EVERY_MS = 200
const EVENTS_PER_LOOK_MAX = 100
const LIMITS = { resolveMs: 2000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }

export async function runListen(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { forward: { type: 'string' }, tenant: { type: 'string' } })
  if (values.help) return print(HELP)
  if (words.length) throw new UsageError(`listen takes no "${words[0]}"`)
  const url = forwardUrl(values.forward)
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  return await withDeps(async deps => {
    const tenantId = await tenantToHear(deps, values.tenant)
    if (!values.json)
      print(
        `Forwarding results of ${tenantId} to ${url}. "vidimus webhook-secret show --tenant ${tenantId}" prints the secret that signs them (live results with --env live).`,
      )
    await hear(deps, tenantId, stopping.signal, async (verification, owner, endedAt) => {
      const message = await messageOf(deps, owner, verification)
      report(verification, isoUtc(endedAt), await forward(deps, url, message), values.json)
    })
    return 0
  })
}

function forwardUrl(text: string | undefined): string {
  const url = text === undefined ? null : URL.parse(text)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new UsageError('--forward: give the URL of your server, like http://localhost:4000/hook')
  return url.href
}

async function tenantToHear(deps: Deps, given: string | undefined): Promise<string> {
  if (given !== undefined) {
    await requireTenant(deps, given)
    return given
  }
  const tenants = await listTenants(deps.db)
  const [only] = tenants
  if (!only) throw new CommandError('there is no tenant yet; "vidimus tenant create --name N" makes one')
  if (tenants.length > 1) throw new CommandError('there are several tenants; say which with --tenant ID ("vidimus tenant list")')
  return only.id
}

/** Each result once, in the order of their ends. */
async function hear(
  deps: Deps,
  tenantId: string,
  stopping: AbortSignal,
  on: (verification: Verification, owner: Owner, endedAt: number) => Promise<void>,
): Promise<void> {
  const heard = new Set<string>()
  let since = deps.now()
  let isStale = true
  const unsubscribe = deps.subscribe('session', () => {
    isStale = true
  })
  while (!stopping.aborted) {
    const isLooking = isStale
    isStale = false
    const rows = !isLooking ? [] : await listEndedSince(deps.db, tenantId, since, EVENTS_PER_LOOK_MAX)
    for (const row of rows.filter(({ verification }) => !heard.has(verification.id))) {
      await on(await present(deps, row), row.verification, row.result.createdAt)
    }
    const last = rows.at(-1)?.result.createdAt ?? since
    // Those of the last millisecond are found again by the next look.
    if (last > since) heard.clear()
    for (const { verification, result } of rows) if (result.createdAt === last) heard.add(verification.id)
    since = last
    if (rows.length >= EVENTS_PER_LOOK_MAX) isStale = true
    await sleep(LOOK_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
  unsubscribe()
}

async function messageOf(deps: Deps, { tenantId, environment }: Owner, verification: Verification): Promise<SignedMessage> {
  const type = verification.status === 'completed' ? 'verification.completed' : 'verification.failed'
  const id = `whd_${base62(deps.random, 22)}`
  return await signedMessage(deps, { id, tenantId, environment, type, attempts: 0, at: deps.now() }, verification)
}

/** No policy here: the one who typed the address owns this machine. A local server may listen on one of localhost's addresses only. */
async function forward(deps: Deps, url: string, message: SignedMessage): Promise<EgressAnswer> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  let answer: EgressAnswer = { ok: false, failure: 'dns_failed', detail: `${host} was not found.` }
  for (const address of await deps.resolve(host).catch(() => [])) {
    const { extraCa } = deps.egress
    answer = await callAt(address, { ...message, url, method: 'POST', limits: LIMITS, onLargeAnswer: 'cut', extraCa })
    if (answer.ok || answer.failure !== 'connection_failed') break
  }
  return answer
}

function report({ id, status }: Verification, at: string, answer: EgressAnswer, json = false): void {
  const result = answer.ok ? String(answer.status) : answer.failure
  if (json) print(JSON.stringify({ at, type: `verification.${status}`, verification: id, result }))
  else print(`${at}  verification.${status}  ${id}  -> ${result}${answer.ok ? '' : `: ${answer.detail}`}`)
}
