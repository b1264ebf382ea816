// Small ETSI TS 119 612 lists, signed with XAdES. What is not given is that of a plain, valid age list of the EU.
import { hash, KeyObject, sign } from 'node:crypto'
import { elementsOf, readXml, type XmlElement } from '../../src/trust-lists/xml.ts'
import { canonicalXml } from '../../src/trust-lists/xml-canonical.ts'
import { DAY_MS, type Issued, NOW } from '../helpers/certificates.ts'

const AGE = 'http://trust.tech.ec.europa.eu/lists/age-verification'
export const AGE_LIST_TYPE = `${AGE}/tsl-type`
export const AGE_SERVICE = `${AGE}/service-type/paa`
export const RECOGNIZED = `${AGE}/service-status/recognized`
export const DEPRECATED = `${AGE}/service-status/deprecated`

const C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const DIGESTS = {
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  sha384: 'http://www.w3.org/2001/04/xmldsig-more#sha384',
  sha512: 'http://www.w3.org/2001/04/xmlenc#sha512',
}

export type EtsiService = {
  type?: string
  status?: string
  /** Milliseconds; the same for all times. */
  since?: number
  /** DER; several for one service, or none. */
  certificate?: Uint8Array | Uint8Array[]
  history?: EtsiService[]
}

type EtsiProvider = { name?: string; country?: string; services?: EtsiService[] }

/** The signers that a list announces for itself, or for another list. */
type EtsiPointer = { type?: string; territory?: string; certificates: Uint8Array[] }

export type EtsiList = {
  version?: number
  type?: string
  territory?: string
  name?: string
  sequence?: number
  issuedAt?: number
  /** Null: the scheme is closed. */
  nextUpdate?: number | null
  providers?: EtsiProvider[]
  pointers?: EtsiPointer[]
}

export type Signing = {
  digest?: keyof typeof DIGESTS
  dsaEncoding?: 'ieee-p1363' | 'der'
  /** Certificates after the signer's. */
  chain?: Uint8Array[]
  /** Changes before it is signed; the digests and the signature are right afterwards. */
  list?: (xml: string) => string
  properties?: (xml: string) => string
  signedInfo?: (xml: string) => string
}

export type Signer = Pick<Issued, 'der' | 'keys'>

export function makeEtsiList(list: EtsiList, signer: Signer, signing: Signing = {}): Uint8Array {
  const { digest = 'sha256', dsaEncoding = 'ieee-p1363', list: changeList = same } = signing
  const body = changeList(etsiXml(list))
  const whole = (signedInfo: string, value: string) => {
    const end = body.lastIndexOf('</')
    return `${body.slice(0, end)}${signatureXml({ signedInfo, value, signer, signing })}${body.slice(end)}`
  }
  const unsigned = readXml(Buffer.from(whole('<ds:SignedInfo/>', '')))
  const isEcdsa = signer.keys.publicKey.algorithm.name === 'ECDSA'
  const signedInfo = (signing.signedInfo ?? same)(
    signedInfoXml({
      digest,
      method: `http://www.w3.org/${digest === 'sha1' ? '2000/09/xmldsig' : '2001/04/xmldsig-more'}#${isEcdsa ? 'ecdsa' : 'rsa'}-${digest}`,
      list: hash(digest, canonicalXml(unsigned, find(unsigned, 'Signature')), 'base64'),
      properties: hash(digest, canonicalXml(find(unsigned, 'SignedProperties')), 'base64'),
    }),
  )
  const text = canonicalXml(find(readXml(Buffer.from(whole(signedInfo, ''))), 'SignedInfo'))
  const key = KeyObject.from(signer.keys.privateKey)
  const value = sign(digest, Buffer.from(text), { key, dsaEncoding })
  return Buffer.from(whole(signedInfo, value.toString('base64')))
}

/** Changes bytes that are signed already. The pattern must be there. */
export function altered(list: Uint8Array, from: string | RegExp, to: string): Uint8Array {
  const text = Buffer.from(list).toString()
  const changed = text.replace(from, () => to)
  if (changed === text) throw new Error(`${from} is not in the list`)
  return Buffer.from(changed)
}

const same = (xml: string): string => xml

/** The first one with this name. */
function find(element: XmlElement, local: string): XmlElement {
  const queue = [element]
  for (const each of queue) {
    if (each.local === local) return each
    queue.push(...elementsOf(each.children))
  }
  throw new Error(`${local} is not in the list`)
}

/** Without a signature. */
function etsiXml({
  version = 6,
  type = AGE_LIST_TYPE,
  territory = 'EU',
  name = 'EU:List of age attestation providers',
  sequence = 1,
  issuedAt = NOW - DAY_MS,
  nextUpdate = NOW + 180 * DAY_MS,
  providers = [],
  pointers = [],
}: EtsiList): string {
  return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<TrustServiceStatusList xmlns="http://uri.etsi.org/02231/v2#" xmlns:ns2="http://www.w3.org/2000/09/xmldsig#" TSLTag="http://uri.etsi.org/19612/TSLTag">
  <SchemeInformation>
    <TSLVersionIdentifier>${version}</TSLVersionIdentifier>
    <TSLSequenceNumber>${sequence}</TSLSequenceNumber>
    <TSLType>${escaped(type)}</TSLType>
    <SchemeOperatorName><Name xml:lang="en">Operator</Name></SchemeOperatorName>
    <SchemeName><Name xml:lang="en">${escaped(name)}</Name></SchemeName>
    <SchemeTerritory>${territory}</SchemeTerritory>
    <PointersToOtherTSL>${pointers.map(pointer => pointerXml({ type, territory, ...pointer })).join('')}</PointersToOtherTSL>
    <ListIssueDateTime>${utc(issuedAt)}</ListIssueDateTime>
    <NextUpdate>${nextUpdate === null ? '' : `<dateTime>${utc(nextUpdate)}</dateTime>`}</NextUpdate>
  </SchemeInformation>
  <TrustServiceProviderList>${providers.map(providerXml).join('')}
  </TrustServiceProviderList>
</TrustServiceStatusList>`
}

const pointerXml = ({ type, territory, certificates }: Required<EtsiPointer>): string => `
      <OtherTSLPointer>
        <ServiceDigitalIdentities>${certificates.map(each => `<ServiceDigitalIdentity>${identityXml(each)}</ServiceDigitalIdentity>`).join('')}</ServiceDigitalIdentities>
        <AdditionalInformation>
          <OtherInformation><TSLType>${escaped(type)}</TSLType></OtherInformation>
          <OtherInformation><SchemeTerritory>${territory}</SchemeTerritory></OtherInformation>
        </AdditionalInformation>
      </OtherTSLPointer>`

const providerXml = ({ name = 'Provider', country = 'NL', services = [] }: EtsiProvider): string => `
    <TrustServiceProvider>
      <TSPInformation>
        <TSPName><Name xml:lang="en">${escaped(name)}</Name></TSPName>
        <TSPAddress><PostalAddresses><PostalAddress xml:lang="en"><CountryName>${country}</CountryName></PostalAddress></PostalAddresses></TSPAddress>
      </TSPInformation>
      <TSPServices>${services.map(serviceXml).join('')}
      </TSPServices>
    </TrustServiceProvider>`

const serviceXml = ({ history = [], ...service }: EtsiService): string => `
        <TSPService>
          <ServiceInformation>${informationXml(service)}</ServiceInformation>
          <ServiceHistory>${history.map(each => `<ServiceHistoryInstance>${informationXml(each)}</ServiceHistoryInstance>`).join('')}</ServiceHistory>
        </TSPService>`

const informationXml = ({
  type = AGE_SERVICE,
  status = RECOGNIZED,
  since = NOW - 30 * DAY_MS,
  certificate = [],
}: EtsiService) => `
            <ServiceTypeIdentifier>${escaped(type)}</ServiceTypeIdentifier>
            <ServiceName><Name xml:lang="en">Service</Name></ServiceName>
            <ServiceDigitalIdentity>${[certificate].flat().map(identityXml).join('')}</ServiceDigitalIdentity>
            <ServiceStatus>${escaped(status)}</ServiceStatus>
            <StatusStartingTime>${utc(since)}</StatusStartingTime>
          `

const identityXml = (der: Uint8Array): string =>
  `<DigitalId><X509Certificate>${Buffer.from(der).toString('base64')}</X509Certificate></DigitalId>`

function signatureXml({
  signedInfo,
  value,
  signer,
  signing,
}: {
  signedInfo: string
  value: string
  signer: Signer
  signing: Signing
}) {
  const certificates = [signer.der, ...(signing.chain ?? [])].map(der => Buffer.from(der).toString('base64'))
  const properties = (signing.properties ?? same)(propertiesXml(signer.der, signing.digest ?? 'sha256'))
  return `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#" Id="id-1">${signedInfo}<ds:SignatureValue>${value}</ds:SignatureValue><ds:KeyInfo><ds:X509Data>${certificates
    .map(each => `<ds:X509Certificate>${each}</ds:X509Certificate>`)
    .join(
      '',
    )}</ds:X509Data></ds:KeyInfo><ds:Object><xades:QualifyingProperties xmlns:xades="http://uri.etsi.org/01903/v1.3.2#" Target="#id-1">${properties}</xades:QualifyingProperties></ds:Object></ds:Signature>`
}

const propertiesXml = (leaf: Uint8Array, digest: keyof typeof DIGESTS): string =>
  `<xades:SignedProperties Id="xades-id-1"><xades:SignedSignatureProperties><xades:SigningTime>2026-11-14T08:00:00Z</xades:SigningTime><xades:SigningCertificateV2><xades:Cert><xades:CertDigest><ds:DigestMethod Algorithm="${DIGESTS[digest]}"/><ds:DigestValue>${hash(digest, leaf, 'base64')}</ds:DigestValue></xades:CertDigest></xades:Cert></xades:SigningCertificateV2></xades:SignedSignatureProperties></xades:SignedProperties>`

type SignedInfo = { digest: keyof typeof DIGESTS; method: string; list: string; properties: string }

const signedInfoXml = ({ digest, method, list, properties }: SignedInfo): string =>
  `<ds:SignedInfo><ds:CanonicalizationMethod Algorithm="${C14N}"/><ds:SignatureMethod Algorithm="${method}"/><ds:Reference URI=""><ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/><ds:Transform Algorithm="${C14N}"/></ds:Transforms><ds:DigestMethod Algorithm="${DIGESTS[digest]}"/><ds:DigestValue>${list}</ds:DigestValue></ds:Reference><ds:Reference Type="http://uri.etsi.org/01903#SignedProperties" URI="#xades-id-1"><ds:Transforms><ds:Transform Algorithm="${C14N}"/></ds:Transforms><ds:DigestMethod Algorithm="${DIGESTS[digest]}"/><ds:DigestValue>${properties}</ds:DigestValue></ds:Reference></ds:SignedInfo>`

/** Without fractions, as TS 119 612 wants it. */
const utc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
