import { isoUtc } from '../base/time.ts'
import { ok, problem, warning } from '../db/check.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { coverage } from '../openid4vp/exchange/registration.ts'
import { statusAt } from '../openid4vp/status/bits.ts'
import { findTokenFault, STATUS_BODY_BYTES_MAX } from '../openid4vp/status/read-list.ts'
import { readStatusJwt } from '../openid4vp/status/token.ts'
import { type SigningState, signingState } from '../signing/certificate.ts'
import { organizationOf } from '../signing/keys.ts'
import { choose, isOfSame, storedFor } from '../signing/registration-choice.ts'
import { isEnding, isOfListed, type RegistrationRow, readRegistrations } from '../signing/registrations.ts'
import { askedBy } from '../templates/minimise.ts'
import { readRegistrars } from '../trust/lists/sources.ts'
import { statusFetcher } from '../trust/status/status.ts'
import { readUsedTemplates } from '../verifications/template-use.ts'
import type { Scene } from './scene.ts'
import { notYet, statesOf } from './signing-checks.ts'

/** Lists are fetched side by side, within the time of the check. */
const STATUSES_MAX = 10
export const PID = /^(?:urn:eudi:pid:|eu\.europa\.ec\.eudi\.pid\.)/

/** Whether wallets will accept the registration certificates that requests carry, and which are missing. */
export async function checkRegistration({ deps, liveTenants, callsOthers }: Scene) {
  if (!(await statesOf(deps))) return notYet()
  const at = deps.now()
  const rows = await readRegistrations(deps)
  const ended = rows.filter(({ notAfter }) => notAfter !== null && notAfter <= at)
  if (ended.length > 0) return problem('registrations_ended', { certificates: namesOf(ended) })
  const foreign = await foreignAmong(deps, rows)
  if (foreign.length > 0) return problem('registrations_foreign', { certificates: namesOf(foreign) })
  const statuses = callsOthers ? await readStatuses(deps, rows) : []
  const withStatus = (wanted: Judged['status']) =>
    namesOf(statuses.flatMap(({ row, status }) => (status === wanted ? [row] : [])))
  const revoked = withStatus('revoked')
  if (revoked.length > 0) return problem('registrations_revoked', { certificates: revoked })
  const registrars = await readRegistrars(deps)
  const unlisted = registrars.length > 0 ? rows.filter(row => !isOfListed(row, registrars)) : []
  if (unlisted.length > 0) return warning('registrations_unlisted', { certificates: namesOf(unlisted) })
  const gaps = (await Promise.all((await liveTenants).map(({ id }) => gapsOf(deps, rows, id)))).flat()
  const missing = [...new Set(gaps.filter(({ gap }) => gap === 'missing').map(({ key }) => key))]
  if (missing.length > 0) return warning('registrations_missing', { templates: missing })
  const beyond = [...new Set(gaps.map(({ key }) => key))]
  if (beyond.length > 0) return warning('registrations_exceeded', { templates: beyond })
  const ending = rows.filter(row => isEnding(row, at))
  if (ending.length > 0) return warning('registrations_ending', { certificates: namesOf(ending) })
  const unknown = withStatus('unknown')
  if (unknown.length > 0) return warning('registrations_unknown', { certificates: unknown })
  if (rows.length > 0) return ok('registrations_good', { certificates: namesOf(rows) })
  return deps.registrationCertificate === undefined ? ok('registration_unneeded') : ok('registration_configured')
}

/** The purpose of a certificate, and its last day. */
export type RegistrationName = { name: string; end: string | null }

const namesOf = (rows: RegistrationRow[]): RegistrationName[] =>
  rows.map(({ id, purposes, notAfter }) => ({
    name: purposes[0]?.value ?? id,
    end: notAfter === null ? null : isoUtc(notAfter).slice(0, 10),
  }))

async function foreignAmong(deps: Scene['deps'], rows: RegistrationRow[]): Promise<RegistrationRow[]> {
  const judged = await Promise.all(
    rows.map(async row => ({ row, isOwn: isOfSame(row, organizationOf((await signingState(deps, row.tenantId)).chain)) })),
  )
  return judged.flatMap(({ row, isOwn }) => (isOwn ? [] : [row]))
}

type Judged = { row: RegistrationRow; status: 'valid' | 'revoked' | 'unknown' }

/** The list is read as it is signed: whose signature counts is for wallets to judge. */
async function readStatuses(deps: Scene['deps'], rows: RegistrationRow[]): Promise<Judged[]> {
  const listed = rows.flatMap(row => (row.status ? [{ row, ...row.status }] : [])).slice(0, STATUSES_MAX)
  return await Promise.all(listed.map(async ({ row, ...entry }) => ({ row, status: await readStatus(deps, entry) })))
}

/** What a registrar says of a certificate of ours. */
export async function readStatus(deps: Scene['deps'], { uri, idx }: { uri: string; idx: number }): Promise<Judged['status']> {
  if (!uri.startsWith('https://')) return 'unknown'
  try {
    const wanted = { accept: 'application/statuslist+jwt', bytesMax: STATUS_BODY_BYTES_MAX, isLocal: false }
    const answer = await statusFetcher(deps)(uri, wanted)
    if (!answer.ok) return 'unknown'
    const token = await readStatusJwt(Buffer.from(answer.body).toString('latin1').trim())
    const status = findTokenFault(token, uri, deps.now()) === undefined ? statusAt(token.list, idx) : undefined
    return status === undefined ? 'unknown' : status === 0 ? 'valid' : 'revoked'
  } catch {
    // No list, or one that cannot be read.
    return 'unknown'
  }
}

type Gap = { key: string; gap: 'missing' | 'beyond' }

/** A tenant's own templates and the built-in ones it used lately, without those for the EU age app. */
async function gapsOf(deps: Scene['deps'], rows: RegistrationRow[], tenantId: string): Promise<Gap[]> {
  const state = await signingState(deps, tenantId)
  const signer = { tenantId: state.isOwn ? tenantId : null, organization: organizationOf(state.chain) }
  const stored = storedFor(rows, tenantId, signer)
  const templates = (await readUsedTemplates(deps, tenantId)).filter(({ profile }) => profile !== 'eu-av')
  return templates.flatMap(({ key, aliasOf, query }): Gap[] => {
    if (stored.length === 0) return isMissing(deps, state, query) ? [{ key, gap: 'missing' }] : []
    const chosen = choose(stored, { at: deps.now(), signer, names: [key, aliasOf], query })
    const { asked, covered } = coverage(chosen?.credentials ?? [], query)
    return covered < asked ? [{ key, gap: 'beyond' }] : []
  })
}

function isMissing({ registrationCertificate }: Scene['deps'], { isOwn }: SigningState, query: DcqlQuery): boolean {
  const isForPids = askedBy(query).some(({ types }) => types.some(type => PID.test(type)))
  return isForPids && (isOwn || registrationCertificate === undefined)
}
