import type { Db } from '../db/engine.ts'
import { groupOf } from '../db/group.ts'
import { canonicalJson, hmacSha256With } from '../hash.ts'
import type { Random } from '../ids.ts'
import type { Sealer } from '../seal.ts'
import {
  type AuditAction,
  type AuditDetails,
  checkpointKeys,
  commitmentToText,
  GENESIS,
  type Head,
  recordHash,
  signCheckpoint,
} from './chain.ts'
import { eraseDetails, findHead, findLastCheckpoint, insertCheckpoint, insertRecord } from './store.ts'

const COMMITMENT_SALT_BYTES = 32

type AuditEntry = {
  at: number
  tenantId: string
  actor: string
  action: AuditAction
  subjectId: string
  /** Stored beside the chain with the subject's id until the subject is erased. Null stores nothing: for the record of an erasure. */
  details?: AuditDetails | null
  /** The verification that the record is about: its key opens the details, and they go with it. */
  session?: SessionOfRecord
}

export type SessionOfRecord = { id: string; wrappingKey: number | null; sessionKey: Uint8Array | undefined }

export type Audit = {
  /** Called in the transaction of the act, so that neither exists without the other. Returns the record's seq. */
  append(tx: Db, entry: AuditEntry): Promise<number>
  /** Erases the details of records and the salts of their commitments; the chain still verifies. */
  forget(tx: Db, seqs: readonly number[]): Promise<void>
  /** Signs the head, unless it is signed already. */
  checkpoint(tx: Db, at: number): Promise<void>
  publicKey(): string
  /** The subject's name on the chain. */
  subjectOf(id: string): string
}

export const detailsPlace = (
  { tenantId, seq }: { tenantId: string; seq: number },
  salt: Uint8Array,
  sessionKey: Uint8Array | undefined,
) => ({
  tenant: tenantId,
  table: 'audit_records',
  column: 'sealed',
  row: String(seq),
  salt,
  sessionKey,
})

export function createAudit(sealer: Sealer, random: Random): Audit {
  const hmac = hmacSha256With(sealer.key('audit subject'))
  const subjectOf = (id: string) => hmac(id).toString('hex')
  let keys: ReturnType<typeof checkpointKeys> | undefined
  const signingKeys = () => {
    keys ??= checkpointKeys(sealer.key('audit checkpoint'))
    return keys
  }

  return {
    async append(tx, { at, tenantId, actor, action, subjectId, details = {}, session }) {
      // Records that share a commit follow each other: only the first reads the head.
      const group = groupOf(tx)
      const head = (group?.kept.get(hmac) as Head | undefined) ?? (await findHead(tx))
      const seq = (head?.seq ?? 0) + 1
      const salt = Buffer.from(random(COMMITMENT_SALT_BYTES))
      const disclosed = canonicalJson(details ? { id: subjectId, ...details } : {})
      const record = {
        seq,
        at,
        tenantId,
        actor,
        action,
        subject: subjectOf(subjectId),
        commitment: commitmentToText(salt, disclosed),
        previous: head?.hash ?? GENESIS,
      }
      const hash = recordHash(record)
      const sealed = details && sealer.seal(detailsPlace({ tenantId, seq }, salt, session?.sessionKey), disclosed)
      const sessionId = session?.id ?? null
      const wrappingKey = session?.wrappingKey ?? null
      await insertRecord(tx, { ...record, hash, salt: details && salt, sealed, sessionId, wrappingKey })
      group?.kept.set(hmac, { seq, at, hash })
      return seq
    },
    async forget(tx, seqs) {
      await eraseDetails(tx, seqs)
    },
    async checkpoint(tx, at) {
      const head = await findHead(tx)
      const last = await findLastCheckpoint(tx)
      if (!head || head.seq === last?.seq) return
      const checkpoint = { seq: head.seq, at, hash: head.hash }
      await insertCheckpoint(tx, { ...checkpoint, signature: signCheckpoint(signingKeys().privateKey, checkpoint) })
    },
    publicKey: () => signingKeys().publicKey,
    subjectOf,
  }
}
