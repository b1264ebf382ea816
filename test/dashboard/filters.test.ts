// Combines the filters of the list of verifications, over sessions in every state.
import { afterAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { newVerificationId } from '../../src/base/ids.ts'
import type { VerificationCount, VerificationPage } from '../../src/dashboard/verifications/schema.ts'
import { verificationSessions } from '../../src/db/schema/verifications.ts'
import { insertResult } from '../../src/verifications/end/answer-store.ts'
import { sealResult } from '../../src/verifications/present.ts'
import type { Status } from '../../src/verifications/schema.ts'
import { findVerification, insertVerification, type Owner, type VerificationRow } from '../../src/verifications/store.ts'
import { createTerms, termsOf } from '../../src/verifications/terms.ts'
import { cleanUp, createVerification, startWithTenant } from '../helpers/app.ts'
import { joinMember, setUpOwner } from '../helpers/dashboard.ts'
import { execute, isOnPostgres } from '../helpers/database.ts'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'
import { type Seeded, seeded } from '../helpers/seeded.ts'

afterAll(cleanUp)

const SESSIONS = 2600
const PAGE = 100
/** How many sessions of a longer list are read, because each costs a query. */
const READ_MAX = 2 * PAGE
/** As in browse-store.ts. */
const LOOKED_AT_MAX = 1000

const { app, id: tenantId, key: apiKey } = await startWithTenant()
const boss = await setUpOwner(app)
const owner: Owner = { tenantId, environment: 'test' }

const NAMES = ['search', 'device', 'key', 'template', 'status'] as const
type Name = (typeof NAMES)[number]
type Drawn = { id: string; createdAt: number; stored: Status } & Record<Name, string>
type Shares<Value> = readonly (readonly [share: number, value: Value])[]

const HOUR_MS = 3_600_000
const REDEEMABLE_MS = 600_000
const COMPARABLE_MS = 120_000
type State = { stored: Status; expiresIn: number; respondedIn: number | null; release?: 'on_redeem'; status: Status }
const STATES: Shares<State> = [
  [43, { stored: 'expired', expiresIn: -HOUR_MS, respondedIn: null, status: 'expired' }],
  [40, { stored: 'pending', expiresIn: 1, respondedIn: null, status: 'pending' }],
  [3, { stored: 'pending', expiresIn: 0, respondedIn: null, status: 'expired' }],
  [2, { stored: 'pending', expiresIn: -HOUR_MS, respondedIn: 1 - REDEEMABLE_MS, release: 'on_redeem', status: 'pending' }],
  [1, { stored: 'pending', expiresIn: HOUR_MS, respondedIn: -REDEEMABLE_MS, release: 'on_redeem', status: 'failed' }],
  // Without `release` an answer is held for the comparison of its photo.
  [1, { stored: 'pending', expiresIn: -HOUR_MS, respondedIn: 1 - COMPARABLE_MS, status: 'pending' }],
  [1, { stored: 'pending', expiresIn: HOUR_MS, respondedIn: -COMPARABLE_MS, status: 'failed' }],
  [3, { stored: 'failed', expiresIn: -HOUR_MS, respondedIn: -HOUR_MS, status: 'failed' }],
  [6, { stored: 'completed', expiresIn: -HOUR_MS, respondedIn: -HOUR_MS, status: 'completed' }],
]
const VALUES: Record<Exclude<Name, 'status'>, Shares<string>> = {
  search: [[80, 'north'], [20, 'south']], // biome-ignore format: a table
  device: [[45, 'till-1'], [54, ''], [1, 'till-2']], // biome-ignore format: a table
  key: [[97, 'key-1'], [3, 'key-2']], // biome-ignore format: a table
  template: [[95, 'age_over_18'], [5, 'country']], // biome-ignore format: a table
}

function oneOf<Value>({ below }: Seeded, shares: Shares<Value>): Value {
  const at = below(100)
  let sum = 0
  for (const [share, value] of shares) {
    sum += share
    if (at < sum) return value
  }
  throw new Error('the shares are less than 100')
}

/** Writes the sessions as the service does; returns them newest first. */
async function drawSessions(pattern: VerificationRow, random: Seeded): Promise<Drawn[]> {
  const { deps } = app
  const at = app.clock.now()
  const drawn: Drawn[] = []
  await deps.write(async tx => {
    for (let n = 1; n <= SESSIONS; n++) {
      const { stored, expiresIn, respondedIn, release = null, status } = oneOf(random, STATES)
      const device = oneOf(random, VALUES.device)
      const key = device === '' ? oneOf(random, VALUES.key) : ''
      const [template, search] = [oneOf(random, VALUES.template), oneOf(random, VALUES.search)]
      const id = newVerificationId(deps.random)
      const createdAt = at - n * 1000 - random.below(1000)
      const terms = termsOf(createTerms(deps), owner, { till: search })
      const columns = {
        template,
        deviceId: device || null,
        keyId: key || null,
        expiresAt: at + expiresIn,
        release,
        sealed: null,
        sealedQuery: null,
        ...terms,
      }
      await insertVerification(tx, { ...pattern, id, createdAt, ...columns })
      const respondedAt = respondedIn === null ? null : at + respondedIn
      if (stored !== 'pending' || respondedAt !== null)
        await tx.update(verificationSessions).set({ status: stored, respondedAt }).where(eq(verificationSessions.id, id))
      const sessionKey = deps.sessionKeys.derive(id, pattern.wrappingKey)
      if (respondedAt !== null) {
        const result = sealResult(deps, { id, tenantId, sessionKey }, {}, respondedAt)
        await insertResult(tx, { ...result, auditSeq: pattern.auditSeq })
      }
      drawn.push({ id, createdAt, stored, device, key, template, status, search })
    }
    // PostgreSQL learns of that many rows within a minute, and guesses until then.
    if (isOnPostgres) await execute(tx, 'ANALYZE')
  })
  return drawn
}

/** Reads pages up to READ_MAX sessions. `isWhole`: the list had no further page. */
async function readPages(filter: Record<string, string>): Promise<{ ids: string[]; pages: number; isWhole: boolean }> {
  const ids: string[] = []
  const query = new URLSearchParams({ environment: 'test', limit: String(PAGE), ...filter })
  for (let pages = 1; ; pages++) {
    const { status, body, text } = await boss.get<VerificationPage>(`/tenants/${tenantId}/verifications?${query}`)
    expect([status, status === 200 ? '' : text]).toEqual([200, ''])
    ids.push(...body.data.map(({ id }) => id))
    if (body.next_before === null || ids.length >= READ_MAX) return { ids, pages, isWhole: body.next_before === null }
    query.set('before', body.next_before)
  }
}

type StoredOf = (row: Drawn) => string

/** The sessions that the index of a filter leads to. One that is over may still be stored as pending, so both are read. */
const readsOf = (name: Name, value: string, storedOf: StoredOf): ((row: Drawn) => boolean)[] =>
  name === 'status'
    ? [row => storedOf(row) === value, row => storedOf(row) === 'pending' && ['failed', 'expired'].includes(value)]
    : [row => row[name] === value]

/** The service sweeps every half minute, so on a busy machine a sweep may run during the test. */
const BEFORE_A_SWEEP: StoredOf = row => row.stored
const AFTER_A_SWEEP: StoredOf = row => (row.stored === 'pending' ? row.status : row.stored)

test('combined filters find the right sessions by the filter that leaves the fewest; an export has all', async () => {
  const first = await createVerification(app, apiKey, { template: 'country' })
  const { verification } = (await findVerification(app.deps.db, owner, first.id))!
  const random = seeded(FRESH_SEED)
  const drawn = await drawSessions(verification, random)

  const check = async (filter: Partial<Record<Name, string>>, until: number) => {
    const within = drawn.filter(({ createdAt }) => createdAt < until)
    const given = Object.entries(filter) as [Name, string][]
    const wanted = within.filter(row => given.every(([name, value]) => row[name] === value)).map(({ id }) => id)
    // The most pages that are not full: each of them has looked at a thousand sessions of every filter.
    const unfilled = [BEFORE_A_SWEEP, AFTER_A_SWEEP].map(storedOf =>
      Math.min(
        ...given.map(([name, value]) =>
          readsOf(name, value, storedOf).reduce(
            (sum, isRead) => sum + Math.floor(within.filter(isRead).length / LOOKED_AT_MAX),
            0,
          ),
        ),
      ),
    )
    const { ids, pages, isWhole } = await readPages({ ...filter, until: new Date(until).toISOString() })
    expect([filter, ids]).toEqual([filter, isWhole ? wanted : wanted.slice(0, ids.length)])
    const counted = await boss.get<VerificationCount>(
      `/tenants/${tenantId}/verifications/count?${new URLSearchParams({ environment: 'test', ...filter, until: new Date(until).toISOString() })}`,
    )
    expect([filter, counted.body]).toEqual([filter, { count: wanted.length, is_more: false }])
    const pagesMax = 1 + Math.floor(ids.length / PAGE) + (given.length > 0 ? Math.max(...unfilled) : 0)
    expect([filter, pages <= pagesMax ? 'few' : `${pages} of ${pagesMax}`]).toEqual([filter, 'few'])
    const isContinued = new Set(unfilled.map(count => count > 0))
    if (given.length > 1 && wanted.length < PAGE && isContinued.size === 1)
      expect([filter, pages > 1]).toEqual([filter, isContinued.has(true)])
  }

  const now = app.clock.now()
  for (let subset = 0; subset < 2 ** NAMES.length; subset++) {
    const { device, key, ...rest } = drawn[random.below(drawn.length)]!
    const any = { ...rest, device: device || 'till-1', key: key || 'key-1' }
    const filter = Object.fromEntries(NAMES.filter((_, i) => subset & (1 << i)).map(name => [name, any[name]]))
    await check(filter, random.below(2) ? now : any.createdAt)
  }
  // Frequent values with rare ones, and two frequent ones that exclude each other.
  await check({ key: 'key-1', status: 'completed' }, now)
  await check({ key: 'key-2', status: 'expired' }, now)
  await check({ search: 'north', template: 'country' }, now)
  await check({ search: 'north', device: 'till-2', status: 'pending' }, now)
  await check({ device: 'till-1', key: 'key-1' }, now)

  const clerk = await joinMember(app, tenantId, 'exporter')
  const { text } = await clerk.post(`/tenants/${tenantId}/verifications/export?environment=test`)
  expect(text.trimEnd().split('\r\n').length).toBe(1 + 1 + SESSIONS)
})
