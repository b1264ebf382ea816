// The budgets against guessing, written a second time and simply: a number of tokens that fills up again.
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

export type Reference = {
  /** Whether a wrong guess at this time is looked at; then it counts. */
  mayGuess(now: number): boolean
  /** A restart forgets what is kept in memory only. */
  restart(): void
}

export type Budget = { burst: number; perSecond: number; total?: number }

export function budgetOf({ burst, perSecond, total = Number.POSITIVE_INFINITY }: Budget): Reference {
  let [tokens, taken, at] = [burst, 0, 0]
  return {
    mayGuess(now) {
      tokens = Math.min(burst, tokens + ((now - at) / 1000) * perSecond)
      at = now
      // Thirds do not add up to a whole in floating point.
      if (tokens < 1 - 1e-3 || taken >= total) return false
      tokens--
      taken++
      return true
    },
    restart() {
      ;[tokens, taken] = [burst, 0]
    },
  }
}

/** A network that tries pairing codes: its budget, and 15 minutes of silence after 20 wrong codes in an hour, which outlive a restart. */
export function pairingNetwork(budget: Budget): Reference {
  const own = budgetOf(budget)
  let failedAt: number[] = []
  let lockedUntil = 0
  return {
    mayGuess(now) {
      if (now < lockedUntil || !own.mayGuess(now)) return false
      failedAt = [...failedAt.filter(at => at > now - HOUR_MS), now]
      if (failedAt.length < 20) return true
      failedAt = []
      lockedUntil = now + 15 * MINUTE_MS
      return true
    },
    restart: own.restart,
  }
}

/** An account of the dashboard, tried from everywhere: waits of 0, 0, 0, 1, 2, 4 … 300 seconds, which outlive a restart. */
export function accountFromElsewhere(): Reference {
  let failures = 0
  let notBefore = 0
  return {
    mayGuess(now) {
      if (now < notBefore) return false
      failures++
      notBefore = now + (failures < 3 ? 0 : Math.min(300, 2 ** (failures - 3))) * 1000
      return true
    },
    restart() {},
  }
}
