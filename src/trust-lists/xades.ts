// The one enveloped XAdES signature of a list (ETSI EN 319 132-1, XML Signature 1.1), in the only shape that real lists have.
// Every element of it that counts is asked for by place and number, so there is nothing to choose from and nothing to wrap.
import { hash, verify, X509Certificate } from 'node:crypto'
import { hasStrongKey } from '../openid4vp/x509/certification-path.ts'
import { type Certificate, describeCertificate } from '../openid4vp/x509/x509.ts'
import { malformed, Unreadable } from './refuse.ts'
import { attributeOf, childrenNamed, elementsOf, textOf, type XmlElement } from './xml.ts'
import { canonicalXml } from './xml-canonical.ts'

const DS = 'http://www.w3.org/2000/09/xmldsig#'
const XADES = 'http://uri.etsi.org/01903/v1.3.2#'
const ENVELOPED = `${DS}enveloped-signature`
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'

const DIGESTS: ReadonlyMap<string | undefined, string> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])
type Algorithm = { type: 'rsa' | 'ec'; digest: string }

const SIGNATURES: ReadonlyMap<string | undefined, Algorithm> = new Map(
  (['rsa', 'ec'] as const).flatMap(type =>
    ['sha256', 'sha384', 'sha512'].map(digest => [
      `http://www.w3.org/2001/04/xmldsig-more#${type === 'ec' ? 'ecdsa' : type}-${digest}`,
      { type, digest },
    ]),
  ),
)
/** Bytes of r and of s together. */
const VALUE_BYTES = { 'P-256': 64, 'P-384': 96, 'P-521': 132 }
const CHAIN_MAX = 10

/** The certificates in the signature, DER, the signer first. Throws Unreadable unless the signature holds for this root. */
export function verifyXades(root: XmlElement): Uint8Array[] {
  const signature = findSignature(root)
  const [signedInfo, value, keyInfo, object] = childrenLike(signature, 'SignedInfo', 'SignatureValue', 'KeyInfo', 'Object')
  const properties = findSignedProperties(root, object!)
  const algorithm = readSignedInfo(signedInfo!, { root, signature, properties })
  const chain = readChain(keyInfo!)
  const signer = readSigner(chain[0]!, properties)
  if (signer.key.algorithm !== algorithm.type || !hasStrongKey(signer)) throw refusedAlgorithm('key')
  if (!isSignedBy(signer, algorithm, { text: canonicalXml(signedInfo!), value: bytesOf(value!) })) throw broken()
  return chain
}

function findSignature(root: XmlElement): XmlElement {
  const [signature, ...others] = descendantsNamed(root, DS, 'Signature')
  if (!signature) throw new Unreadable('unsigned', 'nobody signed it')
  if (others.length > 0) throw malformed('it has more than one signature')
  if (!root.children.includes(signature)) throw malformed('its signature is not in its root')
  return signature
}

function findSignedProperties(root: XmlElement, object: XmlElement): XmlElement {
  const [qualifying, ...others] = elementsOf(object.children)
  const [properties] = qualifying ? childrenNamed(qualifying, XADES, 'SignedProperties') : []
  const isQualifying = qualifying?.namespace === XADES && qualifying.local === 'QualifyingProperties'
  if (!isQualifying || others.length > 0 || !properties) throw malformed('its signature is not XAdES')
  if (descendantsNamed(root, XADES, 'SignedProperties').length > 1) throw malformed('it has signed properties twice')
  return properties
}

type Signed = { root: XmlElement; signature: XmlElement; properties: XmlElement }

/** Compares both references; returns the algorithm that signs SignedInfo. */
function readSignedInfo(signedInfo: XmlElement, signed: Signed): Algorithm {
  const [canonicalization, method, ...references] = childrenLike(
    signedInfo,
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
    'Reference',
  )
  if (algorithmOf(canonicalization!) !== EXCLUSIVE) throw refusedAlgorithm('canonicalization')
  const algorithm = SIGNATURES.get(algorithmOf(method!))
  if (!algorithm) throw refusedAlgorithm('method')
  const id = attributeOf(signed.properties, 'Id')
  const [whole] = references.filter(reference => attributeOf(reference, 'URI') === '')
  const [part] = references.filter(reference => id && attributeOf(reference, 'URI') === `#${id}`)
  if (!whole || !part) throw malformed('its signature is not for the list and the signed properties')
  checkReference(whole, [ENVELOPED, EXCLUSIVE], () => canonicalXml(signed.root, signed.signature))
  checkReference(part, [EXCLUSIVE], () => canonicalXml(signed.properties))
  return algorithm
}

function checkReference(reference: XmlElement, expected: string[], canonical: () => string): void {
  const [transforms, method, value] = childrenLike(reference, 'Transforms', 'DigestMethod', 'DigestValue')
  const applied = elementsOf(transforms!.children)
  const isExpected = applied.every((each, i) => isNamed(each, 'Transform') && algorithmOf(each) === expected[i])
  if (applied.length !== expected.length || !isExpected) throw refusedAlgorithm('transform')
  const digest = DIGESTS.get(algorithmOf(method!))
  if (!digest) throw refusedAlgorithm('digest')
  if (!hash(digest, canonical(), 'buffer').equals(bytesOf(value!))) throw broken()
}

function readChain(keyInfo: XmlElement): Uint8Array[] {
  const certificates = childrenNamed(keyInfo, DS, 'X509Data').flatMap(data => childrenNamed(data, DS, 'X509Certificate'))
  if (certificates.length === 0) throw malformed('its signature has no certificate')
  if (certificates.length > CHAIN_MAX) throw malformed(`its signature has more than ${CHAIN_MAX} certificates`)
  return certificates.map(bytesOf)
}

/** KeyInfo is not signed: the digest in the signed properties says which certificate is meant. */
function readSigner(leaf: Uint8Array, properties: XmlElement): Certificate {
  const [cert] = ['SignedSignatureProperties', 'SigningCertificateV2', 'Cert', 'CertDigest'].reduce<XmlElement[]>(
    ([parent], local) => (parent ? childrenNamed(parent, XADES, local) : []),
    [properties],
  )
  if (!cert) throw malformed('its signature does not name the signing certificate')
  const [method, value] = childrenLike(cert, 'DigestMethod', 'DigestValue')
  const digest = DIGESTS.get(algorithmOf(method!))
  if (!digest) throw refusedAlgorithm('digest')
  if (!hash(digest, leaf, 'buffer').equals(bytesOf(value!)))
    throw new Unreadable('signature_invalid', 'its signature names another certificate than the first that it carries')
  const signer = describeCertificate(leaf)
  if (!signer) throw malformed('the certificate of its signer cannot be read')
  return signer
}

function isSignedBy(
  { der, key }: Certificate,
  { digest }: Algorithm,
  { text, value }: { text: string; value: Uint8Array },
): boolean {
  // XML Signature 1.1 § 6.4.3: r and s one after the other. DER would be another value for the same signature.
  if (key.curve && value.length !== VALUE_BYTES[key.curve]) return false
  try {
    return verify(digest, Buffer.from(text), { key: new X509Certificate(der).publicKey, dsaEncoding: 'ieee-p1363' }, value)
  } catch {
    // A key that the library cannot use has signed nothing.
    return false
  }
}

/** Exactly these children, in this order, and no text but white space. */
function childrenLike({ children, local }: XmlElement, ...names: string[]): XmlElement[] {
  const elements = elementsOf(children)
  const isText = children.some(child => typeof child === 'string' && child.trim() !== '')
  const isLike = elements.length === names.length && elements.every((child, i) => isNamed(child, names[i]))
  if (isText || !isLike) throw malformed(`its ${local} does not consist of ${names.join(', ')}`)
  return elements
}

const isNamed = ({ namespace, local }: XmlElement, name: string | undefined): boolean => namespace === DS && local === name

/** An algorithm with parameters is none that we know: InclusiveNamespaces, XPath, HMACOutputLength. */
function algorithmOf(method: XmlElement): string | undefined {
  return elementsOf(method.children).length > 0 ? undefined : attributeOf(method, 'Algorithm')
}

/** White space is allowed (XML Schema); otherwise there is one text for the bytes. */
export function decodeBase64(text: string | undefined): Uint8Array | undefined {
  try {
    return text ? Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' }) : undefined
  } catch {
    return undefined
  }
}

function bytesOf(element: XmlElement): Uint8Array {
  const bytes = decodeBase64(textOf(element))
  if (!bytes) throw malformed(`its ${element.local} is not base64`)
  return bytes
}

/** Recursion is as deep as the reader lets elements nest. */
function descendantsNamed(root: XmlElement, namespace: string, local: string): XmlElement[] {
  const found: XmlElement[] = []
  const look = (element: XmlElement) => {
    if (element.namespace === namespace && element.local === local) found.push(element)
    for (const child of element.children) if (typeof child !== 'string') look(child)
  }
  look(root)
  return found
}

const refusedAlgorithm = (what: string): Unreadable =>
  new Unreadable('algorithm_refused', `the signature uses a ${what} that is not accepted`)
const broken = (): Unreadable =>
  new Unreadable('signature_invalid', 'the signature does not hold, it was changed on the way or at its source')
