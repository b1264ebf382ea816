// A session with a phone, which is another implementation: helpers/engagement.ts.
import { describe, expect, test } from 'bun:test'
import { createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, hkdfSync } from 'node:crypto'
import { Findings } from '../../src/openid4vp/finding.ts'
import { MdocReader } from '../../src/openid4vp/mdoc/mdoc.ts'
import { type Engagement, readEngagement } from '../../src/proximity/engagement.ts'
import {
  establishment,
  macKeyOf,
  openAnswer,
  openSession,
  readSessionData,
  sessionError,
  sessionTranscript,
} from '../../src/proximity/session.ts'
import { makePhone, type Phone, type PhoneChange, takeEstablishment } from '../helpers/engagement.ts'
import {
  type Change,
  type CurveName,
  cbor,
  DOC_TYPE,
  embedded,
  hex,
  type Keys,
  makeKeys,
  makeResponse,
  NOW,
  Raw,
  Tagged,
} from '../helpers/mdoc.ts'

const REQUEST = cbor({ version: '1.0', docRequests: [] })

async function meet(phone: Phone, change: PhoneChange = {}) {
  const session = await openSession((await readEngagement(phone.text)) as Engagement)
  const message = establishment(session, REQUEST)
  return { session, message, phone: await takeEstablishment(phone, message, change) }
}

const opened = (session: { skDevice: Uint8Array }, data: Uint8Array) => openAnswer(session.skDevice, data)

/** As the service judges a document in person. */
async function judged(response: Uint8Array, { readerKey, transcript }: Parameters<typeof establishment>[0], takesMac = true) {
  const findings = new Findings(() => NOW)
  const macKey = takesMac ? macKeyOf(readerKey, transcript) : undefined
  const given = { now: NOW, transcript, macKey, holderBindingRequired: true }
  const credential = await new MdocReader().readDeviceResponse(findings, response, given)
  const failures = findings.all.filter(({ status }) => status === 'fail')
  return { failed: failures.map(({ check }) => check as string), detail: failures[0]?.detail, proof: credential?.proof }
}

type Met = Awaited<ReturnType<typeof takeEstablishment>>
type MacChange = {
  tag?: (tag: Buffer) => unknown
  header?: Buffer
  payload?: unknown
  keepsSignature?: boolean
  transcript?: Uint8Array
  /** Made with the key of the messages. */
  phone?: Keys
}

/** The MAC of a wallet (ISO/IEC 18013-5 § 9.1.3.5), in place of its signature. */
function withMac(device: Keys, met: Met, change: MacChange): Change & { document: NonNullable<Change['document']> } {
  return {
    device,
    transcript: met.transcript,
    document: document => {
      const { nameSpaces, deviceAuth } = document.deviceSigned as { nameSpaces: unknown; deviceAuth: object }
      const deviceMac = macOf(device, met, nameSpaces, change)
      document.deviceSigned = { nameSpaces, deviceAuth: change.keepsSignature ? { ...deviceAuth, deviceMac } : { deviceMac } }
    },
  }
}

const jwks = new WeakMap<Keys, JsonWebKey>()

function macOf(
  device: Keys,
  met: Met,
  nameSpaces: unknown,
  { tag, header = hex('a10105'), payload = null, transcript, phone }: MacChange,
) {
  const privateKey = createPrivateKey({ key: jwks.get(phone ?? device)!, format: 'jwk' })
  const isOther =
    privateKey.asymmetricKeyDetails?.namedCurve !==
    createPublicKey({ key: met.readerKey, format: 'jwk' }).asymmetricKeyDetails?.namedCurve
  const secret = isOther
    ? Buffer.alloc(32)
    : diffieHellman({ privateKey, publicKey: createPublicKey({ key: met.readerKey, format: 'jwk' }) })
  const key = Buffer.from(hkdfSync('sha256', secret, met.salt, 'EMacKey', 32))
  const authentication = embedded(['DeviceAuthentication', new Raw(transcript ?? met.transcript), DOC_TYPE, nameSpaces])
  const made = createHmac('sha256', key)
    .update(cbor(['MAC0', header, Buffer.alloc(0), cbor(authentication)]))
    .digest()
  return [header, {}, payload, tag?.(made) ?? made]
}

async function makeDevice(curve: CurveName): Promise<Keys> {
  const keys = await makeKeys(curve)
  jwks.set(keys, (await crypto.subtle.exportKey('jwk', keys.privateKey)) as JsonWebKey)
  return keys
}

describe.each(['P-256', 'P-384', 'P-521'] as const)('a session on %s', curve => {
  test('is understood by the phone, and understands its answer', async () => {
    const { session, phone } = await meet(await makePhone(curve))
    expect(phone.request.equals(REQUEST)).toBe(true)
    expect(Buffer.from(session.transcript).equals(phone.transcript)).toBe(true)
    expect(opened(session, phone.seal(Buffer.from('answer')))).toEqual(new Uint8Array(Buffer.from('answer')))
  })

  test('takes a document with a signature and one with a MAC over its own transcript only', async () => {
    const device = await makeDevice(curve)
    const phone = await makePhone(curve)
    const [mine, other] = [await meet(phone), await meet(phone)]
    for (const change of [{ device, transcript: mine.phone.transcript }, withMac(device, mine.phone, {})]) {
      const made = await makeResponse(change)
      expect((await judged(made, mine.session)).failed).toEqual([])
      expect((await judged(made, other.session)).failed).toEqual(['holder_binding'])
    }
  })
})

test('a session has a key of its own each time', async () => {
  const phone = await makePhone()
  const [one, two] = [await meet(phone), await meet(phone)]
  expect(one.session.readerKey).not.toEqual(two.session.readerKey)
  expect(opened(one.session, two.phone.seal(Buffer.from('answer')))).toBeUndefined()
})

test('the transcript of a session is made again from what is kept', async () => {
  const phone = await makePhone()
  const { session } = await meet(phone)
  const kept = JSON.parse(JSON.stringify(session.readerKey))
  expect(sessionTranscript(phone.bytes, kept)).toEqual(session.transcript)
})

const phone = await makePhone()
const other = await makePhone()

describe('an answer is not opened', () => {
  const engaged = (
    readerKeyBytes: Uint8Array,
    change: { code?: Uint8Array; handover?: unknown; readerKey?: Uint8Array } = {},
  ) => [
    new Tagged(24, change.code ?? phone.bytes),
    new Tagged(24, Buffer.from(change.readerKey ?? readerKeyBytes)),
    change.handover ?? null,
  ]
  const changes: [string, PhoneChange][] = [
    ['with the identifier of the reader', { iv: '000000000000000000000001' }],
    ['with counter 0', { iv: '000000000000000100000000' }],
    ['with counter 2', { iv: '000000000000000100000002' }],
    ['with the identifier behind the counter', { iv: '000000000000000000000101' }],
    ['with additional data', { aad: Buffer.from('x') }],
    ['by the key of the reader', { skDevice: ({ skReader }) => skReader }],
    ['by AES-128', { cipher: 'aes-128-gcm' }],
    ['with another engagement in the transcript', { transcript: key => engaged(key, { code: other.bytes }) }],
    [
      'with another reader key in the transcript',
      { transcript: key => engaged(key, { readerKey: Uint8Array.from(key).fill(1, -8) }) },
    ],
    ['with an NFC handover in the transcript', { transcript: key => engaged(key, { handover: [Buffer.from('hs'), null] }) }],
    ['with the origin of a page in the transcript', { transcript: () => [null, null, ['dcapi', Buffer.alloc(32)]] }],
    ['with a salt of zeros', { salt: Buffer.alloc(32) }],
  ]
  test.each(changes)('%s', async (_, change) => {
    const { session, phone: spoilt } = await meet(phone, change)
    expect(opened(session, spoilt.seal(Buffer.from('answer')))).toBeUndefined()
  })

  test('with a salt over the transcript without its tag', async () => {
    const { session, message } = await meet(phone)
    const salt = createHash('sha256').update(session.transcript).digest()
    const spoilt = await takeEstablishment(phone, message, { salt })
    expect(opened(session, spoilt.seal(Buffer.from('answer')))).toBeUndefined()
  })

  test('cut short, changed in a bit, or sent back as it came', async () => {
    const { session, phone: met, message } = await meet(phone)
    const data = new Uint8Array(met.seal(Buffer.from('answer')))
    expect(opened(session, data)).toBeDefined()
    for (let at = 0; at < data.length; at++) {
      expect(opened(session, data.with(at, data[at]! ^ 1))).toBeUndefined()
      expect(opened(session, data.subarray(0, at))).toBeUndefined()
    }
    expect(opened(session, readSessionData(message)!.data!)).toBeUndefined()
  })
})

describe('a message of a phone', () => {
  const read = (message: unknown) => readSessionData(cbor(message))
  const data = new Uint8Array(Buffer.alloc(20, 1))

  test('has data, a status, or both; what else it has is ignored', () => {
    expect(read({ data })).toEqual({ data, status: undefined })
    expect(read({ status: 20 })).toEqual({ data: undefined, status: 20 })
    expect(read({ status: 20, data, more: [1] })).toEqual({ data, status: 20 })
    expect(read({})).toEqual({ data: undefined, status: undefined })
  })

  const wrong: [string, Uint8Array][] = [
    ['empty', hex('')],
    ['no CBOR', hex('ff')],
    ['an array', cbor([data])],
    ['a text', cbor('data')],
    ['with text for bytes', cbor({ data: 'data' })],
    ['with data in an embedded item', cbor({ data: embedded(1) })],
    ['with a status as text', cbor({ status: '20' })],
    ['with a negative status', cbor({ status: -1 })],
    ['followed by a byte', Buffer.concat([cbor({ status: 20 }), Buffer.of(0)])],
    ['with a member twice', hex('a2 66737461747573 14 66737461747573 14')],
    ['of 200 items', cbor({ status: 20, more: Array(200).fill(0) })],
    ['cut short', cbor({ data }).subarray(0, -1)],
  ]
  test.each(wrong)('that is %s is none', (_, message) => {
    expect(readSessionData(message)).toBeUndefined()
  })

  test('that is nothing but a status tells one of three errors', () => {
    expect([10, 11, 20, 99, 0, undefined].map(sessionError)).toEqual([
      'session_encryption_error',
      'cbor_decoding_error',
      'session_terminated',
      undefined,
      undefined,
      undefined,
    ])
  })
})

const { session, phone: met } = await meet(await makePhone())
const device = await makeDevice('P-256')
const stranger = await makeDevice('P-256')

describe('a MAC', () => {
  const read = async (change: MacChange = {}, takesMac = true, by = device) =>
    await judged(await makeResponse(withMac(by, met, change)), session, takesMac)

  test('proves possession, and the proof is named', async () => {
    expect(await read()).toEqual({ failed: [], detail: undefined, proof: 'mac' })
  })

  const wrong: [string, MacChange, string][] = [
    ['by another key', { phone: stranger }, 'not valid for this request'],
    ['over another transcript', { transcript: cbor([null, null, null]) }, 'not valid for this request'],
    ['of 31 bytes', { tag: tag => tag.subarray(1) }, 'not valid for this request'],
    ['of 33 bytes', { tag: tag => Buffer.concat([tag, Buffer.of(0)]) }, 'not valid for this request'],
    ['with a bit changed', { tag: tag => Buffer.from(tag.map((byte, at) => (at === 31 ? byte ^ 1 : byte))) }, 'not valid'],
    ['of algorithm 4', { header: hex('a10104') }, 'not valid for this request'],
    ['with its payload', { payload: Buffer.from('payload') }, 'not valid for this request'],
    ['beside a signature', { keepsSignature: true }, 'two proofs of possession'],
  ]
  test.each(wrong)('%s proves nothing', async (_, change, detail) => {
    expect(await read(change)).toMatchObject({ failed: ['holder_binding'], detail: expect.stringContaining(detail) })
  })

  test('proves nothing where the request made no key for it', async () => {
    expect(await read({}, false)).toMatchObject({ failed: ['holder_binding'], detail: expect.stringContaining('not supported') })
  })

  test.each(['P-384', 'Ed25519'] as CurveName[])('by a device key on %s proves nothing to a reader on P-256', async curve => {
    const other = await makeDevice(curve)
    expect(await read({ phone: stranger }, true, other)).toMatchObject({
      failed: ['holder_binding'],
      detail: 'The wallet proved possession with a MAC by a key of another curve.',
    })
  })
})
