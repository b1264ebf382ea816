// Every parser of untrusted input reads any bytes, or refuses them with its own class of error; nothing else is thrown.
import { beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CompactEncrypt, exportJWK, generateKeyPair } from 'jose'
import { authenticate } from '../../src/access/authenticate.ts'
import { loadConfig } from '../../src/config.ts'
import { readForm, readJson } from '../../src/http/body.ts'
import { addressBucket, clientAddress } from '../../src/http/client-address.ts'
import { parseCbor } from '../../src/openid4vp/cbor/cbor.ts'
import { encodeCbor } from '../../src/openid4vp/cbor/encode.ts'
import { cborToJson } from '../../src/openid4vp/cbor/json.ts'
import { type ResponseKey, readResponse } from '../../src/openid4vp/exchange/response.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { MdocReader } from '../../src/openid4vp/mdoc/mdoc.ts'
import { SdJwtReader } from '../../src/openid4vp/sd-jwt/sd-jwt.ts'
import { readStatusJwt } from '../../src/openid4vp/status/token.ts'
import { readCookie } from '../../src/people/cookie.ts'
import { type Engagement, readEngagement } from '../../src/proximity/engagement.ts'
import { establishment, openAnswer, openSession, readSessionData, sessionError } from '../../src/proximity/session.ts'
import { NOON } from '../helpers/app.ts'
import { makePhone, takeEstablishment, textOf } from '../helpers/engagement.ts'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'
import { anyText } from '../helpers/texts.ts'

const FIXED_SEED = 20260304

/** A fixed seed for most of them and a fresh one for the rest; fast-check tells either when it fails. */
async function always<T>(cases: number, drawn: fc.Arbitrary<T>, holds: (value: T) => unknown): Promise<void> {
  const property = fc.asyncProperty(drawn, async value => void (await holds(value)))
  await fc.assert(property, { numRuns: cases - cases / 5, seed: FIXED_SEED })
  await fc.assert(property, { numRuns: cases / 5, seed: FRESH_SEED })
}

async function throwsOnly(kind: string, read: () => unknown): Promise<void> {
  try {
    await read()
  } catch (error) {
    expect((error as Error).constructor.name).toBe(kind)
  }
}

/** A good text with a piece of it replaced; parts of it come up again elsewhere. */
function edited(good: string, alphabet: string): fc.Arbitrary<string> {
  const parts = good.split(/[.~&=]/)
  const piece = fc.oneof(
    fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 30 }),
    fc.constantFrom(...parts, '', '.', '~', '=', '&', '%', '\u0000', '\ud800', '💥'),
    fc.jsonValue({ maxDepth: 3 }).map(value => Buffer.from(JSON.stringify(value)).toString('base64url')),
  )
  return fc
    .array(fc.tuple(fc.nat(good.length), fc.nat(60), piece), { minLength: 1, maxLength: 3 })
    .map(edits => edits.reduce((text, [at, length, put]) => text.slice(0, at) + put + text.slice(at + length), good))
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

test('20,000 inputs of CBOR, random, headed and edited, are read, or refused with a CborError', async () => {
  const good = Buffer.from('a3617801617982f5f6617aa163616263d81843010203', 'hex')
  const drawn = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc
      .tuple(fc.constantFrom(0x5b, 0x9b, 0xbb, 0xd8, 0x9f, 0xbf, 0xc2, 0xf9, 0xfb), fc.uint8Array({ maxLength: 20 }))
      .map(([head, rest]) => new Uint8Array([head, ...rest])),
    fc.tuple(fc.nat(good.length - 1), fc.nat(255), fc.nat(6)).map(([at, byte, cut]) => {
      const changed = Buffer.from(good)
      changed[at] = byte
      return changed.subarray(0, changed.length - cut)
    }),
  )
  await always(20_000, drawn, bytes => throwsOnly('CborError', () => cborToJson(parseCbor(bytes).decode())))
})

let key: ResponseKey
let jwe: string
const QUERY = { credentials: [{ id: 'a', format: 'dc+sd-jwt', meta: { vct_values: ['v'] } }] } as const

beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256' })
  key = { kid: 'k', privateKey }
  jwe = await new CompactEncrypt(Buffer.from(JSON.stringify({ state: 's', vp_token: { a: ['x'] } })))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid: 'k', epk: await exportJWK(publicKey) })
    .encrypt(publicKey)
})

test('5,000 encrypted responses are read, or refused as unreadable', async () => {
  const header = { alg: 'ECDH-ES', enc: 'A128GCM', kid: 'k' }
  const anyHeader = fc.dictionary(
    fc.constantFrom('alg', 'enc', 'kid', 'epk', 'zip', 'crit', 'p2c', 'apu', '__proto__'),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const drawn = fc.oneof(
    edited(jwe, BASE64URL),
    anyHeader.map(odd => `${encode({ ...header, ...odd })}.${jwe.split('.').slice(1).join('.')}`),
    anyText(),
  )
  await always(5000, drawn, response =>
    throwsOnly('UnreadableResponse', async () => {
      const { kind } = await readResponse(new Map([['response', response]]), { state: 's', query: QUERY, key })
      expect(['presentations', 'malformed', 'error']).toContain(kind)
    }),
  )
})

test('5,000 signed status lists are read, or refused with a StatusFault', async () => {
  const good = `${encode({ alg: 'ES256', typ: 'statuslist+jwt', x5c: ['AAAA'] })}.${encode({ sub: 'https://a.example', iat: 1, status_list: { bits: 1, lst: 'eNo' } })}.AAAA`
  const drawn = fc.oneof(
    edited(good, BASE64URL),
    anyText(),
    fc.jsonValue().map(value => `${encode(value)}.${encode(value)}.`),
  )
  await always(5000, drawn, text => throwsOnly('StatusFault', () => readStatusJwt(text)))
})

const EXPECTED = { now: NOON, createdAt: NOON, nonce: 'n', audience: 'c', transcript: () => new Uint8Array() }

test('10,000 SD-JWTs are answered with findings, and none passes', async () => {
  const disclosure = encode(['salt', 'name', { value: 1 }])
  const good = `${encode({ alg: 'ES256', typ: 'dc+sd-jwt', x5c: ['AAAA'] })}.${encode({ vct: 'v', _sd: ['x'], cnf: { jwk: {} } })}.AAAA~${disclosure}~${encode({ typ: 'kb+jwt', alg: 'ES256' })}.${encode({ nonce: 'n', aud: 'c', iat: 1, sd_hash: 'x' })}.AAAA`
  const drawn = fc.oneof(edited(good, `${BASE64URL}~.`), anyText())
  const reader = new SdJwtReader()
  await always(10_000, drawn, async text => {
    const findings = new Findings(() => NOON)
    await reader.read(findings, text, EXPECTED, true)
    expect(findings.failures.length).toBeGreaterThan(0)
  })
})

test('2,000 mdocs as text are answered with findings, and none passes', async () => {
  const good = Buffer.from('a36776657273696f6e63312e3069646f63756d656e747381a0667374617475730', 'hex').toString('base64url')
  const reader = new MdocReader()
  await always(2000, fc.oneof(edited(good, BASE64URL), anyText()), async text => {
    const findings = new Findings(() => NOON)
    await reader.read(findings, text, EXPECTED, true)
    expect(findings.failures.length).toBeGreaterThan(0)
  })
})

/** Some of its bytes changed, and its end cut off. */
const spoilt = (good: Uint8Array): fc.Arbitrary<Uint8Array<ArrayBuffer>> =>
  fc.tuple(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 4 }), fc.nat(3)).map(([changes, cut]) => {
    const bytes = new Uint8Array(good)
    for (const [at, byte] of changes) bytes[at] = byte
    return bytes.slice(0, bytes.length - cut)
  })

test('5,000 codes of phones are read, or refused, and what was read has usable parts only', async () => {
  const { bytes, text } = await makePhone()
  const drawn = fc.oneof(
    { weight: 4, arbitrary: spoilt(bytes).map(textOf) },
    { weight: 2, arbitrary: edited(text, BASE64URL) },
    fc.uint8Array({ minLength: 15, maxLength: 80 }).map(textOf),
    anyText(),
  )
  await always(5000, drawn, async code => {
    const read = await readEngagement(code)
    if (typeof read === 'string') return expect(['invalid', 'curve_not_supported']).toContain(read)
    expect(read.version).toMatch(/^1\.\d{1,3}$/)
    for (const each of read.transports)
      if (each.type !== 'nfc') expect(each.service).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    const session = await openSession(read)
    expect([session.skReader.length, session.skDevice.length]).toEqual([32, 32])
  })
})

test('5,000 messages of a session are read or refused, and none is opened that the phone did not seal', async () => {
  const phone = await makePhone()
  const session = await openSession((await readEngagement(phone.text)) as Engagement)
  const { seal } = await takeEstablishment(phone, establishment(session, Buffer.from('request')))
  const good = encodeCbor(
    new Map<string, Uint8Array | number>([
      ['data', seal(Buffer.from('answer'))],
      ['status', 20],
    ]),
  )
  await always(5000, fc.oneof(spoilt(good), fc.uint8Array({ maxLength: 60 })), message => {
    const { data, status } = readSessionData(message) ?? {}
    sessionError(status)
    const opened = data && openAnswer(session.skDevice, data)
    if (opened) expect(Buffer.from(opened).toString()).toBe('answer')
  })
})

const posted = (type: string, body: string | Uint8Array<ArrayBuffer>) =>
  new Request('http://localhost/', { method: 'POST', headers: { 'content-type': type }, body })

test('5,000 forms and 2,500 JSON bodies are read, or refused with an ApiError', async () => {
  const form = 'application/x-www-form-urlencoded'
  const bytes = fc.oneof(
    edited('vp_token=%7B%7D&state=abc&error=access_denied', 'abc%0&=+;'),
    fc.uint8Array({ maxLength: 60 }).map(each => new Uint8Array(each)),
    fc.nat(40).map(count => 'a=1&'.repeat(count)),
  )
  await always(5000, bytes, body => throwsOnly('ApiError', () => readForm(posted(form, body), 32 * 1024)))
  await always(2500, fc.oneof(bytes, edited('{"a":{"b":["c",1,null]}}', '{}[]",:\\u0d8')), body =>
    throwsOnly('ApiError', () => readJson(posted('application/json', body))),
  )
})

test('5,000 headers are read, or refused with an ApiError', async () => {
  const config = loadConfig({ VIDIMUS_TRUSTED_PROXIES: '127.0.0.1' })
  const text = fc.oneof(
    edited('Bearer vk_test_0123456789abcdefghijklmnopqrstuv', BASE64URL),
    edited(`vidimus-session=${'x'.repeat(43)}; a=b`, 'x;= "%'),
    edited('1.2.3.4, ::1, [2001:db8::1]:80, unknown', '0123456789abcdef:.,[] %'),
    anyText(),
  )
  const unreached = {} as Parameters<typeof authenticate>[0]
  await always(5000, text, async header => {
    await throwsOnly('ApiError', () => authenticate(unreached, header))
    readCookie(config, header)
    expect(addressBucket(clientAddress('127.0.0.1', header, config.trustedProxies)).length).toBeLessThan(100)
  })
})

test('a form of 250,000 fields and JSON 30,000 levels deep are refused before they are read', async () => {
  const form = posted('application/x-www-form-urlencoded', 'a=1&'.repeat(250_000))
  await expect(readForm(form, 2 ** 20)).rejects.toThrow('more than 32 fields')
  await expect(readJson(posted('application/json', `{"a":${'['.repeat(30_000)}`))).rejects.toThrow('nested deeper than 32')
})
