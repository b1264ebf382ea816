import { integer, json, table, text, time } from '../columns.ts'

type Finding = { status: string; code: string; values: object }

/** What is wrong, or was today. */
export const alerts = table('alerts', {
  /** The code of the finding, and what it is about. */
  cause: text('cause').primaryKey(),
  /** The check of doctor that finds it, and that says when it is over. */
  checkName: text('check_name').notNull(),
  finding: json<Finding>('finding').notNull(),
  /** Null once it is over. */
  raisedAt: time('raised_at'),
  /** The UTC day of the latest mail; empty before the first. */
  mailDay: text('mail_day').notNull(),
  /** Ids of users whose mail is not sent yet. */
  unsent: json<string[]>('unsent').notNull(),
  /** When it is sent next; null when nothing is owed. */
  dueAt: time('due_at'),
  attempts: integer('attempts').notNull(),
})
