// In rows, because a repeat may reach another node. A claim is committed before the work begins, and ends with the work's commit,
// its time or its node: a later request takes over the claim of a dead node. Names of budgets are kept as an HMAC, because they
// hold addresses.
import { and, count, eq, lte, sql } from 'drizzle-orm'
import { type Bucket, type Budget, FULL, levelOf, PARTS_PER_MS, sharedBudget, TOTAL_KEPT_MS } from '../../base/gcra.ts'
import { hmacSha256With } from '../../base/hash.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Sealer } from '../../base/seal.ts'
import type { Clock } from '../../base/time.ts'
import type { Db } from '../engine.ts'
import type { Claim, Held, ShortLived } from '../short-lived.ts'
import { column, hot } from '../statements.ts'
import { LIVING_NODES } from './nodes.ts'
import { claims, rateBuckets } from './schema.ts'

/** A claim may end between two statements; then another request is about to take it. */
const TRIES_MAX = 3
const FORGET_AGAIN_MS = 1000
/** Beyond it, new keys share a bucket. */
const ROWS_MAX = 500_000

/** `light`: each statement commits by itself, and a crash of the database may lose the last ones. */
type Deps = { light: Db; node: string; now: Clock; sealer: Sealer; metrics: Metrics }

export function shortLivedInRows(deps: Deps): ShortLived {
  return { ...claimsInRows(deps), ...budgetsInRows(deps) }
}

type OwnClaim = { name: string; word: string; holder: string; until: number }

function claimsInRows({ light, node, now, metrics }: Deps): Pick<ShortLived, 'claim'> {
  let made = 0

  /** The database may be away; then it is tried again until the claim ends by itself. */
  const forget = async (own: OwnClaim): Promise<void> => {
    try {
      await deleteClaim(light, own)
    } catch {
      if (now() < own.until) setTimeout(forget, FORGET_AGAIN_MS, own).unref()
    }
  }

  const claimOf = (own: OwnClaim): Claim => ({
    keep: async tx => (await deleteClaim(tx, own)).length > 0,
    async forget(isKept) {
      if (!isKept) await forget(own)
    },
  })

  return {
    async claim(name, word, forMs) {
      const own = { name, word, holder: `${node} ${made++}`, until: now() + forMs }
      for (let tries = 1; tries <= TRIES_MAX; tries++) {
        const taken = await takeName(light, own, now()).catch(error => {
          // The database's answer was lost; the claim itself may be there.
          void forget(own)
          throw error
        })
        if (taken?.isTakenOver) metrics.count('vidimus_claims_taken_over_total')
        if (taken) return { claim: claimOf(own) }
        const held = await findHeld(light, name)
        if (held) return { held }
      }
      return { held: own }
    },
  }
}

const upsertClaim = hot<{ isTakenOver: boolean }>(db => {
  const { name, holder, until } = claims
  return db
    .insert(claims)
    .values({ name: column('name'), word: column('word'), holder: column('holder'), until: column('until') })
    .onConflictDoUpdate({
      target: name,
      set: { word: sql`excluded.word`, holder: sql`excluded.holder`, until: sql`excluded.until` },
      // Its own: the statement is repeated when a connection was lost.
      setWhere: sql`${until} <= ${column('now')} OR ${holder} = excluded.holder
        OR split_part(${holder}, ' ', 1) NOT IN (${sql.raw(LIVING_NODES)})`,
    })
    .returning({ isTakenOver: sql<boolean>`(${sql.identifier('claims')}.xmax <> 0)`.as('isTakenOver') })
})

/** Nothing when a living node holds the name. */
async function takeName(light: Db, own: OwnClaim, now: number): Promise<{ isTakenOver: boolean } | undefined> {
  const [taken] = await upsertClaim(light, { ...own, now })
  return taken
}

async function findHeld(light: Db, name: string): Promise<Held | undefined> {
  const [held] = await light.select({ word: claims.word, until: claims.until }).from(claims).where(eq(claims.name, name))
  return held
}

const deleteClaim = hot<{ name: string }>(db =>
  db
    .delete(claims)
    .where(and(eq(claims.name, column('name')), eq(claims.holder, column('holder'))))
    .returning({ name: claims.name }),
)

function budgetsInRows({ light, now, sealer }: Deps): Omit<ShortLived, 'claim'> {
  const hmac = hmacSha256With(sealer.key('network'))
  const nameOf = ({ kind, key }: Budget) => `${kind} ${hmac(kind, ' ', key).toString('base64url', 0, 18)}`
  let rows = 0

  const find = async (budget: Budget) => {
    const own = { name: nameOf(budget), pace: budget.pace }
    if (rows < ROWS_MAX || (await findBucket(light, own.name))) return own
    const shared = sharedBudget(budget)
    return { name: nameOf(shared), pace: shared.pace }
  }

  return {
    async take(budget) {
      const { name, pace } = await find(budget)
      const at = now()
      const { interval, burst } = pace
      const total = Math.min(pace.total, Number.MAX_SAFE_INTEGER)
      const [taken] = await upsertBucket(light, {
        name,
        at: at * PARTS_PER_MS,
        atMs: at,
        interval,
        ahead: (burst - 1) * interval,
        total,
        keptMs: Math.ceil(TOTAL_KEPT_MS / total),
      })
      if (taken?.taken === 1) rows++
      return levelOf(taken ?? (await findBucket(light, name)) ?? FULL, pace, at, 1, !taken)
    },
    async giveBack(budget) {
      const { name, pace } = await find(budget)
      const { fullAt, taken } = rateBuckets
      await light
        .update(rateBuckets)
        .set({ fullAt: sql`${fullAt} - ${pace.interval}`, taken: sql`${taken} - 1` })
        .where(eq(rateBuckets.name, name))
    },
    async sweep() {
      await light.delete(claims).where(lte(claims.until, now()))
      await light.delete(rateBuckets).where(lte(rateBuckets.forgetAt, now()))
      rows = await countBuckets(light, ROWS_MAX)
    },
  }
}

const number = (name: string) => sql`${column(name)}::bigint`

/** What gcra.ts does with a bucket in memory, in one statement. */
const upsertBucket = hot<Bucket>(db => {
  const { name, fullAt, taken } = rateBuckets
  const from = sql`greatest(${fullAt}, ${number('at')})`
  const forgetAt = (full: typeof from, all: typeof from) =>
    sql`greatest((${full}) / ${sql.raw(String(PARTS_PER_MS))} + 1, ${number('atMs')} + ${number('keptMs')} * ${all})`
  const first = sql`${number('at')} + ${number('interval')}`
  const next = sql`${from} + ${number('interval')}`
  return db
    .insert(rateBuckets)
    .values({ name: column('name'), fullAt: first, taken: sql`1`, forgetAt: forgetAt(first, sql`1`) })
    .onConflictDoUpdate({
      target: name,
      set: { fullAt: next, taken: sql`${taken} + 1`, forgetAt: forgetAt(next, sql`(${taken} + 1)`) },
      setWhere: sql`${from} - ${number('at')} <= ${number('ahead')} AND ${taken} < ${number('total')}`,
    })
    .returning({ fullAt: sql<number>`${fullAt}`.as('fullAt'), taken })
})

async function findBucket(light: Db, name: string): Promise<Bucket | undefined> {
  const { fullAt, taken } = rateBuckets
  const [row] = await light.select({ fullAt, taken }).from(rateBuckets).where(eq(rateBuckets.name, name))
  return row
}

/** No further than `max`. */
async function countBuckets(light: Db, max: number): Promise<number> {
  const some = light.select({ name: rateBuckets.name }).from(rateBuckets).limit(max).as('some')
  const [row] = await light.select({ n: count() }).from(some)
  return row?.n ?? 0
}
