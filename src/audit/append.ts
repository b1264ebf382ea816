import { canonicalJson } from '../base/hash.ts'
import type { Random } from '../base/ids.ts'
import { namesUnder, type Sealer } from '../base/seal.ts'
import type { Db, LooseEntries } from '../db/engine.ts'
import { groupOf } from '../db/group.ts'
import { SEALED } from '../db/sealed-columns.ts'
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
import { linkIn } from './link.ts'
import { eraseDetails, findHead, findLastCheckpoint, insertCheckpoint, insertEntry, insertRecord } from './store.ts'

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
  /** The entry of its creation: a verification keeps the name of that time, so that its erasure is found by it. */
  bornAt?: number
}

export type SessionOfRecord = { id: string; wrappingKey: number; sessionKey: Uint8Array }

export type Audit = {
  /** Called in the transaction of the act, so that neither exists without the other. Returns the id of the entry. */
  append(tx: Db, entry: AuditEntry): Promise<number>
  /** Erases the details of records and the salts of their commitments; the chain still verifies. */
  forget(tx: Db, ids: readonly number[]): Promise<void>
  /** Signs the head, unless it is signed already. */
  checkpoint(tx: Db, at: number): Promise<void>
  publicKey(): string
  /** The subject's name on the chain; a verification's, by the entry of its creation. */
  subjectOf(id: string, bornAt?: number): string
  /** Its names under each key that there was, the newest last. */
  namesOf(id: string): string[]
}

/** With `loose`, entries are linked afterwards; without, each is a record at once. */
export function createAudit(sealer: Sealer, random: Random, loose?: LooseEntries): Audit {
  const namesOf = namesUnder(sealer.key('audit subject'))
  const subjectOf = (id: string, bornAt?: number) =>
    namesOf(id).at(bornAt === undefined ? -1 : sealer.begun.filter(begun => begun < bornAt).length)!
  let keys: ReturnType<typeof checkpointKeys> | undefined
  const signingKeys = () => {
    keys ??= checkpointKeys(sealer.key('audit checkpoint'))
    return keys
  }

  /** All but its place. */
  const contentOf = ({ at, tenantId, actor, action, subjectId, details = {}, session, bornAt }: AuditEntry, id: number) => {
    const salt = Buffer.from(random(COMMITMENT_SALT_BYTES))
    const disclosed = canonicalJson(details ? { id: subjectId, ...details } : {})
    return {
      at,
      tenantId,
      actor,
      action,
      subject: subjectOf(subjectId, bornAt),
      commitment: commitmentToText(salt, disclosed),
      salt: details && salt,
      sealed: details && sealer.seal(SEALED.auditDetails({ tenantId, id: String(id) }, salt, session?.sessionKey), disclosed),
      sessionId: session?.id ?? null,
      wrappingKey: session?.wrappingKey ?? null,
    }
  }

  const appendEntry = async (tx: Db, id: number, entry: AuditEntry): Promise<number> => {
    await insertEntry(tx, { id, ...contentOf(entry, id) })
    return id
  }

  const appendRecord = async (tx: Db, entry: AuditEntry): Promise<number> => {
    // Records that share a commit follow each other: only the first reads the head.
    const group = groupOf(tx)
    const head = (group?.kept.get(namesOf) as Head | undefined) ?? (await findHead(tx))
    const seq = (head?.seq ?? 0) + 1
    const record = { ...contentOf(entry, seq), seq, previous: head?.hash ?? GENESIS, hash: '' }
    record.hash = recordHash(record)
    await insertRecord(tx, record)
    group?.kept.set(namesOf, { seq, at: entry.at, hash: record.hash })
    return seq
  }

  return {
    append: async (tx, entry) => (loose ? await appendEntry(tx, await loose.nextId(tx), entry) : await appendRecord(tx, entry)),
    async forget(tx, ids) {
      await loose?.beginErasure(tx)
      await eraseDetails(tx, ids)
    },
    async checkpoint(tx, at) {
      // Linking takes the chain's lock, so that the head stays the head until it is signed.
      if (loose) await linkIn(tx)
      const head = await findHead(tx)
      const last = await findLastCheckpoint(tx)
      if (!head || head.seq === last?.seq) return
      const checkpoint = { seq: head.seq, at, hash: head.hash }
      await insertCheckpoint(tx, { ...checkpoint, signature: signCheckpoint(signingKeys().privateKey, checkpoint) })
    },
    publicKey: () => signingKeys().publicKey,
    subjectOf,
    namesOf,
  }
}
