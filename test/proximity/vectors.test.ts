// Annex D of ISO/IEC 18013-5, and the same keys after the scan of a QR code.
import { describe, expect, test } from 'bun:test'
import { createHash, createPrivateKey, createPublicKey, diffieHellman, X509Certificate } from 'node:crypto'
import { parseCbor } from '../../src/openid4vp/cbor/cbor.ts'
import { verifySign1 } from '../../src/openid4vp/cbor/cose.ts'
import { importKey } from '../../src/openid4vp/cbor/cose-key.ts'
import { verifyMac0 } from '../../src/openid4vp/cbor/cose-mac.ts'
import { Embedded, encodeCbor, Received } from '../../src/openid4vp/cbor/encode.ts'
import { deviceRequestParts, encodeDeviceRequest } from '../../src/openid4vp/exchange/device-request.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { embeddedIn } from '../../src/openid4vp/mdoc/issuer.ts'
import { MdocReader } from '../../src/openid4vp/mdoc/mdoc.ts'
import { type Engagement, readEngagement } from '../../src/proximity/engagement.ts'
import {
  establishment,
  macKeyOf,
  openAnswer,
  type ReaderKey,
  readSessionData,
  SESSION_TERMINATION,
  sessionKeys,
  sessionWith,
} from '../../src/proximity/session.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { textOf } from '../helpers/engagement.ts'
import { cbor, hex, Raw, Tagged } from '../helpers/mdoc.ts'
import { vectors } from '../helpers/vectors.ts'

type Input = Record<string, string> & { e_reader_private_jwk: ReaderKey; e_device_private_jwk: JsonWebKey }
type Mac = Record<string, string> & { ephemeral_reader_private_jwk: ReaderKey }

const toHex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex')
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

const [annexD, qr] = vectors<Input>('iso18013-annex-d-session.json')
const others = vectors<Mac>('iso18013-annex-d.json')
const vectorOf = (id: string) => others.find(vector => vector.id === id)

/** 24(<< SessionTranscript >>) without its head. */
const transcriptIn = (bytes: string) => embeddedIn(parseCbor(hex(bytes))).bytes

describe.if(annexD !== undefined)('the session of Annex D', () => {
  const { input, expect: expected } = annexD ?? ({ input: {}, expect: {} } as NonNullable<typeof annexD>)
  const transcript = annexD && transcriptIn(input.session_transcript_bytes_hex!)
  const keysOf = () => {
    const [reader, device] = [input.e_reader_private_jwk, input.e_device_private_jwk] as JsonWebKey[]
    const { d: _, ...publicJwk } = device!
    const privateKey = createPrivateKey({ key: reader!, format: 'jwk' })
    const secret = diffieHellman({ privateKey, publicKey: createPublicKey({ key: publicJwk, format: 'jwk' }) })
    return { secret, ...sessionKeys(secret, transcript!) }
  }

  test('has the keys that the standard prints', () => {
    const { secret, skReader, skDevice } = keysOf()
    expect(toHex(secret)).toBe(expected.shared_secret_hex as string)
    expect(toHex(skReader)).toBe(expected.sk_reader_hex as string)
    expect(toHex(skDevice)).toBe(expected.sk_device_hex as string)
  })

  test('begins with its SessionEstablishment, to the byte, and ends with its termination', () => {
    const session = { readerKey: input.e_reader_private_jwk, transcript: transcript!, ...keysOf() }
    expect(toHex(establishment(session, hex(input.device_request_hex!)))).toBe(expected.session_establishment_hex as string)
    expect(toHex(SESSION_TERMINATION)).toBe(expected.session_termination_hex as string)
  })

  test('holds the answer of the phone, which nothing else opens', () => {
    const { data, status } = readSessionData(hex(expected.session_data_hex as string))!
    expect([data!.length, status]).toEqual([3578, undefined])
    const { skDevice, skReader } = keysOf()
    expect(toHex(openAnswer(skDevice, data!))).toBe(input.device_response_hex!)
    expect(openAnswer(skReader, data!)).toBeUndefined()
    expect(openAnswer(skDevice, data!.with(data!.length - 1, data!.at(-1)! ^ 1))).toBeUndefined()
    expect(openAnswer(skDevice, data!.subarray(0, 15))).toBeUndefined()
  })

  test('is engaged by a code that offers the phone as central client only', async () => {
    expect(await readEngagement(textOf(hex(input.device_engagement_hex!)))).toMatchObject({
      version: '1.0',
      transports: [
        { type: 'ble_central_client', ident: Buffer.from(hex(qr!.expect.ble_ident_hex as string)).toString('base64url') },
      ],
      takesReaderAuthAll: false,
      takesUseCases: false,
    })
  })
})

describe.if(qr !== undefined)('a session after the scan of a QR code', () => {
  const { input, expect: expected } = qr ?? ({ input: {}, expect: {} } as NonNullable<typeof qr>)
  const open = async () => {
    const engagement = (await readEngagement(textOf(hex(input.device_engagement_hex!)))) as Engagement
    return await sessionWith(annexD!.input.e_reader_private_jwk, engagement)
  }

  test('has transcript, keys and first message of the vector', async () => {
    const session = await open()
    const { transcript, skReader, skDevice } = session
    expect([transcript.length, sha256(transcript)]).toEqual([
      expected.session_transcript_bytes as never,
      expected.session_transcript_sha256 as never,
    ])
    expect(sha256(encodeCbor(new Embedded(new Received(transcript))))).toBe(expected.salt_hex as string)
    expect([toHex(skReader), toHex(skDevice)]).toEqual([expected.sk_reader_hex, expected.sk_device_hex] as string[])
    const message = establishment(session, hex(input.device_request_hex!))
    expect([message.length, sha256(message)]).toEqual([
      expected.session_establishment_bytes as never,
      expected.session_establishment_sha256 as never,
    ])
  })

  test('carries the request of the built-in template for the EU age app', () => {
    const parts = deviceRequestParts(BUILTIN_TEMPLATES.get('eu_av_age_18')!.query)!
    expect(toHex(encodeDeviceRequest(parts, '1.0'))).toBe(input.device_request_hex!)
  })
})

const macVector = vectorOf('annex-d-device-response-mac')

describe.if(macVector !== undefined)('the MAC of Annex D', () => {
  const {
    input,
    context,
    expect: expected,
  } = macVector ?? ({ input: {}, context: {}, expect: {} } as NonNullable<typeof macVector>)
  const readerKey = input.ephemeral_reader_private_jwk
  const transcript = macVector && transcriptIn(input.session_transcript_bytes_hex!)
  const now = Date.parse(context?.now ?? '')
  const read = async (
    change: Partial<Parameters<MdocReader['readDeviceResponse']>[2]> = {},
    response = input.device_response_hex!,
  ) => {
    const findings = new Findings(() => now)
    const given = {
      now,
      transcript: transcript!,
      holderBindingRequired: true,
      macKey: macKeyOf(readerKey, transcript!),
      ...change,
    }
    const credential = await new MdocReader().readDeviceResponse(findings, hex(response), given)
    return { proof: credential?.proof, failures: findings.all.flatMap(({ check, status }) => (status === 'fail' ? [check] : [])) }
  }

  test('proves possession with the key that the standard prints', async () => {
    expect(await read()).toEqual({ proof: 'mac', failures: [] })
    const document = parseCbor(hex(input.device_response_hex!)).asMap().get('documents')!.asArray()[0]!.asMap()
    const issuerAuth = document.get('issuerSigned')!.asMap().get('issuerAuth')!.asArray()
    const mso = embeddedIn(parseCbor(issuerAuth[2]!.asBytes())).asMap()
    const key = await macKeyOf(readerKey, transcript!)(mso.get('deviceKeyInfo')!.asMap().get('deviceKey')!)
    expect(toHex(key)).toBe((expected.mac as Record<string, string>).emac_key_hex!)
  })

  test('proves nothing over another transcript, with another key, or where no MAC is taken', async () => {
    const other = cbor([null, null, ['OpenID4VPHandover', Buffer.alloc(32)]])
    const refused = { proof: 'mac' as const, failures: ['holder_binding' as const] }
    expect(await read({ transcript: other })).toEqual(refused)
    expect(await read({ macKey: macKeyOf(readerKey, other) })).toEqual(refused)
    expect(await read({ macKey: async () => new Uint8Array(32) })).toEqual(refused)
    expect(await read({ macKey: undefined })).toEqual(refused)
  })
})

const readerVector = vectorOf('annex-d-reader-auth')

test.if(readerVector !== undefined)('the reader signature of Annex D holds over its document, and over no other', async () => {
  const { input } = readerVector!
  const spki = new X509Certificate(Buffer.from(input.reader_cert_der_b64!, 'base64')).publicKey.export({
    format: 'der',
    type: 'spki',
  })
  const key = (await importKey('spki', 'P-256', spki))!
  const signed = (items: Uint8Array) =>
    cbor(
      new Tagged(
        24,
        cbor(['ReaderAuthentication', new Raw(transcriptIn(input.session_transcript_bytes_hex!)), new Tagged(24, items)]),
      ),
    )
  const items = hex(input.items_request_hex!)
  expect(await verifySign1(hex(input.reader_auth_hex!), key, { detachedPayload: signed(items) })).toBe(true)
  expect(await verifySign1(hex(input.reader_auth_hex!), key, { detachedPayload: signed(items.subarray(1)) })).toBe(false)
})

test('a MAC counts in its one form only', () => {
  const key = Buffer.alloc(32, 7)
  const payload = Buffer.from('payload')
  const tag = new Bun.CryptoHasher('sha256', key).update(cbor(['MAC0', hex('a10105'), Buffer.alloc(0), payload])).digest()
  const verify = (item: unknown) => verifyMac0(parseCbor(cbor(item)), key, payload)
  const good = [hex('a10105'), {}, null, tag]
  expect([verify(good), verify(new Tagged(17, good))]).toEqual([true, true])
  const wrong: unknown[] = [
    new Tagged(18, good),
    [hex('a10104'), {}, null, tag],
    [hex('a201050200'), {}, null, tag],
    [hex('a1011805'), {}, null, tag],
    [hex(''), { 1: 5 }, null, tag],
    [hex('a10105'), {}, payload, tag],
    [hex('a10105'), [], null, tag],
    [hex('a10105'), {}, null, tag.subarray(1)],
    [hex('a10105'), {}, null, Buffer.concat([tag, Buffer.of(0)])],
    [hex('a10105'), {}, null, tag.toString('hex')],
    [hex('a10105'), {}, null],
    [...good, 1],
    { tag },
    'text',
  ]
  expect(wrong.map(verify)).toEqual(wrong.map(() => false))
  expect(verifyMac0(parseCbor(cbor(good)), Buffer.alloc(32, 8), payload)).toBe(false)
})
