// The sealing half of hybrid public key encryption (RFC 9180, base mode) with P-256, HKDF-SHA256 and AES-128-GCM, on WebCrypto
// alone: it runs in browsers and shares no code with the verifier's opening half.
import { concat, utf8 } from '../bytes.ts'

const CURVE = { name: 'ECDH', namedCurve: 'P-256' }
const KEM = concat(utf8('KEM'), Uint8Array.of(0, 0x10))
const HPKE = concat(utf8('HPKE'), Uint8Array.of(0, 0x10, 0, 1, 0, 1))
const VERSION = utf8('HPKE-v1')
const NONE = new Uint8Array()

type Bytes = Uint8Array<ArrayBuffer>
type Message = { plaintext: Uint8Array; info: Uint8Array; aad?: Uint8Array }

/** `point`: the recipient's public key, uncompressed. */
export async function sealHpke(
  point: Uint8Array,
  { plaintext, info, aad = NONE }: Message,
): Promise<{ enc: Bytes; cipherText: Bytes }> {
  const recipient = await crypto.subtle.importKey('raw', Uint8Array.from(point), CURVE, false, [])
  const ephemeral = (await crypto.subtle.generateKey(CURVE, true, ['deriveBits'])) as CryptoKeyPair
  const enc = new Uint8Array(await crypto.subtle.exportKey('raw', ephemeral.publicKey))
  const shared = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: recipient }, ephemeral.privateKey, 256))
  const kemKey = await labeledExtract(KEM, NONE, 'eae_prk', shared)
  const secret = await labeledExpand(KEM, kemKey, 'shared_secret', concat(enc, point), 32)

  const pskIdHash = await labeledExtract(HPKE, NONE, 'psk_id_hash', NONE)
  const infoHash = await labeledExtract(HPKE, NONE, 'info_hash', info)
  const context = concat(Uint8Array.of(0), pskIdHash, infoHash)
  const prk = await labeledExtract(HPKE, secret, 'secret', NONE)
  const [key, iv] = [
    await labeledExpand(HPKE, prk, 'key', context, 16),
    await labeledExpand(HPKE, prk, 'base_nonce', context, 12),
  ]
  const aes = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt'])
  const algorithm = { name: 'AES-GCM', iv, additionalData: Uint8Array.from(aad) }
  return { enc, cipherText: new Uint8Array(await crypto.subtle.encrypt(algorithm, aes, Uint8Array.from(plaintext))) }
}

const labeledExtract = (suite: Uint8Array, salt: Uint8Array, label: string, ikm: Uint8Array): Promise<Bytes> =>
  hmac(salt.length > 0 ? salt : new Uint8Array(32), concat(VERSION, suite, utf8(label), ikm))

/** At most 32 bytes: one block. */
async function labeledExpand(
  suite: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Promise<Bytes> {
  const labeled = concat(Uint8Array.of(0, length), VERSION, suite, utf8(label), info, Uint8Array.of(1))
  return (await hmac(prk, labeled)).slice(0, length)
}

async function hmac(key: Uint8Array, data: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', Uint8Array.from(key), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data))
}
