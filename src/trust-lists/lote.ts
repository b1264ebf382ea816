// Lists of trusted entities: ETSI TS 119 602, the JSON form. Names are those of its schema.
import { sha256Hex } from '../base/hash.ts'
import { isObject, type Members } from '../base/members.ts'
import { countryOf, Entries, plainName, utcInstant } from './entries.ts'
import { readJson, verifyJades } from './jades.ts'
import type { ReadList, TrustList } from './list.ts'
import { malformed, refuse, Unreadable } from './refuse.ts'

const VERSION = 1
const ANNOUNCED_MAX = 64
const URI_CHARS_MAX = 500

export function readLote(bytes: Uint8Array): ReadList {
  try {
    const { payload, chain } = verifyJades(decodeText(bytes))
    return { ok: true, list: readPayload(readJson(payload), chain) }
  } catch (error) {
    if (error instanceof Unreadable) return refuse(error.code, error.detail)
    throw error
  }
}

/** White space around it, and one byte order mark, come from editors and publishing scripts. */
function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')
  } catch {
    throw malformed('it is not UTF-8')
  }
}

function readPayload(payload: unknown, chain: Uint8Array[]): TrustList {
  // The schema has a member around the list, the German sandbox has none.
  const lote = isObject(payload) && payload.LoTE !== undefined ? payload.LoTE : payload
  if (!isObject(lote) || !isObject(lote.ListAndSchemeInformation)) throw malformed('it is not a list of trusted entities')
  const scheme = lote.ListAndSchemeInformation
  if (scheme.LoTEVersionIdentifier !== VERSION) throw malformed(`it is not of version ${VERSION}`)
  const sequence = scheme.LoTESequenceNumber
  if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence) || sequence < 0)
    throw malformed('its sequence number is not a whole number')
  refuseCritical(scheme.SchemeExtensions)
  const type = uriOf(scheme.LoTEType)
  if (type === undefined) throw malformed('its type is not a URI')
  const territory = countryOf(scheme.SchemeTerritory)
  const issuedAt = instant(scheme.ListIssueDateTime ?? scheme.ListIssueDatetime)
  if (scheme.NextUpdate === undefined || scheme.NextUpdate === null || scheme.NextUpdate === '')
    throw new Unreadable('closed', 'the operator has closed it: there is no next update')
  const entries = readEntities(arrayOf(lote.TrustedEntitiesList), territory)
  return {
    kind: 'lote',
    type,
    territory,
    name: nameIn(scheme.SchemeName) ?? nameIn(scheme.SchemeOperatorName) ?? 'a list without a name',
    identity: `${(type ?? '').replace(/^https?:\/\//, '')} ${territory ?? ''}`,
    sequence,
    issuedAt,
    nextUpdate: instant(scheme.NextUpdate),
    chain,
    announced: readAnnounced(arrayOf(scheme.PointersToOtherLoTE), { type, territory: scheme.SchemeTerritory }),
    entries: entries.all,
    skipped: entries.skipped,
  }
}

/** TS 119 602 § 6.3.17: a critical extension that is not understood refuses the list. None is understood. */
function refuseCritical(extensions: unknown): void {
  const isCritical = (extension: unknown) => isObject(extension) && (extension.critical ?? extension.Critical ?? false) !== false
  if (arrayOf(extensions).some(isCritical)) throw malformed('it has a critical extension that is not known')
}

const arrayOf = (value: unknown): unknown[] => {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw malformed('it is not a list of trusted entities')
  return value
}

/** Null without one; undefined for what cannot be one. */
function uriOf(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null
  return typeof value === 'string' && value.length <= URI_CHARS_MAX ? value : undefined
}

function instant(value: unknown): number {
  const time = utcInstant(value)
  if (time === undefined) throw malformed('one of its dates is missing or not a UTC time')
  return time
}

/** English if there is such a name, else the first one. */
function nameIn(names: unknown): string | null {
  const all = (Array.isArray(names) ? names : []).filter(isObject)
  return plainName((all.find(({ lang }) => lang === 'en') ?? all[0])?.value)
}

function readEntities(entities: readonly unknown[], territory: string | null): Entries {
  const entries = new Entries()
  for (const entity of entities) {
    if (!isObject(entity)) {
      entries.skip('unreadable')
      continue
    }
    const about = isObject(entity.TrustedEntityInformation) ? entity.TrustedEntityInformation : {}
    refuseCritical(about.TEInformationExtensions)
    const of = { entity: nameIn(about.TEName), country: countryOfEntity(about, territory) }
    for (const service of arrayOf(entity.TrustedEntityServices)) readService(entries, service, of)
  }
  return entries
}

/**
 * The list's territory unless that is the Union; else what TS 119 602 annex D puts at the end of a role address, else the
 * postal address.
 */
function countryOfEntity(about: Members, territory: string | null): string | null {
  if (territory && territory !== 'EU') return territory
  const roles = (Array.isArray(about.TEInformationURI) ? about.TEInformationURI : []).filter(isObject)
  const role = roles.map(({ uriValue }) => /\/PIDProvider\/([A-Za-z]{2})$/.exec(String(uriValue))?.[1]).find(Boolean)
  const address = isObject(about.TEAddress) ? about.TEAddress.TEPostalAddress : undefined
  const [first] = (Array.isArray(address) ? address : []).filter(isObject)
  return countryOf(role) ?? countryOf(first?.Country)
}

/** The service as it is now: its history grants nothing and is not read. */
function readService(entries: Entries, service: unknown, of: { entity: string | null; country: string | null }): void {
  const about = isObject(service) && isObject(service.ServiceInformation) ? service.ServiceInformation : {}
  refuseCritical(about.ServiceInformationExtensions)
  const serviceType = uriOf(about.ServiceTypeIdentifier)
  const serviceStatus = uriOf(about.ServiceStatus)
  // A status that is empty or cannot be read is not the same as none, which is in force.
  if (serviceType === undefined || serviceStatus === undefined) {
    entries.skip('unreadable')
    return
  }
  const since = utcInstant(about.StatusStartingTime) ?? null
  const shared = { ...of, serviceType, serviceStatus, since, docTypes: [] }
  const certificates = certificatesIn(about.ServiceDigitalIdentity)
  if (certificates.length === 0) entries.skip('no_certificate')
  for (const certificate of certificates) {
    if (certificate) entries.add({ ...shared, certificate })
    else entries.skip('unreadable')
  }
}

/** DER, undefined for one that is not base64. */
function certificatesIn(identity: unknown): (Uint8Array | undefined)[] {
  if (!isObject(identity)) return []
  const certificates: unknown[] = Array.isArray(identity.X509Certificates) ? identity.X509Certificates : []
  return certificates.map(certificate => {
    const text = isObject(certificate) && typeof certificate.val === 'string' ? certificate.val.replace(/\s/g, '') : ''
    return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
  })
}

/** The signers in the pointer of the list to itself (§ 6.3.13). Nothing else of a pointer is used, and nothing is fetched. */
function readAnnounced(pointers: readonly unknown[], self: { type: string | null; territory: unknown }): string[] {
  const toItself = pointers.filter(isObject).filter(({ LoTEQualifiers }) =>
    arrayOf(LoTEQualifiers)
      .filter(isObject)
      .some(({ LoTEType, SchemeTerritory = self.territory }) => LoTEType === self.type && SchemeTerritory === self.territory),
  )
  const certificates = toItself
    .flatMap(({ ServiceDigitalIdentities }) => arrayOf(ServiceDigitalIdentities))
    .flatMap(certificatesIn)
    .filter(certificate => certificate !== undefined)
  return [...new Set(certificates.slice(0, ANNOUNCED_MAX).map(sha256Hex))]
}
