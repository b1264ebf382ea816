import { bytes, foreignKey, integer, primaryKey, table, text, time } from '../columns.ts'
import { verificationSessions } from './verifications.ts'

/** Keys outside the database, in the key directory, that the keys of verifications depend on. Turned daily. */
export const wrappingKeys = table('wrapping_keys', {
  id: integer('id').primaryKey(),
  /** Tells the right file from a wrong one, and nothing about the key. */
  fingerprint: bytes('fingerprint').notNull(),
  createdAt: time('created_at').notNull(),
  /** The newest active one is used for new verifications; null until all nodes had time to read its file. */
  activeAt: time('active_at'),
  /** A node could not read its file, so it does not become active. */
  unreadableAt: time('unreadable_at'),
  /** No verification needs it any more; the file is destroyed when the window has passed. */
  retiredAt: time('retired_at'),
})

/** The keys of verifications that are older than the newest wrapping key, each wrapped under it. */
export const sessionKeys = table(
  'session_keys',
  {
    verificationId: text('verification_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    wrappingKey: integer('wrapping_key').notNull(),
    wrapped: bytes('wrapped').notNull(),
  },
  row => [
    primaryKey({ columns: [row.verificationId, row.tenantId] }),
    foreignKey({
      columns: [row.verificationId, row.tenantId],
      foreignColumns: [verificationSessions.id, verificationSessions.tenantId],
    }),
  ],
)
