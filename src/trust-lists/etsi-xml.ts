// Trusted lists as ETSI TS 119 612 writes them; the EU age list is one. The signature is verified first, and everything is read from
// the tree that it covers. What a service grants is decided in grants.ts.
import { sha256Hex } from '../hash.ts'
import { describeCertificate } from '../openid4vp/x509.ts'
import { parseUtcInstant } from '../time.ts'
import type { ListEntry, ReadList, Skipped, SkipReason, TrustList } from './list.ts'
import { decodeBase64, verifyXades } from './xades.ts'
import { childrenNamed, malformed, readXml, textOf, type XmlElement, XmlRefused } from './xml.ts'

const TSL = 'http://uri.etsi.org/02231/v2#'
const XML = 'http://www.w3.org/XML/1998/namespace'
const VERSIONS = ['5', '6']
const CERTIFICATES_MAX = 2_000
const CERTIFICATE_BYTES_MAX = 8_192
const ANNOUNCED_MAX = 64
const NAME_LENGTH_MAX = 200
const URI_LENGTH_MAX = 500

export function readEtsiXml(bytes: Uint8Array): ReadList {
  try {
    const root = readXml(bytes)
    if (root.namespace !== TSL || root.local !== 'TrustServiceStatusList') throw malformed('its root is not a trusted list')
    const chain = verifyXades(root)
    return { ok: true, list: { ...readList(root), chain } }
  } catch (error) {
    if (error instanceof XmlRefused) return { ok: false, code: error.code, detail: error.message }
    throw error
  }
}

function readList(root: XmlElement): Omit<TrustList, 'chain'> {
  const scheme = only(root, 'SchemeInformation')
  if (!VERSIONS.includes(textIn(scheme, 'TSLVersionIdentifier'))) throw malformed('its version is neither 5 nor 6')
  const type = withoutScheme(textIn(scheme, 'TSLType'))
  const territory = territoryOf(scheme)
  return {
    kind: 'etsi-xml',
    type,
    territory,
    name: nameIn(scheme, 'SchemeName') ?? type,
    identity: `${type} ${territory ?? ''}`.trim(),
    sequence: readSequence(textIn(scheme, 'TSLSequenceNumber')),
    issuedAt: readTime(textIn(scheme, 'ListIssueDateTime')),
    nextUpdate: readNextUpdate(scheme),
    announced: readAnnounced(scheme, { type, territory }),
    ...readEntries(root, territory),
  }
}

function readSequence(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw malformed('its sequence number is not readable')
  return Number(text)
}

function readTime(text: string): number {
  const time = parseUtcInstant(text)
  if (time === undefined) throw malformed('one of its dates is not readable')
  return time
}

/** TS 119 612 § 5.3.15: a closed scheme has an empty one. */
function readNextUpdate(scheme: XmlElement): number {
  const [time, ...others] = childrenNamed(scheme, TSL, 'NextUpdate').flatMap(next => childrenNamed(next, TSL, 'dateTime'))
  const text = time && textOf(time)
  if (others.length > 0) throw malformed('it has two dates of the next update')
  if (!text) throw new XmlRefused('closed', 'the operator has closed it')
  return readTime(text)
}

type Listed = { type: string; territory: string | null }

/** § 5.3.13: the signers in the pointer to the list itself. A pointer to another list says nothing about this one. */
function readAnnounced(scheme: XmlElement, own: Listed): string[] {
  const pointers = descend(scheme, 'PointersToOtherTSL', 'OtherTSLPointer').filter(pointer => {
    const information = descend(pointer, 'AdditionalInformation', 'OtherInformation')
    const texts = (local: string) => information.flatMap(each => childrenNamed(each, TSL, local)).map(textOf)
    const types = texts('TSLType').map(type => withoutScheme(type ?? ''))
    return types.includes(own.type) && texts('SchemeTerritory').includes(own.territory ?? undefined)
  })
  const certificates = pointers.flatMap(pointer =>
    descend(pointer, 'ServiceDigitalIdentities', 'ServiceDigitalIdentity', 'DigitalId', 'X509Certificate'),
  )
  const ders = certificates.slice(0, ANNOUNCED_MAX).flatMap(certificate => decodeBase64(textOf(certificate) ?? '') ?? [])
  return [...new Set(ders.map(sha256Hex))]
}

/** History is not read: it never grants. */
function readEntries(root: XmlElement, territory: string | null): { entries: ListEntry[]; skipped: Skipped } {
  const entries: ListEntry[] = []
  const skipped: Skipped = {}
  let certificates = 0
  for (const provider of descend(root, 'TrustServiceProviderList', 'TrustServiceProvider')) {
    const owner = readProvider(provider, territory)
    for (const service of descend(provider, 'TSPServices', 'TSPService', 'ServiceInformation')) {
      const about = { ...owner, ...readService(service) }
      const identities = descend(service, 'ServiceDigitalIdentity', 'DigitalId', 'X509Certificate')
      certificates += identities.length
      if (certificates > CERTIFICATES_MAX) throw new XmlRefused('too_many', `it has more than ${CERTIFICATES_MAX} certificates`)
      if (identities.length === 0) skip(skipped, 'no_certificate')
      for (const identity of identities) {
        const read = readCertificate(identity)
        if (typeof read === 'string') skip(skipped, read)
        else entries.push({ certificate: read, ...about })
      }
    }
  }
  return { entries, skipped }
}

function readProvider(provider: XmlElement, territory: string | null): Pick<ListEntry, 'entity' | 'country'> {
  const [information] = childrenNamed(provider, TSL, 'TSPInformation')
  if (!information) return { entity: null, country: countryOf(territory) }
  const [country] = descend(information, 'TSPAddress', 'PostalAddresses', 'PostalAddress', 'CountryName').map(textOf)
  return { entity: nameIn(information, 'TSPName') ?? null, country: countryOf(territory) ?? countryOf(country) }
}

function readService(service: XmlElement): Pick<ListEntry, 'serviceType' | 'serviceStatus' | 'since' | 'docTypes'> {
  const text = (local: string) => {
    const [found, ...others] = childrenNamed(service, TSL, local)
    return found && others.length === 0 ? textOf(found)?.slice(0, URI_LENGTH_MAX) || null : null
  }
  const since = parseUtcInstant(text('StatusStartingTime') ?? '')
  return {
    serviceType: text('ServiceTypeIdentifier'),
    serviceStatus: text('ServiceStatus'),
    since: since ?? null,
    docTypes: [],
  }
}

function readCertificate(identity: XmlElement): Uint8Array | SkipReason {
  const der = decodeBase64(textOf(identity) ?? '')
  if (!der) return 'unreadable'
  if (der.length > CERTIFICATE_BYTES_MAX) return 'too_large'
  return describeCertificate(der) ? der : 'unreadable'
}

function skip(skipped: Skipped, reason: SkipReason): void {
  skipped[reason] = (skipped[reason] ?? 0) + 1
}

/** http and https are the same list: both are in use. */
const withoutScheme = (uri: string): string => uri.replace(/^https?:\/\//, '').slice(0, URI_LENGTH_MAX)

function territoryOf(scheme: XmlElement): string | null {
  const [territory, ...others] = childrenNamed(scheme, TSL, 'SchemeTerritory').map(textOf)
  if (others.length > 0) throw malformed('it has two territories')
  return territory?.slice(0, NAME_LENGTH_MAX) || null
}

/** `EU` is no country: the provider's address says which one. */
function countryOf(territory: string | null | undefined): string | null {
  return territory && /^[A-Z]{2}$/.test(territory) && territory !== 'EU' ? territory : null
}

/** The English name, else the first. */
function nameIn(parent: XmlElement, local: string): string | undefined {
  const names = descend(parent, local, 'Name')
  const isEnglish = ({ attributes }: XmlElement) =>
    attributes.some(each => each.namespace === XML && each.local === 'lang' && each.value.toLowerCase() === 'en')
  const name = names.find(isEnglish) ?? names[0]
  return (name && textOf(name)?.slice(0, NAME_LENGTH_MAX)) || undefined
}

function textIn(parent: XmlElement, local: string): string {
  const text = textOf(only(parent, local))
  if (!text) throw malformed(`its ${local} is empty`)
  return text
}

function only(parent: XmlElement, local: string): XmlElement {
  const [found, ...others] = childrenNamed(parent, TSL, local)
  if (!found || others.length > 0) throw malformed(`${found ? 'more than one' : 'no'} ${local} is in its ${parent.local}`)
  return found
}

/** All elements at this place below the parent. */
const descend = (parent: XmlElement, ...path: string[]): XmlElement[] =>
  path.reduce<XmlElement[]>((parents, local) => parents.flatMap(each => childrenNamed(each, TSL, local)), [parent])
