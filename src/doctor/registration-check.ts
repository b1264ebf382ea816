import { type Found, ok, problem, someOf, warning } from '../db/check.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import { coverage } from '../openid4vp/registration.ts'
import { statusAt } from '../openid4vp/status-bits.ts'
import { findTokenFault } from '../openid4vp/status-list.ts'
import { readStatusJwt } from '../openid4vp/status-token.ts'
import { type SigningState, signingState } from '../signing/certificate.ts'
import { organizationOf } from '../signing/keys.ts'
import { choose, isOfSame, storedFor } from '../signing/registration-choice.ts'
import { isEnding, isOfListed, type RegistrationRow, readRegistrations } from '../signing/registrations.ts'
import { askedBy } from '../templates/minimise.ts'
import { readTemplates } from '../templates/read.ts'
import { isoUtc } from '../time.ts'
import { readRegistrars } from '../trust/sources.ts'
import { statusFetcher } from '../trust/status.ts'
import { readTemplatesInUse } from '../verifications/figures.ts'
import type { Scene } from './scene.ts'
import { notYet, statesOf } from './signing-checks.ts'

/** Lists are fetched side by side, within the time of the check. */
const STATUSES_MAX = 10
const PID = /^(?:urn:eudi:pid:|eu\.europa\.ec\.eudi\.pid\.)/

const RENEW = {
  en: 'Get a current one from the registrar and add it with "vidimus registration add"; remove the old one.',
  de: 'Holen Sie bei der Registerstelle ein gültiges, fügen Sie es mit „vidimus registration add“ hinzu, und entfernen Sie das alte.',
}

/** Whether wallets will accept the registration certificates that requests carry, and which are missing. */
export async function checkRegistration({ deps, liveTenants }: Scene): Promise<Found> {
  if (!(await statesOf(deps))) return notYet()
  const at = deps.now()
  const rows = await readRegistrations(deps)
  const ended = rows.filter(({ notAfter }) => notAfter !== null && notAfter <= at)
  if (ended.length > 0)
    return problem({
      en: [`Registration certificates have ended: ${namesOf(ended, 'en')}.`, RENEW.en],
      de: [`Registrierungszertifikate sind abgelaufen: ${namesOf(ended, 'de')}.`, RENEW.de],
    })
  const foreign = await foreignAmong(deps, rows)
  if (foreign.length > 0)
    return problem({
      en: [
        `Registration certificates are of another organisation than the certificate that wallets see: ${namesOf(foreign, 'en')}.`,
        'Import the access certificate of that organisation, or remove them with "vidimus registration remove".',
      ],
      de: [
        `Registrierungszertifikate gehören einer anderen Organisation als das Zertifikat, das Wallets sehen: ${namesOf(foreign, 'de')}.`,
        'Setzen Sie das Zugangszertifikat dieser Organisation ein, oder entfernen Sie sie mit „vidimus registration remove“.',
      ],
    })
  const statuses = await readStatuses(deps, rows)
  const revoked = statuses.filter(({ status }) => status === 'revoked').map(({ row }) => row)
  if (revoked.length > 0)
    return problem({
      en: [`Registration certificates were revoked: ${namesOf(revoked, 'en')}.`, RENEW.en],
      de: [`Registrierungszertifikate wurden widerrufen: ${namesOf(revoked, 'de')}.`, RENEW.de],
    })
  const registrars = await readRegistrars(deps)
  const unlisted = registrars.length > 0 ? rows.filter(row => !isOfListed(row, registrars)) : []
  if (unlisted.length > 0) {
    const command = 'vidimus trust source add URL --kind lote --use relying-party --env live'
    return warning({
      en: [
        `Registration certificates lead to no registrar on the loaded list, so EU wallets will warn: ${namesOf(unlisted, 'en')}.`,
        `Get them from a registrar on that list, or add the list that names yours: ${command}`,
      ],
      de: [
        `Registrierungszertifikate führen zu keiner Registerstelle auf der geladenen Liste, EU-Wallets werden also warnen: ${namesOf(unlisted, 'de')}.`,
        `Holen Sie sie bei einer Registerstelle auf dieser Liste, oder fügen Sie die Liste hinzu, auf der Ihre steht: ${command}`,
      ],
    })
  }
  const gaps = (await Promise.all((await liveTenants).map(({ id }) => gapsOf(deps, rows, id)))).flat()
  const missing = [...new Set(gaps.filter(({ gap }) => gap === 'missing').map(({ key }) => key))]
  if (missing.length > 0)
    return warning({
      en: [
        `There is no registration certificate for what ${someOf(missing)} asks for: EU wallets may warn, or refuse.`,
        'Add the one of your registrar: vidimus registration add FILE',
      ],
      de: [
        `Für das, wonach ${someOf(missing, 'de')} fragt, gibt es kein Registrierungszertifikat: EU-Wallets warnen vielleicht oder lehnen ab.`,
        'Fügen Sie das Ihrer Registerstelle hinzu: vidimus registration add DATEI',
      ],
    })
  const beyond = [...new Set(gaps.map(({ key }) => key))]
  if (beyond.length > 0)
    return warning({
      en: [
        `Wallets will warn that ${someOf(beyond)} asks for more than registered.`,
        'Register what it asks for, or ask for less in a template of your own.',
      ],
      de: [
        `Wallets werden warnen, dass ${someOf(beyond, 'de')} nach mehr fragt als registriert.`,
        'Registrieren Sie, wonach gefragt wird, oder fragen Sie in einer eigenen Vorlage nach weniger.',
      ],
    })
  const ending = rows.filter(row => isEnding(row, at))
  if (ending.length > 0)
    return warning({
      en: [`Registration certificates end soon: ${namesOf(ending, 'en')}.`, RENEW.en],
      de: [`Registrierungszertifikate laufen bald ab: ${namesOf(ending, 'de')}.`, RENEW.de],
    })
  const unknown = statuses.filter(({ status }) => status === 'unknown').map(({ row }) => row)
  if (unknown.length > 0)
    return warning({
      en: [
        `Whether these registration certificates were revoked could not be found out: ${namesOf(unknown, 'en')}.`,
        'Let this machine connect to the status list of the registrar, or try again later.',
      ],
      de: [
        `Ob diese Registrierungszertifikate widerrufen wurden, war nicht festzustellen: ${namesOf(unknown, 'de')}.`,
        'Lassen Sie diese Maschine zur Statusliste der Registerstelle verbinden, oder versuchen Sie es später wieder.',
      ],
    })
  if (rows.length === 0) return ok(describeNone(deps))
  return ok({
    en: `Registration certificates: ${namesOf(rows, 'en')}.`,
    de: `Registrierungszertifikate: ${namesOf(rows, 'de')}.`,
  })
}

const describeNone = ({ registrationCertificate }: Scene['deps']) =>
  registrationCertificate === undefined
    ? {
        en: 'No template in live use needs a registration certificate.',
        de: 'Keine in Live benutzte Vorlage braucht ein Registrierungszertifikat.',
      }
    : {
        en: 'Requests carry the registration certificate of VIDIMUS_REGISTRATION_CERT.',
        de: 'Anfragen bringen das Registrierungszertifikat aus VIDIMUS_REGISTRATION_CERT mit.',
      }

/** By purpose and end. */
const namesOf = (rows: RegistrationRow[], language: 'en' | 'de'): string =>
  someOf(
    rows.map(({ id, purposes, notAfter }) => `${purposes[0]?.value ?? id} (${ENDS[language](notAfter)})`),
    language,
  )

const ENDS = {
  en: (notAfter: number | null) => (notAfter === null ? 'without end' : `until ${isoUtc(notAfter).slice(0, 10)}`),
  de: (notAfter: number | null) => (notAfter === null ? 'ohne Ende' : `bis ${isoUtc(notAfter).slice(0, 10)}`),
}

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
  const fetchStatus = statusFetcher(deps)
  return await Promise.all(
    listed.map(async ({ row, uri, idx }): Promise<Judged> => {
      if (!uri.startsWith('https://')) return { row, status: 'unknown' }
      try {
        const answer = await fetchStatus(uri, 'application/statuslist+jwt', false)
        if (!answer.ok) return { row, status: 'unknown' }
        const token = await readStatusJwt(Buffer.from(answer.body).toString('latin1').trim())
        const status = findTokenFault(token, uri, deps.now()) === undefined ? statusAt(token.list, idx) : undefined
        return { row, status: status === undefined ? 'unknown' : status === 0 ? 'valid' : 'revoked' }
      } catch {
        // No list, or one that cannot be read.
        return { row, status: 'unknown' }
      }
    }),
  )
}

type Gap = { key: string; gap: 'missing' | 'beyond' }

/** A tenant's own templates and the built-in ones it used lately, without those for the EU age app. */
async function gapsOf(deps: Scene['deps'], rows: RegistrationRow[], tenantId: string): Promise<Gap[]> {
  const state = await signingState(deps, tenantId)
  const signer = { tenantId: state.isOwn ? tenantId : null, organization: organizationOf(state.chain) }
  const stored = storedFor(rows, tenantId, signer)
  const inUse = new Set(await readTemplatesInUse(deps.db, tenantId))
  const templates = (await readTemplates(deps, tenantId)).filter(
    ({ key, isBuiltin, profile }) => profile !== 'eu-av' && (!isBuiltin || inUse.has(key)),
  )
  return templates.flatMap(({ key, query }): Gap[] => {
    if (stored.length === 0) return isMissing(deps, state, query) ? [{ key, gap: 'missing' }] : []
    const chosen = choose(stored, { at: deps.now(), signer, template: key, query })
    const { asked, covered } = coverage(chosen?.credentials ?? [], query)
    return covered < asked ? [{ key, gap: 'beyond' }] : []
  })
}

function isMissing(
  { registrationCertificate }: Scene['deps'],
  { isOwn }: Pick<SigningState, 'isOwn'>,
  query: DcqlQuery,
): boolean {
  const isForPids = askedBy(query).some(({ types }) => types.some(type => PID.test(type)))
  return isForPids && (isOwn || registrationCertificate === undefined)
}
