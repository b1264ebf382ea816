import { createHash, generateKeyPairSync } from 'node:crypto'
import { SEALED } from '../../db/sealed-columns.ts'
import { noticeName } from '../../db/topics.ts'
import type { Making, Reading, Unsealing } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import type { EncryptionKey } from '../../openid4vp/exchange/request-object.ts'
import type { Deps } from '../deps.ts'
import { keepFirstFetch, lockFetches, updateFetches } from '../event-store.ts'
import type { OpenSession } from '../read.ts'
import { fetchesToKeep, openFetches, type SessionEvents } from '../timeline.ts'

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
  const sessionKey = await deps.sessionKeys.of(deps.db, session)
  const seal = (place: typeof SEALED.fetches, text: string) => deps.sealer.seal(place(session, session.salt, sessionKey), text)
  const made = encrypts && session.sealedResponseKey === null ? newResponseKey(deps) : undefined
  const fresh = made ? seal(SEALED.responseKey, JSON.stringify(made)) : null
  const fetch = { at: Math.max(deps.now(), session.createdAt), ...fetched }
  const alone = fetchesToKeep([fetch])
  const first = { fetchedAt: fetch.at, sealedFetches: alone ? seal(SEALED.fetches, alone) : null, sealedResponseKey: fresh }
  const { sealedResponseKey: kept } = await deps.write(async tx => {
    if (session.fetchedAt === null) {
      const stored = await keepFirstFetch(tx, session, first)
      if (stored) return stored
    }
    const current = await lockFetches(tx, session)
    if (!current) throw apiError('session_not_found')
    // The session ended during this request, and its key with it.
    if (current.status !== 'pending' || current.respondedAt !== null) throw apiError('session_expired')
    const all = fetchesToKeep([...openFetches(deps, current, sessionKey), fetch])
    if (all) await updateFetches(tx, session, seal(SEALED.fetches, all))
    return current
  })
  deps.publish('session', noticeName(session.id))
  if (!encrypts || !kept) return undefined
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

const opened = async ({ db, sealer, sessionKeys }: SealDeps, session: OpenSession, key: Uint8Array): Promise<PrivateJwk> =>
  JSON.parse(sealer.open(SEALED.responseKey(session, session.salt, await sessionKeys.of(db, session)), key))

/** RFC 7638. */
const thumbprintOf = ({ crv, kty, x, y }: EncryptionKey): Uint8Array =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest()
