import { type SQL, sql } from 'drizzle-orm'
import { bytes, index, integer, table, text, time } from '../columns.ts'

/** All but the records of every session: few enough for indexes, which a creation or an answer must not pay for. */
export const isRare: SQL<boolean> = sql`action NOT IN ('verification.created', 'verification.completed', 'verification.failed')`

/** Users of the dashboard and of the command line. */
export const isByPerson: SQL<boolean> = sql`substr(actor, 1, 10) IN ('dashboard:', 'command li')`

/** The chain holds salted commitments only. Details and salt sit beside it and go when the subject is erased; the chain still verifies. */
export const auditRecords = table(
  'audit_records',
  {
    seq: integer('seq').primaryKey(),
    at: time('at').notNull(),
    tenantId: text('tenant_id').notNull(),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    /** HMAC of the subject's id: after erasure nothing in the chain leads back to it. */
    subject: text('subject').notNull(),
    commitment: text('commitment').notNull(),
    previous: text('previous').notNull(),
    hash: text('hash').notNull(),
    salt: bytes('salt'),
    sealed: bytes('sealed'),
    /** The verification whose key its details need; they go together. */
    sessionId: text('session_id'),
    wrappingKey: integer('wrapping_key'),
  },
  row => [
    index('audit_records_action').on(row.action).where(isRare),
    index('audit_records_actor').on(row.actor, row.tenantId).where(isByPerson),
    index('audit_records_subject').on(row.subject).where(isRare),
  ],
)

export const auditCheckpoints = table('audit_checkpoints', {
  seq: integer('seq').primaryKey(),
  at: time('at').notNull(),
  hash: text('hash').notNull(),
  /** Ed25519 over the checkpoint's text (audit/chain.ts). */
  signature: text('signature').notNull(),
})
