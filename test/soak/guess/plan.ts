// The budgets against guessing, as the plan has them, and not as the service does.
import { POLICIES } from '../../../src/http/rate-limit.ts'
import type { Budget } from './reference.ts'

export const PLAN = {
  ip: { burst: 200, perSecond: 50 },
  badauth: { burst: 30, perSecond: 10 / 60 },
  status: { burst: 10, perSecond: 2 },
  'wallet-get': { burst: 10, perSecond: 1, total: 60 },
  'wallet-post': { burst: 5, perSecond: 1 / 10, total: 20 },
  redeem: { burst: 5, perSecond: 5 / 60, total: 20 },
  refresh: { burst: 60, perSecond: 1 },
  'refresh-device': { burst: 6, perSecond: 6 / 60 },
  enroll: { burst: 10, perSecond: 5 / 60 },
  'enroll-all': { burst: 120, perSecond: 1 },
  login: { burst: 20, perSecond: 20 / 3600 },
  'login-all': { burst: 120, perSecond: 2 },
} satisfies Partial<Record<keyof typeof POLICIES, Budget>>

export function checkPlan({ violations }: { violations: string[] }): void {
  for (const [name, planned] of Object.entries(PLAN))
    if (!Bun.deepEquals(POLICIES[name as keyof typeof POLICIES] as Budget, planned))
      violations.push(`F29: ${name} is not as planned`)
}
