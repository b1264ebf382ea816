// The sealing side of Annex C, by another implementation.
import { AEAD_AES_128_GCM, AEAD_AES_256_GCM, CipherSuite, KDF_HKDF_SHA256, KEM_DHKEM_P256_HKDF_SHA256 } from 'hpke'
import type { HpkeKey } from '../../src/openid4vp/exchange/hpke.ts'

const suite = new CipherSuite(KEM_DHKEM_P256_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_128_GCM)

/** Not the suite of Annex C: its key is longer. */
export const longerSuite = new CipherSuite(KEM_DHKEM_P256_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_256_GCM)

const CURVE = { name: 'ECDH', namedCurve: 'P-256' }

export async function makeHpkeKey(): Promise<HpkeKey & { x: string; y: string }> {
  const { privateKey, publicKey } = (await crypto.subtle.generateKey(CURVE, true, ['deriveBits'])) as CryptoKeyPair
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey)
  return { privateKey, point: new Uint8Array(await crypto.subtle.exportKey('raw', publicKey)), x, y }
}

export type Sealing = { info?: Uint8Array; aad?: Uint8Array }

export async function seal(point: Uint8Array, plaintext: Uint8Array, options: Sealing = {}, by = suite) {
  const { encapsulatedSecret, ciphertext } = await by.Seal(await by.DeserializePublicKey(point), plaintext, options)
  return { enc: encapsulatedSecret, cipherText: ciphertext }
}

/** A private key by its number, and the point that belongs to it. */
export async function hpkeKeyOf(scalar: Uint8Array): Promise<HpkeKey> {
  const privateKey = (await suite.DeserializePrivateKey(scalar, true)) as CryptoKey
  const { x, y } = await crypto.subtle.exportKey('jwk', privateKey)
  return { privateKey, point: Buffer.concat([Uint8Array.of(4), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]) }
}
