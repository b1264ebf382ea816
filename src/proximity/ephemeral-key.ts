// The reader's key of one engagement, on the curve of the phone's, and the secret that it shares with a key of the phone. WebCrypto
// computes on other threads: a P-521 secret costs milliseconds.
import type { EcCurve, EcPoint } from '../openid4vp/cbor/cose-key.ts'

/** A public key of the phone. */
export type DeviceKey = { curve: EcCurve; key: CryptoKey }

/** A private JWK: it is kept until the answer. */
export type ReaderKey = { kty: 'EC'; crv: EcCurve; x: string; y: string; d: string }

/** The cofactor of these curves is 1, so a point of the curve is a key. Undefined for any other point. */
export async function importPoint({ curve, encoded }: EcPoint): Promise<DeviceKey | undefined> {
  try {
    return { curve, key: await crypto.subtle.importKey('raw', encoded, ecdh(curve), false, []) }
  } catch {
    return undefined
  }
}

export async function newReaderKey(crv: EcCurve): Promise<ReaderKey> {
  const { privateKey } = await crypto.subtle.generateKey(ecdh(crv), true, ['deriveBits'])
  const { x, y, d } = (await crypto.subtle.exportKey('jwk', privateKey)) as ReaderKey
  return { kty: 'EC', crv, x, y, d }
}

/** Both are on the same curve. */
export async function sharedSecret(readerKey: ReaderKey, { curve, key }: DeviceKey): Promise<Uint8Array> {
  const privateKey = await crypto.subtle.importKey('jwk', readerKey, ecdh(curve), false, ['deriveBits'])
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: key }, privateKey, null))
}

const ecdh = (namedCurve: EcCurve) => ({ name: 'ECDH', namedCurve })
