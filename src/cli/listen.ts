import { setTimeout as sleep } from 'node:timers/promises'
import { base62 } from '../base/ids.ts'
import { isoUtc } from '../base/time.ts'
import type { Deps } from '../deps.ts'
import { callAt, type EgressAnswer } from '../egress/client.ts'
import { type Owner, readTenants } from '../tenants/settings.ts'
import { readSigningSecrets } from '../tenants/webhook-secret.ts'
import { present } from '../verifications/present.ts'
import type { Verification } from '../verifications/schema.ts'
import { listEndedSince } from '../verifications/store.ts'
import { type SignedMessage, signedMessage } from '../webhooks/delivery/message.ts'
import { defineCommand } from './command.ts'
import { checked, optional, required, text } from './flags.ts'
import { CommandError } from './output.ts'
import { requireTenant, withDeps } from './with-deps.ts'

const LOOK_EVERY_MS = 200
const EVENTS_PER_LOOK_MAX = 100
const LIMITS = { resolveMs: 2000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }

const httpUrl = checked(text('URL'), value =>
  /^https?:$/.test(URL.parse(value)?.protocol ?? '') ? undefined : 'give the URL of your server, like http://localhost:4000/hook',
)

export const command = defineCommand(
  {
    summary: 'forward results to a server under development',
    flags: {
      forward: required(httpUrl),
      tenant: optional(text('ID'), 'needed when there are several'),
    },
    about: `For development: forwards every result of a tenant, from now on, to a server on your machine that
has no public address, signed like the real webhook. It needs no webhook_url in the request. Each
result is sent once: one that your server does not accept is not tried again. Stop it with Ctrl-C.
With --json each event is one JSON line.`,
    example: 'vidimus listen --forward http://localhost:4000/hook',
  },
  async ({ forward: address, tenant, json }, shell) => {
    const url = new URL(address).href
    const stopping = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
    return await withDeps(shell, async deps => {
      const tenantId = await chooseTenant(deps, tenant)
      if (!json)
        shell.print(`Forwarding results of ${tenantId} to ${url}.
"vidimus webhook-secret show --tenant ${tenantId}" prints the secret that signs them (live results with --env live).`)
      await eachResult(deps, tenantId, stopping.signal, async (verification, owner, endedAt) => {
        const message = await messageOf(deps, owner, verification)
        const event = { verification, at: isoUtc(endedAt), answer: await forward(deps, url, message) }
        shell.print(json ? JSON.stringify(presentEvent(event)) : describeEvent(event))
      })
      return 0
    })
  },
)

async function chooseTenant(deps: Deps, given: string | undefined): Promise<string> {
  if (given !== undefined) {
    await requireTenant(deps, given)
    return given
  }
  const tenants = await readTenants(deps.db)
  const [only] = tenants
  if (!only) throw new CommandError('there is no tenant yet; "vidimus tenant create --name N" makes one')
  if (tenants.length > 1) throw new CommandError('there are several tenants; say which with --tenant ID ("vidimus tenant list")')
  return only.id
}

/** Each result once, in the order in which they ended. */
async function eachResult(
  deps: Deps,
  tenantId: string,
  stopping: AbortSignal,
  handle: (verification: Verification, owner: Owner, endedAt: number) => Promise<void>,
): Promise<void> {
  const handled = new Set<string>()
  let since = deps.now()
  let isStale = true
  const unsubscribe = deps.subscribe('session', () => {
    isStale = true
  })
  while (!stopping.aborted) {
    const isLooking = isStale
    isStale = false
    const rows = !isLooking ? [] : await listEndedSince(deps.db, tenantId, since, EVENTS_PER_LOOK_MAX)
    for (const row of rows.filter(({ verification }) => !handled.has(verification.id))) {
      await handle(await present(deps, row), row.verification, row.result.createdAt)
    }
    const last = rows.at(-1)?.result.createdAt ?? since
    // The next look finds those of the last millisecond again.
    if (last > since) handled.clear()
    for (const { verification, result } of rows) if (result.createdAt === last) handled.add(verification.id)
    since = last
    if (rows.length >= EVENTS_PER_LOOK_MAX) isStale = true
    await sleep(LOOK_EVERY_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
  unsubscribe()
}

async function messageOf(deps: Deps, { tenantId, environment }: Owner, verification: Verification): Promise<SignedMessage> {
  const type = verification.status === 'completed' ? 'verification.completed' : 'verification.failed'
  const id = `whd_${base62(deps.random, 22)}`
  return await signedMessage(
    readSigningSecrets(deps),
    { id, tenantId, environment, type, attempts: 0, at: deps.now() },
    verification,
  )
}

/** No egress policy: the operator gave the address. A server may use one of localhost's only. */
async function forward(deps: Deps, url: string, message: SignedMessage): Promise<EgressAnswer> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  let answer: EgressAnswer = { ok: false, failure: 'dns_failed', detail: `${host} was not found.` }
  for (const address of await deps.resolve(host).catch(() => [])) {
    const call = { ...message, url, method: 'POST', limits: LIMITS, onLargeAnswer: 'cut' } as const
    answer = await callAt(address, call, { extraCa: deps.egress.extraCa })
    if (answer.ok || answer.failure !== 'connection_failed') break
  }
  return answer
}

type Event = { verification: Verification; at: string; answer: EgressAnswer }

const presentEvent = ({ verification: { id, status }, at, answer }: Event) => ({
  at,
  type: `verification.${status}`,
  verification: id,
  result: answer.ok ? String(answer.status) : answer.failure,
})

function describeEvent(event: Event): string {
  const { at, type, verification, result } = presentEvent(event)
  return `${at}  ${type}  ${verification}  -> ${result}${event.answer.ok ? '' : `: ${event.answer.detail}`}`
}
