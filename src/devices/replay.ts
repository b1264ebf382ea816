// A lost response must not strand a till. The same secret with the same Idempotency-Key gets the
// same pair again, for 24 hours and until either token of the pair is used, which deletes the copy.
// The copy is sealed with the presented secret, the Idempotency-Key and a key of ours: the database
// cannot open it, not even together with the master key.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { Db } from '../db/engine.ts'
import type { Sealing } from '../ground.ts'
import type { TokenPair } from './schema.ts'
import { findToken, keepSealedPair } from './store.ts'

const REPLAY_MS = 24 * 3_600_000
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A secret as the caller presented it. */
export type Presented = { kind: 'pairing' | 'refresh'; secret: string; hash: string; idempotencyKey?: string }

export async function keepReplay(deps: Sealing, tx: Db, presented: Presented, pair: TokenPair): Promise<void> {
  const key = sealingKey(deps, presented)
  if (!key) return
  const nonce = deps.random(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = [cipher.update(JSON.stringify(pair), 'utf8'), cipher.final(), cipher.getAuthTag()]
  await keepSealedPair(tx, presented.hash, Buffer.concat([nonce, ...sealed]))
}

/** The pair that this secret was exchanged for, while it may be repeated. */
export async function findReplay(deps: Sealing, tx: Db, presented: Presented, at: number): Promise<TokenPair | undefined> {
  const key = sealingKey(deps, presented)
  if (!key) return undefined
  const token = await findToken(tx, presented)
  if (!token?.replaySealed || token.spentAt === null || token.spentAt <= at - REPLAY_MS) return undefined
  return openPair(key, token.replaySealed)
}

function sealingKey({ sealer }: Sealing, { secret, idempotencyKey }: Presented): Buffer | undefined {
  if (idempotencyKey === undefined) return undefined
  return Buffer.from(hkdfSync('sha256', secret, sealer.key('device replay'), idempotencyKey, 32))
}

function openPair(key: Buffer, sealed: Buffer): TokenPair | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
  try {
    return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8'))
  } catch {
    // Another Idempotency-Key, so not a repeat.
    return undefined
  }
}
