// Trusted lists as ETSI TS 119 612 writes them; the EU age list is one. The signature is verified first, and everything is read
// from the tree that it covers. What a service grants is decided in grants.ts.
import { sha256Hex } from '../base/hash.ts'
import { countryOf, Entries, plainName, utcInstant } from './entries.ts'
import type { ListEntry, ReadList, TrustList } from './list.ts'
import { malformed, refuse, Unreadable } from './refuse.ts'
import { decodeBase64, verifyXades } from './xades.ts'
import { childrenNamed, readXml, textOf, type XmlElement } from './xml.ts'

const TSL = 'http://uri.etsi.org/02231/v2#'
const XML = 'http://www.w3.org/XML/1998/namespace'
const VERSIONS = ['5', '6']
const ANNOUNCED_MAX = 64
const URI_CHARS_MAX = 500

export function readEtsiXml(bytes: Uint8Array): ReadList {
  try {
    const root = readXml(bytes)
    if (root.namespace !== TSL || root.local !== 'TrustServiceStatusList') throw malformed('its root is not a trusted list')
    const chain = verifyXades(root)
    return { ok: true, list: { ...readRoot(root), chain } }
  } catch (error) {
    if (error instanceof Unreadable) return refuse(error.code, error.detail)
    throw error
  }
}

function readRoot(root: XmlElement): Omit<TrustList, 'chain'> {
  const scheme = only(root, 'SchemeInformation')
  if (!VERSIONS.includes(textIn(scheme, 'TSLVersionIdentifier'))) throw malformed('its version is neither 5 nor 6')
  const sequence = textIn(scheme, 'TSLSequenceNumber')
  if (!/^[0-9]{1,15}$/.test(sequence)) throw malformed('its sequence number is not a whole number')
  const type = withoutScheme(textIn(scheme, 'TSLType'))
  const territory = countryOf(optionalText(scheme, 'SchemeTerritory'))
  const { all, skipped } = readProviders(root, territory)
  return {
    kind: 'etsi-xml',
    type,
    territory,
    name: nameIn(scheme, 'SchemeName') ?? nameIn(scheme, 'SchemeOperatorName') ?? 'a list without a name',
    identity: `${type} ${territory ?? ''}`,
    sequence: Number(sequence),
    issuedAt: instant(textIn(scheme, 'ListIssueDateTime')),
    nextUpdate: readNextUpdate(scheme),
    announced: readAnnounced(scheme, { type, territory }),
    entries: all,
    skipped,
  }
}

/** § 5.3.15: empty when the scheme is closed. */
function readNextUpdate(scheme: XmlElement): number {
  const [time, ...others] = descend(scheme, 'NextUpdate', 'dateTime').map(textOf)
  if (others.length > 0) throw malformed('it has two dates of the next update')
  if (!time) throw new Unreadable('closed', 'the operator has closed it: there is no next update')
  return instant(time)
}

function instant(text: string): number {
  const time = utcInstant(text)
  if (time === undefined) throw malformed('one of its dates is not a UTC time')
  return time
}

/** § 5.3.13: the signers in the pointer to the list itself. Pointers to other lists are not followed. */
function readAnnounced(scheme: XmlElement, own: Pick<TrustList, 'type' | 'territory'>): string[] {
  const pointers = descend(scheme, 'PointersToOtherTSL', 'OtherTSLPointer').filter(pointer => {
    const texts = (local: string) => descend(pointer, 'AdditionalInformation', 'OtherInformation', local).map(textOf)
    const [type, territory] = [texts('TSLType')[0], texts('SchemeTerritory')[0]]
    return withoutScheme(type ?? '') === own.type && countryOf(territory) === own.territory
  })
  const path = ['ServiceDigitalIdentities', 'ServiceDigitalIdentity', 'DigitalId', 'X509Certificate']
  const certificates = pointers.flatMap(pointer => descend(pointer, ...path)).slice(0, ANNOUNCED_MAX)
  return [...new Set(certificates.flatMap(each => decodeBase64(textOf(each)) ?? []).map(sha256Hex))]
}

/** The services as they are now: history never grants. */
function readProviders(root: XmlElement, territory: string | null): Entries {
  const entries = new Entries()
  for (const provider of descend(root, 'TrustServiceProviderList', 'TrustServiceProvider')) {
    const owner = readOwner(provider, territory)
    for (const service of descend(provider, 'TSPServices', 'TSPService', 'ServiceInformation')) {
      const about = { ...owner, ...readService(service) }
      const identities = descend(service, 'ServiceDigitalIdentity', 'DigitalId', 'X509Certificate')
      if (identities.length === 0) entries.skip('no_certificate')
      for (const identity of identities) {
        const certificate = decodeBase64(textOf(identity))
        if (certificate) entries.add({ ...about, certificate })
        else entries.skip('unreadable')
      }
    }
  }
  return entries
}

/** `EU` is no country: the address says which one. */
function readOwner(provider: XmlElement, territory: string | null): Pick<ListEntry, 'entity' | 'country'> {
  const [information] = childrenNamed(provider, TSL, 'TSPInformation')
  if (!information) return { entity: null, country: territory === 'EU' ? null : territory }
  const [address] = descend(information, 'TSPAddress', 'PostalAddresses', 'PostalAddress', 'CountryName').map(textOf)
  return { entity: nameIn(information, 'TSPName'), country: territory === 'EU' ? countryOf(address) : territory }
}

function readService(service: XmlElement): Omit<ListEntry, 'certificate' | 'entity' | 'country'> {
  return {
    serviceType: optionalText(service, 'ServiceTypeIdentifier'),
    serviceStatus: optionalText(service, 'ServiceStatus'),
    since: utcInstant(optionalText(service, 'StatusStartingTime')) ?? null,
    docTypes: [],
  }
}

/** http and https are the same list: both are in use. */
const withoutScheme = (uri: string): string => uri.replace(/^https?:\/\//, '').slice(0, URI_CHARS_MAX)

/** The English name, else the first. */
function nameIn(parent: XmlElement, local: string): string | null {
  const names = descend(parent, local, 'Name')
  const isEnglish = ({ attributes }: XmlElement) =>
    attributes.some(({ namespace, local: name, value }) => namespace === XML && name === 'lang' && /^en\b/i.test(value))
  const name = names.find(isEnglish) ?? names[0]
  return name ? plainName(textOf(name)) : null
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

/** Null without one. Two of them, or one with elements inside, say nothing: an empty status is not in force. */
function optionalText(parent: XmlElement, local: string): string | null {
  const [found, ...others] = childrenNamed(parent, TSL, local)
  if (!found) return null
  return others.length > 0 ? '' : (textOf(found) ?? '').slice(0, URI_CHARS_MAX)
}

/** All elements at this place below the parent. */
const descend = (parent: XmlElement, ...path: string[]): XmlElement[] =>
  path.reduce<XmlElement[]>((parents, local) => parents.flatMap(each => childrenNamed(each, TSL, local)), [parent])
