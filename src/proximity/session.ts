// The session of one engagement (ISO/IEC 18013-5 § 9.1.1): its transcript, its keys, its two messages. There is one request and one
// answer, so each direction encrypts under counter 1, once: the sealed request is kept, and never made again under the same key.
import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto'
import { coseKeyOf, pointOf } from '../openid4vp/cbor/cose-key.ts'
import { Embedded, encodeCbor, Received } from '../openid4vp/cbor/encode.ts'
import type { CborItem } from '../openid4vp/cbor/item.ts'
import type { Engagement } from './engagement.ts'
import { importPoint, newReaderKey, type ReaderKey, sharedSecret } from './ephemeral-key.ts'

export type Session = {
  readerKey: ReaderKey
  /** The encoded SessionTranscript, which device and reader sign. */
  transcript: Uint8Array
  skReader: Uint8Array
  skDevice: Uint8Array
}

/** With a fresh key. */
export const openSession = async (engagement: Engagement): Promise<Session> =>
  await sessionWith(await newReaderKey(engagement.deviceKey.curve), engagement)

export async function sessionWith(readerKey: ReaderKey, { bytes, deviceKey }: Engagement): Promise<Session> {
  const transcript = sessionTranscript(bytes, readerKey)
  return { readerKey, transcript, ...sessionKeys(await sharedSecret(readerKey, deviceKey), transcript) }
}

/** After the scan of a QR code: the handover is null (§ 9.1.5.1). */
export const sessionTranscript = (engagement: Uint8Array, readerKey: ReaderKey): Uint8Array =>
  encodeCbor([new Embedded(new Received(engagement)), new Embedded(coseKeyOf(readerKey)), null])

/** § 9.1.1.5. */
export const sessionKeys = (secret: Uint8Array, transcript: Uint8Array): Pick<Session, 'skReader' | 'skDevice'> => ({
  skReader: derived(secret, transcript, 'SKReader'),
  skDevice: derived(secret, transcript, 'SKDevice'),
})

type MacKey = (deviceKey: CborItem) => Promise<Uint8Array | undefined>

/**
 * The key of a MAC by the device key of a document (§ 9.1.3.5); undefined where that is on another curve. Who has it could have made
 * the MAC too: it convinces us, and nobody else.
 */
export const macKeyOf =
  (readerKey: ReaderKey, transcript: Uint8Array): MacKey =>
  async deviceKey => {
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
