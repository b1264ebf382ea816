import type { Sealer } from '../base/seal.ts'
import type { Db } from '../db/engine.ts'
import type { Reading } from '../ground.ts'
import { checkpointKeys, isSigned, readPublicKey, signCheckpoint } from './chain.ts'
import type { Acting } from './deps.ts'
import { findLastCheckpoint, listCheckpoints, updateSignature } from './store.ts'

export const SIGN_EVERY_MS = 3_600_000

export const signHead = ({ write, now, audit }: Acting): Promise<void> => write(tx => audit.checkpoint(tx, now()))

/** Called at start: a service that never runs for an hour would not reach its timer. */
export async function signHeadWhenDue(deps: Acting & Reading): Promise<void> {
  const last = await findLastCheckpoint(deps.db)
  if (!last || deps.now() - last.at >= SIGN_EVERY_MS) await signHead(deps)
}

/** All checkpoints, under a new key. One that the old key did not sign stays as it is: a check of the chain reports it. */
export async function signAgain(tx: Db, before: Sealer, after: Sealer): Promise<void> {
  const old = readPublicKey(checkpointSignerOf(before))!
  const { privateKey } = checkpointKeys(after.key('audit checkpoint'))
  for (const checkpoint of await listCheckpoints(tx)) {
    if (!isSigned(checkpoint, old)) continue
    await updateSignature(tx, { seq: checkpoint.seq, signature: signCheckpoint(privateKey, checkpoint) })
  }
}

export const checkpointSignerOf = (sealer: Sealer): string => checkpointKeys(sealer.key('audit checkpoint')).publicKey
