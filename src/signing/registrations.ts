import { X509Certificate } from 'node:crypto'
import type { Setting } from '../audit/deps.ts'
import { base62 } from '../base/ids.ts'
import { isoUtc } from '../base/time.ts'
import type { Making, Reading } from '../ground.ts'
import { type Registration, RegistrationFault, readRegistration, registrarChain } from '../openid4vp/exchange/registration.ts'
import { readTemplates, withAliases } from '../templates/read.ts'
import { readTenants } from '../tenants/settings.ts'
import { EXPIRY_WARNING_DAYS, type KeyOwner, signingState } from './certificate.ts'
import { leadsTo } from './import.ts'
import { organizationOf } from './keys.ts'
import { noteIf } from './note.ts'
import { RegistrationProblem } from './problem.ts'
import { isCurrent, isOfSame } from './registration-choice.ts'
import { deleteRegistration, insertRegistration, listRegistrations, type RegistrationRow } from './registration-store.ts'

export type { RegistrationRow } from './registration-store.ts'

const DAY_MS = 86_400_000
const REGISTRATIONS_MAX = 200
const YEAR_MS = 366 * DAY_MS

type NewRegistration = {
  /** The JWT, or a JSON document around it. */
  text: string
  owner: KeyOwner
  /** Keys of templates whose requests carry it. */
  templates: readonly string[]
}

export async function addRegistration(
  deps: Reading & Making & Setting,
  { text, owner, templates }: NewRegistration,
  actor: string,
): Promise<{ row: RegistrationRow; notes: RegistrationNote[] }> {
  const read = parse(text)
  const at = deps.now()
  if (read.notAfter !== null && read.notAfter <= at)
    throw new RegistrationProblem('registration_ended', { end: isoUtc(read.notAfter) })
  await refuseUnknownTemplates(deps, owner, templates)
  const { isOldType, ...said } = read
  const row = {
    ...said,
    id: `reg_${base62(deps.random, 16)}`,
    tenantId: owner,
    templates: [...new Set(templates)],
    createdAt: at,
  }
  await deps.writeSettings(async tx => {
    const known = await listRegistrations(tx)
    const same = known.find(({ jwt, tenantId }) => jwt === row.jwt && tenantId === owner)
    if (same) throw new RegistrationProblem('registration_stored', { id: same.id })
    if (known.length >= REGISTRATIONS_MAX) throw new RegistrationProblem('too_many_registrations', { max: REGISTRATIONS_MAX })
    await insertRegistration(tx, row)
    const details = { subject: row.subject, intended_use: row.intendedUse, templates: row.templates }
    await deps.audit.append(tx, { at, tenantId: owner ?? '', actor, action: 'registration.added', subjectId: row.id, details })
  })
  return { row, notes: await notesOn(deps, row, isOldType) }
}

function parse(text: string): Registration {
  try {
    return readRegistration(text)
  } catch (error) {
    throw error instanceof RegistrationFault ? new RegistrationProblem(...error.flaw) : error
  }
}

async function refuseUnknownTemplates(deps: Reading, owner: KeyOwner, templates: readonly string[]): Promise<void> {
  if (templates.length === 0) return
  const owners = owner === null ? (await readTenants(deps.db)).map(({ id }) => id) : [owner]
  const known = new Set(
    (await Promise.all(['', ...owners].map(id => readTemplates(deps, id)))).flatMap(withAliases).map(({ key }) => key),
  )
  const unknown = templates.find(key => !known.has(key))
  if (unknown !== undefined) throw new RegistrationProblem('template_not_here', { key: unknown })
}

export type RegistrationNote = Awaited<ReturnType<typeof notesOn>>[number]

/** Notes on problems that wallets or the operator may meet. */
async function notesOn(deps: Reading, row: RegistrationRow, isOldType: boolean) {
  const organization = organizationOf((await signingState(deps, row.tenantId)).chain)
  const { notBefore, notAfter, subject, credentials } = row
  const begin = notBefore ?? deps.now()
  return [
    ...noteIf(isOldType, 'registration_of_old_type', {}),
    ...noteIf(credentials.length === 0, 'registration_empty', {}),
    ...noteIf(begin > deps.now(), 'registration_later', { from: isoUtc(begin) }),
    ...noteIf(notAfter !== null && notAfter - begin > YEAR_MS, 'registration_too_long', {}),
    ...noteIf(organization === undefined, 'organization_unknown', {}),
    ...noteIf(!isOfSame(row, organization), 'registration_foreign', { subject, organization }),
  ]
}

export const readRegistrations = async ({ db }: Reading): Promise<RegistrationRow[]> => await listRegistrations(db)

/** False when there is none with this id. */
export async function removeRegistration(deps: Reading & Making & Setting, id: string, actor: string): Promise<boolean> {
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    const removed = await deleteRegistration(tx, id)
    if (!removed) return false
    const details = { subject: removed.subject, intended_use: removed.intendedUse }
    const tenantId = removed.tenantId ?? ''
    await deps.audit.append(tx, { at, tenantId, actor, action: 'registration.removed', subjectId: id, details })
    return true
  })
}

/** Whether it ends within 30 days, or has ended. */
export const isEnding = ({ notAfter }: RegistrationRow, at: number): boolean =>
  notAfter !== null && notAfter - at < EXPIRY_WARNING_DAYS * DAY_MS

export const presentRegistration = (row: RegistrationRow, at: number) => ({
  id: row.id,
  tenant: row.tenantId,
  subject: row.subject,
  intended_use: row.intendedUse,
  purposes: row.purposes,
  credentials: row.credentials,
  templates: row.templates,
  is_current: isCurrent(row, at),
  expires_soon: isEnding(row, at),
  not_before: row.notBefore === null ? null : isoUtc(row.notBefore),
  not_after: row.notAfter === null ? null : isoUtc(row.notAfter),
  created_at: isoUtc(row.createdAt),
})

/** Whether one of these registrars signed it, or issued the certificate of who did; PEM. */
export function isOfListed({ jwt }: { jwt: string }, registrars: readonly string[]): boolean {
  const chain = registrarChain(jwt)
  const listed = new Set(registrars.map(pem => new X509Certificate(pem).fingerprint256))
  const [leaf, ...others] = chain
  if (!leaf) return false
  let issued = leaf
  for (const issuer of others) {
    if (listed.has(issued.fingerprint256)) return true
    if (!issued.checkIssued(issuer) || !issued.verify(issuer.publicKey)) return false
    issued = issuer
  }
  return listed.has(issued.fingerprint256) || leadsTo([issued], registrars)
}
