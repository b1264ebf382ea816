// In memory: one process serves a file, and its claims end with it.
import { createBudgets } from '../../base/gcra.ts'
import type { Clock } from '../../base/time.ts'
import type { Held, ShortLived } from '../short-lived.ts'

export function shortLivedInMemory(now: Clock): ShortLived {
  const claimed = new Map<string, Held>()
  const budgets = createBudgets()

  return {
    async claim(name, word, forMs) {
      const holder = claimed.get(name)
      if (holder && holder.until > now()) return { held: holder }
      const held = { word, until: now() + forMs }
      claimed.set(name, held)
      const isOurs = () => claimed.get(name) === held
      return {
        claim: {
          keep: isOurs,
          async forget() {
            if (isOurs()) claimed.delete(name)
          },
        },
      }
    },
    take: async budget => budgets.take(budget, now(), 1),
    giveBack: async budget => budgets.giveBack(budget, now()),
    // The memory of budgets makes room by itself, and every claim is forgotten by its request.
    sweep: async () => {},
  }
}
