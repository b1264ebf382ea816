// Budgets as rows, for several nodes: GCRA in one upsert. Keys are kept as an HMAC, because they hold addresses.
import type { Db } from '../db/engine.ts'
import type { Ground } from '../ground.ts'
import { hmacSha256With } from '../hash.ts'
import { type Allowance, PARTS_PER_MS, paceOf, policyFields, refusalOf, TOTAL_SPENT_RETRY_SECONDS } from '../http/rate-limit.ts'
import {
  type Bucket,
  countBuckets,
  deleteForgottenBuckets,
  findBucket,
  giveBackToBucket,
  takeFromBucket,
} from './budget-store.ts'
import type { GuessBudgets, GuessPolicy } from './guess-budgets.ts'

/** Beyond it, new keys share one bucket by the last word of the key, which is the network. */
const ROWS_MAX = 500_000

type RowsDeps = Pick<Ground, 'now' | 'sealer' | 'config' | 'metrics'> & { light: Db }

export function budgetsInRows({ light, now, sealer, config, metrics }: RowsDeps): GuessBudgets {
  const scale = config.rateLimitScale
  const hmac = hmacSha256With(sealer.key('network'))
  const named = (policy: string, key: string) => `${policy} ${hmac(policy, ' ', key).toString('base64url', 0, 18)}`
  let rows = 0

  const nameOf = async (policy: GuessPolicy, key: string): Promise<string> => {
    const own = named(policy, key)
    if (rows < ROWS_MAX || (await findBucket(light, own))) return own
    return named(`${policy} of all`, key.slice(key.lastIndexOf(' ') + 1))
  }

  /** The rest after this request; `isRefused` when the budget was spent. */
  const spend = async (policy: GuessPolicy, key: string, cost: 0 | 1): Promise<Allowance & { isRefused?: true }> => {
    const pace = paceOf(policy, scale)
    const name = await nameOf(policy, key)
    const at = now()
    const taken = cost === 1 ? await takeFromBucket(light, { name, at, ...pace }) : undefined
    if (taken?.taken === 1) rows++
    const bucket = taken ?? (await findBucket(light, name)) ?? { fullAt: 0, taken: 0 }
    return taken ? restOf(policy, bucket, at) : { ...restOf(policy, bucket, at), ...refused(policy, bucket, at, cost) }
  }

  const restOf = (policy: GuessPolicy, { fullAt, taken }: Bucket, at: number): Allowance => {
    const { burst, interval, total } = paceOf(policy, scale)
    const used = Math.max(0, fullAt - at * PARTS_PER_MS)
    const remaining = Math.max(0, Math.min(Math.floor((burst * interval - used) / interval), total - taken))
    return { ...policyFields(policy, scale), remaining, resetSeconds: Math.ceil(used / PARTS_PER_MS / 1000) }
  }

  const refused = (policy: GuessPolicy, { fullAt, taken }: Bucket, at: number, cost: 0 | 1) => {
    const { burst, interval, total } = paceOf(policy, scale)
    const waitMs = (fullAt - at * PARTS_PER_MS - (burst - 1) * interval) / PARTS_PER_MS
    if (taken >= total) return { remaining: 0, isRefused: true, resetSeconds: TOTAL_SPENT_RETRY_SECONDS } as const
    if (waitMs <= 0 && cost === 0) return {}
    const fullSeconds = Math.ceil((fullAt / PARTS_PER_MS - at) / 1000)
    return { remaining: 0, isRefused: true, resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)), fullSeconds } as const
  }

  const spendOrRefuse = async (policy: GuessPolicy, key: string, cost: 0 | 1): Promise<Allowance> => {
    const allowance = await spend(policy, key, cost)
    if (!allowance.isRefused) return allowance
    metrics.count('vidimus_rate_limited_total', { policy: allowance.name })
    throw refusalOf(allowance)
  }

  return {
    take: (policy, key) => spendOrRefuse(policy, key, 1),
    takeIfAny: async (policy, key) => !(await spend(policy, key, 1)).isRefused,
    async check(policy, key) {
      await spendOrRefuse(policy, key, 0)
    },
    async giveBack(policy, key) {
      await giveBackToBucket(light, await nameOf(policy, key), paceOf(policy, scale).interval)
    },
    async sweep() {
      await deleteForgottenBuckets(light, now())
      rows = await countBuckets(light, ROWS_MAX)
    },
  }
}
