// Opens one message of hybrid public key encryption (RFC 9180, base mode): DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and
// AES-128-GCM, the one suite of ISO/IEC TS 18013-7 Annex C. By hand, because libraries bring suites to choose from and cost
// twice the time; tests compare it with the package `hpke`.
import { createDecipheriv, createHmac } from 'node:crypto'

const POINT_BYTES = 65
const TAG_BYTES = 16
const HASH_BYTES = 32
const KEY_BYTES = 16
const NONCE_BYTES = 12

const EMPTY = new Uint8Array()
const KEM_SUITE = Buffer.concat([Buffer.from('KEM'), Uint8Array.of(0x00, 0x10)])
const SUITE = Buffer.concat([Buffer.from('HPKE'), Uint8Array.of(0x00, 0x10, 0x00, 0x01, 0x00, 0x01)])
const BASE_MODE = Uint8Array.of(0)

/** The recipient's key on P-256, for deriveBits, and its public point, uncompressed. */
export type HpkeKey = { privateKey: CryptoKey; point: Uint8Array }

type HpkeMessage = { enc: Uint8Array; cipherText: Uint8Array; info: Uint8Array; aad?: Uint8Array }

/** Undefined unless the message was sealed to this key, with this info. Never throws. */
export async function openHpke(key: HpkeKey, { enc, cipherText, info, aad = EMPTY }: HpkeMessage) {
  if (enc.length !== POINT_BYTES || enc[0] !== 4 || cipherText.length < TAG_BYTES) return undefined
  try {
    const { aes, nonce } = schedule(await sharedSecret(key, enc), info)
    const decipher = createDecipheriv('aes-128-gcm', aes, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(aad)
    decipher.setAuthTag(cipherText.subarray(-TAG_BYTES))
    return new Uint8Array(Buffer.concat([decipher.update(cipherText.subarray(0, -TAG_BYTES)), decipher.final()]))
  } catch {
    // Not a point of the curve, or not sealed for us.
    return undefined
  }
}

/** § 4.1 Decap. WebCrypto refuses a point that is not on the curve. */
async function sharedSecret({ privateKey, point }: HpkeKey, enc: Uint8Array): Promise<Buffer> {
  const curve = { name: 'ECDH', namedCurve: 'P-256' }
  const ephemeral = await crypto.subtle.importKey('raw', new Uint8Array(enc), curve, false, [])
  const dh = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: ephemeral }, privateKey, 8 * HASH_BYTES))
  const prk = extract(KEM_SUITE, EMPTY, 'eae_prk', dh)
  return expand(KEM_SUITE, prk, 'shared_secret', Buffer.concat([enc, point]), HASH_BYTES)
}

/** § 5.1 KeySchedule, without a shared key in advance. */
function schedule(secret: Uint8Array, info: Uint8Array) {
  const context = Buffer.concat([BASE_MODE, NO_PSK, extract(SUITE, EMPTY, 'info_hash', info)])
  const prk = extract(SUITE, secret, 'secret', EMPTY)
  return {
    aes: expand(SUITE, prk, 'key', context, KEY_BYTES),
    nonce: expand(SUITE, prk, 'base_nonce', context, NONCE_BYTES),
  }
}

/** § 4 LabeledExtract. */
function extract(suite: Uint8Array, salt: Uint8Array, label: string, ikm: Uint8Array): Buffer {
  return createHmac('sha256', salt).update('HPKE-v1').update(suite).update(label).update(ikm).digest()
}

/** § 4 LabeledExpand for at most one hash: the first block of HKDF. */
function expand(suite: Uint8Array, prk: Uint8Array, label: string, info: Uint8Array, length: number): Buffer {
  const lengthBytes = Uint8Array.of(0, length)
  const block = createHmac('sha256', prk).update(lengthBytes).update('HPKE-v1').update(suite).update(label).update(info)
  return block.update(Uint8Array.of(1)).digest().subarray(0, length)
}

const NO_PSK = extract(SUITE, EMPTY, 'psk_id_hash', EMPTY)
