// The session of ISO/IEC 18013-5, 9.1.1: keys from both ephemeral keys and the transcript, one message each way.
import { sha256, utf8 } from '../bytes.ts'
import { type Cbor, embedded, encodeCbor, Tag } from '../cbor.ts'
import { agree, type EphemeralKey, type Point } from './curves.ts'

type Bytes = Uint8Array<ArrayBuffer>
type Side = 'reader' | 'device'

export type SessionKeys = Record<Side, Bytes>

/** `handover` is null after a QR code. */
export const sessionTranscript = (engagement: Uint8Array, readerKey: Uint8Array, handover: Cbor = null): Cbor => [
  new Tag(engagement, 24),
  new Tag(readerKey, 24),
  handover,
]

export const saltOf = (transcript: Cbor): Promise<Bytes> => sha256(encodeCbor(embedded(transcript)))

export async function sessionKeys(own: EphemeralKey, reader: Point, salt: Bytes): Promise<SessionKeys> {
  const secret = await agree(own, reader)
  return { reader: await derive(secret, salt, 'SKReader'), device: await derive(secret, salt, 'SKDevice') }
}

/** HKDF-SHA-256, 32 bytes. */
async function derive(secret: Bytes, salt: Bytes, info: 'SKReader' | 'SKDevice'): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info: utf8(info) }, key, 256))
}

/** The identifier of the sender and the counter 1: each sends one message. */
const gcm = (from: Side) => ({ name: 'AES-GCM', iv: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, from === 'device' ? 1 : 0, 0, 0, 0, 1) })

const aesKey = (key: Bytes, use: 'encrypt' | 'decrypt') => crypto.subtle.importKey('raw', key, 'AES-GCM', false, [use])

/** Throws if a bit of the message or the key differs. */
export const decrypt = async (keys: SessionKeys, from: Side, message: Uint8Array): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.decrypt(gcm(from), await aesKey(keys[from], 'decrypt'), Uint8Array.from(message)))

export const encrypt = async (keys: SessionKeys, from: Side, message: Uint8Array): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.encrypt(gcm(from), await aesKey(keys[from], 'encrypt'), Uint8Array.from(message)))
