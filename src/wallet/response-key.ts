import { createHash, generateKeyPairSync } from 'node:crypto'
import type { EncryptionKey } from '../openid4vp/request-object.ts'
import type { VerificationRow } from '../verifications/store.ts'
import type { Deps } from './deps.ts'

const KID_BYTES = 12

/** The key that a session's answer is encrypted to: fresh for each, forgotten when the session ends (HAIP § 5). */
export type ResponseKeyPair = { publicKey: EncryptionKey; privateKey: CryptoKey; thumbprint: Uint8Array }

type PrivateJwk = EncryptionKey & { d: string }

export function newResponseKey({ random }: Pick<Deps, 'random'>): PrivateJwk {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    ...(privateKey.export({ format: 'jwk' }) as Omit<PrivateJwk, 'kid'>),
    kid: Buffer.from(random(KID_BYTES)).toString('base64url'),
  }
}

type Place = Pick<VerificationRow, 'id' | 'tenantId' | 'salt'>

const placeOf = ({ id, tenantId, salt }: Place) => ({
  tenant: tenantId,
  table: 'verification_sessions',
  column: 'sealed_response_key',
  row: id,
  salt,
})

export const sealResponseKey = ({ sealer }: Pick<Deps, 'sealer'>, row: Place, jwk: PrivateJwk): Buffer =>
  sealer.seal(placeOf(row), JSON.stringify(jwk))

/** The part that wallets are told. */
export function publicPartOf(deps: Pick<Deps, 'sealer'>, row: Place, sealed: Uint8Array): EncryptionKey {
  const { d: _, ...publicKey } = openJwk(deps, row, sealed)
  return publicKey
}

export async function openResponseKey(deps: Pick<Deps, 'sealer'>, row: Place, sealed: Uint8Array): Promise<ResponseKeyPair> {
  const { d, ...publicKey } = openJwk(deps, row, sealed)
  const { kty, crv, x, y } = publicKey
  return {
    publicKey,
    // As WebCrypto has it: from any other form the library would make this one, by way of a text.
    privateKey: await crypto.subtle.importKey('jwk', { kty, crv, x, y, d }, ECDH, false, ['deriveBits']),
    thumbprint: thumbprintOf(publicKey),
  }
}

const ECDH = { name: 'ECDH', namedCurve: 'P-256' }

const openJwk = ({ sealer }: Pick<Deps, 'sealer'>, row: Place, sealed: Uint8Array): PrivateJwk =>
  JSON.parse(sealer.open(placeOf(row), sealed))

/** RFC 7638. */
const thumbprintOf = ({ crv, kty, x, y }: EncryptionKey): Uint8Array =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest()
