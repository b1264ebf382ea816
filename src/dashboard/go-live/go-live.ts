import { isExpired, readKeys } from '../../access/keys.ts'
import { isIP } from '../../base/ip.ts'
import { readDevices } from '../../devices/read.ts'
import type { CheckName } from '../../doctor/check.ts'
import { examineProfile } from '../../doctor/eu/examine.ts'
import { examine } from '../../doctor/examine.ts'
import { isLoopback } from '../../egress/addresses.ts'
import { askedBy } from '../../templates/minimise.ts'
import { chooseDocuments, type DocumentKind, readGoLive } from '../../tenants/go-live.ts'
import { readTenant } from '../../tenants/settings.ts'
import { readBlocks } from '../../trust/blocks.ts'
import { readSources } from '../../trust/lists/sources.ts'
import { readAnchors } from '../../trust/settings.ts'
import { readUsedTemplates } from '../../verifications/template-use.ts'
import type { Deps } from '../deps.ts'
import { sharedWork } from '../shared-work.ts'
import { registrationOf, signingOf } from './registration.ts'
import type { GoLive } from './schema.ts'
import { type Facts, stepsOf } from './steps.ts'

const CHECKS: readonly CheckName[] = ['public_url', 'tls', 'signing_certificate']

type Checks = (tenantId: string, documents: readonly DocumentKind[]) => Promise<Pick<Facts, 'check' | 'failing'>>

/** The checks are shared by all shops; requests are judged for those that ask EU wallets. */
export function createGoLiveChecks(deps: Deps): Checks {
  const look = sharedWork(deps, () => examine(deps, true, CHECKS))
  const judge = sharedWork(deps, tenantId => examineProfile(deps, { tenantId, environment: 'live' }))
  return async (tenantId, documents) => {
    const found = await look()
    const clauses = documents.includes('eu_wallet') ? await judge(tenantId) : []
    const failing = clauses.filter(({ level, status }) => level === 'must' && status === 'fail')
    return { check: wanted => found.find(({ name }) => name === wanted)!, failing: [...new Set(failing.map(({ id }) => id))] }
  }
}

/** Every step follows from facts: none is ticked by hand. */
export async function readPath(deps: Deps, checks: Checks, tenantId: string): Promise<GoLive> {
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
    ...(await checks(tenantId, documents)),
    anchors: await readAnchors(deps),
    sources: await readSources(deps),
    blocks: await readBlocks(deps),
    templates: templates.map(({ key, query }) => ({ key, types: askedBy(query).flatMap(({ types }) => types) })),
    signing: await certificateOf(deps, tenantId),
    registration,
    askers: await askersOf(deps, tenantId),
    retentionDays: (await readTenant(deps.db, tenantId))?.retentionDays ?? null,
  })
  const purposes = documents.includes('eu_wallet') ? registration.purposes : []
  return { documents, steps, purposes, is_done: steps.every(({ state }) => state === 'done' || state === 'not_needed') }
}

export async function choosePath(
  deps: Deps,
  checks: Checks,
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
