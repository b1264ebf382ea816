// The session of ISO/IEC 18013-5, 9.1.1: keys from both ephemeral keys and the transcript, one message each way.
import { concat, sha256, utf8 } from '../bytes.ts'
import { type Cbor, embedded, encodeCbor, Tag } from '../cbor.ts'
import { agree, type EphemeralKey, type Point } from './curves.ts'

type Bytes = Uint8Array<ArrayBuffer>

export type SessionKeys = { reader: Bytes; device: Bytes }

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
export async function derive(secret: Bytes, salt: Bytes, info: 'SKReader' | 'SKDevice' | 'EMacKey'): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info: utf8(info) }, key, 256))
}

type Iv = { counter?: number; from: 'reader' | 'device' }

/** The identifier of the sender, and how many messages it has sent. */
const ivOf = ({ counter = 1, from }: Iv): Bytes =>
  concat(new Uint8Array(7), Uint8Array.of(from === 'device' ? 1 : 0), Uint8Array.of(0, 0, 0, counter))

const aesKey = (key: Bytes, use: 'encrypt' | 'decrypt') => crypto.subtle.importKey('raw', key, 'AES-GCM', false, [use])

/** Throws if a bit of message, key or counter differs. */
export async function decrypt(key: Bytes, iv: Iv, message: Uint8Array): Promise<Bytes> {
  const algorithm = { name: 'AES-GCM', iv: ivOf(iv) }
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, await aesKey(key, 'decrypt'), Uint8Array.from(message)))
}

export async function encrypt(key: Bytes, iv: Iv & { aad?: Uint8Array }, plaintext: Uint8Array): Promise<Bytes> {
  const algorithm = { name: 'AES-GCM', iv: ivOf(iv), additionalData: Uint8Array.from(iv.aad ?? []) }
  return new Uint8Array(await crypto.subtle.encrypt(algorithm, await aesKey(key, 'encrypt'), Uint8Array.from(plaintext)))
}
