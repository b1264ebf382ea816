// Sessions as lists show them: read by the index of one filter, while the others decide row by row.
import { and, type Column, count, desc, eq, getTableColumns, gte, inArray, isNotNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { verificationEvents, verificationSessions, verificationTerms } from '../../db/schema/verifications.ts'
import { column, holdsBytes, hot } from '../../db/statements.ts'
import { incomparableSince } from '../hold.ts'
import { unredeemableSince } from '../response-code.ts'
import type { Status } from '../schema.ts'
import type { Owner, VerificationRow } from '../store.ts'
import type { Sought } from '../terms.ts'

const { id, createdAt, expiresAt, respondedAt, release, status, template, deviceId, keyId, tenantId, environment, beginnings } =
  getTableColumns(verificationSessions)
const OUTLINE = { id, createdAt, deviceId, keyId }

export type Outline = Pick<VerificationRow, keyof typeof OUTLINE>

/** The filter whose index is read; the session's own columns as they are stored. */
export type By =
  | { name: 'all' }
  | { name: 'term'; value: Buffer[] }
  /** Sessions with such words that have no such value. */
  | { name: 'beginning' }
  | { name: 'id'; value: string }
  | { name: 'device'; value: string }
  | { name: 'key'; value: string }
  | { name: 'template'; value: string }
  | { name: 'status'; value: VerificationRow['status'] }

/** All filters of a list. */
export type RowFilter = {
  id?: string
  sought?: Sought | undefined
  device?: string | undefined
  key?: string | undefined
  /** Its names. */
  template?: readonly string[] | undefined
  /** The status at the time `at`. */
  status?: Status | undefined
  /** A session that was asked by a channel has its event. */
  asked?: 'dc_requested' | 'in_person_requested' | undefined
  at: number
}

/** Created at or after `from` and before `before`. */
export type Range = { from: number; before: number }

/** Newest first. */
export async function listOutlines(
  db: Db,
  owner: Owner,
  by: By,
  wanted: RowFilter,
  { from, before, limit }: Range & { limit: number },
): Promise<Outline[]> {
  if (by.name === 'term') return await listByTerm(db, owner, by, wanted, { from, before, limit })
  return await db
    .select(OUTLINE)
    .from(verificationSessions)
    .where(
      and(
        ...conditionsOf(by.name, { ...owner, value: 'value' in by ? by.value : '' }),
        ...besides(by, owner, wanted),
        gte(createdAt, from),
        lt(createdAt, before),
      ),
    )
    .orderBy(desc(createdAt))
    .limit(limit)
}

/** At most `limit`. */
export async function countOutlines(
  db: Db,
  owner: Owner,
  by: Exclude<By, { name: 'term' }>,
  wanted: RowFilter,
  { from, before, limit }: Range & { limit: number },
): Promise<number> {
  const conditions = [
    ...conditionsOf(by.name, { ...owner, value: 'value' in by ? by.value : '' }),
    ...besides(by, owner, wanted),
    gte(createdAt, from),
    lt(createdAt, before),
  ]
  const found = db
    .select({ one: sql`1`.as('one') })
    .from(verificationSessions)
    .where(and(...conditions))
    .limit(limit)
    .as('found')
  const [row] = await db.select({ found: count() }).from(found)
  return row?.found ?? 0
}

const terms = verificationTerms

async function listByTerm(
  db: Db,
  owner: Owner,
  by: Extract<By, { name: 'term' }>,
  wanted: RowFilter,
  { from, before, limit }: Range & { limit: number },
): Promise<Outline[]> {
  return await db
    .select(OUTLINE)
    .from(terms)
    .innerJoin(verificationSessions, and(eq(id, terms.verificationId), eq(tenantId, terms.tenantId)))
    .where(
      and(
        inArray(terms.term, by.value),
        eq(terms.tenantId, owner.tenantId),
        eq(environment, owner.environment),
        ...besides(by, owner, wanted),
        gte(terms.createdAt, from),
        lt(terms.createdAt, before),
      ),
    )
    .orderBy(desc(terms.createdAt))
    .limit(limit)
}

const selectLast = (name: 'beginning' | 'device' | 'key' | 'template' | 'status', lookedAtMax: number) =>
  hot<{ created_at: number }>(db =>
    db
      .select({ createdAt })
      .from(verificationSessions)
      .where(
        and(
          ...conditionsOf(name, { tenantId: column('tenantId'), environment: column('environment'), value: column('value') }),
          gte(createdAt, column('from')),
          lt(createdAt, column('before')),
        ),
      )
      .orderBy(desc(createdAt))
      .limit(1)
      .offset(lookedAtMax - 1),
  )

const selectLastByTerm = (lookedAtMax: number) =>
  hot<{ created_at: number }>(db =>
    db
      .select({ createdAt: terms.createdAt })
      .from(terms)
      .where(
        and(
          eq(terms.term, column('value')),
          eq(terms.tenantId, column('tenantId')),
          gte(terms.createdAt, column('from')),
          lt(terms.createdAt, column('before')),
        ),
      )
      .orderBy(desc(terms.createdAt))
      .limit(1)
      .offset(lookedAtMax - 1),
  )

const lastsOf = (lookedAtMax: number) => ({
  term: selectLastByTerm(lookedAtMax),
  // Its index alone is read.
  beginning: selectLast('beginning', 20 * lookedAtMax),
  device: selectLast('device', lookedAtMax),
  key: selectLast('key', lookedAtMax),
  template: selectLast('template', lookedAtMax),
  status: selectLast('status', lookedAtMax),
})

/** Sessions of one filter that a page looks at: `few` at first, then `most`; more would block the event loop. */
const LOOKED_AT = { few: 200, most: 1000 } as const
export type LookedAt = keyof typeof LOOKED_AT

const LASTS = { few: lastsOf(LOOKED_AT.few), most: lastsOf(LOOKED_AT.most) }

/** A filter by which only a part of the sessions is read. */
export type Indexed = Extract<By, { name: keyof typeof LASTS.few }>

/** Time of the last session that a page looks at by this filter alone; 0 when it looks at all. */
export async function findReach(
  db: Db,
  { tenantId, environment }: Owner,
  by: Indexed,
  lookedAt: LookedAt,
  range: Range,
): Promise<number> {
  const find = LASTS[lookedAt][by.name]
  const values = 'value' in by ? [by.value].flat() : ['']
  const found = await Promise.all(values.map(value => find(db, { tenantId, environment, value, ...range })))
  return Math.max(...found.map(([last]) => last?.created_at ?? 0))
}

type Values = Record<'tenantId' | 'environment' | 'value', unknown>

function conditionsOf(name: Exclude<By['name'], 'term'>, values: Values): SQL[] {
  const owned = [is(tenantId, values.tenantId), is(environment, values.environment)]
  // SQLite would otherwise prefer the tenant's index, and read all sessions of the tenant.
  const unindexed = [isWithoutIndex(tenantId, values.tenantId), isWithoutIndex(environment, values.environment)]
  switch (name) {
    case 'all':
      return owned
    case 'beginning':
      return [...owned, isNotNull(beginnings)]
    case 'id':
      return [is(id, values.value), ...owned]
    case 'device':
      return [is(deviceId, values.value), ...unindexed]
    case 'key':
      return [is(keyId, values.value), ...unindexed]
    case 'template':
      return [...owned, is(template, values.value)]
    case 'status':
      return [...owned, is(status, values.value)]
  }
}

const is = (text: Column, value: unknown): SQL => sql`${text} = ${value}`
/** A condition that both engines estimate like `is`, but that no index fits. */
const isWithoutIndex = (text: Column, value: unknown): SQL => sql`(${text} = ${value}) IS TRUE`

/** The filters whose index is not read. */
function besides(by: By, owner: Owner, wanted: RowFilter): SQL[] {
  const columns = { device: deviceId, key: keyId } as const
  const isSettled = by.name === 'status' && by.value !== 'pending'
  return [
    ...(['device', 'key'] as const).flatMap(each =>
      wanted[each] === undefined || each === by.name ? [] : isWithoutIndex(columns[each], wanted[each]),
    ),
    ...(wanted.template === undefined || by.name === 'template'
      ? []
      : [sql`(${inArray(template, [...wanted.template])}) IS TRUE`]),
    ...(wanted.status === undefined || isSettled ? [] : [sql`${shownStatus(wanted.at)} = ${wanted.status}`]),
    ...(wanted.asked === undefined ? [] : [hasEvent(wanted.asked)]),
    ...(wanted.sought === undefined || by.name === 'term' ? [] : [isSought(by, owner, wanted.sought)]),
  ]
}

/** The same as `statusAt` in expire.ts. */
const shownStatus = (now: number): SQL => sql`CASE
  WHEN ${status} <> 'pending' THEN ${status}
  WHEN ${respondedAt} <= ${unredeemableSince(now)} THEN 'failed'
  WHEN ${release} IS NULL AND ${respondedAt} <= ${incomparableSince(now)} THEN 'failed'
  WHEN ${respondedAt} IS NULL AND ${expiresAt} <= ${now} THEN 'expired'
  ELSE 'pending'
END`

const events = verificationEvents

const hasEvent = (event: string): SQL =>
  sql`(SELECT 1 FROM ${events} WHERE ${events.verificationId} = ${id} AND ${events.tenantId} = ${tenantId} AND ${events.event} = ${event} LIMIT 1) = 1`

function isSought(by: By, owner: Owner, { whole, words }: Sought): SQL {
  const isWhole = hasTerm(owner, whole)
  if (words.length === 0) return isWhole
  const hasWords = and(...words.map(keyed => or(...keyed.map(word => holdsBytes(beginnings, word)))))!
  return (by.name === 'beginning' ? and(hasWords, sql`(${isWhole}) IS NOT TRUE`) : or(isWhole, hasWords))!
}

/** Not by EXISTS, which PostgreSQL may answer by reading all sessions of the term. */
const hasTerm = (owner: Owner, term: Buffer[]): SQL =>
  sql`(SELECT 1 FROM ${terms} WHERE ${inArray(terms.term, term)} AND ${terms.createdAt} = ${createdAt} AND ${terms.verificationId} = ${id} AND ${eq(terms.tenantId, owner.tenantId)}) = 1`
