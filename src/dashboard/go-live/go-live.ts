import { isExpired, readKeys } from '../../access/keys.ts'
import { isIP } from '../../base/ip.ts'
import { readDevices } from '../../devices/read.ts'
import type { CheckName } from '../../doctor/check.ts'
import { examine } from '../../doctor/examine.ts'
import { isLoopback } from '../../egress/addresses.ts'
import { askedBy } from '../../templates/minimise.ts'
import { chooseDocuments, type DocumentKind, readGoLive } from '../../tenants/go-live.ts'
import { readBlocks } from '../../trust/blocks.ts'
import { readSources } from '../../trust/lists/sources.ts'
import { readAnchors } from '../../trust/settings.ts'
import { readUsedTemplates } from '../../verifications/template-use.ts'
import type { Deps } from '../deps.ts'
import { registrationOf, signingOf } from './registration.ts'
import type { GoLive } from './schema.ts'
import { type Facts, stepsOf } from './steps.ts'

/** Checks that visit the public address run no more often than this. */
const AGAIN_MS = 10_000

const CHECKS: readonly CheckName[] = ['public_url', 'tls', 'signing_certificate']

type Checks = Facts['check']

/** The checks, shared by all shops; a call too soon gets the last ones again. */
export function createGoLiveChecks(deps: Deps): () => Promise<Checks> {
  let last: { at: number; checks: Promise<Checks> } | undefined
  const look = async (): Promise<Checks> => {
    const found = await examine(deps, true, CHECKS)
    return wanted => found.find(({ name }) => name === wanted)!
  }
  return () => {
    const at = deps.now()
    if (!last || at - last.at >= AGAIN_MS) last = { at, checks: look() }
    return last.checks
  }
}

/** Every step follows from facts: none is ticked by hand. */
export async function readPath(deps: Deps, checks: () => Promise<Checks>, tenantId: string): Promise<GoLive> {
  const { documents, ...first } = await readGoLive(deps.db, tenantId)
  if (documents.length === 0) return { documents, steps: [], purposes: [], is_done: false }
  const templates = await readUsedTemplates(deps, tenantId)
  const registration = await registrationOf(deps, tenantId, templates)
  const steps = stepsOf({
    tenantId,
    publicUrl: deps.config.publicUrl,
    isLocal: await isLocal(deps),
    now: deps.now(),
    documents,
    ...first,
    check: await checks(),
    anchors: await readAnchors(deps),
    sources: await readSources(deps),
    blocks: await readBlocks(deps),
    templates: templates.map(({ key, query }) => ({ key, types: askedBy(query).flatMap(({ types }) => types) })),
    signing: await certificateOf(deps, tenantId),
    registration,
    askers: await askersOf(deps, tenantId),
  })
  const purposes = documents.includes('eu_wallet') ? registration.purposes : []
  return { documents, steps, purposes, is_done: steps.every(({ state }) => state === 'done' || state === 'not_needed') }
}

export async function choosePath(
  deps: Deps,
  checks: () => Promise<Checks>,
  { tenantId, documents, actor }: { tenantId: string; documents: readonly DocumentKind[]; actor: string },
): Promise<GoLive> {
  await chooseDocuments(deps, tenantId, documents, actor)
  return await readPath(deps, checks, tenantId)
}

/** True where the public name leads to this machine only. */
async function isLocal({ config, resolve }: Deps): Promise<boolean> {
  const host = new URL(config.publicUrl || 'http://localhost').hostname.replace(/^\[|\]$/g, '')
  if (/(^|\.)localhost$/.test(host)) return true
  const addresses = isIP(host) ? [host] : await resolve(host).catch(() => [])
  return addresses.length > 0 && addresses.every(isLoopback)
}

/** The shop's own certificate, else the installation's. */
async function certificateOf(deps: Deps, tenantId: string): Promise<Facts['signing']> {
  const own = await signingOf(deps, tenantId)
  return own?.isOwn || own?.next || own?.pendingSince ? own : await signingOf(deps, null)
}

/** Labels of live keys, and names of live tills. */
async function askersOf(deps: Deps, tenantId: string): Promise<string[]> {
  const at = deps.now()
  const keys = (await readKeys(deps, tenantId)).filter(
    key => key.environment === 'live' && key.revokedAt === null && !isExpired(key, at),
  )
  const tills = (await readDevices(deps, { tenantId, environment: 'live' })).filter(({ status }) => status === 'active')
  return [...keys.map(({ label, prefix }) => label || prefix), ...tills.map(({ name }) => name)]
}
