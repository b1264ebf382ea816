// Rows 1-20 of the table of altered lists: what a tolerant reader of XML signatures would take.
import { describe, expect, test } from 'bun:test'
import { sha256Hex } from '../../src/base/hash.ts'
import { readEtsiXml } from '../../src/trust-lists/etsi-xml.ts'
import type { RefusalCode } from '../../src/trust-lists/list.ts'
import { DAY_MS, issue, issueAuthority, makeKeys, NOW } from '../helpers/certificates.ts'
import { AGE_SERVICE, altered, DEPRECATED, makeEtsiList, RECOGNIZED, type Signing } from './make-xml.ts'

const signer = await issue({ name: 'C=LU, CN=Signer of the List' })
const next = await issue({ name: 'C=LU, CN=Next Signer' })
const issuer = await issueAuthority({ name: 'C=NL, CN=Issuer' })
const old = await issueAuthority({ name: 'C=NL, CN=Old Issuer' })
const rsa = await issue({ keys: await rsaKeys(2048), name: 'CN=RSA' })

const LIST = {
  sequence: 7,
  providers: [
    {
      name: 'Ministry & Sons',
      country: 'NL',
      services: [{ certificate: issuer.der }, { certificate: old.der, status: DEPRECATED, since: NOW - DAY_MS }],
    },
  ],
}
const made = makeEtsiList(LIST, signer)
const text = Buffer.from(made).toString()
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const signature = /<ds:Signature .*<\/ds:Signature>/.exec(text)?.[0] ?? ''
const value = /<ds:SignatureValue>(.*)<\/ds:SignatureValue>/.exec(text)?.[1] ?? ''
const provider = /<TrustServiceProvider>.*<\/TrustServiceProvider>/s.exec(text)?.[0] ?? ''

test('a signed list is read with its dates, its signer and its entries', () => {
  const read = readEtsiXml(makeEtsiList({ ...LIST, pointers: [{ certificates: [next.der, next.der] }] }, signer))
  if (!read.ok) throw new Error(read.detail)
  const { chain, entries, ...list } = read.list
  expect(list).toEqual({
    kind: 'etsi-xml',
    type: 'trust.tech.ec.europa.eu/lists/age-verification/tsl-type',
    territory: 'EU',
    name: 'EU:List of age attestation providers',
    identity: 'trust.tech.ec.europa.eu/lists/age-verification/tsl-type EU',
    sequence: 7,
    issuedAt: NOW - DAY_MS,
    nextUpdate: NOW + 180 * DAY_MS,
    announced: [sha256Hex(next.der)],
    skipped: {},
  })
  expect(chain.map(sha256Hex)).toEqual([sha256Hex(signer.der)])
  const entry = { entity: 'Ministry & Sons', country: 'NL', serviceType: AGE_SERVICE, docTypes: [] }
  expect(entries.map(({ certificate, ...rest }) => ({ ...rest, fingerprint: sha256Hex(certificate) }))).toEqual([
    { ...entry, serviceStatus: RECOGNIZED, since: NOW - 30 * DAY_MS, fingerprint: sha256Hex(issuer.der) },
    { ...entry, serviceStatus: DEPRECATED, since: NOW - DAY_MS, fingerprint: sha256Hex(old.der) },
  ])
})

describe('a list that was changed after it was signed is refused', () => {
  const other = Buffer.from(next.der).toString('base64')
  test.each<[string, string | RegExp, string]>([
    ['a status becomes recognized', DEPRECATED, RECOGNIZED],
    ['one letter of a name', 'Sons', 'sons'],
    ['the signing time', '2026-11-14T08', '2026-11-14T09'],
    ['the value of the signature', value, value.startsWith('A') ? value.replace('A', 'B') : value.replace(/^./, 'A')],
    ['the certificate of an entry', Buffer.from(issuer.der).toString('base64'), other],
    ['the certificate of the signer', Buffer.from(signer.der).toString('base64'), other],
    ['white space in the text of an element', '<SchemeTerritory>EU', '<SchemeTerritory> EU'],
    ['an element is added', '</SchemeName>', '</SchemeName><x/>'],
    [
      'a prefix with the same namespace',
      '<SchemeTerritory>EU</',
      '<a:SchemeTerritory xmlns:a="http://uri.etsi.org/02231/v2#">EU</a:',
    ],
    ['an attribute of the signed properties', '<xades:SigningTime>', '<xades:SigningTime a="">'],
    ['an attribute of SignedInfo', '<ds:Reference URI="">', '<ds:Reference URI="" Id="a">'],
  ])('%s', (_, from, to) => {
    expect(codeOf(altered(made, from, to))).toBe('signature_invalid')
  })
})

describe('XML that readers disagree on is refused', () => {
  const root = '<TrustServiceStatusList'
  test.each<[string, string | RegExp, string, string]>([
    ['a document type', root, `<!DOCTYPE a>${root}`, 'it has a document type declaration'],
    ['a document type with an entity', root, `<!DOCTYPE a [<!ENTITY b "c">]>${root}`, 'it has a document type declaration'],
    ['a bomb of parameter entities', root, `${parameterBomb()}${root}`, 'it has a document type declaration'],
    ['an entity that nobody declared', 'Sons', '&sons;', 'it refers to an entity'],
    ['a comment inside the root', 'Sons', 'So<!-- -->ns', 'a comment is inside its root'],
    ['a CDATA section', '<SchemeTerritory>EU', '<SchemeTerritory><![CDATA[EU]]>', 'it has a CDATA section'],
    ['a processing instruction in the root', '<SchemeName>', '<?a b?><SchemeName>', 'it has a processing instruction'],
    ['a processing instruction before the root', root, `<?a b?>${root}`, 'it has a processing instruction'],
    ['UTF-16 declared', 'encoding="UTF-8"', 'encoding="UTF-16"', 'a declaration that is not XML 1.0 in UTF-8'],
    ['XML 1.1 declared', 'version="1.0"', 'version="1.1"', 'a declaration that is not XML 1.0 in UTF-8'],
    ['two byte order marks', /^/, '\uFEFF\uFEFF', 'it is not XML'],
    ['an attribute xml:id', '<SchemeName>', '<SchemeName xml:id="a">', 'xml:id'],
    ['an attribute twice', 'xml:lang="en">M', 'xml:lang="en" xml:lang="de">M', 'twice'],
    ['a prefix that nobody declared', '<SchemeName>', '<SchemeName a:b="">', 'the prefix "a" is not declared'],
    [
      'a namespace that needs an escape',
      '<SchemeName>',
      '<SchemeName xmlns:a="urn:a&amp;b">',
      'a namespace is not an absolute URI without escapes',
    ],
    ['"]]>" in text', 'Sons', ']]>', '"]]>" is in its text'],
    ['an end of another element', '</SchemeName>', '</SchemeNames>', '<SchemeName> does not end'],
    ['something after the root', /$/, '<a/>', 'something follows its root'],
    ['a root that does not end', '</TrustServiceStatusList>', '', 'does not end'],
  ])('%s', (_, from, to, detail) => {
    expect(readEtsiXml(altered(made, from, to))).toMatchObject({
      ok: false,
      code: 'malformed',
      detail: expect.stringContaining(detail),
    })
  })

  test('UTF-16 and other bytes that are not UTF-8', () => {
    for (const bytes of [Buffer.from(`\uFEFF${text}`, 'utf16le'), Buffer.from(text.replace('Sons', 'S\u00F6hne'), 'latin1')]) {
      expect(readEtsiXml(bytes)).toMatchObject({ code: 'malformed', detail: expect.stringContaining('it is not UTF-8') })
    }
  })

  test('a document type is refused before anything after it is read', () => {
    // Each of the rest would be refused for another reason, had it been looked at.
    for (const rest of ['<a', '\u0000', '<a>'.repeat(1_000_000), '&a;'.repeat(1_000_000)]) {
      const bytes = Buffer.from(`<?xml version="1.0"?>\n<!DOCTYPE ${rest}`)
      expect(readEtsiXml(bytes)).toMatchObject({ detail: expect.stringContaining('it has a document type declaration') })
    }
  })
})

describe('a signature that may be for something else is refused', () => {
  const [properties = ''] = /<xades:SignedProperties.*<\/xades:SignedProperties>/.exec(text) ?? []
  test.each<[string, string | RegExp, string, RefusalCode]>([
    ['no signature', signature, '', 'unsigned'],
    ['the signature twice', signature, signature + signature, 'malformed'],
    [
      'an empty signature after it',
      signature,
      `${signature}<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>`,
      'malformed',
    ],
    ['the signature twice, once in a provider', '<TSPServices>', `${signature}<TSPServices>`, 'malformed'],
    [
      'a second object with a list of providers',
      '</ds:Signature>',
      `<ds:Object>${provider}</ds:Object></ds:Signature>`,
      'malformed',
    ],
    ['a list of providers in the object', '</ds:Object>', `${provider}</ds:Object>`, 'malformed'],
    ['signed properties twice', properties, properties + properties, 'malformed'],
    ['signed properties twice, once elsewhere', '</SchemeName>', `</SchemeName>${inXades(properties)}`, 'malformed'],
    ['text in the signature', '<ds:KeyInfo>', 'a<ds:KeyInfo>', 'malformed'],
    ['no object', /<ds:Object>.*<\/ds:Object>/, '', 'malformed'],
    ['no certificate', /<ds:X509Certificate>.*<\/ds:X509Certificate>/, '', 'malformed'],
    ['a value without its padding', `${value}<`, `${value.replace(/=+$/, '')}<`, 'malformed'],
    ['a value that is not base64', '</ds:SignatureValue>', '=</ds:SignatureValue>', 'malformed'],
  ])('%s', (_, from, to, code) => {
    expect(codeOf(altered(made, from, to))).toBe(code)
  })

  test('the signature moved into a provider', () => {
    const moved = altered(altered(made, signature, ''), '<TSPServices>', `${signature}<TSPServices>`)
    expect(codeOf(moved)).toBe('malformed')
  })

  test('the signed list inside another root, or inside another list', () => {
    const [declaration = '', inner = ''] = text.split(/\n(?=<Trust)/)
    expect(codeOf(Buffer.from(`${declaration}<a>${inner}</a>`))).toBe('malformed')
    const around = inner.replace(signature, '').replace('</SchemeName>', `</SchemeName>${inner}`)
    expect(codeOf(Buffer.from(`${declaration}${around}`))).toBe('malformed')
  })

  test.each<[string, Signing, RefusalCode]>([
    ['a reference to something else', signedInfo('#xades-id-1', '#other'), 'malformed'],
    ['both references to the list', signedInfo('#xades-id-1', ''), 'malformed'],
    ['a third reference', signedInfo(/(<ds:Reference Type.*<\/ds:Reference>)/, '$1$1'), 'malformed'],
    ['one reference', signedInfo(/<ds:Reference Type.*<\/ds:Reference>/, ''), 'malformed'],
    ['SHA-1', { digest: 'sha1' }, 'algorithm_refused'],
    ['a SHA-1 digest of the list', signedInfo('2001/04/xmlenc#sha256', '2000/09/xmldsig#sha1'), 'algorithm_refused'],
    [
      'inclusive canonicalization of SignedInfo',
      signedInfo('2001/10/xml-exc-c14n#', 'TR/2001/REC-xml-c14n-20010315'),
      'algorithm_refused',
    ],
    [
      'inclusive canonicalization of the list',
      transforms('<ds:Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>'),
      'algorithm_refused',
    ],
    ['no canonicalization of the list', transforms(''), 'algorithm_refused'],
    [
      'canonicalization with comments',
      transforms('<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#WithComments"/>'),
      'algorithm_refused',
    ],
    [
      'InclusiveNamespaces',
      transforms(
        `<ds:Transform Algorithm="${EXCLUSIVE}"><a:InclusiveNamespaces xmlns:a="${EXCLUSIVE}" PrefixList="ns2"/></ds:Transform>`,
      ),
      'algorithm_refused',
    ],
    [
      'an XPath filter',
      transforms(`<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"/><ds:Transform Algorithm="${EXCLUSIVE}"/>`),
      'algorithm_refused',
    ],
    [
      'both transforms in one',
      signedInfo('enveloped-signature"/><ds:Transform Algorithm="', 'enveloped-signature '),
      'algorithm_refused',
    ],
    ['a transform in no namespace', transforms(`<Transform xmlns="" Algorithm="${EXCLUSIVE}"/>`), 'algorithm_refused'],
    ['a signature over SHA-1', signedInfo('ecdsa-sha256', 'ecdsa-sha1'), 'algorithm_refused'],
    ['an unknown algorithm', signedInfo('ecdsa-sha256', 'hmac-sha256'), 'algorithm_refused'],
    ['an ECDSA signature in DER', { dsaEncoding: 'der' }, 'signature_invalid'],
    [
      'signed properties without the certificate',
      { properties: xml => xml.replace(/<xades:SigningCertificateV2>.*V2>/, '') },
      'malformed',
    ],
    ['signed properties without an Id', { properties: xml => xml.replace(' Id="xades-id-1"', '') }, 'malformed'],
    [
      'the digest of another certificate',
      { properties: xml => xml.replace(/[^>]{44}(?=<\/ds:DigestValue>)/, 'A'.repeat(43).concat('=')) },
      'signature_invalid',
    ],
  ])('%s, signed so', (_, signing, code) => {
    expect(codeOf(makeEtsiList(LIST, signer, signing))).toBe(code)
  })

  test('a certificate that cannot be read, signed as the signing one', () => {
    const broken = { ...signer, der: signer.der.with(0, 0) }
    expect(codeOf(makeEtsiList(LIST, broken))).toBe('malformed')
  })

  test('a certificate whose key cannot be used, signed as the signing one', () => {
    // A point that is not on the curve.
    const at = Buffer.from(signer.der).indexOf(Buffer.from('034200', 'hex')) + 10
    const broken = { ...signer, der: signer.der.with(at, (signer.der[at] ?? 0) ^ 1) }
    expect(codeOf(makeEtsiList(LIST, broken))).toBe('signature_invalid')
  })

  test('a key that the algorithm does not fit, or that is too weak', async () => {
    const weak = await issue({ keys: await rsaKeys(1024) })
    expect(codeOf(makeEtsiList(LIST, weak))).toBe('algorithm_refused')
    expect(codeOf(makeEtsiList(LIST, signer, signedInfo('#ecdsa-', '#rsa-')))).toBe('algorithm_refused')
    expect(codeOf(makeEtsiList(LIST, rsa, signedInfo('#rsa-', '#ecdsa-')))).toBe('algorithm_refused')
  })
})

describe('a list with the same canonical form is accepted', () => {
  test.each<[string, string | RegExp, string]>([
    ['with CRLF', /\n/g, '\r\n'],
    ['with CR', /\n/g, '\r'],
    ['with other quotes', 'xml:lang="en"', "xml:lang='en'"],
    ['with white space in tags', /<(\/?[\w:]+)>/g, '<$1 \t\n>'],
    ['with the attributes of the root in another order', /(xmlns:ns2="[^"]*") (TSLTag="[^"]*")/, '$2 $1'],
    ['with the attributes of the signature in another order', /(xmlns:ds="[^"]*") (Id="id-1")/, '\n  $2\r\n\t$1 '],
    ['with two tags for an empty element', /<(ds:DigestMethod [^>]*)\/>/g, '<$1></ds:DigestMethod>'],
    ['with references', 'Sons', '&#83;&#x6F;ns'],
    ['with a namespace that nobody uses', 'xmlns:ns2="', 'xmlns:a="urn:b" xmlns:ns2="'],
    ['with a byte order mark', /^/, '\uFEFF'],
    ['with comments around the root', '\n<TrustService', '<!-- a -->\n<TrustService'],
    ['without a declaration', /^<\?.*\?>/, ''],
  ])('%s', (_, from, to) => {
    const changed = Buffer.from(text.replace(from, to))
    expect(changed.toString()).not.toBe(text)
    expect(readEtsiXml(changed)).toEqual({ ok: true, list: expect.anything() })
    expect(readEtsiXml(changed)).toEqual(readEtsiXml(made))
  })

  test('with white space in the base64 of the signature and of its certificates', () => {
    const folded = altered(made, /(?<=<ds:SignatureValue>.{20})/, '\n ')
    expect(readEtsiXml(altered(folded, /(?<=<ds:X509Certificate>.{64})/, '\r\n'))).toEqual(readEtsiXml(made))
  })
})

describe('a list by a key of any accepted kind', () => {
  for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
    test(`RSA and P-256 with ${digest}`, () => {
      for (const by of [rsa, signer]) expect(readEtsiXml(makeEtsiList(LIST, by, { digest })).ok).toBe(true)
    })
  }

  test('P-384 and P-521', async () => {
    for (const namedCurve of ['P-384', 'P-521']) {
      const by = await issue({ keys: await makeKeys({ name: 'ECDSA', namedCurve }) })
      expect(readEtsiXml(makeEtsiList(LIST, by, { digest: 'sha512' })).ok).toBe(true)
    }
  })

  test('with the certificates above the signer, but not before it', () => {
    const bytes = makeEtsiList(LIST, signer, { chain: [issuer.der] })
    const read = readEtsiXml(bytes)
    expect(read.ok && read.list.chain.map(sha256Hex)).toEqual([signer, issuer].map(({ der }) => sha256Hex(der)))
    const turned = Buffer.from(bytes)
      .toString()
      .replace(
        /(<ds:X509Certificate>[^<]*<\/ds:X509Certificate>)(\s*)(<ds:X509Certificate>[^<]*<\/ds:X509Certificate>)/,
        '$3$2$1',
      )
    expect(readEtsiXml(Buffer.from(turned))).toMatchObject({
      code: 'signature_invalid',
      detail: 'its signature names another certificate than the first that it carries',
    })
  })
})

function codeOf(bytes: Uint8Array): RefusalCode | 'accepted' {
  const read = readEtsiXml(bytes)
  return read.ok ? 'accepted' : read.code
}

/** Changes SignedInfo before it is signed. */
function signedInfo(from: string | RegExp, to: string): Signing {
  return {
    signedInfo: xml => {
      if (xml.replace(from, to) === xml) throw new Error(`${from} is not in SignedInfo`)
      return xml.replace(from, to)
    },
  }
}

/** In place of the canonicalization of the list. */
function transforms(xml: string): Signing {
  return signedInfo(/(?<=enveloped-signature"\/>).*?(?=<\/ds:Transforms>)/, xml)
}

function inXades(properties: string): string {
  return `<a xmlns:xades="http://uri.etsi.org/01903/v1.3.2#" xmlns:ds="http://www.w3.org/2000/09/xmldsig#">${properties}</a>`
}

/** Would be 10^9 times its size. */
function parameterBomb(): string {
  const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY % p${i + 1} "${`&#37;p${i};`.repeat(10)}">`)
  return `<!DOCTYPE a [<!ENTITY % p0 "x">${entities.join('')}%p9;]>`
}

function rsaKeys(modulusLength: number): Promise<CryptoKeyPair> {
  return makeKeys({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength, publicExponent: Uint8Array.of(1, 0, 1) })
}
