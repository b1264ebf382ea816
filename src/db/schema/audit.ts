import { bytes, integer, table, text, time } from '../columns.ts'

/** The chain holds salted commitments only. Details and salt sit beside it and go when the subject is erased; the chain still verifies. */
export const auditRecords = table('audit_records', {
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
})

export const auditCheckpoints = table('audit_checkpoints', {
  seq: integer('seq').primaryKey(),
  at: time('at').notNull(),
  hash: text('hash').notNull(),
  /** Ed25519 over the checkpoint's text (audit/chain.ts). */
  signature: text('signature').notNull(),
})
