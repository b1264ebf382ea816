import { describe, expect, test } from 'bun:test'
import { CompactSign } from 'jose'
import { claimCount, coverage, RegistrationFault, readRegistration } from '../../src/openid4vp/exchange/registration.ts'
import { AGE_OF_PIDS, newRegistrar } from '../helpers/access.ts'
import { testClock } from '../helpers/app.ts'
import { issue } from '../helpers/certificates.ts'

const clock = testClock(Date.parse('2026-11-15T00:00:00Z'))
const register = await newRegistrar({ clock })
const foreign = await issue({})

describe('a registration certificate', () => {
  test('it is read as TS 119 475 V1.2.1 writes it', async () => {
    const jwt = await register({ status: { status_list: { uri: 'https://registrar.example/list', idx: 0 } }, nbf: 1_800_000_000 })
    expect(readRegistration(`${jwt}\n`)).toEqual({
      jwt,
      isOldType: false,
      subject: 'VATDE-123456789',
      intendedUse: 'age-check',
      purposes: [{ lang: 'en', value: 'To check your age' }],
      credentials: [
        { format: 'dc+sd-jwt', types: ['urn:eudi:pid:1', 'urn:eudi:pid:de:1'], claims: [['age_equal_or_over', '18']] },
      ],
      notBefore: 1_800_000_000_000,
      notAfter: clock.now() + 300 * 86_400_000,
      status: { uri: 'https://registrar.example/list', idx: 0 },
    })
  })

  test('a JSON document around it is searched for the one JWT', async () => {
    const jwt = await register()
    for (const text of [JSON.stringify(jwt), JSON.stringify({ a: { registration_certificate: jwt }, version: 1 })])
      expect(readRegistration(text).jwt).toBe(jwt)
    const two = JSON.stringify([jwt, await register({ sub: 'VATDE-2' })])
    expect(() => readRegistration(two)).toThrow('several_jwts')
  })

  test('the type of German test registrars is taken, and marked', async () => {
    expect(readRegistration(await register({}, { typ: 'rc-rp+jwt' })).isOldType).toBe(true)
  })

  const PATHS = [['given_name'], ['address', 'locality']]
  test.each([
    ['sub is an object with an id', { sub: { legal_name: 'Shop', id: 'LEIXG-1' } }, { subject: 'LEIXG-1' }],
    ['sub has a list of identifiers', { sub: { id: [{ type: 'x', identifier: 'LEIXG-1' }] } }, { subject: 'LEIXG-1' }],
    [
      'claims instead of claim',
      { credentials: [{ format: 'dc+sd-jwt', meta: { vct_values: ['v'] }, claims: PATHS.map(path => ({ path })) }] },
      { credentials: [{ format: 'dc+sd-jwt', types: ['v'], claims: PATHS }] },
    ],
    [
      'a claim and a type that are plain texts, of the older format',
      { credentials: [{ format: 'vc+sd-jwt', vct: 'v', claims: ['given_name', { path: 'family_name' }] }] },
      { credentials: [{ format: 'dc+sd-jwt', types: ['v'], claims: [['given_name'], ['family_name']] }] },
    ],
    ['an end with a fraction of a second', { exp: 1_800_000_000.1234 }, { notAfter: 1_800_000_000_123 }],
    ['an end on the last day of all', { exp: 8.64e12 }, { notAfter: 8.64e15 }],
    ['an end after the last day of all', { exp: 8.64e12 + 1 }, { notAfter: null }],
    [
      'nested purposes, and other names of their members',
      { purpose: [[{ lang: 'de', value: 'Alter' }], { locale: 'en-US', name: 'Age' }] },
      {
        purposes: [
          { lang: 'de', value: 'Alter' },
          { lang: 'en-US', value: 'Age' },
        ],
      },
    ],
    [
      'no end, no use and no status',
      { exp: undefined, intended_use_id: undefined },
      { notAfter: null, intendedUse: null, status: null },
    ],
  ])('tolerated: %s', async (_, said, expected) => {
    expect(readRegistration(await register(said))).toMatchObject(expected)
  })

  test.each([
    ['no JWT', async () => 'hello', ['no_jwt']],
    ['another typ', () => register({}, { typ: 'JWT' }), ['jwt_of_other_type', { type: 'rc-wrp+jwt' }]],
    ['a changed payload', async () => changed(await register()), ['signature_wrong']],
    ['the certificate of somebody else', () => register({}, { x5c: [b64(foreign.der)] }), ['signature_wrong']],
    ['no certificate', () => register({}, { x5c: undefined }), ['signature_uncheckable']],
    ['an HMAC keyed with the certificate', () => hmac(), ['signature_uncheckable']],
    ['an algorithm of another curve than the key', () => onAnotherCurve(), ['signature_uncheckable']],
    ['a detached payload', () => register({}, { sigD: {} }), ['signature_uncheckable']],
    ['no sub', () => register({ sub: {} }), ['organization_missing']],
    [
      'a credential without type',
      () => register({ credentials: [{ format: 'mso_mdoc' }] }),
      ['credential_untyped', { index: 0 }],
    ],
    [
      'an empty list of claims',
      () => register({ credentials: [{ ...AGE_OF_PIDS[0], claim: [] }] }),
      ['claim_unreadable', { index: 0 }],
    ],
    [
      'an unreadable claim',
      () => register({ credentials: [{ ...AGE_OF_PIDS[0], claim: [{ path: [null] }] }] }),
      ['claim_unreadable', { index: 0 }],
    ],
    ['40 kB', () => register({ info: 'x'.repeat(40_000) }), ['jwt_too_long', { kib: 32 }]],
  ] as [string, () => Promise<string>, RegistrationFault['flaw']][])('refused: %s', async (_, make, flaw) => {
    const text = await make()
    expect(() => readRegistration(text)).toThrow(RegistrationFault)
    expect(() => readRegistration(text)).toThrow(expect.objectContaining({ flaw }))
  })
})

const b64 = (der: Uint8Array): string => Buffer.from(der).toString('base64')

function changed(jwt: string): string {
  const [header, payload, signature] = jwt.split('.')
  const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString())
  return [header, Buffer.from(JSON.stringify({ ...claims, sub: 'VATDE-2' })).toString('base64url'), signature].join('.')
}

/** ES384 with a key on P-256. */
async function onAnotherCurve(): Promise<string> {
  const header = { alg: 'ES384', typ: 'rc-wrp+jwt', x5c: [b64(foreign.der)] }
  const text = [header, { sub: 'x' }].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-384' }, foreign.keys.privateKey, Buffer.from(text))
  return `${text}.${Buffer.from(signature).toString('base64url')}`
}

const hmac = () =>
  new CompactSign(Buffer.from('{"sub":"x"}'))
    .setProtectedHeader({ alg: 'HS256', typ: 'rc-wrp+jwt', x5c: [b64(foreign.der)] })
    .sign(Buffer.from(foreign.der))

describe('coverage', () => {
  const query = (paths: (string | number | null)[][] | undefined, vct_values = ['v']) => ({
    credentials: [{ id: 'a', format: 'dc+sd-jwt' as const, meta: { vct_values }, claims: paths?.map(path => ({ path })) }],
  })
  const registered = (...claims: (string | number | null)[][]) => [{ format: 'dc+sd-jwt', types: ['v'], claims }]

  test.each([
    ['the same path', [['a', 'b']], [['a', 'b']], true],
    ['a member of a registered object', [['address']], [['address', 'locality']], true],
    ['the object around a registered member', [['address', 'locality']], [['address']], false],
    ['an element, where any is registered', [['list', null]], [['list', 0]], true],
    ['any element, where one is registered', [['list', 0]], [['list', null]], false],
    ['a name, where any element is registered', [['list', null]], [['list', 'x']], false],
    ['one path more', [['a']], [['a'], ['b']], false],
    ['any path, where none is named', [], [['a'], ['b']], true],
    ['a type alone', [['a']], undefined, true],
  ])('%s', (_, claims, asked, isCovered) => {
    const { asked: count, covered } = coverage(registered(...claims), query(asked))
    expect(covered === count).toBe(isCovered)
  })

  test('every type and format must be registered, in one entry or in several', () => {
    expect(coverage(registered(['a']), query([['a']], ['v', 'w']))).toEqual({ asked: 2, covered: 1 })
    const both = [...registered(['a']), { format: 'dc+sd-jwt', types: ['w'], claims: [['a']] }]
    expect(coverage(both, query([['a']], ['v', 'w']))).toEqual({ asked: 2, covered: 2 })
    const mdoc = [{ format: 'mso_mdoc', types: ['v'], claims: [['a']] }]
    expect(coverage(mdoc, query([['a']]))).toEqual({ asked: 1, covered: 0 })
  })

  test('the claims of thousands of types are compared once for those that the same entries register', () => {
    const types = Array.from({ length: 3000 }, (_, i) => `v${i}`)
    const paths = Array.from({ length: 100 }, (_, i) => [`a${i}`])
    let compared = 0
    const entry = { format: 'dc+sd-jwt', types, claims: [['a0']] }
    const get = () => {
      compared++
      return entry.claims
    }
    const counted = Object.defineProperty({ ...entry }, 'claims', { get })
    expect(coverage([counted], query(paths, [...types, 'other']))).toEqual({ asked: 300_100, covered: 3000 })
    expect(compared).toBe(paths.length)
  })

  test('a certificate that names no claims registers the most', () => {
    expect(claimCount(registered(['a'], ['b']))).toBe(2)
    expect(claimCount([...registered(['a']), ...registered()])).toBe(Number.POSITIVE_INFINITY)
  })
})
