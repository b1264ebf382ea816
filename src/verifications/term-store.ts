// Search terms of sessions, written and deleted with them.
import { and, eq, inArray } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { type verificationSessions, verificationTerms } from '../db/schema/verifications.ts'
import { column, hot } from '../db/statements.ts'
import { METADATA_KEYS_MAX } from './schema.ts'

export const TERM_BYTES = 16

/** One statement for all terms of a session, by their number. */
const inserts = Array.from({ length: METADATA_KEYS_MAX + 1 }, (_, count) =>
  hot(db =>
    db.insert(verificationTerms).values(
      Array.from({ length: count }, (_, place) => ({
        term: column(String(place)),
        createdAt: column('createdAt'),
        verificationId: column('id'),
        tenantId: column('tenantId'),
      })),
    ),
  ),
)

type Termed = Pick<typeof verificationSessions.$inferSelect, 'id' | 'tenantId' | 'createdAt' | 'terms'>

/** Not by Buffer's subarray, which costs more than the hash. */
const split = ({ buffer, byteOffset, length }: Buffer): Uint8Array[] =>
  Array.from({ length: length / TERM_BYTES }, (_, i) => new Uint8Array(buffer, byteOffset + i * TERM_BYTES, TERM_BYTES))

export async function insertTerms(tx: Db, { id, tenantId, createdAt, terms }: Termed): Promise<void> {
  if (!terms) return
  const each = split(terms)
  await inserts[each.length]!(tx, { id, tenantId, createdAt, ...each })
}

export async function deleteTerms(tx: Db, { id, tenantId, createdAt, terms }: Termed): Promise<void> {
  if (!terms) return
  const { term, verificationId, ...found } = verificationTerms
  await tx
    .delete(verificationTerms)
    .where(
      and(
        inArray(term, split(terms) as Buffer[]),
        eq(found.createdAt, createdAt),
        eq(verificationId, id),
        eq(found.tenantId, tenantId),
      ),
    )
}
