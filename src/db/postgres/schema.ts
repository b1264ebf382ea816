// Tables that only PostgreSQL has (drizzle/postgres/0000_ground.sql, by hand): on SQLite the memory of the one process serves.
import { integer, table, text, time } from '../columns.ts'

/** Who works under a name, an Idempotency-Key for example. */
export const claims = table('claims', {
  name: text('name').primaryKey(),
  /** What the holder said. */
  word: text('word').notNull(),
  /** The node, and the number of its request. */
  holder: text('holder').notNull(),
  until: time('until').notNull(),
})

/** Budgets against guessing. */
export const rateBuckets = table('rate_buckets', {
  /** Policy and HMAC of the key. */
  name: text('name').primaryKey(),
  /** When the budget is full again, in 1024ths of a millisecond. */
  fullAt: integer('full_at').notNull(),
  taken: integer('taken').notNull(),
  forgetAt: time('forget_at').notNull(),
})
