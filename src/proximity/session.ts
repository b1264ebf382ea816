// The session of one engagement (ISO/IEC 18013-5 § 9.1.1): its transcript, its keys, its two messages. There is one request and one
// answer, so each direction encrypts under counter 1, once: the sealed request is kept, and never made again under the same key.
// WebCrypto makes the keys on other threads: a P-521 secret costs milliseconds.
import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto'
import { parseCbor } from '../openid4vp/cbor/cbor.ts'
import { type AgreementKey, coseKeyOf, type EcCurve, importPoint, pointOf } from '../openid4vp/cbor/cose-key.ts'
import { Embedded, encodeCbor, Received } from '../openid4vp/cbor/encode.ts'
import { CborError, type CborItem } from '../openid4vp/cbor/item.ts'
import type { Engagement } from './engagement.ts'

/** A private JWK on the curve of the phone's key. It is kept until the answer. */
export type ReaderKey = { kty: 'EC'; crv: EcCurve; x: string; y: string; d: string }

export type Session = {
  readerKey: ReaderKey
  /** The encoded SessionTranscript, which device and reader sign. */
  transcript: Uint8Array
  skReader: Uint8Array
  skDevice: Uint8Array
}

const ecdh = (namedCurve: EcCurve) => ({ name: 'ECDH', namedCurve })

export async function openSession(engagement: Engagement): Promise<Session> {
  const { privateKey } = await crypto.subtle.generateKey(ecdh(engagement.deviceKey.curve), true, ['deriveBits'])
  const { kty, crv, x, y, d } = (await crypto.subtle.exportKey('jwk', privateKey)) as ReaderKey
  return await sessionWith({ kty, crv, x, y, d }, engagement)
}

export async function sessionWith(readerKey: ReaderKey, { bytes, deviceKey }: Engagement): Promise<Session> {
  const transcript = sessionTranscript(bytes, readerKey)
  return { readerKey, transcript, ...sessionKeys(await sharedSecret(readerKey, deviceKey), transcript) }
}

/** Both keys are on one curve. */
async function sharedSecret(readerKey: ReaderKey, { curve, key }: AgreementKey): Promise<Uint8Array> {
  const privateKey = await crypto.subtle.importKey('jwk', readerKey, ecdh(curve), false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: key }, privateKey, null))
}

/** After the scan of a QR code: the handover is null (§ 9.1.5.1). */
export const sessionTranscript = (engagement: Uint8Array, readerKey: ReaderKey): Uint8Array =>
  encodeCbor([new Embedded(new Received(engagement)), new Embedded(coseKeyOf(readerKey)), null])

/** § 9.1.1.5. */
export const sessionKeys = (secret: Uint8Array, transcript: Uint8Array): Pick<Session, 'skReader' | 'skDevice'> => ({
  skReader: derived(secret, transcript, 'SKReader'),
  skDevice: derived(secret, transcript, 'SKDevice'),
})

/**
 * The key of a MAC by the device key of a document (§ 9.1.3.5); undefined where that is on another curve. Who has it could have made
 * the MAC too: it convinces us, and nobody else.
 */
export const macKeyOf =
  (readerKey: ReaderKey, transcript: Uint8Array) =>
  async (deviceKey: CborItem): Promise<Uint8Array | undefined> => {
    const point = deviceKey.isMap ? pointOf(deviceKey.asMap()) : undefined
    const key = point?.curve === readerKey.crv ? await importPoint(point) : undefined
    return key && derived(await sharedSecret(readerKey, key), transcript, 'EMacKey')
  }

const KEY_BYTES = 32

function derived(secret: Uint8Array, transcript: Uint8Array, info: string): Uint8Array {
  const salt = hash('sha256', encodeCbor(new Embedded(new Received(transcript))), 'buffer')
  return new Uint8Array(hkdfSync('sha256', secret, salt, info, KEY_BYTES))
}

/** A SessionEstablishment: exactly these members, in this order. Once for each session. */
export function establishment({ readerKey, skReader }: Session, request: Uint8Array): Uint8Array {
  const cipher = createCipheriv(CIPHER, skReader, READER_IV, { authTagLength: TAG_BYTES })
  const data = Buffer.concat([cipher.update(request), cipher.final(), cipher.getAuthTag()])
  return encodeCbor(
    new Map<string, Embedded | Uint8Array>([
      ['eReaderKey', new Embedded(coseKeyOf(readerKey))],
      ['data', data],
    ]),
  )
}

/** The phone's answer; undefined if it was not sealed for this session. */
export function openAnswer(skDevice: Uint8Array, data: Uint8Array): Uint8Array | undefined {
  const at = data.length - TAG_BYTES
  if (at < 0) return undefined
  const decipher = createDecipheriv(CIPHER, skDevice, DEVICE_IV, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(data.subarray(at))
  try {
    return new Uint8Array(Buffer.concat([decipher.update(data.subarray(0, at)), decipher.final()]))
  } catch {
    return undefined
  }
}

const CIPHER = 'aes-256-gcm'
const TAG_BYTES = 16
/** Who sends, and the counter: the first message of each direction. */
const READER_IV = Buffer.from('00000000' + '00000000' + '00000001', 'hex')
const DEVICE_IV = Buffer.from('00000000' + '00000001' + '00000001', 'hex')

/** What follows the establishment, in either direction (§ 9.1.1.4). */
type SessionData = { data?: Uint8Array; status?: number }

const ITEMS_MAX = 100

/** Undefined for anything else. Unknown members are ignored. */
export function readSessionData(message: Uint8Array): SessionData | undefined {
  try {
    const members = parseCbor(message, { itemsMax: ITEMS_MAX }).asMap()
    return { data: members.get('data')?.asBytes(), status: members.get('status')?.asUint() }
  } catch (error) {
    if (error instanceof CborError) return undefined
    throw error
  }
}

/** The code of a message that is nothing but a status; undefined for an unknown one. */
export const sessionError = (status: number | undefined): string | undefined => STATUS_CODES.get(status)

const STATUS_CODES = new Map<number | undefined, string>([
  [10, 'session_encryption_error'],
  [11, 'cbor_decoding_error'],
  [20, 'session_terminated'],
])

/** { "status": 20 }: what we send after the answer, unless the phone ended the session in it. */
export const SESSION_TERMINATION: Uint8Array = encodeCbor(new Map([['status', 20]]))
