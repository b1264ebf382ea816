// A table of its own file, because drizzle cannot express UNLOGGED: PostgreSQL gets it from drizzle/postgres/0000_ground.sql.
import { bytes, foreignKey, index, primaryKey, table, text, time } from '../columns.ts'
import { verificationSessions } from './verifications.ts'

/** Answers with their portraits, which a person compares with a face. On PostgreSQL they are in no log, replica or base backup. */
export const portraits = table(
  'portraits',
  {
    verificationId: text('verification_id').notNull(),
    tenantId: text('tenant_id').notNull(),
    keptUntil: time('kept_until').notNull(),
    salt: bytes('salt').notNull(),
    sealed: bytes('sealed').notNull(),
  },
  row => [
    primaryKey({ columns: [row.verificationId, row.tenantId] }),
    foreignKey({
      columns: [row.verificationId, row.tenantId],
      foreignColumns: [verificationSessions.id, verificationSessions.tenantId],
    }).onDelete('cascade'),
    index('portraits_until').on(row.keptUntil),
  ],
)
