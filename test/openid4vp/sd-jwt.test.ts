import 'reflect-metadata'
import { describe, expect, test } from 'bun:test'
import { createHmac, hash, randomBytes } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { SDJwt } from '@sd-jwt/core'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import fc from 'fast-check'
import type { Expected, ReadCredential } from '../../src/openid4vp/credential.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { discloseClaims } from '../../src/openid4vp/sd-jwt/disclosures.ts'
import { SdJwtDecoder } from '../../src/openid4vp/sd-jwt/form.ts'
import { importPublicJwk, isSignedBy } from '../../src/openid4vp/sd-jwt/jws.ts'
import { findKeyBindingProblem } from '../../src/openid4vp/sd-jwt/key-binding.ts'
import { SdJwtReader } from '../../src/openid4vp/sd-jwt/sd-jwt.ts'
import { SignerCertificates } from '../../src/openid4vp/trust/signer-certificate.ts'
import { leastWorkMs } from '../helpers/least-work.ts'
import { anyText } from '../helpers/texts.ts'
import { vectors } from '../helpers/vectors.ts'

type Json = Record<string, unknown>
type Vector = {
  id: string
  title: string
  input: { sd_jwt: string; issuer_jwk?: Json; disclosure: string }
  context?: { now: string; aud?: string; nonce?: string; vct?: string }
  expect: {
    outcome: string
    reason?: string
    header?: Json
    processed_payload?: Json
    kb_payload?: { iat: number }
    digest?: string
    content?: unknown[]
  }
}

const reader = new SdJwtReader()
const decoder = new SdJwtDecoder()

const NOW_S = 1_794_700_800
const NOW = NOW_S * 1000
const EXPECTED: Expected = {
  now: NOW,
  createdAt: NOW - 30_000,
  nonce: 'q7kJ0Zt1xw2M8cVbN4eR5gq7kJ0Zt1xw2M8cVbN4eR5',
  audience: 'x509_hash:Uvo3HtuIxuhC92rShpgqcT3YXwrqRxWEviRiA0OZszk',
  transcript: () => new Uint8Array(),
}
const PARAMETERS = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  EdDSA: { name: 'Ed25519' },
}
type Alg = keyof typeof PARAMETERS

const issuers = { ES256: await makeIssuer('ES256'), ES384: await makeIssuer('ES384'), EdDSA: await makeIssuer('EdDSA') }
const holders = { ES256: await makeKeys('ES256'), ES384: await makeKeys('ES384'), EdDSA: await makeKeys('EdDSA') }

const HOLDER = holders.ES256.jwk

describe('public vectors: SD-JWT VC presentations with one defect each, through the whole reader', () => {
  each('sdjwt-negative.json', async vector => {
    const { findings, credential } = await readVector(vector, true)
    if (vector.expect.reason === 'sdjwt.vct') {
      // The query check compares the types; the reader only returns the type.
      expect(failedChecks(findings)).toEqual([])
      expect(credential?.type).not.toBe(vector.context?.vct)
      return
    }
    if (vector.expect.outcome === 'reject') return expect(failedChecks(findings)[0]).toBe(checkFor(vector))
    expectAccepted(vector, findings, credential)
    // Left open by the specification: accepted with a warning.
    if (vector.expect.outcome === 'policy') expect(vector.id).toBe('pos-typ-legacy')
    expect(warnings(findings)).toEqual(vector.id === 'pos-typ-legacy' ? ['format'] : [])
  })
})

describe('public vectors: credentials of real issuers, with the key of their certificate', () => {
  each('sdjwt-credentials.json', async vector => {
    const { findings, credential } = await readVector(vector, !vector.input.sd_jwt.endsWith('~'))
    if (vector.expect.outcome === 'reject') return expect(failedChecks(findings)[0]).toBe(checkFor(vector))
    expectAccepted(vector, findings, credential)
    const { x5c } = JSON.parse(Buffer.from(vector.input.sd_jwt.split('.')[0] ?? '', 'base64url').toString())
    expect(credential?.chain.map(der => Buffer.from(der).toString('base64'))).toEqual(x5c)
    expect(warnings(findings)).toEqual(vector.expect.header?.typ === 'vc+sd-jwt' ? ['format'] : [])
  })
})

describe('public vectors: read with another key, day numbers count as dates and an unknown status is reported', () => {
  const isMeant = ({ id }: Vector) => id === 'eudi-pid-malformed-times'
  each('sdjwt-credentials.json', readWithForeignKey, isMeant)

  async function readWithForeignKey(vector: Vector) {
    const findings = new Findings(() => NOW)
    const key = issuers.ES256.keys.publicKey
    const credential = await reader.read(findings, vector.input.sd_jwt, expectedOf(vector), false, key)
    expect(findings.failures).toEqual(['signature_invalid', 'credential_expired'])
    expect(credential?.status).toBe('unsupported')
  }
})

describe('public vectors: SD-JWT VC of the IETF documents, through the whole reader with the published key', () => {
  each('sdjwt-ietf.json', async vector => {
    const isCredential = vector.expect.header?.typ === 'dc+sd-jwt'
    const { findings, credential } = await readVector(vector, vector.expect.kb_payload !== undefined)
    // The others are plain SD-JWTs, compared below.
    if (isCredential) expectAccepted(vector, findings, credential)
    else expect(failedChecks(findings)).toEqual(['format'])
  })
})

describe('public vectors: the SD-JWT layer alone (issuer signature, processed payload, key binding)', () => {
  each('sdjwt-ietf.json', async vector => {
    const sdJwt = decoder.decode(vector.input.sd_jwt)
    const key = (await importPublicJwk(vector.input.issuer_jwk ?? {})) as CryptoKey
    expect(await isSignedBy({ text: sdJwt.jwt.text, alg: sdJwt.jwt.header.alg, key })).toBe(true)
    const processed = { claims: vector.expect.processed_payload ?? {}, isAllSigned: true }
    expect<object>(discloseClaims(sdJwt.jwt.payload, sdJwt.disclosures)).toEqual(processed)
    if (vector.expect.kb_payload) expect(await findKeyBindingProblem(sdJwt, expectedOf(vector))).toBeUndefined()
    else expect(sdJwt.keyBinding).toBeUndefined()
  })
})

const hasher = (text: string | ArrayBuffer, alg: string) => hash(alg.replace('-', ''), String(text), 'buffer')

describe('public vectors: @sd-jwt/core reads the same', () => {
  each('sdjwt-ietf.json', async ({ input }) => {
    const own = decoder.decode(input.sd_jwt)
    const { jwt, disclosures = [], kbJwt } = await SDJwt.fromEncode(input.sd_jwt, hasher)
    expect([own.jwt.header, own.jwt.payload]).toEqual([jwt?.header, jwt?.payload] as never[])
    expect([own.keyBinding?.header, own.keyBinding?.payload]).toEqual([kbJwt?.header, kbJwt?.payload] as never[])
    const alg = String(own.jwt.payload._sd_alg ?? 'sha-256')
    const theirs = disclosures.map(async each => ({
      digest: await each.digest({ hasher, alg }),
      salt: each.salt,
      name: each.key,
      value: each.value,
    }))
    expect(own.disclosures as unknown[]).toEqual(await Promise.all(theirs))
  })
})

/** The reason for our own reader. A library that refuses all of these could replace it. */
describe('leniency of @sd-jwt/core', () => {
  const good = ['salt', 'family_name', 'M']
  const padded = `${encode(['salt-2', 'given_name', 'E'])}==`
  const spaced = encode(['salt', 'given_name', 'E']).replace(/^../, '$& ')
  const lenient: [string, Making][] = [
    ['a disclosure with padding', { loose: [padded], payload: { _sd: [digestOf(padded)] } }],
    ['a disclosure with a space in its base64url', { loose: [spaced], payload: { _sd: [digestOf(spaced)] } }],
    ['a disclosure twice', { loose: [encode(good)] }],
    ['a disclosure that no digest refers to', { loose: [encode(['salt', 'given_name', 'E'])] }],
    ['a digest twice', { payload: { _sd: [digestOf(encode(good))] } }],
  ]
  test.each(lenient)('@sd-jwt/core accepts %s, which is refused here', async (_, making) => {
    const text = await present({ disclosures: [good], ...making })
    const theirs = await SDJwt.fromEncode(text, hasher)
    expect(await theirs.getClaims<Json>(hasher)).toMatchObject({ family_name: 'M' })
    const { findings } = await read(text)
    expect(failedChecks(findings)).toEqual(['digests'])
  })
})

describe('public vectors: digest and content of a disclosure', () => {
  each('sdjwt-disclosure.json', async vector => {
    const jwt = `${encode({})}.${encode({ _sd_alg: 'sha-256' })}.`
    const [found] = decoder.decode(`${jwt}~${vector.input.disclosure}~`).disclosures
    const { digest, salt, name, value } = found ?? {}
    expect(digest).toBe(vector.expect.digest as string)
    expect(name === undefined ? [salt, value] : [salt, name, value]).toEqual(vector.expect.content as unknown[])
  })
})

const largeNumberAsText = (_: string, value: unknown): unknown =>
  typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? JSON.stringify(value) : value

describe('credentials made by @sd-jwt/sd-jwt-vc', () => {
  test.each(['ES256', 'ES384', 'EdDSA'] as const)('%s for issuer and holder, nested disclosures and decoys', async alg => {
    const claims = { given_name: 'Ada', address: { country: 'DE', city: 'Köln' }, nationalities: ['DE', 'FR'], age_over_18: true }
    const library = libraryFor(alg)
    const issued = await library.issue(
      { iss: 'https://issuer.example', vct: 'urn:eudi:pid:1', exp: NOW_S + 1000, cnf: { jwk: holders[alg].jwk }, ...claims },
      { _sd: ['given_name', 'address'], address: { _sd: ['city'] }, nationalities: { _sd: [0, 1] }, _sd_decoy: 3 } as never,
      { header: { x5c: [issuers[alg].x5c] } },
    )
    const kb = { payload: { iat: NOW_S, aud: EXPECTED.audience, nonce: EXPECTED.nonce } }
    const frame = { address: { city: true }, nationalities: { 1: true } }
    const { findings, credential } = await read(await library.present(issued, frame as never, { kb }))
    expect(failedChecks(findings)).toEqual([])
    expect(passedChecks(findings)).toEqual(['digests', 'format', 'holder_binding', 'issuer_signature', 'validity'])
    expect(credential?.claims).toEqual({
      iss: 'https://issuer.example',
      vct: 'urn:eudi:pid:1',
      exp: NOW_S + 1000,
      cnf: { jwk: holders[alg].jwk },
      address: { country: 'DE', city: 'Köln' },
      nationalities: ['FR'],
      age_over_18: true,
    })
  })

  test('random claims, disclosable or not, are all returned', async () => {
    const library = libraryFor('ES256')
    // Ordinary names only: the library loses an empty one and fails on `toString`.
    const name = fc.string({ minLength: 1, unit: fc.constantFrom(...'abcdeé') }).map(text => `c${text}`)
    const { claims } = fc.letrec<{ value: unknown; claims: Json }>(tie => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
        fc.array(tie('value')),
        tie('claims'),
      ),
      claims: fc.dictionary(name, tie('value'), { noNullPrototype: true }),
    }))
    await fc.assert(
      fc.asyncProperty(claims, fc.infiniteStream(fc.boolean()), async (all, coin) => {
        const toss = () => coin.next().value === true
        const before = JSON.parse(JSON.stringify(all))
        const payload = { vct: 'v', iss: 'https://issuer.example', ...before }
        const issued = await library.issue(payload, frameFor(before, toss) as never, { header: { x5c: [issuers.ES256.x5c] } })
        const { findings, credential } = await read(issued, { required: false })
        expect(failedChecks(findings)).toEqual([])
        expect(credential?.claims).toEqual(JSON.parse(JSON.stringify(payload), largeNumberAsText))
      }),
      { numRuns: 200 },
    )
  })
})

describe('accepted', () => {
  const cases: [string, Made][] = [
    ['everything in order, and a holder key with only its four members', {}],
    ['nothing that can be disclosed', { payload: { name: 'Ada' } }],
    ['decoys, also with the names of object members', { payload: { _sd: ['constructor', '__proto__', 'toString'] } }],
    ['a legacy digest in an array that nobody discloses', { payload: { list: [{ '...': 'constructor' }] } }],
    ['key material in the header of the issuer, which is ignored', { header: { jwk: holders.ES256.jwk, kid: 'x' } }],
    ['jku and x5u, which are never fetched', { header: { jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' } }],
    ['unknown claims in the key binding', { binding: { extra: { a: [1] } } }],
    [
      'a holder key with many other members',
      { payload: { cnf: { jwk: { ...HOLDER, use: 'enc', alg: 'ECDH-ES', kid: 'k', key_ops: [] } } } },
    ],
    ['issuer ES384, holder EdDSA', { issuer: 'ES384', holder: 'EdDSA' }],
    ['issuer EdDSA, holder ES384', { issuer: 'EdDSA', holder: 'ES384' }],
    ['_sd_alg sha-384', { sdAlg: 'sha-384', disclosures: [['s', 'a', 1]] }],
    ['_sd_alg sha-512', { sdAlg: 'sha-512', disclosures: [['s', 'a', 1]] }],
    [
      'sub and iat as disclosures',
      {
        payload: { iat: undefined },
        disclosures: [
          ['s', 'iat', 5],
          ['s', 'sub', 'x'],
        ],
      },
    ],
    ['names like those of protected claims, further inside', { disclosures: [['s', 'a', { exp: 1, vct: 2 }]] }],
    ['an empty name, an empty salt, an empty object', { disclosures: [['', '', {}]] }],
  ]
  test.each(cases)('a presentation is accepted: %s', async (_, make) => {
    const { findings, credential } = await read(await made(make))
    expect(findings.all.filter(({ status }) => status !== 'pass')).toEqual([])
    expect(passedChecks(findings)).toEqual(['digests', 'format', 'holder_binding', 'issuer_signature', 'validity'])
    expect(credential?.type).toBe('urn:eudi:pid:1')
  })

  test('findings have the order of the checks', async () => {
    const { findings } = await read(await present())
    expect(findings.all.map(({ check }) => check)).toEqual([
      'issuer_signature',
      'digests',
      'format',
      'validity',
      'holder_binding',
    ])
  })

  test('__proto__ is an ordinary claim, signed or disclosed', async () => {
    const nested = JSON.parse('{"__proto__":{"admin":true}}')
    const presentation = await present({ payload: { a: nested }, disclosures: [['s', '__proto__', { admin: true }]] })
    const { findings, credential } = await read(presentation)
    expect(failedChecks(findings)).toEqual([])
    const claims = credential?.claims ?? {}
    expect(claims.admin).toBeUndefined()
    expect(Object.getOwnPropertyDescriptor(claims, '__proto__')?.value).toEqual({ admin: true })
    expect(Object.keys(claims.a as Json)).toEqual(['__proto__'])
    expect(({} as Json).admin).toBeUndefined()
  })

  test('empty objects are kept; undisclosed array elements, _sd and _sd_alg are removed', async () => {
    const payload = { only: { _sd: ['x'] }, list: [1, { '...': 'x2' }, [{ '...': 'x3' }]], _sd: ['x4'] }
    const { credential } = await read(await present({ payload, sdAlg: 'sha-256' }))
    expect(credential?.claims).toMatchObject({ only: {}, list: [1, []] })
    expect(Object.keys(credential?.claims ?? {}).sort()).toEqual(['cnf', 'exp', 'iat', 'list', 'only', 'vct'])
  })
})

describe('refused by the matching check', () => {
  const es256 = () => ({ disclosures: [['s', 'a', 1]] as unknown[][] })
  const cases: [string, string, Made][] = [
    ['format', 'nothing', async () => ''],
    ['format', 'only tildes', async () => '~~'],
    ['format', 'a JWT without a tilde', async () => (await present()).split('~')[0] ?? ''],
    ['format', 'the JSON serialisation', async () => JSON.stringify({ payload: 'x', signatures: [] })],
    ['format', 'a JWT of two parts', async () => (await present()).replace('.', '')],
    ['format', 'a JWT of four parts', async () => (await present()).replace('.', '..')],
    ['format', 'a header that is an array', { rawHeader: '[]' }],
    ['format', 'a header that is null', { rawHeader: 'null' }],
    ['format', 'a payload that is an array', { rawPayload: '[]' }],
    ['format', 'a payload that is no JSON', { rawPayload: '{"vct":}' }],
    ['format', 'a name twice in the payload', { rawPayload: '{"vct":"a","vct":"urn:eudi:pid:1"}' }],
    ['format', 'a name twice in the header', { rawHeader: '{"alg":"none","alg":"ES256","typ":"dc+sd-jwt"}' }],
    ['format', 'half of a surrogate pair in the payload', { rawPayload: '{"vct":"\\ud800"}' }],
    ['format', 'a payload that is not UTF-8', { rawPayload: Buffer.from('{"vct":"\xff"}', 'latin1') }],
    ['format', 'a payload with a byte order mark', { rawPayload: '\ufeff{"vct":"v"}' }],
    ['format', 'stray bits after the signature', async () => withStrayBits(await present({ binding: false }))],
    ['format', 'padding after the signature', async () => (await present({ binding: false })).replace('~', '=~')],
    ['format', 'a line break at the end', async () => `${await present()}\n`],
    ['format', 'a space at the beginning', async () => ` ${await present()}`],
    ['format', 'a key binding that is a disclosure', async () => (await present({ ...es256(), binding: false })).slice(0, -1)],
    ['format', 'a typ in capitals', { header: { typ: 'DC+SD-JWT' } }],
    ['format', 'no typ', { header: { typ: undefined } }],
    ['format', 'an unknown critical extension', { header: { crit: ['x'], x: 1 } }],
    ['format', 'an empty crit', { header: { crit: [] } }],
    ['format', 'no x5c', { header: { x5c: undefined } }],
    ['format', 'no x5c but a jwk', { header: { x5c: undefined, jwk: issuers.ES256.jwk } }],
    ['format', 'an empty x5c', { header: { x5c: [] } }],
    ['format', 'an x5c that is a string', { header: { x5c: issuers.ES256.x5c } }],
    ['format', 'an x5c in base64url', { header: { x5c: [Buffer.from(issuers.ES256.x5c, 'base64').toString('base64url')] } }],
    ['format', 'an x5c with a line break', { header: { x5c: [`${issuers.ES256.x5c}\n`] } }],
    ['format', 'an x5c with a number', { header: { x5c: [issuers.ES256.x5c, 1] } }],
    ['format', 'an x5c that is no certificate', { header: { x5c: [Buffer.from('no').toString('base64')] } }],
    ['format', 'an x5c with bytes after the certificate', { header: { x5c: [withTrailing(issuers.ES256.x5c)] } }],
    ['format', 'a certificate in PEM', { header: { x5c: [Buffer.from(issuers.ES256.pem).toString('base64')] } }],
    ['format', 'no vct', { payload: { vct: undefined } }],
    ['format', 'an empty vct', { payload: { vct: '' } }],
    ['format', 'a vct that is a list', { payload: { vct: ['urn:eudi:pid:1'] } }],
    ['format', 'exp as a text', { payload: { exp: '1894700800' } }],
    ['format', 'exp as null', { payload: { exp: null } }],
    ['format', 'exp beyond every number', { rawPayload: '{"vct":"v","exp":1e999}' }],
    ['format', 'nbf as true', { payload: { nbf: true } }],
    ['format', 'a disclosed iat as a text', { payload: { iat: undefined }, disclosures: [['s', 'iat', 'x']] }],

    ['issuer_signature', 'a signature of someone else', { signer: holders.ES256.keys.privateKey }],
    ['issuer_signature', 'alg none with an empty signature', { header: { alg: 'none' }, signature: Buffer.alloc(0) }],
    ['issuer_signature', 'alg none with a good signature', { header: { alg: 'none' } }],
    ['issuer_signature', 'no alg', { header: { alg: undefined } }],
    ['issuer_signature', 'HS256 keyed with the certificate', { header: { alg: 'HS256' }, signature: 'hmac' }],
    ['issuer_signature', 'ES384 in the header, a P-256 key', { header: { alg: 'ES384' } }],
    ['issuer_signature', 'ES256 in the header, a P-384 key', { issuer: 'ES384', header: { alg: 'ES256' } }],
    ['issuer_signature', 'ES256 in the header, an Ed25519 key', { issuer: 'EdDSA', header: { alg: 'ES256' } }],
    ['issuer_signature', 'the DER form of a signature', { signature: 'der' }],
    ['issuer_signature', 'an RSA certificate', async () => present({ header: { alg: 'RS256', x5c: [await rsaCertificate()] } })],

    ['digests', 'a disclosure that is an object', { rawDisclosures: ['{"length":2,"0":"s","1":"v"}'] }],
    ['digests', 'a disclosure that is a text of two characters', { rawDisclosures: ['"sv"'] }],
    ['digests', 'a name twice inside a disclosure', { rawDisclosures: ['["s","a",{"b":1,"b":2}]'] }],
    ['digests', 'half of a surrogate pair in a disclosure', { rawDisclosures: ['["s","a","\\ud800"]'] }],
    ['digests', 'an empty disclosure', async () => (await present({ binding: false })).replace(/~$/, '~~')],
    ['format', 'a disclosure of one', { disclosures: [['s']] }],
    ['format', 'a disclosure of four', { disclosures: [['s', 'a', 1, 2]] }],
    ['digests', 'a salt that is a number', { disclosures: [[1, 'a', 1]] }],
    ['digests', 'a name that is a number', { disclosures: [['s', 1, 1]] }],
    ['digests', 'a name that is null', { disclosures: [['s', null, 1]] }],
    ['digests', 'three members in an array', () => presentInArray(['s', 'a', 1])],
    ['digests', 'an array salt that is an object', () => presentInArray([{}, 1])],
    ['digests', 'the name "..."', { disclosures: [['s', '...', 1]] }],
    ['digests', 'the name _sd_alg', { disclosures: [['s', '_sd_alg', 'md5']] }],
    [
      'digests',
      'two disclosures of one name',
      {
        disclosures: [
          ['s', 'a', 1],
          ['t', 'a', 2],
        ],
      },
    ],
    ['digests', 'the name of a signed claim', { payload: { a: 0 }, disclosures: [['s', 'a', 1]] }],
    ...['iss', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity', 'aka_vcts', 'status'].map((name): [string, string, Made] => [
      'digests',
      `${name} as a disclosure`,
      { payload: { [name]: undefined }, disclosures: [['s', name, 1]] },
    ]),
    ['digests', 'a digest in two places', { payload: { a: { _sd: ['x'] }, b: [{ '...': 'x' }] } }],
    [
      'digests',
      'a digest in a disclosed value and in the payload',
      { payload: { _sd: ['x'] }, disclosures: [['s', 'a', { _sd: ['x'] }]] },
    ],
    ['digests', '_sd that is a text', { payload: { _sd: 'x' } }],
    ['digests', '_sd with a number', { payload: { a: { _sd: ['x', 1] } } }],
    ['digests', '_sd that is null', { payload: { a: { _sd: null } } }],
    ['digests', '"..." next to another key', { payload: { a: [{ '...': 'x', b: 1 }] } }],
    ['digests', '"..." with a number', { payload: { a: [{ '...': 1 }] } }],
    ['digests', '"..." outside an array', { payload: { a: { '...': 'x' } } }],
    ['digests', '_sd_alg further inside', { payload: { a: { _sd_alg: 'sha-256' } } }],
    ['digests', '_sd_alg in capitals', { payload: { _sd_alg: 'SHA-256' } }],
    ['digests', '_sd_alg as a list', { payload: { _sd_alg: ['sha-256'] } }],
    ['digests', '_sd_alg null', { payload: { _sd_alg: null } }],
    ['digests', '_sd_alg of a weak kind, with disclosures', { ...es256(), sdAlg: 'sha-1' }],

    ['holder_binding', 'no key binding', { binding: false }],
    ['holder_binding', 'a critical extension', { bindingHeader: { crit: ['b64'], b64: true } }],
    ['holder_binding', 'typ in capitals', { bindingHeader: { typ: 'KB+JWT' } }],
    ['holder_binding', 'HS256', { bindingHeader: { alg: 'HS256' } }],
    ['holder_binding', 'an alg that does not fit the key', { bindingHeader: { alg: 'ES384' } }],
    [
      'holder_binding',
      'a key in its own header',
      { bindingHeader: { jwk: issuers.ES256.jwk }, bindingSigner: issuers.ES256.keys.privateKey },
    ],
    ['holder_binding', 'cnf without a jwk', { payload: { cnf: { kid: 'x' } } }],
    ['holder_binding', 'cnf as a text', { payload: { cnf: 'x' } }],
    ['holder_binding', 'a private key in cnf', { payload: { cnf: { jwk: { ...HOLDER, d: 'AAAA' } } } }],
    ['holder_binding', 'a point that is not on the curve', { payload: { cnf: { jwk: { ...HOLDER, y: HOLDER.x } } } }],
    ['holder_binding', 'a symmetric key in cnf', { payload: { cnf: { jwk: { kty: 'oct', k: 'AAAA' } } } }],
    ['holder_binding', 'a curve that does not fit the kind', { payload: { cnf: { jwk: { ...HOLDER, kty: 'OKP' } } } }],
    ['holder_binding', 'a curve with an inherited name', { payload: { cnf: { jwk: { ...HOLDER, crv: 'constructor' } } } }],
    ['holder_binding', 'no nonce', { binding: { nonce: undefined } }],
    ['holder_binding', 'the nonce in a list', { binding: { nonce: [EXPECTED.nonce] } }],
    ['holder_binding', 'a nonce that begins right', { binding: { nonce: EXPECTED.nonce.slice(0, -1) } }],
    ['holder_binding', 'the audience in a list', { binding: { aud: [EXPECTED.audience] } }],
    ['holder_binding', 'the response URI as audience', { binding: { aud: 'https://verifier.example/wallet/response/1' } }],
    ['holder_binding', 'no audience', { binding: { aud: undefined } }],
    ['holder_binding', 'no iat', { binding: { iat: undefined } }],
    ['holder_binding', 'iat as a text', { binding: { iat: String(NOW_S) } }],
    ['holder_binding', 'exp as a text', { binding: { exp: String(NOW_S + 100) } }],
    ['holder_binding', 'nbf as null', { binding: { nbf: null } }],
    ['holder_binding', 'no sd_hash', { binding: { sd_hash: undefined } }],
    ['holder_binding', 'sd_hash by another algorithm', { sdAlg: 'sha-512', sdHashAlg: 'sha256' }],
  ]
  test.each<[string, Making]>([
    ['The certificate of the issuer cannot be read.', { header: { x5c: [withTrailing(issuers.ES256.x5c)] } }],
    ['A disclosed value has neither two nor three parts.', { disclosures: [['s', 'a', 1, 2]] }],
  ])('the finding names what cannot be read: %s', async (detail, making) => {
    const { findings } = await read(await present(making))
    expect(findings.all).toMatchObject([{ check: 'format', detail }])
  })

  test.each(cases)('%s fails: %s', async (check, _, make) => {
    const { findings, credential } = await read(await made(make))
    expect(failedChecks(findings)).toContain(check)
    const failure = {
      format: 'presentation_malformed',
      digests: 'presentation_malformed',
      issuer_signature: 'signature_invalid',
    }[check]
    expect(findings.failures).toContain((failure ?? 'holder_binding_invalid') as never)
    // After a malformed part nothing is left to read. After any other problem the rest is reported, too.
    expect(credential === undefined).toBe(check === 'format' || check === 'digests')
    if (credential) expect(findings.all.map(finding => finding.check)).toContain('holder_binding')
  })

  test.each(['Ed25519', 'ES384', 'none'])(
    'a signature that names %s, which is not the algorithm of its key, is told apart from one by another key',
    async alg => {
      const { findings: issuer } = await read(await present({ header: { alg } }))
      expect(detailsOf(issuer)).toEqual(["The signature of the credential must name ES256, the algorithm of its issuer's key."])
      const { findings: holder } = await read(await present({ bindingHeader: { alg } }))
      expect(detailsOf(holder)).toEqual(["The proof of possession must name ES256, the algorithm of the holder's key."])
    },
  )

  test('several problems are reported at once', async () => {
    const signer = holders.ES256.keys.privateKey
    const presentation = await present({ signer, payload: { exp: NOW_S - 1000, nbf: NOW_S + 1000 }, binding: { nonce: 'other' } })
    const { findings, credential } = await read(presentation)
    expect(findings.failures).toEqual([
      'signature_invalid',
      'credential_expired',
      'credential_not_yet_valid',
      'holder_binding_invalid',
    ])
    expect(credential?.type).toBe('urn:eudi:pid:1')
  })

  test('no detail quotes the presentation', async () => {
    const marker = 'zzattackerzz'
    const presentations = await Promise.all([
      present({ header: { typ: marker, crit: [marker] } }),
      present({ header: { alg: marker } }),
      present({ payload: { _sd_alg: marker } }),
      present({ payload: { [marker]: { _sd: marker } } }),
      present({ rawPayload: `{"vct":${marker}}` }),
      present({ disclosures: [[marker, 'exp', marker]], payload: { exp: undefined } }),
      present({ binding: { nonce: marker, aud: marker } }),
      present({ payload: { cnf: { jwk: { kty: marker, crv: marker } } } }),
    ])
    for (const presentation of [...presentations, `${marker}~${marker}~`]) {
      const { findings } = await read(presentation)
      expect(failedChecks(findings)).not.toEqual([])
      expect(JSON.stringify(findings.all)).not.toContain(marker)
    }
  })
})

describe('holder binding that the query does not require', () => {
  test('an absent key binding is skipped', async () => {
    const { findings } = await read(await present({ binding: false }), { required: false })
    expect(findings.all.at(-1)).toMatchObject({ check: 'holder_binding', status: 'skipped' })
    expect(failedChecks(findings)).toEqual([])
  })

  test('a valid key binding passes', async () => {
    const { findings } = await read(await present(), { required: false })
    expect(findings.holds('holder_binding')).toBe(true)
  })

  test('an invalid key binding fails', async () => {
    const { findings } = await read(await present({ binding: { nonce: 'other' } }), { required: false })
    expect(failedChecks(findings)).toEqual(['holder_binding'])
  })
})

describe('times, on both sides of each limit', () => {
  const credential: [string, Json, boolean, string][] = [
    ['exp 59 s ago', { exp: NOW_S - 59 }, true, ''],
    ['exp 60 s ago', { exp: NOW_S - 60 }, false, 'credential_expired'],
    ['exp of the year 1970', { exp: 20_137 }, false, 'credential_expired'],
    ['exp negative', { exp: -1 }, false, 'credential_expired'],
    ['no exp', { exp: undefined }, true, ''],
    ['nbf in 60 s', { nbf: NOW_S + 60 }, true, ''],
    ['nbf in 61 s', { nbf: NOW_S + 61 }, false, 'credential_not_yet_valid'],
    ['iat in 60 s', { iat: NOW_S + 60 }, true, ''],
    ['iat in 61 s', { iat: NOW_S + 61 }, false, 'credential_not_yet_valid'],
    ['no iat', { iat: undefined }, true, ''],
  ]
  test.each(credential)('credential: %s', async (_, payload, isGood, failure) => {
    const { findings } = await read(await present({ payload }))
    expect(findings.holds('validity')).toBe(isGood)
    expect(findings.failures as string[]).toEqual(isGood ? [] : [failure])
  })

  const LONG_AGO = NOW - 3_600_000
  const binding: [string, Json, boolean, number][] = [
    ['iat 300 s ago', { iat: NOW_S - 300 }, true, LONG_AGO],
    ['iat 301 s ago', { iat: NOW_S - 301 }, false, LONG_AGO],
    ['iat in 60 s', { iat: NOW_S + 60 }, true, LONG_AGO],
    ['iat in 61 s', { iat: NOW_S + 61 }, false, LONG_AGO],
    ['iat 60 s before the session', { iat: NOW_S - 100 }, true, NOW - 40_000],
    ['iat 61 s before the session', { iat: NOW_S - 101 }, false, NOW - 40_000],
    ['exp 59 s ago', { exp: NOW_S - 59 }, true, LONG_AGO],
    ['exp 60 s ago', { exp: NOW_S - 60 }, false, LONG_AGO],
    ['nbf in 60 s', { nbf: NOW_S + 60 }, true, LONG_AGO],
    ['nbf in 61 s', { nbf: NOW_S + 61 }, false, LONG_AGO],
  ]
  test.each(binding)('key binding: %s', async (_, claims, isGood, createdAt) => {
    const { findings } = await read(await present({ binding: claims }), { expected: { ...EXPECTED, createdAt } })
    expect(findings.holds('holder_binding')).toBe(isGood)
    expect(findings.failures as string[]).toEqual(isGood ? [] : ['holder_binding_invalid'])
  })
})

describe('limits, on both sides', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => ['s', `c${index}`, index])
  const filler = (chars: number) => Buffer.alloc(chars, 'x').toString()
  const cases: [string, Made, Made][] = [
    ['500 disclosures', { disclosures: many(500) }, { disclosures: many(501) }],
    ['10 disclosures inside each other', () => presentNested(10), () => presentNested(11)],
    ['32 levels of JSON in the payload', { payload: { a: nest(31) } }, { payload: { a: nest(32) } }],
    [
      '32 levels after the disclosures',
      { disclosures: [['s', 'a', nest(31)]] },
      { payload: { a: { _sd: [digestOf(encode(['s', 'b', nest(31)]))] } }, loose: [encode(['s', 'b', nest(31)])] },
    ],
    [
      '5 certificates',
      { header: { x5c: Array(5).fill(issuers.ES256.x5c) } },
      { header: { x5c: Array(6).fill(issuers.ES256.x5c) } },
    ],
    [
      '8 KiB a certificate',
      { header: { x5c: [issuers.ES256.x5c, Buffer.alloc(8192).toString('base64')] } },
      { header: { x5c: [issuers.ES256.x5c, Buffer.alloc(8193).toString('base64')] } },
    ],
    ['256 KiB in all', () => presentWhole(256 * 1024), () => presentWhole(256 * 1024 + 1)],
  ]
  test.each(cases)('%s are accepted, and no more', async (_, makeGood, makeBad) => {
    const good = await read(await made(makeGood))
    expect(good.findings.all.filter(({ status }) => status === 'fail')).toEqual([])
    const bad = await read(await made(makeBad))
    expect(bad.findings.failures).toEqual(['presentation_malformed'])
  })

  /** Filled up in the header, which has no limit of its own. */
  async function presentWhole(chars: number) {
    let kid = chars - (await present({ header: { kid: '' } })).length
    for (let at = 0; at < 6; at++) {
      const presentation = await present({ header: { kid: filler(Math.floor((kid * 3) / 4)) }, payload: { jti: '' } })
      if (presentation.length === chars) return presentation
      kid += chars - presentation.length
    }
    const presentation = await present({ header: { kid: filler(Math.floor((kid * 3) / 4)) } })
    throw new Error(`made ${presentation.length} characters instead of ${chars}`)
  }

  async function presentNested(levels: number) {
    const texts: string[] = []
    let value: unknown = 1
    for (let at = 0; at < levels; at++) {
      const text = encode([`s${at}`, 'a', value])
      texts.push(text)
      value = { _sd: [digestOf(text)] }
    }
    return present({ payload: value as Json, loose: texts })
  }

  test('hostile presentations of full size are judged within a second', async () => {
    const tilde = '~'.repeat(256 * 1024)
    const bulk = Array.from({ length: 180 }, (_, index) => ['s', `c${index}`, Array(300).fill({})])
    const digests = Array.from({ length: 3000 }, (_, index) => digestOf(`${index}`))
    for (const presentation of [
      tilde,
      `${tilde}.`,
      '.'.repeat(256 * 1024),
      '['.repeat(256 * 1024),
      `${encode({})}.${Buffer.from('['.repeat(150_000)).toString('base64url')}.~`,
      await present({ disclosures: bulk }),
      await present({ payload: { _sd: digests } }),
    ]) {
      expect(await leastWorkMs(() => read(presentation))).toBeLessThan(1000)
    }
  })
})

describe('status', () => {
  const reference = { status_list: { idx: 7, uri: 'https://status.example/1' } }
  const cases: [string, unknown, ReadCredential['status']][] = [
    ['none', undefined, undefined],
    ['a status list', reference, [{ index: 7, uri: 'https://status.example/1' }]],
    ['a status list beside another mechanism', { ...reference, other: {} }, [{ index: 7, uri: 'https://status.example/1' }]],
    ['index 0', { status_list: { idx: 0, uri: 'u' } }, [{ index: 0, uri: 'u' }]],
    ['another mechanism', { identifier_list: { id: 'x', uri: 'u' } }, 'unsupported'],
    ['a text', 'validation status URL', 'unsupported'],
    ['null', null, 'unsupported'],
    ['an empty object', {}, 'unsupported'],
    ['a negative index', { status_list: { idx: -1, uri: 'u' } }, 'unsupported'],
    ['a fraction as index', { status_list: { idx: 1.5, uri: 'u' } }, 'unsupported'],
    ['a text as index', { status_list: { idx: '7', uri: 'u' } }, 'unsupported'],
    ['no uri', { status_list: { idx: 7 } }, 'unsupported'],
  ]
  test.each(cases)('status reference: %s', async (_, status, found) => {
    const { credential } = await read(await present({ payload: { status } }))
    expect(credential?.status as unknown).toEqual(found)
  })
})

describe('any input', () => {
  const character = fc.constantFrom(...'ABCXYZabcxyz0189-_.~=+/ "{}\n\u0000é')

  test.each([true, false])('a presentation with any byte changed is refused (with key binding: %p)', async bound => {
    const presentation = await present({
      disclosures: [
        ['s', 'a', 'b'],
        ['t', 'c', { d: 1 }],
      ],
      ...(bound ? {} : { binding: false as const }),
    })
    const options = { required: bound }
    expect(failedChecks((await read(presentation, options)).findings)).toEqual([])
    const [seed] = fc.sample(fc.infiniteStream(character), 1)
    for (let at = 0; at < presentation.length; at++) {
      const other = seed?.next().value ?? 'A'
      if (other === presentation[at]) continue
      const { findings } = await read(presentation.slice(0, at) + other + presentation.slice(at + 1), options)
      if (findings.failures.length === 0) throw new Error(`passed with ${JSON.stringify(other)} at ${at}`)
    }
  })

  test('truncated, doubled, swapped or extended presentations never pass and never throw', async () => {
    const presentation = await present({
      disclosures: [
        ['s', 'a', 'b'],
        ['t', 'c', { d: 1 }],
      ],
    })
    const other = await present({ disclosures: [['u', 'e', 'f']] })
    const parts = [...presentation.split(/([.~])/), ...other.split(/([.~])/)]
    const edit = fc.record({
      at: fc.nat(presentation.length),
      length: fc.nat(40),
      text: fc.oneof(fc.string({ unit: character }), fc.constantFrom(...parts)),
    })
    await fc.assert(
      fc.asyncProperty(edit, async ({ at, length, text }) => {
        const edited = presentation.slice(0, at) + text + presentation.slice(at + length)
        fc.pre(edited !== presentation)
        expect((await read(edited)).findings.failures.length).toBeGreaterThan(0)
      }),
      { numRuns: 1000 },
    )
  })

  test('any JSON in header, payload, disclosures and key binding gives findings and never throws', async () => {
    const json = fc.jsonValue()
    const member = fc.oneof(
      json,
      fc.constantFrom(...['_sd', '...', 'constructor', '__proto__']).map(name => JSON.parse(`{"${name}":["x"]}`)),
    )
    const object = fc.dictionary(
      fc.oneof(fc.constantFrom('_sd', '...', '_sd_alg', 'vct', 'exp', 'cnf', '__proto__'), fc.string()),
      member,
    )
    await fc.assert(
      fc.asyncProperty(object, fc.array(fc.oneof(json, fc.array(json))), object, async (payload, disclosures, binding) => {
        const loose = disclosures.map(encode)
        const _sd = loose.map(text => digestOf(text))
        const { findings } = await read(await present({ payload: { _sd, ...payload }, loose, binding: { ...binding } }))
        expect(findings.all.length).toBeGreaterThan(0)
      }),
      { numRuns: 500 },
    )
  })

  test('any text gives a finding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), anyText(), fc.string({ unit: character })), async text => {
        const { findings, credential } = await read(text)
        expect(findings.failures).toEqual(['presentation_malformed'])
        expect(credential).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })
})

test('the 256 signer certificates used last are kept, and not shared between instances', async () => {
  const [first, ...others] = await Promise.all(
    Array.from({ length: 257 }, (_, index) => certificateOf(issuers.ES256.keys, index + 1)),
  )
  const signers = new SignerCertificates()
  const certificate = (await signers.read(first!))!
  expect(await signers.read(first!)).toBe(certificate)
  for (const other of others.slice(1)) await signers.read(other)
  expect(await signers.read(first!)).toBe(certificate)
  for (const other of others) await signers.read(other)
  expect(await signers.read(first!)).not.toBe(certificate)
  expect(await new SignerCertificates().read(first!)).not.toBe(certificate)
})

// — vectors

function each(file: string, check: (vector: Vector) => Promise<unknown>, isMeant: (vector: Vector) => boolean = () => true) {
  const meant = vectors<Vector['input']>(file)
    .map(vector => vector as unknown as Vector)
    .filter(isMeant)
    .map(vector => [vector.id, vector.title, vector] as const)
  test.each(meant)('%s: %s', async (_id, _title, vector) => {
    await check(vector)
  })
}

/** Dates are judged at the time of the key binding, if there is one: it is long after the time of the vector. */
function expectedOf({ context, expect: { kb_payload } }: Vector): Expected {
  const now = kb_payload ? kb_payload.iat * 1000 : Date.parse(context?.now ?? '')
  return { ...EXPECTED, now, createdAt: now - 30_000, nonce: context?.nonce ?? '', audience: context?.aud ?? '' }
}

async function readVector(vector: Vector, required: boolean) {
  const { sd_jwt, issuer_jwk } = vector.input
  if (!issuer_jwk) return read(sd_jwt, { expected: expectedOf(vector), required })
  const findings = new Findings(() => NOW)
  const key = (await importPublicJwk(issuer_jwk)) as CryptoKey
  return { findings, credential: await reader.read(findings, sd_jwt, expectedOf(vector), required, key) }
}

function checkFor({ id, expect: { reason = '' } }: Vector): string {
  // Has no certificate, so its dates are never checked.
  if (id === 'eudi-pid-malformed-times') return 'format'
  if (/^kb\.|cnf_missing/.test(reason)) return 'holder_binding'
  if (/^sdjwt\.(alg|signature)/.test(reason)) return 'issuer_signature'
  if (/^sdjwt\.expired/.test(reason)) return 'validity'
  return /^sdjwt\.(typ|serialisation)/.test(reason) ? 'format' : 'digests'
}

function expectAccepted({ expect: { processed_payload } }: Vector, findings: Findings, credential: ReadCredential | undefined) {
  expect(failedChecks(findings)).toEqual([])
  expect(credential).toBeDefined()
  if (processed_payload) expect(credential?.claims).toEqual(processed_payload)
}

// — reading

async function read(presentation: string, { expected = EXPECTED, required = true } = {}) {
  const findings = new Findings(() => NOW)
  return { findings, credential: await reader.read(findings, presentation, expected, required) }
}

const detailsOf = ({ all }: Findings) => all.filter(({ status }) => status === 'fail').map(({ detail }) => detail)
const failedChecks = ({ all }: Findings): string[] => all.filter(({ status }) => status === 'fail').map(({ check }) => check)
const passedChecks = ({ all }: Findings): string[] =>
  all
    .filter(({ status }) => status === 'pass')
    .map(({ check }) => check)
    .sort()
const warnings = ({ all }: Findings): string[] => all.filter(({ status }) => status === 'warning').map(({ check }) => check)

// — making

type Making = {
  issuer?: Alg
  holder?: Alg
  header?: Json
  payload?: Json
  rawHeader?: string
  rawPayload?: string | Buffer
  signer?: CryptoKey
  signature?: Buffer | 'hmac' | 'der'
  sdAlg?: string
  sdHashAlg?: string
  /** Claims at the top level; their digests are added to `_sd`. */
  disclosures?: unknown[][]
  rawDisclosures?: string[]
  /** Disclosures whose digests the payload already has. */
  loose?: string[]
  binding?: Json | false
  bindingHeader?: Json
  bindingSigner?: CryptoKey
}

/** A valid presentation, except for the given options. Undefined members are left out. */
async function present(making: Making = {}): Promise<string> {
  const { issuer = 'ES256', holder = 'ES256', sdAlg, loose = [], binding = {} } = making
  const texts = [...(making.disclosures ?? []).map(encode), ...(making.rawDisclosures ?? []).map(encodeText)]
  const digests = texts.map(text => digestOf(text, sdAlg?.replace('-', '')))
  const payload = {
    vct: 'urn:eudi:pid:1',
    exp: NOW_S + 86_400,
    iat: NOW_S - 86_400,
    cnf: { jwk: holders[holder].jwk },
    ...(sdAlg && { _sd_alg: sdAlg }),
    ...(digests.length > 0 && { _sd: digests }),
    ...making.payload,
    ...(digests.length > 0 && making.payload?._sd ? { _sd: [...digests, ...(making.payload._sd as string[])] } : {}),
  }
  const header = { alg: issuer, typ: 'dc+sd-jwt', x5c: [issuers[issuer].x5c], ...making.header }
  const input = `${encodeText(making.rawHeader ?? JSON.stringify(header))}.${encodeText(making.rawPayload ?? JSON.stringify(payload))}`
  const signature = await signatureOf(input, making, issuer)
  const signed = `${[`${input}.${signature.toString('base64url')}`, ...texts, ...loose].join('~')}~`
  if (binding === false) return signed

  const bindingClaims = {
    iat: NOW_S - 5,
    aud: EXPECTED.audience,
    nonce: EXPECTED.nonce,
    sd_hash: digestOf(signed, making.sdHashAlg ?? sdAlg?.replace('-', '')),
    ...binding,
  }
  const bindingInput = `${encode({ alg: holder, typ: 'kb+jwt', ...making.bindingHeader })}.${encode(bindingClaims)}`
  const proof = await sign(bindingInput, making.bindingSigner ?? holders[holder].keys.privateKey)
  return `${signed}${bindingInput}.${proof.toString('base64url')}`
}

async function signatureOf(input: string, { signature, signer }: Making, issuer: Alg): Promise<Buffer> {
  if (signature === 'hmac') return createHmac('sha256', Buffer.from(issuers[issuer].x5c, 'base64')).update(input).digest()
  if (signature instanceof Buffer) return signature
  const raw = await sign(input, signer ?? issuers[issuer].keys.privateKey)
  if (signature !== 'der') return raw
  const integers = [raw.subarray(0, 32), raw.subarray(32)].map(half => Buffer.from([2, 33, 0, ...half]))
  return Buffer.concat([Buffer.from([0x30, 70]), ...integers])
}

type Made = Making | (() => Promise<string>)

const made = (from: Made): Promise<string> => (typeof from === 'function' ? from() : present(from))

function presentInArray(disclosure: unknown[]): Promise<string> {
  const text = encode(disclosure)
  return present({ payload: { list: [{ '...': digestOf(text) }] }, loose: [text] })
}

async function sign(input: string, key: CryptoKey): Promise<Buffer> {
  const alg = (Object.keys(PARAMETERS) as Alg[]).find(name => curve(PARAMETERS[name]) === curve(key.algorithm)) ?? 'ES256'
  return Buffer.from(await crypto.subtle.sign(PARAMETERS[alg], key, Buffer.from(input)))
}

const curve = (algorithm: KeyAlgorithm & { namedCurve?: string }) => algorithm.namedCurve ?? algorithm.name
const encodeText = (text: string | Buffer) => Buffer.from(text as string).toString('base64url')
const encode = (value: unknown) => encodeText(JSON.stringify(value))
const digestOf = (text: string, alg = 'sha256') => hash(alg, text, 'buffer').toString('base64url')
const nest = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}0${']'.repeat(levels)}`)
const withTrailing = (x5c: string) => Buffer.concat([Buffer.from(x5c, 'base64'), Buffer.from([0])]).toString('base64')

/** The last character of 64 bytes has four unused bits. */
function withStrayBits(presentation: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return presentation.replace(/(.)~/, (_, last: string) => `${alphabet[alphabet.indexOf(last) + 1]}~`)
}

async function makeKeys(alg: Alg) {
  const keys = (await crypto.subtle.generateKey(PARAMETERS[alg], true, ['sign', 'verify'])) as CryptoKeyPair
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', keys.publicKey)
  return { keys, jwk: { kty, crv, x, ...(y && { y }) } as Json }
}

async function makeIssuer(alg: Alg) {
  const made = await makeKeys(alg)
  const der = await certificateOf(made.keys, 1)
  return {
    ...made,
    x5c: der.toString('base64'),
    pem: `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`,
  }
}

async function certificateOf(keys: CryptoKeyPair, serial: number): Promise<Buffer> {
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial.toString(16).padStart(4, '0'),
    name: 'CN=Test issuer',
    notBefore: new Date(NOW - 86_400_000),
    notAfter: new Date(NOW + 86_400_000),
    keys,
    signingAlgorithm: { ...PARAMETERS.ES256, ...keys.privateKey.algorithm },
  })
  return Buffer.from(certificate.rawData)
}

async function rsaCertificate(): Promise<string> {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }
  const keys = (await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair
  return (await certificateOf(keys, 1)).toString('base64')
}

function libraryFor(alg: Alg) {
  return new SDJwtVcInstance({
    hasher: (text, name) => hash(name.replace('-', ''), String(text), 'buffer'),
    hashAlg: 'sha-256',
    saltGenerator: length => randomBytes(length).toString('base64url'),
    signer: async input => (await sign(input, issuers[alg].keys.privateKey)).toString('base64url'),
    signAlg: alg,
    kbSigner: async input => (await sign(input, holders[alg].keys.privateKey)).toString('base64url'),
    kbSignAlg: alg,
  })
}

/** Chooses disclosable claims at random, also inside objects. */
function frameFor(claims: Json, toss: () => boolean): Json {
  const picked = (object: object) => Object.keys(object).filter(toss)
  const inner = Object.entries(claims).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? [[name, { _sd: picked(value) }] as const]
      : [],
  )
  return { _sd: picked(claims), ...Object.fromEntries(inner) }
}
