// The phone of the sandbox against Annex D of ISO/IEC 18013-5, and against a reader by node:crypto and @owf/mdoc.
import { describe, expect, test } from 'bun:test'
import { DeviceResponse, Verifier } from '@owf/mdoc'
import { phoneOf } from '../../scripts/persona-phone.ts'
import { type Cbor, cborToJson, decodeCbor, encodeCbor, Tag } from '../../src/sandbox/cbor.ts'
import { coseKey } from '../../src/sandbox/cose.ts'
import type { PrivateJwk } from '../../src/sandbox/es256.ts'
import type { Mutations } from '../../src/sandbox/mutations.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { agree, type EphemeralKey } from '../../src/sandbox/phone/curves.ts'
import { createPhone, type EngagementOptions, readStatus } from '../../src/sandbox/phone/phone.ts'
import { decrypt, encrypt, saltOf, sessionKeys, sessionTranscript } from '../../src/sandbox/phone/session.ts'
import { readDeviceRequest } from '../../src/sandbox/wallet/device-request.ts'
import { checkReaders } from '../../src/sandbox/wallet/reader.ts'
import { createPeripheral } from '../../src/web/sandbox/in-person/peripheral.ts'
import { DAY_MS, issue, issueAuthority, purposes } from '../helpers/certificates.ts'
import { cbor, embedded, Raw, Tagged } from '../helpers/mdoc.ts'
import { cheats, type Mac, type PhoneCheats, proveByMac } from '../helpers/phone-cheats.ts'
import { vectors } from '../helpers/vectors.ts'
import { context } from './foreign.ts'
import { hash, itemsRequest, iv, type ReaderCurve, readCode, unseal } from './foreign-reader.ts'
import { holderOf, issuer, NOW } from './world.ts'

const AV = 'eu.europa.ec.av.1'
const MDL = 'org.iso.18013.5.1.mDL'
const AV_REQUEST = itemsRequest(AV, { [AV]: ['age_over_18'] })
const MDL_REQUEST = itemsRequest(MDL, { 'org.iso.18013.5.1': ['age_over_18', 'family_name'] })

const requestOf = (...items: unknown[]) => ({ version: '1.0', docRequests: items.map(each => ({ itemsRequest: each })) })

type Wrong = Mutations & PhoneCheats
type Options = EngagementOptions & { mutations?: Wrong; persona?: PersonaId; deviceRequest?: object }

/** A reading of a phone: what the reader holds at its end. */
async function read({ persona = 'adult', deviceRequest = requestOf(AV_REQUEST), mutations, ...options }: Options = {}) {
  const phone = await phoneOf(await holderOf(persona), { ...options, ...(mutations && { mutations: cheats(mutations) }) })
  const session = readCode(phone.code, options.curve)
  const message = (await phone.receive(session.establish(deviceRequest)))!
  return { phone, session, message, response: () => session.open(message) }
}

const bytes = (text: unknown) => Uint8Array.from(Buffer.from(String(text), 'hex'))
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')

/** The SessionTranscript in SessionTranscriptBytes. */
const inside = (transcriptBytes: string) => (decodeCbor(bytes(transcriptBytes)) as Tag).value as Uint8Array

/** A message or response; bytes are hex. */
const decode = (message: Uint8Array) => cborToJson(decodeCbor(message), hex)

const dataOf = (message: Uint8Array) => (decodeCbor(message) as Map<string, Uint8Array>).get('data')!

type Session = {
  device_engagement_hex: string
  e_device_private_jwk: EphemeralKey
  e_reader_private_jwk: EphemeralKey
  device_request_hex: string
  session_transcript_bytes_hex?: string
  device_response_hex: string
}

describe('the session of a phone', () => {
  const sessions = vectors<Session>('iso18013-annex-d-session.json')
  for (const { id, title, input, expect: expected } of sessions)
    test(`${id}: ${title}`, async () => {
      const { e_device_private_jwk: own, e_reader_private_jwk } = sessions[0]!.input
      const { d: _, ...reader } = e_reader_private_jwk
      const readerKeyBytes = encodeCbor(coseKey(reader))
      const published = input.session_transcript_bytes_hex
      const transcript = published
        ? decodeCbor(inside(published))
        : sessionTranscript(bytes(input.device_engagement_hex), readerKeyBytes)
      const salt = await saltOf(transcript)
      expect(hex(salt)).toBe(expected.salt_hex as string)
      const keys = await sessionKeys(own, reader, salt)
      expect([hex(keys.reader), hex(keys.device)]).toEqual([expected.sk_reader_hex as string, expected.sk_device_hex as string])
      const data = await encrypt(keys, 'reader', bytes(input.device_request_hex))
      const establishment = cbor({ eReaderKey: new Tagged(24, readerKeyBytes), data })
      if (!published) {
        expect(encodeCbor(transcript)).toHaveLength(expected.session_transcript_bytes as number)
        expect(hex(hash(encodeCbor(transcript)))).toBe(expected.session_transcript_sha256 as string)
        expect(hex(hash(establishment))).toBe(expected.session_establishment_sha256 as string)
        return
      }
      expect(hex(await agree(own, reader))).toBe(expected.shared_secret_hex as string)
      expect(hex(establishment)).toBe(expected.session_establishment_hex as string)
      const sealed = dataOf(bytes(expected.session_data_hex))
      expect(hex(await decrypt(keys, 'device', sealed))).toBe(input.device_response_hex)
      expect(readStatus(bytes(expected.session_termination_hex))).toBe(20)
      expect(await checkReaders(readDeviceRequest(bytes(input.device_request_hex)), transcript)).toEqual(['reader'])
    })

  type AnnexD = {
    device_response_hex: string
    session_transcript_bytes_hex: string
    ephemeral_reader_private_jwk: EphemeralKey
    private_jwk: PrivateJwk
  }
  const documents = vectors<AnnexD>('iso18013-annex-d.json')
  const inputOf = (wanted: string) => documents.find(({ id }) => id === wanted)!.input

  test.if(documents.length > 0)('the MAC of Annex D comes out of the key of the document', async () => {
    const {
      device_response_hex,
      session_transcript_bytes_hex,
      ephemeral_reader_private_jwk: readerKey,
    } = inputOf('annex-d-device-response-mac')
    const { private_jwk: key } = inputOf('annex-d-static-device-key')
    const [document] = DeviceResponse.decode(bytes(device_response_hex)).documents!
    const transcriptBytes = inside(session_transcript_bytes_hex)
    const nameSpaces = new Raw(document!.deviceSigned.deviceNamespaces.encode({ asDataItem: true }))
    const authentication = cbor(embedded(['DeviceAuthentication', new Raw(transcriptBytes), document!.docType, nameSpaces]))
    const transcript = decodeCbor(transcriptBytes) as readonly Cbor[]
    expect(transcript[1]).toEqual(new Tag(encodeCbor(coseKey(readerKey)), 24))
    const { deviceMac } = await proveByMac(authentication, { key, transcript })
    const [header, , payload, tag] = deviceMac as [Uint8Array, Cbor, Cbor, Uint8Array]
    expect([hex(header), payload]).toEqual(['a10105', null])
    expect(hex(tag)).toBe(hex(document!.deviceSigned.deviceAuth.deviceMac!.tag))
  })
})

describe('a code', () => {
  test('has the version, the key and the service of its options', async () => {
    const { code, engagement, service } = await createPhone()
    expect(code).toBe(`mdoc:${Buffer.from(engagement).toString('base64url')}`)
    const { members } = readCode(code)
    expect([members.get(0), members.get(6)]).toEqual(['1.0', undefined])
    const [[type, version, options]] = members.get(2) as [[number, number, Map<number, Cbor>]]
    expect([type, version, options.get(0), options.get(1), options.get(11)]).toEqual([2, 1, true, false, undefined])
    expect(service!.replaceAll('-', '')).toBe(hex(options.get(10) as Uint8Array))
  })

  test('offers to connect by itself, or both', async () => {
    const modesOf = async (mode: EngagementOptions['mode']) => {
      const { code, service } = await createPhone({ mode, version: '1.1' })
      const { members } = readCode(code)
      const [[, , options]] = members.get(2) as [[number, number, Map<number, Cbor>]]
      expect([members.get(0), members.get(6)]).toEqual(['1.1', new Map([[4, true]])])
      return [options.get(0), options.get(1), options.has(10), options.has(11), service !== undefined]
    }
    expect(await modesOf('central')).toEqual([false, true, false, true, false])
    expect(await modesOf('both')).toEqual([true, true, true, true, true])
  })

  test('takes foreign members in the place of its own', async () => {
    const { code } = await createPhone({
      change: members => members.set(0, '2.0').set(9, 'x'),
    })
    const { members } = readCode(code)
    expect([members.get(0), members.get(9)]).toEqual(['2.0', 'x'])
  })
})

describe('a phone', () => {
  test.each<ReaderCurve>(['P-256', 'P-384', 'P-521'])('answers over %s, and @owf/mdoc accepts the documents', async curve => {
    const { session, response } = await read({ curve, deviceRequest: requestOf(AV_REQUEST, MDL_REQUEST) })
    const { documents } = DeviceResponse.decode(Uint8Array.from(response()))
    expect(documents!.map(({ docType }) => docType)).toEqual([AV, MDL])
    const shared = documents![1]!.issuerSigned.getPrettyClaims('org.iso.18013.5.1')
    expect(shared).toEqual({ age_over_18: true, family_name: 'Mustermann' })
    const checked = {
      deviceResponse: Uint8Array.from(response()),
      sessionTranscript: session.transcript(),
      trustedCertificates: [issuer.anchor],
      now: new Date(NOW),
    }
    await Verifier.verifyDeviceResponse(checked, context)
    expect([session.proofOf(response()), session.proofOf(response(), 1)]).toEqual(['deviceSignature', 'deviceSignature'])
  })

  test('answers a reader that knows compressed points', async () => {
    const change = (members: Map<number, Cbor>) => {
      const [suite, key] = members.get(1) as [number, Tag]
      const point = decodeCbor(key.value as Uint8Array) as Map<number, Cbor>
      point.set(-3, ((point.get(-3) as Uint8Array).at(-1)! & 1) === 1)
      return members.set(1, [suite, new Tag(encodeCbor(point), 24)])
    }
    const { session, response } = await read({ change })
    expect(session.proofOf(response())).toBe('deviceSignature')
  })

  test('shares one document of each type in version 1.0, and no document if none is held', async () => {
    const other = itemsRequest(MDL, { 'org.iso.18013.5.1': ['given_name'] })
    const unknown = itemsRequest('com.example.card', { x: ['y'] })
    const held = await read({ deviceRequest: requestOf(unknown, MDL_REQUEST, other) })
    expect(DeviceResponse.decode(Uint8Array.from(held.response())).documents!.map(({ docType }) => docType)).toEqual([MDL])
    const none = await read({ deviceRequest: requestOf(unknown) })
    expect(decode(none.response())).toEqual({ version: '1.0', documents: [], status: 0 })
  })

  test('chooses by use cases in version 1.1', async () => {
    const useCases = [{ mandatory: true, documentSets: [[1], [0]] }]
    const deviceRequest = {
      ...requestOf(AV_REQUEST, MDL_REQUEST),
      version: '1.1',
      deviceRequestInfo: embedded({ useCases }),
    }
    const { response } = await read({ deviceRequest })
    expect(DeviceResponse.decode(Uint8Array.from(response())).documents!.map(({ docType }) => docType)).toEqual([MDL])
  })

  test('ends the session when its holder declines, and is ended by the status of the reader', async () => {
    const { phone, message } = await read({ persona: 'declines' })
    expect(hex(message)).toBe('a16673746174757314')
    expect([await phone.receive(bytes('a16673746174757314')), phone.ended]).toEqual([undefined, 20])
  })

  test('gives no answer to a request that was not made for it', async () => {
    const phone = await phoneOf(await holderOf('adult'))
    const another = readCode((await createPhone()).code)
    await expect(phone.receive(another.establish(requestOf(AV_REQUEST)))).rejects.toMatchObject({ status: 10 })
    await expect(phone.receive(bytes('00ff'))).rejects.toMatchObject({ status: 11 })
    const session = readCode(phone.code)
    await expect(phone.receive(session.establish({ version: '2.0' }))).rejects.toThrow('version')
    const { code } = await createPhone({ curve: 'P-384' })
    const onAnother = readCode(code, 'P-384').establish(requestOf(AV_REQUEST))
    await expect(phone.receive(onAnother)).rejects.toThrow('another curve')
    const more = encodeCbor((decodeCbor(session.establish(requestOf(AV_REQUEST))) as Map<string, Cbor>).set('more', 1))
    await expect(phone.receive(more)).rejects.toThrow('other members')
  })
})

describe('a reader that signs', () => {
  async function signed() {
    const authority = await issueAuthority({ notBefore: NOW - DAY_MS, notAfter: NOW + DAY_MS })
    const { der, keys } = await issue({
      issuer: authority,
      name: 'C=NL, CN=Corner Shop',
      extensions: [purposes(['1.0.18013.5.1.6'])],
    })
    const phone = await createPhone()
    const session = readCode(phone.code)
    const header = cbor(new Map([[1, -7]]))
    const signatureOver = async (content: unknown) => {
      const payload = cbor(embedded(content))
      const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
      const toSign = cbor(['Signature1', header, Buffer.alloc(0), payload])
      const signature = new Uint8Array(await crypto.subtle.sign(algorithm, keys.privateKey, toSign))
      return [header, new Map([[33, der]]), null, signature]
    }
    const readerAuth = await signatureOver(['ReaderAuthentication', new Raw(session.transcriptBytes), AV_REQUEST])
    return { phone, session, readerAuth }
  }

  test('is named, with the number of its signatures', async () => {
    const { phone, session, readerAuth } = await signed()
    const request = await phone.open(
      session.establish({ version: '1.0', docRequests: [{ itemsRequest: AV_REQUEST, readerAuth }] }),
    )
    expect(request).toMatchObject({ readers: ['Corner Shop'], readerAuthAll: undefined, version: '1.0' })
    expect(request.documents).toMatchObject([{ docType: AV, readerAuth: expect.anything() }])
    const plain = await phone.open(session.establish(requestOf(AV_REQUEST)))
    expect(plain).toMatchObject({ readers: [], documents: [{ readerAuth: undefined }] })
  })

  test('is refused when its signature is for another session or document, or on some documents only', async () => {
    const { phone, session, readerAuth } = await signed()
    const establish = (docRequests: object[], by = session) => by.establish({ version: '1.0', docRequests })
    await expect(phone.open(establish([{ itemsRequest: MDL_REQUEST, readerAuth }]))).rejects.toThrow('signature of a reader')
    await expect(
      phone.open(establish([{ itemsRequest: AV_REQUEST, readerAuth }, { itemsRequest: MDL_REQUEST }])),
    ).rejects.toThrow('some of the documents')
    const next = readCode(phone.code)
    await expect(phone.open(establish([{ itemsRequest: AV_REQUEST, readerAuth }], next))).rejects.toThrow('signature of a reader')
  })
})

describe('mutations in person', () => {
  const proof = async (mutations: Wrong, options: Options = {}) => {
    const { session, response } = await read({ ...options, mutations })
    return session.proofOf(response())
  }

  test('mac proves possession by a MAC that holds, over the right key and transcript only', async () => {
    expect(await proof({ mac: true })).toBe('deviceMac')
    const another = { transcriptEngagement: Uint8Array.of(0xa0) }
    for (const cheat of [{ otherKey: true }, { handoverNotNull: true }, another])
      expect(await proof({ mac: true, ...cheat })).toBe('wrong')
    expect(await proof({ mac: 'flipped' })).toBe('wrong')
  })

  test('macCurve makes the MAC with a key on the curve of the reader', async () => {
    const { response } = await read({ curve: 'P-384', mutations: { mac: true, macCurve: true } })
    expect(DeviceResponse.decode(Uint8Array.from(response())).documents![0]!.deviceSigned.deviceAuth.deviceMac!.tag).toHaveLength(
      32,
    )
    await expect(read({ curve: 'P-384', mutations: { mac: true } })).rejects.toThrow()
  })

  test('mac changes one part of the MAC', async () => {
    type Members = Map<string, Cbor>
    const authOf = async (mac: Mac) => {
      const { response } = await read({ mutations: { mac } })
      const [document] = (decodeCbor(response()) as Map<string, Members[]>).get('documents')!
      return (document!.get('deviceSigned') as Members).get('deviceAuth') as Members
    }
    const partsOf = async (mac: Mac) => {
      const [header, , payload, tag] = (await authOf(mac)).get('deviceMac') as [Uint8Array, Cbor, Cbor, Uint8Array]
      return [hex(header), payload === null, tag.length]
    }
    expect(await partsOf(true)).toEqual(['a10105', true, 32])
    expect(await partsOf('short_tag')).toEqual(['a10105', true, 31])
    expect(await partsOf('other_alg')).toEqual(['a10104', true, 8])
    expect(await partsOf('with_payload')).toEqual(['a10105', false, 32])
    expect([...(await authOf('beside_signature')).keys()]).toEqual(['deviceMac', 'deviceSignature'])
    expect((await authOf('tagged')).get('deviceMac')).toMatchObject({ tag: 17 })
  })

  test.each<Wrong>([
    { transcriptEngagement: Uint8Array.of(0xa0) },
    { transcriptReaderKey: Uint8Array.of(0xa0) },
    { handoverNotNull: true },
  ])('%j spoils the proof, and with keysToo the session', async mutations => {
    expect(await proof(mutations)).toBe('wrong')
    const { response } = await read({ mutations: { ...mutations, keysToo: true } })
    expect(response).toThrow()
  })

  test('the persona that replays proves possession for another session', async () => {
    expect(await proof({}, { persona: 'replay' })).toBe('wrong')
  })

  test('a counter, an identifier, a key and additional data are changed one by one', async () => {
    const opened = async (mutations: Wrong, open: (keys: { reader: Buffer; device: Buffer }, data: Uint8Array) => Buffer) => {
      const { session, message, response } = await read({ mutations })
      expect(response).toThrow()
      return decode(open(session.keys, dataOf(message)))
    }
    const whole = { status: 0, version: '1.0' }
    expect(await opened({ ivCounter: 2 }, ({ device }, data) => unseal(device, iv(1, 2), data))).toMatchObject(whole)
    expect(await opened({ ivRole: true }, ({ device }, data) => unseal(device, iv(0, 1), data))).toMatchObject(whole)
    expect(await opened({ skSwapped: true }, ({ reader }, data) => unseal(reader, iv(1, 1), data))).toMatchObject(whole)
    expect(await opened({ skHalf: true }, ({ device }, data) => unseal(device.subarray(0, 16), iv(1, 1), data))).toMatchObject(
      whole,
    )
    const gcmAad = Uint8Array.of(1)
    expect(await opened({ gcmAad }, ({ device }, data) => unseal(device, iv(1, 1), data, gcmAad))).toMatchObject(whole)
    const { response } = await read({ mutations: { saltUntagged: true } })
    expect(response).toThrow()
  })

  test('status, members and plaintext are those of the mutation', async () => {
    const messageOf = async (mutations: Wrong) => (await read({ mutations })).message
    expect(decode(await messageOf({ statusOnly: 10 }))).toEqual({ status: 10 })
    expect(Object.keys(decode(await messageOf({ statusWithData: 20 })) as object)).toEqual(['data', 'status'])
    expect(decode(await messageOf({ members: new Map([['data', 'text']]) }))).toEqual({ data: 'text' })
    const { response } = await read({ mutations: { plaintext: Uint8Array.of(1, 2) } })
    expect([...response()]).toEqual([1, 2])
  })
})

describe('a phone as a peripheral', () => {
  /** Writes a message in chunks of this size, and joins what is notified. */
  async function carry(message: Uint8Array, { mtu = 247 } = {}) {
    const notified: { from: string; value: Uint8Array }[] = []
    const taken = Promise.withResolvers<Uint8Array>()
    let ends = 0
    const phone = createPeripheral({
      mtu,
      async onMessage(whole) {
        taken.resolve(whole)
        return whole
      },
      notify: (from, value) => notified.push({ from, value }),
      onEnd: () => ends++,
    })
    phone.subscribe('state')
    phone.subscribe('server2client')
    phone.write('state', Uint8Array.of(1))
    const size = mtu - 4
    for (let at = 0; at < message.length; at += size)
      phone.write('client2server', Uint8Array.of(at + size < message.length ? 1 : 0, ...message.subarray(at, at + size)))
    const received = await taken.promise
    await Promise.resolve()
    const joined = Buffer.concat(notified.filter(({ from }) => from === 'server2client').map(({ value }) => value.subarray(1)))
    return { phone, received, notified, joined, ends: () => ends }
  }
  const message = Uint8Array.from({ length: 600 }, (_, at) => at & 255)

  test.each([23, 24, 247, 515])('carries messages both ways with an MTU of %d', async mtu => {
    const { received, joined, notified, phone, ends } = await carry(message, { mtu })
    expect([hex(received), hex(joined)]).toEqual([hex(message), hex(message)])
    expect(notified.map(({ value }) => value[0])).toEqual([...notified.slice(1).map(() => 1), 0])
    expect(Math.max(...notified.map(({ value }) => value.length))).toBe(mtu - 3)
    phone.write('state', Uint8Array.of(2))
    phone.leave()
    expect([ends(), notified.at(-1)!.from]).toEqual([1, 'server2client'])
  })

  test('leaves with a word', async () => {
    const { phone, notified, ends } = await carry(message)
    phone.leave()
    expect([ends(), notified.at(-1)]).toEqual([1, { from: 'state', value: Uint8Array.of(2) }])
  })

  test('refuses a value that does not fit, a message before the start, and a start without subscriptions', () => {
    const phone = createPeripheral({ mtu: 23, onMessage: async whole => whole, notify: () => {} })
    expect(() => phone.write('client2server', new Uint8Array(21))).toThrow('does not fit')
    phone.write('state', Uint8Array.of(1))
    expect(() => phone.write('client2server', Uint8Array.of(0, 1))).toThrow('before the start')
    expect(() => createPeripheral({ mtu: 22, onMessage: async whole => whole, notify: () => {} })).toThrow('MTU')
  })
})
