// Types of documents that the entries of a list may vouch for: a fixed table, intersected with the
// allow-list of the source. A list that is not in the table grants nothing by itself. Types of
// documents are never taken from a list of another purpose (ARF OIA_12-15).
import { sha256Hex } from '../base/hash.ts'
import { hasStrongKey } from '../openid4vp/x509/certification-path.ts'
import { describeCertificate } from '../openid4vp/x509/x509.ts'
import { plainName } from './entries.ts'
import type { Grant, ListEntry, Skipped, SkipReason, TrustList } from './list.ts'

export type GrantRules = {
  /** The only types that count; null for those of the table. */
  types: readonly string[] | null
  serviceType: string | null
  mode: 'iso' | 'pkix' | null
  use: 'issuers' | 'relying_party'
}

type Right = { types: readonly string[]; mode: 'iso' | 'pkix'; use: Grant['use'] }

const MDL = 'org.iso.18013.5.1.mDL'
/** Narrow on purpose: RDW's test list names 37 certificates for PIDs. */
const VICAL_TYPES = [MDL, 'org.iso.23220.photoID.1', 'org.iso.23220.photoid.1']
const PIDS = ['urn:eudi:pid:1', 'eu.europa.ec.eudi.pid.1']

type KnownList = {
  /** Types before the allow-list of the source is applied. */
  types: (entry: ListEntry, rules: GrantRules) => readonly string[]
  mode: 'iso' | 'pkix'
  issuance: readonly string[]
  /** Service types whose certificates vouch for status lists only. */
  revocation: readonly string[]
  isInForce: (status: string | null) => boolean
}

/** Keyed by the type of the list. URIs are without their scheme: both http and https are in use for the same one. */
const KNOWN_LISTS: Record<string, KnownList> = {
  'uri.etsi.org/19602/LoTEType/EUPIDProvidersList': {
    types: ({ country }) => [...PIDS, ...nationalPids(country)],
    mode: 'pkix',
    issuance: ['uri.etsi.org/19602/SvcType/PID/Issuance'],
    revocation: ['uri.etsi.org/19602/SvcType/PID/Revocation'],
    isInForce,
  },
  'trust.ec.europa.eu/lists/mDL/mDLProvidersListType': {
    types: () => [MDL],
    mode: 'iso',
    // The second one is not in the specification, but in the list.
    issuance: ['trust.ec.europa.eu/lists/mDL/SvcType/Issuance', 'uri.etsi.org/19602/SvcType/mDL/Issuance'],
    revocation: ['trust.ec.europa.eu/lists/mDL/SvcType/Revocation', 'uri.etsi.org/19602/SvcType/mDL/Revocation'],
    isInForce,
  },
  'uri.etsi.org/19602/LoTEType/EUPubEAAProvidersList': {
    // Such a provider may attest anything: the operator names what.
    types: (_, { types }) => types ?? [],
    mode: 'pkix',
    issuance: ['uri.etsi.org/19602/SvcType/PubEAA/Issuance'],
    revocation: ['uri.etsi.org/19602/SvcType/PubEAA/Revocation'],
    isInForce: status => status?.endsWith('/notified') === true,
  },
  'trust.tech.ec.europa.eu/lists/age-verification/tsl-type': {
    types: () => ['eu.europa.ec.av.1'],
    mode: 'pkix',
    issuance: ['trust.tech.ec.europa.eu/lists/age-verification/service-type/paa'],
    revocation: [],
    isInForce: status => status?.endsWith('/recognized') === true,
  },
}

/** Lists of parties that issue no documents. */
const NO_ISSUERS = new Set(
  ['EUWRPACProvidersList', 'EUWRPRCProvidersList', 'EUWalletProvidersList', 'EURegistrarsAndRegistersList'].map(
    name => `uri.etsi.org/19602/LoTEType/${name}`,
  ),
)

export function grantsOf(list: TrustList, rules: GrantRules, now: number): { grants: Grant[]; skipped: Skipped } {
  const skipped: Skipped = { ...list.skipped }
  const skip = (reason: SkipReason) => {
    skipped[reason] = (skipped[reason] ?? 0) + 1
  }
  const grants = new Map<string, Grant>()
  for (const entry of list.entries) {
    const rights = rightsOf(list, entry, rules).flatMap(right => right.types.map(type => ({ ...right, type })))
    const problem = rights.length === 0 ? 'other_type' : findCertificateProblem(entry.certificate, now)
    if (problem) skip(problem)
    else for (const right of rights) keepStronger(grants, grantOf(list, entry, right, rules))
  }
  return { grants: [...grants.values()], skipped }
}

function rightsOf(list: TrustList, entry: ListEntry, rules: GrantRules): Right[] {
  if (rules.use === 'relying_party') return relyingPartyRights(entry, rules)
  if (list.kind === 'vical') return vicalRights(entry, rules)
  const right = etsiRight(list, entry, rules)
  return right ? [{ ...right, types: intersect(right.types, rules.types) }] : []
}

/** Rights for the operator's own papers. No document has the type of a service as its own. */
function relyingPartyRights({ serviceType, serviceStatus }: ListEntry, rules: GrantRules): Right[] {
  const isWanted = serviceType && (rules.serviceType ? serviceType === rules.serviceType : !serviceType.endsWith('/Revocation'))
  return isWanted && isInForce(serviceStatus) ? [{ types: [serviceType], mode: 'pkix', use: 'relying_party' }] : []
}

function vicalRights({ docTypes }: ListEntry, { types }: GrantRules): Right[] {
  const granted = intersect([...new Set(docTypes)], types ?? VICAL_TYPES)
  return granted.map(type => ({ types: [type], mode: type === MDL ? 'iso' : 'pkix', use: 'both' }))
}

/** `types` before the allow-list of the source. */
function etsiRight({ type }: TrustList, entry: ListEntry, rules: GrantRules): Right | undefined {
  const listType = withoutScheme(type)
  const known = Object.hasOwn(KNOWN_LISTS, listType) ? KNOWN_LISTS[listType] : undefined
  if (!known) return NO_ISSUERS.has(listType) ? undefined : namedRight(entry, rules)
  const service = withoutScheme(entry.serviceType)
  const isIssuance = known.issuance.includes(service)
  if (!isIssuance && !known.revocation.includes(service)) return undefined
  const use = isIssuance ? 'both' : 'status'
  return { types: known.types(entry, rules), mode: known.mode, use: known.isInForce(entry.serviceStatus) ? use : 'none' }
}

/** The operator names the service and the types of an unknown list. */
function namedRight({ serviceType, serviceStatus }: ListEntry, rules: GrantRules): Right | undefined {
  if (rules.serviceType === null || serviceType !== rules.serviceType) return undefined
  return { types: rules.types ?? [], mode: 'pkix', use: isInForce(serviceStatus) ? 'both' : 'none' }
}

const withoutScheme = (uri: string | null): string => (uri ?? '').replace(/^https?:\/\//, '')

/** Lists without statuses name only services in force (TS 119 602 annex D). */
function isInForce(status: string | null): boolean {
  return status === null || /(?:^|[/#])(?:granted|recognized|notified)$/.test(status)
}

/** A provider of one country issues no other country's PIDs. Greece is EL in lists and gr in types. */
function nationalPids(country: string | null): string[] {
  if (!country || country === 'EU') return []
  return [`urn:eudi:pid:${country === 'EL' ? 'gr' : country.toLowerCase()}:*`]
}

/** A type that ends in `:*` becomes the allowed types that begin with it. */
function intersect(types: readonly string[], allowed: readonly string[] | null): string[] {
  if (!allowed) return [...types]
  const exact = types.filter(type => allowed.includes(type))
  const beginnings = types.filter(type => type.endsWith(':*')).map(type => type.slice(0, -1))
  const beneath = allowed.filter(type => !exact.includes(type) && beginnings.some(beginning => type.startsWith(beginning)))
  return [...exact, ...beneath]
}

function findCertificateProblem(der: Uint8Array, now: number): SkipReason | undefined {
  const certificate = describeCertificate(der)
  if (!certificate) return 'unreadable'
  if (!hasStrongKey(certificate)) return 'key_refused'
  return now > certificate.notAfter ? 'expired' : undefined
}

function grantOf(list: TrustList, entry: ListEntry, right: Right & { type: string }, rules: GrantRules): Grant {
  const { certificate, entity, country, since } = entry
  return {
    certificate,
    label: labelOf(list, entry),
    trustedFor: right.type,
    mode: rules.mode ?? right.mode,
    use: right.use,
    entity,
    country,
    since,
  }
}

/** The subject's name for a VICAL, whose entries name no entity reliably; else the entity. */
function labelOf({ kind }: TrustList, { certificate, entity }: ListEntry): string {
  const { commonName } = describeCertificate(certificate)?.subjectAttributes ?? {}
  const name = plainName(commonName)
  return (kind === 'vical' ? (name ?? entity) : (entity ?? name)) ?? sha256Hex(certificate).slice(0, 16)
}

const STRENGTH = { none: 0, status: 1, both: 2, relying_party: 2 }

/** A certificate may be listed for several services; one of them in force is enough. */
function keepStronger(grants: Map<string, Grant>, grant: Grant): void {
  const key = `${sha256Hex(grant.certificate)} ${grant.trustedFor}`
  const known = grants.get(key)
  if (!known || STRENGTH[grant.use] > STRENGTH[known.use]) grants.set(key, grant)
}
