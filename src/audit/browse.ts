import type { Db } from '../db/engine.ts'
import type { Unsealing, Yielding } from '../ground.ts'
import { inTurns, waitToList } from '../http/turns.ts'
import type { AuditAction, AuditDetails, AuditRecord, Head } from './chain.ts'
import { type Linking, linkEntries } from './link.ts'
import { countOf, findActor, findHash, findHead, findLatestOf, listRecordsBefore } from './store.ts'
import { disclose } from './verify.ts'

/** An index by tenant would cost every record. A page looks this far back and says where to continue. */
const LOOKED_AT_MAX = 5000

export type BrowsedRecord = Pick<AuditRecord, 'seq' | 'at' | 'tenantId' | 'actor' | 'action' | 'hash'> & {
  /** Null once the subject is erased. */
  details: AuditDetails | null
}

type Page = { before?: number; limit: number; tenantId?: string }

/** Newest first, of one tenant or of all; `nextBefore` is null when there is nothing older. */
export async function browseAudit(
  deps: Unsealing & Yielding & Linking,
  { before = Number.MAX_SAFE_INTEGER, limit, tenantId }: Page,
): Promise<{ records: BrowsedRecord[]; nextBefore: number | null }> {
  await linkEntries(deps)
  const { db, sealer, sessionKeys, turns } = deps
  await waitToList(turns, limit)
  const { rows, downTo } = await listRecordsBefore(db, { before, limit, tenantId, lookedAtMax: LOOKED_AT_MAX })
  const keyOf = await sessionKeys.lookUp(db, rows)
  const records = await inTurns(turns, rows, row => {
    const { seq, at, actor, action, hash } = row
    return { seq, at, tenantId: row.tenantId, actor, action, hash, details: disclose(sealer, row, keyOf(row))?.details ?? null }
  })
  return { records, nextBefore: downTo > 1 ? downTo : null }
}

export async function readActor(db: Db, entryId: number): Promise<string> {
  return (await findActor(db, entryId)) ?? ''
}

/** The newest record. */
export async function readHead(db: Db): Promise<Head | undefined> {
  return await findHead(db)
}

/** True when this chain contains the head of an earlier moment. */
export async function isOnChain(db: Db, { seq, hash }: Head): Promise<boolean> {
  return (await findHash(db, seq)) === hash
}

/** The time of the newest record of an action; undefined when the last 5,000 records contain none. */
export async function readLatestAt(db: Db, action: AuditAction): Promise<number | undefined> {
  return (await findLatestOf(db, action))?.at
}

export async function countRecords(db: Db, action: AuditAction): Promise<number> {
  return await countOf(db, action)
}
