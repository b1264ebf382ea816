import { createHash, generateKeyPairSync } from 'node:crypto'
import { SEALED } from '../../db/sealed-columns.ts'
import { noticeName } from '../../db/topics.ts'
import type { Making, Reading, Unsealing } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import type { EncryptionKey } from '../../openid4vp/exchange/request-object.ts'
import type { Deps } from '../deps.ts'
import { keepResponseKey } from '../end/answer-store.ts'
import type { OpenSession } from '../read.ts'
import { recordEvent, type SessionEvents } from '../timeline.ts'

const KID_BYTES = 12

/** The key of a session's answer, deleted when the session ends (HAIP § 5). */
export type ResponseKeyPair = { publicKey: EncryptionKey; privateKey: CryptoKey; thumbprint: Uint8Array }

export type PrivateJwk = EncryptionKey & { d: string }

/** Records that a wallet fetched the request, and gives the public key for its answer; undefined where nothing is encrypted. */
export async function recordRequestFetched(
  deps: Deps,
  session: OpenSession,
  fetched: SessionEvents['request_fetched'],
): Promise<EncryptionKey | undefined> {
  const encrypts = session.profile === 'haip'
  const made = encrypts && session.sealedResponseKey === null ? newResponseKey(deps) : undefined
  const fresh = made ? await sealed(deps, session, made) : null
  const kept = await deps.write(async tx => {
    await recordEvent(deps, tx, session, 'request_fetched', fetched)
    // Two wallets that fetch at once both get the key that was stored first.
    return fresh ? await keepResponseKey(tx, session, fresh) : session.sealedResponseKey
  })
  deps.publish('session', noticeName(session.id))
  if (!encrypts) return undefined
  // The session ended during this request, and its key with it.
  if (!kept) throw apiError('session_expired')
  const { d: _, ...publicKey } = made && fresh?.equals(kept) ? made : await opened(deps, session, kept)
  return publicKey
}

/** Undefined while no wallet has fetched the request. */
export async function openResponseKey(deps: SealDeps, session: OpenSession): Promise<ResponseKeyPair | undefined> {
  if (session.sealedResponseKey === null) return undefined
  return await keyPairOf(await opened(deps, session, session.sealedResponseKey))
}

export async function keyPairOf({ d, ...publicKey }: PrivateJwk): Promise<ResponseKeyPair> {
  const { kty, crv, x, y } = publicKey
  return {
    publicKey,
    // A CryptoKey, because jose would export any other form as JWK and import it again.
    privateKey: await crypto.subtle.importKey('jwk', { kty, crv, x, y, d }, ECDH, false, ['deriveBits']),
    thumbprint: thumbprintOf(publicKey),
  }
}

const ECDH = { name: 'ECDH', namedCurve: 'P-256' }

export function newResponseKey({ random }: Making): PrivateJwk {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    ...(privateKey.export({ format: 'jwk' }) as Omit<PrivateJwk, 'kid'>),
    kid: Buffer.from(random(KID_BYTES)).toString('base64url'),
  }
}

type SealDeps = Reading & Unsealing

const sealed = async ({ db, sealer, sessionKeys }: SealDeps, session: OpenSession, jwk: PrivateJwk): Promise<Buffer> =>
  sealer.seal(SEALED.responseKey(session, session.salt, await sessionKeys.of(db, session)), JSON.stringify(jwk))

const opened = async ({ db, sealer, sessionKeys }: SealDeps, session: OpenSession, key: Uint8Array): Promise<PrivateJwk> =>
  JSON.parse(sealer.open(SEALED.responseKey(session, session.salt, await sessionKeys.of(db, session)), key))

/** RFC 7638. */
const thumbprintOf = ({ crv, kty, x, y }: EncryptionKey): Uint8Array =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest()
