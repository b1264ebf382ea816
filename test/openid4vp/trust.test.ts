import { describe, expect, spyOn, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { decode } from 'cbor-x'
import { Findings } from '../../src/openid4vp/finding.ts'
import { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import { IssuerTrust, type TrustAnchor } from '../../src/openid4vp/trust/trust.ts'
import { anchorOf } from '../helpers/anchors.ts'
import {
  authorityKey,
  crlPoint,
  DAY_MS,
  DOCUMENT_SIGNER,
  Extension,
  type Issued,
  isAuthority,
  isNoAuthority,
  issue,
  issueAuthority,
  issuerAltName,
  keyIdentifier,
  makeKeys,
  type Named,
  NOW,
  nameOf,
  purposes,
  signsCertificates,
  Usage,
  unknownCritical,
  usages,
  type Wanted,
  wrongKeyIdentifier,
} from '../helpers/certificates.ts'
import { vectors } from '../helpers/vectors.ts'

const PID = 'urn:eudi:pid:1'
const RSA = { name: 'RSASSA-PKCS1-v1_5', publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' }

const issuerTrust = new IssuerTrust()

/** Trusted, unless a test says otherwise. */
const root = await issueAuthority()

type Format = 'dc+sd-jwt' | 'mso_mdoc'
type Chain = Pick<Issued, 'der'>[]
type Given = { chain: Chain; anchors?: TrustAnchor[]; type?: string; format?: Format; now?: number }

function trust({ chain, anchors = [anchorOf(root)], type = PID, format = 'dc+sd-jwt', now = NOW }: Given) {
  const findings = new Findings(() => now)
  const { issuer, anchor } = issuerTrust.check(
    findings,
    { chain: chain.map(({ der }) => der), type, anchors: new AnchorIndex(anchors), environment: 'live', now, steadyNow: now },
    format,
  )
  const failed = findings.all.find(({ status }) => status === 'fail')
  const warnings = findings.all.filter(({ status }) => status === 'warning').map(({ check, detail }) => `${check}: ${detail}`)
  return { holds: findings.holds('issuer_chain'), failures: findings.failures, detail: failed?.detail, warnings, issuer, anchor }
}

/** Expects one failure as an untrusted issuer, with this text in its detail, and no anchor. */
function expectRefused(given: Given, detail: string): void {
  const result = trust(given)
  expect(result.detail).toContain(detail)
  expect(result).toMatchObject({ holds: false, failures: ['issuer_untrusted'], anchor: undefined, warnings: [] })
}

function expectTrusted(given: Given, anchor = given.anchors?.[0] ?? anchorOf(root)): void {
  const result = trust(given)
  expect(result.detail).toBeUndefined()
  expect(result).toMatchObject({ holds: true, failures: [], warnings: [], anchor })
}

describe('a chain to an anchor', () => {
  test('a leaf issued by the anchor is trusted, and its subject is the issuer', async () => {
    const leaf = await issue({ name: 'C=NL, O=Gov, CN=Passport Office', issuer: root })
    const anchor = anchorOf(root)
    expect(trust({ chain: [leaf], anchors: [anchor] })).toEqual({
      holds: true,
      failures: [],
      detail: undefined,
      warnings: [],
      issuer: { common_name: 'Passport Office', country: 'NL' },
      anchor,
    })
  })

  test('a chain with one, three or four intermediates is trusted: five certificates at most', async () => {
    for (const count of [1, 3, 4]) expectTrusted({ chain: await makePath(root, count) })
  })

  test('an intermediate as anchor is trusted without its root, sent or not', async () => {
    const [leaf, middle] = (await makePath(root, 1)) as [Issued, Issued]
    expectTrusted({ chain: [leaf], anchors: [anchorOf(middle)] })
    expectTrusted({ chain: [leaf, middle], anchors: [anchorOf(middle)] })
  })

  test('a pinned leaf, self-signed or not, is trusted as it is', async () => {
    const reader = await issue({ issuer: root, extensions: [purposes(['1.0.18013.5.1.6']), unknownCritical()] })
    const self = await issue({})
    expectTrusted({ chain: [reader], anchors: [anchorOf(reader)] })
    expectTrusted({ chain: [self], anchors: [anchorOf(self)] })
  })

  test('a chain is trusted among other anchors, even if two have the same name', async () => {
    const [stranger, older, root] = [
      await issueAuthority({ name: 'CN=Stranger' }),
      await issueAuthority(),
      await issueAuthority(),
    ]
    const leaf = await issue({ issuer: root })
    const anchors = [stranger, older, root].map((authority, index) => anchorOf(authority, { id: `a${index}` }))
    expectTrusted({ chain: [leaf], anchors }, anchors[2])
  })

  test('keys on P-384, P-521, Ed25519 and RSA-2048 are trusted', async () => {
    const algorithms = [
      { name: 'ECDSA', namedCurve: 'P-384' },
      { name: 'ECDSA', namedCurve: 'P-521' },
      { name: 'Ed25519', namedCurve: '' },
      { ...RSA, modulusLength: 2048 },
    ]
    for (const algorithm of algorithms) {
      const root = await issueAuthority({ keys: await makeKeys(algorithm) })
      expectTrusted({ chain: [await issue({ issuer: root, keys: await makeKeys(algorithm) })], anchors: [anchorOf(root)] })
    }
  })

  test('a root in the chain is a warning (HAIP 6.1.1), and so is the sandbox issuer', async () => {
    const leaf = await issue({ issuer: root })
    const sent = trust({ chain: [leaf, root] })
    expect(sent).toMatchObject({ holds: true, failures: [] })
    expect(sent.warnings).toEqual([expect.stringContaining('issuer_chain: The issuer sent its root certificate along')])
    expect(trust({ chain: [leaf], anchors: [anchorOf(root, { isSandbox: true })] }).warnings).toEqual([
      'environment: sandbox issuer',
    ])
  })
})

describe('no anchor, or the wrong one', () => {
  test('without any anchor the detail says so, and what to do', async () => {
    const leaf = await issue({})
    expectRefused({ chain: [leaf], anchors: [] }, 'No issuers are trusted yet: add the root certificate')
    expectRefused({ chain: [leaf], anchors: [] }, 'vidimus trust add FILE.pem --env live')
  })

  test('an issuer trusted for one type is refused for another', async () => {
    const leaf = await issue({ issuer: root })
    const anchor = anchorOf(root, { trustedFor: 'urn:eudi:pid:1' })
    expectTrusted({ chain: [leaf], anchors: [anchor], type: 'urn:eudi:pid:1' })
    expectRefused({ chain: [leaf], anchors: [anchor], type: 'org.iso.18013.5.1.mDL' }, 'but for another type of credential')
    const other = anchorOf(await issueAuthority({ name: 'CN=Other' }), { id: 'other', trustedFor: 'x' })
    expectRefused({ chain: [leaf], anchors: [other] }, 'No issuer is trusted for this type')
  })

  test('a refused issuer is named, without control or formatting characters', async () => {
    const { issuer } = trust({ chain: [await issue({ name: 'C=DE, CN=Nobody' })], anchors: [] })
    expect(issuer).toEqual({ common_name: 'Nobody', country: 'DE' })
    expect(trust({ chain: [await issue({ name: 'C=DEU, CN=No\u202ebody' })], anchors: [] }).issuer).toEqual({})
    expect(trust({ chain: [await issue({ name: `CN=${'x'.repeat(201)}` })], anchors: [] }).issuer).toEqual({})
  })
})

const NOT_TRUSTED = 'not one that you trust'
const weak = await makeKeys({ ...RSA, modulusLength: 1024 })
/** Has the name of the root. */
const imposter = await issueAuthority()
const leaf = await issue({ issuer: root })
const [below, middle] = (await makePath(root, 1)) as [Issued, Issued]

describe('an invalid chain', () => {
  const REFUSED: [what: string, chain: () => Promise<Chain>, detail: string][] = [
    ['an empty chain', async () => [], 'without the certificate of its issuer'],
    ['a self-signed leaf', async () => [await issue({})], 'signed by itself'],
    ['a root that nobody trusts, under a trusted name', async () => [await issue({ issuer: imposter })], NOT_TRUSTED],
    ['such a root that is sent along', async () => [await issue({ issuer: imposter }), imposter], NOT_TRUSTED],
    ['six certificates', () => makePath(root, 5), 'more than 5 certificates'],
    ['50 certificates', async () => Array.from({ length: 50 }, () => root), 'more than 5 certificates'],
    ['an unreadable certificate', async () => [leaf, { der: Uint8Array.of(0x30, 0) }], 'cannot be read'],
    ['a certificate that is too large', async () => [leaf, { der: new Uint8Array(8193) }], 'too large'],
    ['an authority before its leaf', async () => [middle, below], 'not in order'],
    ['a root before its authority', async () => [below, root, middle], 'not in order'],
    ['an RSA-1024 leaf', async () => [await issue({ issuer: root, keys: weak })], 'too weak'],
    ['an RSA-1024 authority', () => throughMiddle({ keys: weak }), 'too weak'],
    [
      'a signature of another key under the right name and key identifier',
      async () => {
        const extensions = [await authorityKey(root.keys)]
        return [await issue({ issuer: { name: root.name, keys: await makeKeys() }, extensions })]
      },
      NOT_TRUSTED,
    ],
    ['the key of the anchor under another name', () => leafOf({ ...root, name: 'C=NL, CN=Test Root 2' }), NOT_TRUSTED],
    ['a signature with SHA-1', async () => [await issue({ issuer: root, hash: 'SHA-1' })], NOT_TRUSTED],
    [
      'a key on another curve',
      async () => {
        const der = Buffer.from(leaf.der)
        der[der.indexOf(Buffer.from('06082a8648ce3d030107', 'hex')) + 9] = 0x77
        return [{ der }]
      },
      'of a kind that is not accepted',
    ],
  ]
  test.each(REFUSED)('%s is refused', async (_, chain, detail) => expectRefused({ chain: await chain() }, detail))

  test('an unrelated certificate behind the leaf is refused', async () => {
    expectRefused({ chain: [below, await issueAuthority()], anchors: [anchorOf(middle)] }, 'not in order')
  })

  test('a loop of cross-signed authorities is refused', async () => {
    const [a, b] = await Promise.all(['CN=A', 'CN=B'].map(async name => ({ keys: await makeKeys(), name })))
    const [aByB, bByA] = [await issueAuthority({ ...a!, issuer: b! }), await issueAuthority({ ...b!, issuer: a! })]
    const looped = await issue({ issuer: a! })
    expectRefused({ chain: [looped, aByB, bByA] }, NOT_TRUSTED)
    expectRefused({ chain: [looped, aByB, bByA, aByB, bByA] }, 'twice')
  })

  test('an RSA-1024 anchor is refused', async () => {
    const weakRoot = await issueAuthority({ keys: weak })
    expectRefused({ chain: await leafOf(weakRoot), anchors: [anchorOf(weakRoot)] }, 'key that is not accepted')
  })

  test('a key identifier of another authority is refused', async () => {
    const keys = await makeKeys()
    const own = await issueAuthority({ keys, extensions: [isAuthority(), signsCertificates(), await keyIdentifier(keys)] })
    const naming = async (named: CryptoKeyPair) => [await issue({ issuer: own, extensions: [await authorityKey(named)] })]
    expectRefused({ chain: await naming(await makeKeys()), anchors: [anchorOf(own)] }, NOT_TRUSTED)
    expectTrusted({ chain: await naming(keys), anchors: [anchorOf(own)] })
  })
})

describe('a path that an authority did not allow', () => {
  test.each([
    ['with CA:false', [isNoAuthority(), signsCertificates()], 'not a certificate authority'],
    ['without basic constraints', [], 'not a certificate authority'],
    ['without keyCertSign', [isAuthority(), usages(Usage.digitalSignature)], 'may not issue certificates'],
  ] as [string, Extension[], string][])('an intermediate %s is refused', async (_, extensions, detail) => {
    expectRefused({ chain: await throughMiddle({ extensions }) }, detail)
  })

  test('a certificate issued by a pinned leaf is refused', async () => {
    const leaf = await issue({ name: 'CN=Leaf' })
    expectRefused({ chain: await leafOf(leaf), anchors: [anchorOf(leaf)] }, 'not a certificate authority')
  })

  test('an authority without key usage may issue (RFC 5280 6.1.4 n)', async () => {
    const free = await issueAuthority({ extensions: [isAuthority()] })
    expectTrusted({ chain: await leafOf(free), anchors: [anchorOf(free)] })
  })

  test.each([
    [0, 0, true],
    [0, 1, false],
    [1, 1, true],
    [1, 2, false],
  ])('below a path length of %d, %d intermediates are trusted: %p', async (pathLength, intermediates, ok) => {
    const limited = await issueAuthority({ pathLength })
    const given = { chain: await makePath(limited, intermediates), anchors: [anchorOf(limited)] }
    if (ok) expectTrusted(given)
    else expectRefused(given, 'more certificates between')
  })

  test('an authority that renews its own key does not count for the path length (RFC 5280 6.1.4 l)', async () => {
    const root = await issueAuthority({ pathLength: 0 })
    const renewed = await issueAuthority({ name: root.name, issuer: root })
    expect(trust({ chain: [await issue({ issuer: renewed }), renewed], anchors: [anchorOf(root)] }).holds).toBe(true)
  })

  test('an unknown critical extension is refused in leaf, intermediate and anchor', async () => {
    const extensions = [isAuthority(), signsCertificates(), unknownCritical()]
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, extensions })
    const odd = await issueAuthority({ extensions })
    const leaf = await issue({ issuer: root, extensions: [unknownCritical()] })
    expectRefused({ chain: [leaf] }, 'critical extension')
    expectRefused({ chain: [await issue({ issuer: middle }), middle] }, 'critical extension')
    expectRefused({ chain: [await issue({ issuer: odd })], anchors: [anchorOf(odd)] }, 'critical extension')
  })

  test('a leaf without a key usage for signing is refused', async () => {
    for (const [flags, ok] of [
      [Usage.keyCertSign, false],
      [Usage.keyAgreement, false],
      [Usage.digitalSignature, true],
      [Usage.nonRepudiation, true],
    ] as const) {
      const given = { chain: [await issue({ issuer: root, extensions: [usages(flags)] })] }
      if (ok) expectTrusted(given)
      else expectRefused(given, 'not made for signing')
    }
  })

  describe('name or policy constraints, which are not checked here', () => {
    const limits: [string, Extension][] = [
      ['name constraints', new Extension('2.5.29.30', false, Buffer.from('300ea00c300a8208' + '2e6578616d706c65', 'hex'))],
      ['policy constraints', new Extension('2.5.29.36', false, Buffer.from('3003800100', 'hex'))],
      ['inhibit-any-policy', new Extension('2.5.29.54', false, Buffer.from('020100', 'hex'))],
    ]
    test.each(limits)('%s of an intermediate or of the anchor refuse the path, critical or not', async (says, limit) => {
      const critical = new Extension(limit.type, true, limit.value)
      for (const extension of [limit, critical]) {
        const extensions = [isAuthority(), signsCertificates(), extension]
        const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, extensions })
        const limited = await issueAuthority({ extensions })
        expectRefused({ chain: [await issue({ issuer: middle }), middle] }, says)
        expectRefused({ chain: [await issue({ issuer: limited })], anchors: [anchorOf(limited)] }, says)
      }
    })

    test('policies and policy mappings have no effect while no policy is required', async () => {
      const policies = new Extension('2.5.29.32', false, Buffer.from('300a300806062a0304050607', 'hex'))
      const mappings = new Extension('2.5.29.33', false, Buffer.from('300e300c06042a03040506042a030406', 'hex'))
      const root = await issueAuthority({ extensions: [isAuthority(), signsCertificates(), policies, mappings] })
      expectTrusted({ chain: [await issue({ issuer: root })], anchors: [anchorOf(root)] })
    })
  })
})

describe('extended key usage', () => {
  const [SERVER, CLIENT, ANY, UNKNOWN] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2', '2.5.29.37.0', '1.3.6.1.4.1.99999.2']
  const [MDOC_SIGNER, PID_SIGNER, DOCUMENT_SIGNING] = ['1.0.23220.4.1.2', '1.3.130.2.0.0.1.2', '1.3.6.1.5.5.7.3.36']
  const [IACA, PID_AUTHORITY] = ['1.0.18013.5.1.7', '1.3.130.2.0.0.1.7']
  type Case = [title: string, purposes: string[], critical: boolean, sdJwt: string | undefined, mdoc: string | undefined]
  const NOT_MDOC = 'another purpose than to sign mdocs'
  const leaves: Case[] = [
    ['of a reader', ['1.0.18013.5.1.6'], true, 'of a reader', 'of a reader'],
    ['of a signer and a reader', [DOCUMENT_SIGNER, '1.0.18013.5.1.6'], true, 'of a reader', 'of a reader'],
    ['of a reader of mdocs', ['1.0.23220.4.1.6', MDOC_SIGNER], true, 'of a reader', 'of a reader'],
    ['of a reader of PIDs', ['1.3.130.2.0.0.1.6', PID_SIGNER], true, 'of a reader', 'of a reader'],
    ['of a trust list', ['1.0.18013.5.1.8'], false, 'or of a trust list', 'or of a trust list'],
    ['of a web server', [SERVER, CLIENT], false, 'such as a web server', NOT_MDOC],
    ['of a web server and a document signer', [SERVER, DOCUMENT_SIGNER], true, undefined, undefined],
    ['of a driving licence', [DOCUMENT_SIGNER], true, undefined, undefined],
    ['of an mdoc', [MDOC_SIGNER], true, undefined, undefined],
    ['of a PID', [PID_SIGNER], true, undefined, undefined],
    ['of documents (RFC 9336)', [DOCUMENT_SIGNING], true, undefined, NOT_MDOC],
    ['of anything', [ANY], true, undefined, NOT_MDOC],
    ['nobody here knows, critical', [UNKNOWN], true, 'without a purpose that is known', NOT_MDOC],
    ['nobody here knows and a web server, critical', [UNKNOWN, SERVER], true, 'without a purpose that is known', NOT_MDOC],
    ['nobody here knows, not critical', [UNKNOWN], false, undefined, NOT_MDOC],
  ]
  test.each(leaves)('the purpose of a leaf: %s', async (_, oids, critical, sdJwt, mdoc) => {
    const leaf = await issue({ issuer: root, extensions: [purposes(oids, critical)] })
    for (const [format, detail] of [
      ['dc+sd-jwt', sdJwt],
      ['mso_mdoc', mdoc],
    ] as const) {
      const given = { chain: [leaf], format }
      if (detail) expectRefused(given, detail)
      else expectTrusted(given)
    }
  })

  const LIMITED = 'limited to other purposes'
  type Nested = [title: string, authority: string[], leaf: string[] | undefined, detail: string | undefined]
  const nested: Nested[] = [
    ['a web server, and its leaf has none', [SERVER], undefined, LIMITED],
    ['a web server, and its leaf signs documents', [SERVER], [DOCUMENT_SIGNER], LIMITED],
    ['driving licences, and its leaf signs other mdocs', [DOCUMENT_SIGNER], [MDOC_SIGNER], LIMITED],
    ['driving licences, and its leaf too', [DOCUMENT_SIGNER], [DOCUMENT_SIGNER], undefined],
    ['driving licences, and its leaf has none', [DOCUMENT_SIGNER], undefined, undefined],
    ['driving licences and a web server, and its leaf too', [DOCUMENT_SIGNER, SERVER], [SERVER, DOCUMENT_SIGNER], undefined],
    ['a web server, and its leaf that and driving licences', [SERVER], [SERVER, DOCUMENT_SIGNER], LIMITED],
    ['any, and its leaf signs documents', [ANY], [DOCUMENT_SIGNER], undefined],
    ['an issuing authority', [IACA], [DOCUMENT_SIGNER], undefined],
    ['an authority for PIDs, as those of the EU have it', [PID_AUTHORITY], [PID_SIGNER], undefined],
    ['nobody here knows', [UNKNOWN], [DOCUMENT_SIGNER], LIMITED],
  ]
  test.each(nested)('the purpose of an authority limits the certificates below it: %s', async (_, authority, own, detail) => {
    const extensions = [isAuthority(), signsCertificates(), purposes(authority)]
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, extensions })
    const limited = await issueAuthority({ extensions })
    const below = async (issuer: Issued) => await issue({ issuer, extensions: own ? [purposes(own)] : [] })
    for (const given of [
      { chain: [await below(middle), middle], format: 'mso_mdoc' as const },
      { chain: [await below(limited)], anchors: [anchorOf(limited)], format: 'mso_mdoc' as const },
    ]) {
      if (detail) expectRefused(given, detail)
      else expectTrusted(given)
    }
  })

  test('an unknown purpose, critical on the authority, is refused', async () => {
    const root = await issueAuthority({ extensions: [isAuthority(), signsCertificates(), purposes([UNKNOWN])] })
    const leaf = await issue({ issuer: root, extensions: [purposes([UNKNOWN], false)] })
    expectRefused({ chain: [leaf], anchors: [anchorOf(root)] }, 'without a purpose that is known')
  })

  test('a status list signer may have an unknown purpose, unless it is critical', async () => {
    const judge = async (critical: boolean) => {
      const leaf = await issue({ issuer: root, extensions: [purposes([UNKNOWN], critical)] })
      const own = anchorOf(root)
      const anchors = new AnchorIndex([own])
      const input = { chain: [leaf.der], type: PID, anchors, environment: 'test' as const, now: NOW, steadyNow: NOW, own }
      return issuerTrust.judge(input, 'status').ok
    }
    expect(await judge(false)).toBe(true)
    expect(await judge(true)).toBe(false)
  })
})

describe('mode auto', () => {
  const MDL = 'org.iso.18013.5.1.mDL'
  const PHOTO_IDS = ['org.iso.23220.photoID.1', 'org.iso.23220.photoid.1', 'org.iso.23220.2.photoid.1']

  test.each([MDL, ...PHOTO_IDS])('mode auto judges %s by the profile of ISO/IEC 18013-5', async type => {
    const chain = [await issue({ issuer: root, extensions: [purposes([DOCUMENT_SIGNER])] })]
    const given = (mode: TrustAnchor['mode']) => ({
      chain,
      anchors: [anchorOf(root, { mode })],
      type,
      format: 'mso_mdoc' as const,
    })
    expectRefused(given('auto'), 'do not follow ISO/IEC 18013-5 Annex B')
    expectRefused(given('auto'), '--mode pkix')
    expectRefused(given('iso'), 'do not follow ISO/IEC 18013-5 Annex B')
    expectTrusted(given('pkix'))
  })

  test.each([PID, 'eu.europa.ec.eudi.pid.1', 'eu.europa.ec.av.1', 'org.iso.18013.5.1.mdl'])(
    'mode auto judges %s by RFC 5280 alone',
    async type => {
      const chain = [await issue({ issuer: root })]
      expectTrusted({ chain, anchors: [anchorOf(root, { mode: 'auto' })], type })
      expectRefused({ chain, anchors: [anchorOf(root, { mode: 'iso' })], type }, 'Annex B')
    },
  )
})

describe('dates', () => {
  const [from, to] = [NOW - 10 * DAY_MS, NOW + 10 * DAY_MS]

  test('the validity of a leaf includes both limits, also if the path is remembered', async () => {
    const leaf = await issue({ issuer: root, notBefore: from, notAfter: to })
    const given = { chain: [leaf] }
    expectTrusted({ ...given, now: from })
    expectTrusted({ ...given, now: to })
    expectRefused({ ...given, now: from - 1 }, 'not valid yet')
    expectRefused({ ...given, now: to + 1 }, 'of the issuer has expired')
    expectTrusted({ ...given, now: to })
  })

  test('an expired or future intermediate is refused', async () => {
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, notBefore: from, notAfter: to })
    const given = { chain: [await issue({ issuer: middle }), middle] }
    expectTrusted({ ...given, now: to })
    expectRefused({ ...given, now: to + 1 }, 'of the issuer has expired')
    expectRefused({ ...given, now: from - 1 }, 'not valid yet')
  })

  test('an expired anchor is refused, and the operator is asked to replace it', async () => {
    const root = await issueAuthority({ notBefore: from, notAfter: to })
    const given = { chain: [await issue({ issuer: root })], anchors: [anchorOf(root)] }
    expectTrusted({ ...given, now: to })
    expectRefused({ ...given, now: to + 1 }, 'that you trust this issuer by has expired')
    expectRefused({ ...given, now: from - 1 }, 'not valid yet')
  })

  test('an expired or future pinned leaf is refused', async () => {
    const leaf = await issue({ notBefore: from, notAfter: to })
    expectTrusted({ chain: [leaf], anchors: [anchorOf(leaf)], now: to })
    expectRefused({ chain: [leaf], anchors: [anchorOf(leaf)], now: to + 1 }, 'has expired')
  })
})

describe('remembered paths', () => {
  test('a remembered path is not used for another certificate under the same anchor id', async () => {
    const [root, other] = [await issueAuthority(), await issueAuthority()]
    const chain = [await issue({ issuer: root })]
    expectTrusted({ chain, anchors: [anchorOf(root)] })
    expectRefused({ chain, anchors: [anchorOf(other)] }, 'not one that you trust')
    expectTrusted({ chain, anchors: [anchorOf(root)] })
  })

  test('a remembered path is not used for another mode, or for another split of the same bytes', async () => {
    const leaf = await issue({ issuer: root })
    expectTrusted({ chain: [leaf] })
    expectRefused({ chain: [leaf], anchors: [anchorOf(root, { mode: 'iso' })] }, 'Annex B')
    const joined = { der: Buffer.concat([leaf.der, root.der]) }
    expect(trust({ chain: [leaf, root] }).holds).toBe(true)
    expectRefused({ chain: [joined] }, 'cannot be read')
  })

  test('a signature of a remembered path is verified once', async () => {
    const chain = await makePath(root, 4)
    const verify = spyOn(X509Certificate.prototype, 'verify')
    expectTrusted({ chain })
    expect(verify).toHaveBeenCalledTimes(5)
    expectTrusted({ chain, now: NOW + 1 })
    expect(verify).toHaveBeenCalledTimes(5)
    verify.mockRestore()
  })
})

describe('mode iso: ISO/IEC 18013-5 Annex B, rule by rule', () => {
  const DS = 'C=NL, CN=Signer'
  const IACA = 'C=NL, CN=Root'

  test('certificates that keep every rule are trusted, and so is a pinned signer', async () => {
    const { root, signer } = await isoPair({})
    expectTrusted({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] })
    expectTrusted({ chain: [signer], anchors: [anchorOf(signer, { mode: 'iso' })] })
    expectTrusted({ chain: [signer], anchors: [anchorOf(root, { mode: 'auto' })], type: 'org.iso.18013.5.1.mDL' })
  })

  test('a photo ID may be signed with the purpose of ISO/IEC 23220-4, a driving licence may not', async () => {
    const { root, signer } = await isoPair({ signer: { purposes: purposes(['1.0.23220.4.1.2']) } })
    const given = { chain: [signer], anchors: [anchorOf(root, { mode: 'auto' as const })] }
    expectTrusted({ ...given, type: 'org.iso.23220.photoID.1' })
    expectRefused({ ...given, type: 'org.iso.18013.5.1.mDL' }, 'its extended key usage is not exactly 1.0.18013.5.1.2, critical')
  })

  type Case = { says: string; signer?: Change; root?: Change }
  const cases: Case[] = [
    { says: 'of the document signer, its extended key usage', signer: { purposes: undefined } },
    { says: 'of the document signer, its extended key usage', signer: { purposes: purposes([DOCUMENT_SIGNER], false) } },
    { says: 'of the document signer, its extended key usage', signer: { purposes: purposes([DOCUMENT_SIGNER, '1.2.3']) } },
    { says: 'of the document signer, its key usage', signer: { usages: undefined } },
    { says: 'of the document signer, its key usage', signer: { usages: usages(Usage.digitalSignature, false) } },
    { says: 'of the document signer, its key usage', signer: { usages: usages(Usage.digitalSignature | Usage.keyAgreement) } },
    { says: 'of the document signer, it is valid for more than 457 days', signer: { days: 457 + 1 / 86_400 } },
    { says: 'of the document signer, it has no authority key identifier', signer: { authority: undefined } },
    { says: 'of the document signer, its subject key identifier', signer: { keyIdentifier: undefined } },
    { says: 'of the document signer, its subject key identifier', signer: { keyIdentifier: wrongKeyIdentifier() } },
    { says: 'of the document signer, its subject has no country', signer: { name: 'CN=Signer' } },
    { says: 'different countries', signer: { name: 'C=DE, CN=Signer' } },
    { says: 'different states', root: { name: 'C=NL, ST=UT, CN=Root' } },
    { says: 'different states', root: { name: 'C=NL, ST=UT, CN=Root' }, signer: { name: 'C=NL, ST=UX, CN=Signer' } },
    { says: 'of the document signer, it has no issuer alternative name', signer: { altName: undefined } },
    { says: 'of the document signer, it has no CRL', signer: { crl: undefined } },
    { says: 'of the root, its basic constraints', root: { basic: isAuthority(1) } },
    { says: 'of the root, its basic constraints', root: { basic: isAuthority() } },
    { says: 'of the root, its basic constraints', root: { basic: isAuthority(0, false) } },
    { says: 'of the root, its key usage', root: { usages: usages(Usage.keyCertSign) } },
    { says: 'of the root, its key usage', root: { usages: usages(Usage.keyCertSign | Usage.cRLSign | Usage.digitalSignature) } },
    { says: 'of the root, its key usage', root: { usages: usages(Usage.keyCertSign | Usage.cRLSign, false) } },
    { says: 'of the root, it is valid for more than 20 years', root: { days: 20 * 365.25 + 1 } },
    { says: 'of the root, its subject has no country', root: { name: 'CN=Root' } },
    { says: 'of the root, its subject has no common name', root: { name: 'C=NL' } },
    { says: 'of the root, its subject key identifier', root: { keyIdentifier: undefined } },
    { says: 'of the root, it has no issuer alternative name', root: { altName: undefined } },
    { says: 'of the root, it has no CRL', root: { crl: undefined } },
  ]
  test.each(cases.map((given, index) => [index + 1, given.says, given] as const))('%i: %s', async (_, says, given) => {
    const { root, signer } = await isoPair(given)
    expectRefused({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] }, says)
    expectTrusted({ chain: [signer], anchors: [anchorOf(root)] })
  })

  test('a signer for 457 days and a root for 20 years are allowed', async () => {
    const { root, signer } = await isoPair({ signer: { days: 457 }, root: { days: 20 * 365.25 } })
    expectTrusted({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] })
  })

  test('the state may be the same in both, or missing in the root', async () => {
    const { root, signer } = await isoPair({ root: { name: 'C=US, ST=UT, CN=Root' }, signer: { name: 'C=US, ST=UT, CN=Signer' } })
    expectTrusted({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] })
    const one = await isoPair({ signer: { name: 'C=NL, ST=UT, CN=Signer' } })
    expectTrusted({ chain: [one.signer], anchors: [anchorOf(one.root, { mode: 'iso' })] })
  })

  test('a root that is not self-signed, or an intermediate, breaks the profile', async () => {
    const { root, signer } = await isoPair({}, await issueAuthority({ name: 'CN=Above' }))
    expectRefused({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] }, 'of the root, it is not self-signed')
    const above = await issueAuthority({ name: 'CN=Above' })
    const [leaf, middle] = (await makePath(above, 1)) as [Issued, Issued]
    expectRefused(
      { chain: [leaf, middle], anchors: [anchorOf(above, { mode: 'iso' })] },
      'not issued by the trusted root directly',
    )
  })

  test('a pinned signer must keep the rules of a signer', async () => {
    const { signer } = await isoPair({ signer: { crl: undefined } })
    expectRefused({ chain: [signer], anchors: [anchorOf(signer, { mode: 'iso' })] }, 'of the document signer, it has no CRL')
  })

  test('a signer that spells the name of its root in other bytes is trusted with a warning, and in mode pkix without one', async () => {
    const { root, signer } = await isoPair({}, undefined, nameOf([{ C: ['NL'] }, { CN: [{ utf8String: 'ROOT' }] }]))
    const iso = trust({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] })
    expect(iso).toMatchObject({ holds: true, failures: [] })
    expect(iso.warnings).toEqual([
      expect.stringContaining('issuer_chain: A certificate of the issuer names its root in other bytes'),
    ])
    expectTrusted({ chain: [signer], anchors: [anchorOf(root)] })
  })

  test('every broken rule is named, not only the first', async () => {
    const { root, signer } = await isoPair({ signer: { crl: undefined, altName: undefined }, root: { altName: undefined } })
    const { detail } = trust({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] })
    expect(detail?.split(';')).toHaveLength(3)
  })

  test('a root trusted in both modes is judged by the milder one', async () => {
    const { root, signer } = await isoPair({ signer: { crl: undefined } })
    const anchors = [anchorOf(root, { id: 'iso', mode: 'iso' }), anchorOf(root, { id: 'pkix' })]
    expectTrusted({ chain: [signer], anchors }, anchors[1])
  })

  test('a signer of status lists needs no document signer certificate', async () => {
    const { root } = await isoPair({})
    const leaf = await issue({ issuer: root })
    const own = anchorOf(root, { mode: 'iso' })
    const input = {
      chain: [leaf.der],
      type: PID,
      own,
      anchors: new AnchorIndex([own]),
      environment: 'test' as const,
      now: NOW,
      steadyNow: NOW,
    }
    expect(issuerTrust.judge(input, 'status').ok).toBe(true)
    expect(issuerTrust.judge(input, 'mso_mdoc').ok).toBe(false)
  })

  type Ext = NonNullable<Wanted['extensions']>[number]
  type Change = Partial<
    Record<'purposes' | 'usages' | 'basic' | 'authority' | 'keyIdentifier' | 'altName' | 'crl', Ext | undefined>
  > & {
    name?: string
    days?: number
  }

  /** `rootName` is the issuer name in the signer's certificate. */
  async function isoPair(
    { signer = {}, root = {} }: { signer?: Change; root?: Change },
    above?: Issued,
    rootName: Named = root.name ?? IACA,
  ) {
    const [rootKeys, signerKeys] = [await makeKeys(), await makeKeys()]
    const rootExtensions = {
      basic: isAuthority(0),
      usages: signsCertificates(),
      keyIdentifier: await keyIdentifier(rootKeys),
      altName: issuerAltName(),
      crl: crlPoint(),
    }
    const signerExtensions = {
      purposes: purposes([DOCUMENT_SIGNER]),
      usages: usages(Usage.digitalSignature),
      authority: await authorityKey(rootKeys),
      keyIdentifier: await keyIdentifier(signerKeys),
      altName: issuerAltName(),
      crl: crlPoint(),
    }
    const issuedRoot = await issue(wantedOf({ name: IACA, ...root }, rootExtensions, { keys: rootKeys, issuer: above }))
    const issuedSigner = await issue(
      wantedOf({ name: DS, ...signer }, signerExtensions, { keys: signerKeys, issuer: { ...issuedRoot, name: rootName } }),
    )
    return { root: issuedRoot, signer: issuedSigner }
  }

  function wantedOf(
    { name, days = 300, ...changed }: Change,
    usual: Change,
    { keys, issuer }: { keys: CryptoKeyPair; issuer?: Issued },
  ): Wanted {
    const notBefore = NOW - DAY_MS
    const extensions = Object.values({ ...usual, ...changed }).filter(extension => typeof extension === 'object')
    return { name, keys, notBefore, notAfter: notBefore + days * DAY_MS, extensions, ...(issuer && { issuer }) }
  }
})

describe('public vectors', () => {
  type Input = { device_response_b64u: string }
  const wanted = ['neg-untrusted-root', 'pos-walt-mdl-vp1']
  for (const { id, title, input, trust: trusted, context, expect: expected } of vectors<Input>('mdoc-negative.json')) {
    if (!wanted.includes(id)) continue
    test(`${id}: ${title}`, () => {
      const chain = chainOf(Buffer.from(input.device_response_b64u, 'base64url')).map(der => ({ der }))
      const anchors = (trusted?.anchors_der_b64 ?? []).map(der => anchorOf({ der: Buffer.from(der, 'base64') }))
      const given = { chain, anchors, now: Date.parse(context?.now ?? '') }
      if (expected.outcome === 'accept') expectTrusted(given)
      else expectRefused(given, 'not one that you trust')
    })
  }

  const credentials = vectors<{ presentation?: string; credential?: string }>('sdjwt-credentials.json')
  for (const { id, title, input, trust: trusted, context, expect: expected } of credentials) {
    const text = input.presentation ?? input.credential ?? ''
    const x5c: string[] = expected.outcome === 'accept' && text ? (headerOf(text).x5c ?? []) : []
    if (x5c.length === 0) continue
    test(`${id}: ${title}`, () => {
      const chain = x5c.map(der => ({ der: Buffer.from(der, 'base64') }))
      const anchors = (trusted?.anchors_der_b64 ?? x5c.slice(0, 1)).map(der => anchorOf({ der: Buffer.from(der, 'base64') }))
      expectTrusted({ chain, anchors, now: Date.parse(context?.now ?? '') })
    })
  }
})

const headerOf = (text: string): { x5c?: string[] } =>
  JSON.parse(Buffer.from(text.split('.', 1)[0] ?? '', 'base64url').toString())

/** The x5chain of the first document, read by a library. */
function chainOf(deviceResponse: Uint8Array): Uint8Array[] {
  const response = decode(deviceResponse)
  const [, unprotected] = response.documents[0].issuerSigned.issuerAuth
  const x5chain = unprotected instanceof Map ? unprotected.get(33) : unprotected[33]
  return Array.isArray(x5chain) ? x5chain : [x5chain]
}

/** Leaf first, with this number of authorities below the root. */
async function makePath(root: Issued, intermediates: number): Promise<Issued[]> {
  const path: Issued[] = []
  let issuer = root
  for (let index = 0; index < intermediates; index++) {
    issuer = await issueAuthority({ name: `CN=Authority ${index}`, issuer })
    path.unshift(issuer)
  }
  return [await issue({ issuer }), ...path]
}

const leafOf = async (issuer: Wanted['issuer'] & object): Promise<Issued[]> => [await issue({ issuer })]

/** A leaf below an authority that differs, below the root. */
async function throughMiddle(wanted: Parameters<typeof issueAuthority>[0]): Promise<Issued[]> {
  const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, ...wanted })
  return [await issue({ issuer: middle }), middle]
}
