// The table for an act's audit entry. On SQLite an entry is the record itself, and its id is its
// place on the chain. On PostgreSQL entries have ids of their own and are linked afterwards.
import { type SQLWrapper, sql } from 'drizzle-orm'
import { bytes, integer, table, text, time } from '../columns.ts'
import { isPostgres } from '../dialect.ts'
import { auditRecords } from './audit.ts'

const idColumn = () => integer(isPostgres ? 'id' : 'seq').primaryKey()

const contentColumns = () => ({
  at: time('at').notNull(),
  tenantId: text('tenant_id').notNull(),
  actor: text('actor').notNull(),
  action: text('action').notNull(),
  subject: text('subject').notNull(),
  commitment: text('commitment').notNull(),
})

export const auditEntries = table(isPostgres ? 'audit_entries' : 'audit_records', {
  id: idColumn(),
  ...contentColumns(),
  salt: bytes('salt'),
  sealed: bytes('sealed'),
  sessionId: text('session_id'),
  wrappingKey: integer('wrapping_key'),
})

/** The id of a linked record's entry. */
export const recordEntryId = (isPostgres ? sql`audit_records.entry_id`.mapWith(Number) : auditRecords.seq) as SQLWrapper &
  typeof auditRecords.seq

/** PostgreSQL only: committed entries without a link. */
export const auditUnlinked = table('audit_unlinked', { id: idColumn(), ...contentColumns() })

/** PostgreSQL only. */
export const auditLinks = table('audit_links', {
  seq: integer('seq').primaryKey(),
  entryId: integer('entry_id').notNull(),
  previous: text('previous').notNull(),
  hash: text('hash').notNull(),
})

/** PostgreSQL only, one row: every entry of an older transaction is linked. */
export const auditLow = table('audit_low', { low: text('low').notNull() })
