import { environment, integer, oneOf, primaryKey, table, text, time } from '../columns.ts'
import { tenants } from './tenants.ts'

/** Verifications by day and outcome: counted when they happen, kept when sessions are erased. */
export const outcomeDays = table(
  'outcome_days',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    day: text('day').notNull(),
    /** `created`, `completed`, `expired`, or the code of the failure. */
    outcome: text('outcome').notNull(),
    count: integer('count').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.environment, row.day, row.outcome] })],
)

/** Ends by day, template and till: fewer words than outcomes, so that a day has few rows. */
export const sourceDays = table(
  'source_days',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    day: text('day').notNull(),
    /** Empty for a query of its own. */
    template: text('template').notNull(),
    /** Empty for an API key. */
    deviceId: text('device_id').notNull(),
    kind: oneOf('kind', 'verified', 'refused', 'declined', 'expired').notNull(),
    count: integer('count').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.environment, row.day, row.template, row.deviceId, row.kind] })],
)

/** Answers by day and time since the creation, in steps, for the median. */
export const answerTimeDays = table(
  'answer_time_days',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    environment: environment(),
    day: text('day').notNull(),
    /** The least number of milliseconds of the step. */
    atLeastMs: integer('at_least_ms').notNull(),
    count: integer('count').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.environment, row.day, row.atLeastMs] })],
)

export const usageDays = table(
  'usage_days',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    day: text('day').notNull(),
    verificationsCreated: integer('verifications_created').notNull(),
    /** The time of the day's newest creation: the next one is later, on whichever node. */
    newestAt: time('newest_at').notNull(),
  },
  row => [primaryKey({ columns: [row.tenantId, row.day] })],
)
