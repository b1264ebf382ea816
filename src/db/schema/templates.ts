import type { DcqlQuery } from '../../openid4vp/dcql/dcql.ts'
import type { Rule } from '../../openid4vp/rules.ts'
import type { Translations } from '../../words/templates.ts'
import { json, oneOf, primaryKey, table, text, time } from '../columns.ts'
import { tenants } from './tenants.ts'

export const templates = table(
  'templates',
  {
    tenantId: text('tenant_id')
      .notNull()
      .references(() => tenants.id),
    key: text('key').notNull(),
    title: text('title').notNull(),
    query: json<DcqlQuery>('query').notNull(),
    /** The profile of its requests to wallets; null leaves it to the operator. */
    profile: oneOf('profile', 'haip', 'plain', 'eu-av'),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
    /** Conditions on the merged claims; null for the default, that every asked `age_over_N` is true. */
    rules: json<Rule[]>('rules'),
    /** Shown to the holder when a creation gives no purpose. */
    purpose: text('purpose'),
    /** Title and purpose in further languages. */
    translations: json<Translations>('translations'),
    /** When its first live verification was created, which may be erased by now. */
    liveSince: time('live_since'),
  },
  row => [primaryKey({ columns: [row.tenantId, row.key] })],
)

/** The exact query and rules a template had when a verification used it, by the SHA-256 of their canonical form; never changed. */
export const templateVersions = table('template_versions', {
  hash: text('hash').primaryKey(),
  query: json<DcqlQuery>('query').notNull(),
  rules: json<Rule[]>('rules'),
})
