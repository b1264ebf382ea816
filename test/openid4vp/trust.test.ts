import { describe, expect, spyOn, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { decode } from 'cbor-x'
import { Findings } from '../../src/openid4vp/finding.ts'
import { checkTrust, judgeChain, type TrustAnchor } from '../../src/openid4vp/trust.ts'
import {
  authorityKey,
  crlPoint,
  DAY_MS,
  DOCUMENT_SIGNER,
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

function anchorOf({ der }: Pick<Issued, 'der'>, over: Partial<TrustAnchor> = {}): TrustAnchor {
  return { id: 'anchor', certificate: der, mode: 'pkix', crl: null, trustedFor: null, label: 'Test', isSandbox: false, ...over }
}

type Given = { chain: Pick<Issued, 'der'>[]; anchors: TrustAnchor[]; type?: string; now?: number }

function trust({ chain, anchors, type = PID, now = NOW }: Given) {
  const findings = new Findings(() => now)
  const { issuer, anchor } = checkTrust(findings, { chain: chain.map(({ der }) => der), type, anchors, environment: 'live', now })
  const failed = findings.all.find(({ status }) => status === 'fail')
  const warnings = findings.all.filter(({ status }) => status === 'warning').map(({ check, detail }) => `${check}: ${detail}`)
  return { holds: findings.holds('issuer_chain'), failures: findings.failures, detail: failed?.detail, warnings, issuer, anchor }
}

/** It fails as an untrusted issuer, once, with this in its detail, and no anchor comes out. */
function expectRefused(given: Given, detail: string): void {
  const result = trust(given)
  expect(result.detail).toContain(detail)
  expect(result).toMatchObject({ holds: false, failures: ['issuer_untrusted'], anchor: undefined, warnings: [] })
}

function expectTrusted(given: Given, anchor: TrustAnchor | undefined = given.anchors[0]): void {
  const result = trust(given)
  expect(result.detail).toBeUndefined()
  expect(result).toMatchObject({ holds: true, failures: [], warnings: [], anchor })
}

describe('a chain that leads to an anchor is trusted', () => {
  test('the leaf issued by the anchor, and the issuer is the subject of the leaf', async () => {
    const root = await issueAuthority()
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

  test('through one, three and four intermediates: five certificates are the most', async () => {
    const root = await issueAuthority()
    for (const count of [1, 3, 4]) expectTrusted({ chain: await makePath(root, count), anchors: [anchorOf(root)] })
  })

  test('an anchor that is an intermediate, sent along or not, without its own root', async () => {
    const root = await issueAuthority()
    const [leaf, middle] = await makePath(root, 1)
    if (!leaf || !middle) throw new Error('a path of two')
    expectTrusted({ chain: [leaf], anchors: [anchorOf(middle)] })
    expectTrusted({ chain: [leaf, middle], anchors: [anchorOf(middle)] })
  })

  test('a pinned leaf, self-signed or not, is taken as it is', async () => {
    const root = await issueAuthority()
    const reader = await issue({ issuer: root, extensions: [purposes(['1.0.18013.5.1.6']), unknownCritical()] })
    const self = await issue({})
    expectTrusted({ chain: [reader], anchors: [anchorOf(reader)] })
    expectTrusted({ chain: [self], anchors: [anchorOf(self)] })
  })

  test('with other anchors around it, and when two have the same name', async () => {
    const [stranger, older, root] = [
      await issueAuthority({ name: 'CN=Stranger' }),
      await issueAuthority(),
      await issueAuthority(),
    ]
    const leaf = await issue({ issuer: root })
    const anchors = [stranger, older, root].map((authority, index) => anchorOf(authority, { id: `a${index}` }))
    expectTrusted({ chain: [leaf], anchors }, anchors[2])
  })

  test('on P-384, P-521, Ed25519 and RSA-2048', async () => {
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

  test('a root that was sent along is a warning (HAIP 6.1.1), and so is the sandbox issuer', async () => {
    const root = await issueAuthority()
    const leaf = await issue({ issuer: root })
    const sent = trust({ chain: [leaf, root], anchors: [anchorOf(root)] })
    expect(sent).toMatchObject({ holds: true, failures: [] })
    expect(sent.warnings).toEqual([expect.stringContaining('issuer_chain: The issuer sent its root certificate along')])
    expect(trust({ chain: [leaf], anchors: [anchorOf(root, { isSandbox: true })] }).warnings).toEqual([
      'environment: sandbox issuer',
    ])
  })
})

describe('no anchor, or the wrong one', () => {
  test('no anchors at all says exactly that, and what to do', async () => {
    const leaf = await issue({})
    expectRefused({ chain: [leaf], anchors: [] }, 'No issuers are trusted yet: add the root certificate')
    expectRefused({ chain: [leaf], anchors: [] }, 'vidimus trust add FILE.pem --env live')
  })

  test('an untrusted root, sent along or not, even with the name of a trusted one', async () => {
    const root = await issueAuthority()
    const imposter = await issueAuthority()
    const leaf = await issue({ issuer: imposter })
    expectRefused({ chain: [leaf], anchors: [anchorOf(root)] }, 'not one that you trust')
    expectRefused({ chain: [leaf, imposter], anchors: [anchorOf(root)] }, 'not one that you trust')
  })

  test('a self-signed leaf', async () => {
    expectRefused({ chain: [await issue({})], anchors: [anchorOf(await issueAuthority())] }, 'signed by itself')
  })

  test('an issuer trusted for type A that issues type B', async () => {
    const root = await issueAuthority()
    const leaf = await issue({ issuer: root })
    const anchor = anchorOf(root, { trustedFor: 'urn:eudi:pid:1' })
    expectTrusted({ chain: [leaf], anchors: [anchor], type: 'urn:eudi:pid:1' })
    expectRefused({ chain: [leaf], anchors: [anchor], type: 'org.iso.18013.5.1.mDL' }, 'but for another type of credential')
    const other = anchorOf(await issueAuthority({ name: 'CN=Other' }), { id: 'other', trustedFor: 'x' })
    expectRefused({ chain: [leaf], anchors: [other] }, 'No issuer is trusted for this type')
  })

  test('the issuer is still named, without letters that rearrange text', async () => {
    const { issuer } = trust({ chain: [await issue({ name: 'C=DE, CN=Nobody' })], anchors: [] })
    expect(issuer).toEqual({ common_name: 'Nobody', country: 'DE' })
    expect(trust({ chain: [await issue({ name: 'C=DEU, CN=No\u202ebody' })], anchors: [] }).issuer).toEqual({})
    expect(trust({ chain: [await issue({ name: `CN=${'x'.repeat(201)}` })], anchors: [] }).issuer).toEqual({})
  })
})

describe('a chain that is not sound', () => {
  test('empty', async () => {
    expectRefused({ chain: [], anchors: [anchorOf(await issueAuthority())] }, 'without the certificate of its issuer')
  })

  test('50 certificates, and six', async () => {
    const root = await issueAuthority()
    const path = await makePath(root, 5)
    expectRefused({ chain: path, anchors: [anchorOf(root)] }, 'more than 5 certificates')
    expectRefused({ chain: Array.from({ length: 50 }, () => root), anchors: [anchorOf(root)] }, 'more than 5 certificates')
  })

  test('unreadable, and too large', async () => {
    const root = await issueAuthority()
    const leaf = await issue({ issuer: root })
    expectRefused({ chain: [leaf, { der: Uint8Array.of(0x30, 0) }], anchors: [anchorOf(root)] }, 'cannot be read')
    expectRefused({ chain: [leaf, { der: new Uint8Array(8193) }], anchors: [anchorOf(root)] }, 'too large')
  })

  test('in the wrong order, and with a stranger in it', async () => {
    const root = await issueAuthority()
    const [leaf, middle] = await makePath(root, 1)
    if (!leaf || !middle) throw new Error('a path of two')
    expectRefused({ chain: [middle, leaf], anchors: [anchorOf(root)] }, 'not in order')
    expectRefused({ chain: [leaf, root, middle], anchors: [anchorOf(root)] }, 'not in order')
    expectRefused({ chain: [leaf, await issueAuthority()], anchors: [anchorOf(middle)] }, 'not in order')
  })

  test('the same certificate twice, in a loop of cross-signed authorities', async () => {
    const [a, b] = [
      { keys: await makeKeys(), name: 'CN=A' },
      { keys: await makeKeys(), name: 'CN=B' },
    ]
    const aByB = await issueAuthority({ ...a, issuer: b })
    const bByA = await issueAuthority({ ...b, issuer: a })
    const leaf = await issue({ issuer: a })
    const anchors = [anchorOf(await issueAuthority())]
    expectRefused({ chain: [leaf, aByB, bByA], anchors }, 'not one that you trust')
    expectRefused({ chain: [leaf, aByB, bByA, aByB, bByA], anchors }, 'twice')
  })

  test('a leaf or an authority with RSA-1024, and an anchor too', async () => {
    const weak = await makeKeys({ ...RSA, modulusLength: 1024 })
    const root = await issueAuthority()
    const weakRoot = await issueAuthority({ keys: weak })
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, keys: weak })
    expectRefused({ chain: [await issue({ issuer: root, keys: weak })], anchors: [anchorOf(root)] }, 'too weak')
    expectRefused({ chain: [await issue({ issuer: middle }), middle], anchors: [anchorOf(root)] }, 'too weak')
    expectRefused({ chain: [await issue({ issuer: weakRoot })], anchors: [anchorOf(weakRoot)] }, 'key that is not accepted')
  })

  test('a signature of another key, under the right name and key identifier', async () => {
    const root = await issueAuthority()
    const forged = await issue({
      issuer: { name: root.name, keys: await makeKeys() },
      extensions: [await authorityKey(root.keys)],
    })
    expectRefused({ chain: [forged], anchors: [anchorOf(root)] }, 'not one that you trust')
  })

  test('the key of the anchor under another name, and a signature with SHA-1', async () => {
    const root = await issueAuthority()
    const renamed = await issue({ issuer: { ...root, name: 'C=NL, CN=Test Root 2' } })
    const old = await issue({ issuer: root, hash: 'SHA-1' })
    expectRefused({ chain: [renamed], anchors: [anchorOf(root)] }, 'not one that you trust')
    expectRefused({ chain: [old], anchors: [anchorOf(root)] }, 'not one that you trust')
  })

  test('a key on another curve', async () => {
    const root = await issueAuthority()
    const leaf = Buffer.from((await issue({ issuer: root })).der)
    leaf[leaf.indexOf(Buffer.from('06082a8648ce3d030107', 'hex')) + 9] = 0x77
    expectRefused({ chain: [{ der: leaf }], anchors: [anchorOf(root)] }, 'of a kind that is not accepted')
  })

  test('a key identifier of another authority', async () => {
    const keys = await makeKeys()
    const root = await issueAuthority({ keys, extensions: [isAuthority(), signsCertificates(), await keyIdentifier(keys)] })
    const other = await issue({ issuer: root, extensions: [await authorityKey(await makeKeys())] })
    const right = await issue({ issuer: root, extensions: [await authorityKey(keys)] })
    expectRefused({ chain: [other], anchors: [anchorOf(root)] }, 'not one that you trust')
    expectTrusted({ chain: [right], anchors: [anchorOf(root)] })
  })
})

describe('a path that an authority did not allow', () => {
  test('an intermediate with CA:false, without basic constraints, or without keyCertSign', async () => {
    const root = await issueAuthority()
    const cases: [Wanted['extensions'] & object, string][] = [
      [[isNoAuthority(), signsCertificates()], 'not a certificate authority'],
      [[], 'not a certificate authority'],
      [[isAuthority(), usages(Usage.digitalSignature)], 'may not issue certificates'],
    ]
    for (const [extensions, detail] of cases) {
      const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, extensions })
      expectRefused({ chain: [await issue({ issuer: middle }), middle], anchors: [anchorOf(root)] }, detail)
    }
  })

  test('a pinned leaf issues nothing', async () => {
    const leaf = await issue({ name: 'CN=Leaf' })
    expectRefused({ chain: [await issue({ issuer: leaf })], anchors: [anchorOf(leaf)] }, 'not a certificate authority')
  })

  test('an authority without key usage may issue (RFC 5280 6.1.4 n)', async () => {
    const root = await issueAuthority({ extensions: [isAuthority()] })
    expectTrusted({ chain: [await issue({ issuer: root })], anchors: [anchorOf(root)] })
  })

  test('a path length is kept to the letter', async () => {
    for (const [pathLength, intermediates, ok] of [
      [0, 0, true],
      [0, 1, false],
      [1, 1, true],
      [1, 2, false],
    ] as const) {
      const root = await issueAuthority({ pathLength })
      const given = { chain: await makePath(root, intermediates), anchors: [anchorOf(root)] }
      if (ok) expectTrusted(given)
      else expectRefused(given, 'more certificates between')
    }
  })

  test('an authority that renews its own key does not count for the path length (RFC 5280 6.1.4 l)', async () => {
    const root = await issueAuthority({ pathLength: 0 })
    const renewed = await issueAuthority({ name: root.name, issuer: root })
    expect(trust({ chain: [await issue({ issuer: renewed }), renewed], anchors: [anchorOf(root)] }).holds).toBe(true)
  })

  test('an unknown critical extension in the leaf, an intermediate or the anchor', async () => {
    const root = await issueAuthority()
    const extensions = [isAuthority(), signsCertificates(), unknownCritical()]
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, extensions })
    const odd = await issueAuthority({ extensions })
    const leaf = await issue({ issuer: root, extensions: [unknownCritical()] })
    expectRefused({ chain: [leaf], anchors: [anchorOf(root)] }, 'critical extension')
    expectRefused({ chain: [await issue({ issuer: middle }), middle], anchors: [anchorOf(root)] }, 'critical extension')
    expectRefused({ chain: [await issue({ issuer: odd })], anchors: [anchorOf(odd)] }, 'critical extension')
  })

  test('a leaf made for another purpose; one made for signing credentials passes', async () => {
    const root = await issueAuthority()
    const [server, eudiPid] = ['1.3.6.1.5.5.7.3.1', '1.3.130.2.0.0.1.2']
    const cases: [Wanted['extensions'] & object, string | undefined][] = [
      [[purposes(['1.0.18013.5.1.6'])], 'of a reader'],
      [[purposes([DOCUMENT_SIGNER, '1.0.18013.5.1.6'])], 'of a reader'],
      [[purposes(['1.0.18013.5.1.8'], false)], 'of a reader or of a trust list'],
      [[purposes([server])], 'another purpose'],
      [[usages(Usage.keyCertSign)], 'not made for signing'],
      [[usages(Usage.keyAgreement)], 'not made for signing'],
      [[purposes([DOCUMENT_SIGNER])], undefined],
      [[purposes([eudiPid])], undefined],
      [[purposes([server, DOCUMENT_SIGNER])], undefined],
      [[usages(Usage.digitalSignature)], undefined],
      [[usages(Usage.nonRepudiation)], undefined],
    ]
    for (const [extensions, detail] of cases) {
      const given = { chain: [await issue({ issuer: root, extensions })], anchors: [anchorOf(root)] }
      if (detail) expectRefused(given, detail)
      else expectTrusted(given)
    }
  })
})

describe('dates', () => {
  const [from, to] = [NOW - 10 * DAY_MS, NOW + 10 * DAY_MS]

  test('of the leaf: both limits are inside, a millisecond beyond is not, also when the path is remembered', async () => {
    const root = await issueAuthority()
    const leaf = await issue({ issuer: root, notBefore: from, notAfter: to })
    const given = { chain: [leaf], anchors: [anchorOf(root)] }
    expectTrusted({ ...given, now: from })
    expectTrusted({ ...given, now: to })
    expectRefused({ ...given, now: from - 1 }, 'not valid yet')
    expectRefused({ ...given, now: to + 1 }, 'of the issuer has expired')
    expectTrusted({ ...given, now: to })
  })

  test('of an intermediate', async () => {
    const root = await issueAuthority()
    const middle = await issueAuthority({ name: 'CN=Middle', issuer: root, notBefore: from, notAfter: to })
    const given = { chain: [await issue({ issuer: middle }), middle], anchors: [anchorOf(root)] }
    expectTrusted({ ...given, now: to })
    expectRefused({ ...given, now: to + 1 }, 'of the issuer has expired')
    expectRefused({ ...given, now: from - 1 }, 'not valid yet')
  })

  test('of the anchor, which is for the operator to replace', async () => {
    const root = await issueAuthority({ notBefore: from, notAfter: to })
    const given = { chain: [await issue({ issuer: root })], anchors: [anchorOf(root)] }
    expectTrusted({ ...given, now: to })
    expectRefused({ ...given, now: to + 1 }, 'that you trust this issuer by has expired')
    expectRefused({ ...given, now: from - 1 }, 'not valid yet')
  })

  test('of a pinned leaf', async () => {
    const leaf = await issue({ notBefore: from, notAfter: to })
    expectTrusted({ chain: [leaf], anchors: [anchorOf(leaf)], now: to })
    expectRefused({ chain: [leaf], anchors: [anchorOf(leaf)], now: to + 1 }, 'has expired')
  })
})

describe('what is remembered', () => {
  test('does not outlive its anchor: the same id with another certificate is another anchor', async () => {
    const [root, other] = [await issueAuthority(), await issueAuthority()]
    const chain = [await issue({ issuer: root })]
    expectTrusted({ chain, anchors: [anchorOf(root)] })
    expectRefused({ chain, anchors: [anchorOf(other)] }, 'not one that you trust')
    expectTrusted({ chain, anchors: [anchorOf(root)] })
  })

  test('is not taken for another mode, or for another chain of the same bytes', async () => {
    const root = await issueAuthority()
    const leaf = await issue({ issuer: root })
    expectTrusted({ chain: [leaf], anchors: [anchorOf(root)] })
    expectRefused({ chain: [leaf], anchors: [anchorOf(root, { mode: 'iso' })] }, 'Annex B')
    const joined = { der: Buffer.concat([leaf.der, root.der]) }
    expect(trust({ chain: [leaf, root], anchors: [anchorOf(root)] }).holds).toBe(true)
    expectRefused({ chain: [joined], anchors: [anchorOf(root)] }, 'cannot be read')
  })

  test('a signature is verified once', async () => {
    const root = await issueAuthority()
    const chain = await makePath(root, 4)
    const verify = spyOn(X509Certificate.prototype, 'verify')
    expectTrusted({ chain, anchors: [anchorOf(root)] })
    expect(verify).toHaveBeenCalledTimes(5)
    expectTrusted({ chain, anchors: [anchorOf(root)], now: NOW + 1 })
    expect(verify).toHaveBeenCalledTimes(5)
    verify.mockRestore()
  })
})

describe('mode iso: ISO/IEC 18013-5 Annex B, rule by rule', () => {
  const DS = 'C=NL, CN=Signer'
  const IACA = 'C=NL, CN=Root'

  test('certificates that keep every rule are trusted; a pinned signer too', async () => {
    const { root, signer } = await isoPair({})
    expectTrusted({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] })
    expectTrusted({ chain: [signer], anchors: [anchorOf(signer, { mode: 'iso' })] })
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

  test('457 days and 20 years are allowed', async () => {
    const { root, signer } = await isoPair({ signer: { days: 457 }, root: { days: 20 * 365.25 } })
    expectTrusted({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] })
  })

  test('the same state on both sides is allowed, and a state that the root does not have', async () => {
    const { root, signer } = await isoPair({ root: { name: 'C=US, ST=UT, CN=Root' }, signer: { name: 'C=US, ST=UT, CN=Signer' } })
    expectTrusted({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] })
    const one = await isoPair({ signer: { name: 'C=NL, ST=UT, CN=Signer' } })
    expectTrusted({ chain: [one.signer], anchors: [anchorOf(one.root, { mode: 'iso' })] })
  })

  test('a root that is not self-signed, and a signer that is not issued by it directly', async () => {
    const { root, signer } = await isoPair({}, await issueAuthority({ name: 'CN=Above' }))
    expectRefused({ chain: [signer], anchors: [anchorOf(root, { mode: 'iso' })] }, 'of the root, it is not self-signed')
    const above = await issueAuthority({ name: 'CN=Above' })
    const [leaf, middle] = await makePath(above, 1)
    if (!leaf || !middle) throw new Error('a path of two')
    expectRefused(
      { chain: [leaf, middle], anchors: [anchorOf(above, { mode: 'iso' })] },
      'not issued by the trusted root directly',
    )
  })

  test('a pinned signer is held to the rules of a signer', async () => {
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

  test('a root trusted in both modes is as good as the milder one', async () => {
    const { root, signer } = await isoPair({ signer: { crl: undefined } })
    const anchors = [anchorOf(root, { id: 'iso', mode: 'iso' }), anchorOf(root, { id: 'pkix' })]
    expectTrusted({ chain: [signer], anchors }, anchors[1])
  })

  test('whoever signs status lists needs no document signer certificate', async () => {
    const { root } = await isoPair({})
    const leaf = await issue({ issuer: root })
    const input = {
      chain: [leaf.der],
      type: PID,
      anchors: [anchorOf(root, { mode: 'iso' })],
      environment: 'test' as const,
      now: NOW,
    }
    expect(judgeChain(input, 'status').ok).toBe(true)
    expect(judgeChain(input, 'credential').ok).toBe(false)
  })

  type Ext = NonNullable<Wanted['extensions']>[number]
  type Change = Partial<
    Record<'purposes' | 'usages' | 'basic' | 'authority' | 'keyIdentifier' | 'altName' | 'crl', Ext | undefined>
  > & {
    name?: string
    days?: number
  }

  /** `rootName` is how the signer calls its root. */
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

/** The x5chain of the first document, read by a library and none of our code. */
function chainOf(deviceResponse: Uint8Array): Uint8Array[] {
  const response = decode(deviceResponse)
  const [, unprotected] = response.documents[0].issuerSigned.issuerAuth
  const x5chain = unprotected instanceof Map ? unprotected.get(33) : unprotected[33]
  return Array.isArray(x5chain) ? x5chain : [x5chain]
}

/** Leaf first, below the root, with so many authorities between. */
async function makePath(root: Issued, intermediates: number): Promise<Issued[]> {
  const path: Issued[] = []
  let issuer = root
  for (let index = 0; index < intermediates; index++) {
    issuer = await issueAuthority({ name: `CN=Authority ${index}`, issuer })
    path.unshift(issuer)
  }
  return [await issue({ issuer }), ...path]
}
