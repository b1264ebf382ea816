import { sweepGuesses } from './access/guessing.ts'
import { sweepNetworks } from './access/networks.ts'
import { sweepSessions } from './dashboard/session.ts'
import { sweepFailures } from './dashboard/throttle.ts'
import type { Deps } from './deps.ts'
import { sweepTokens } from './devices/expire.ts'
import { describeFailure } from './log.ts'
import { sweepExpired } from './verifications/expire.ts'
import { sweepRetention } from './verifications/retain.ts'
import { warnOfExpiry } from './wallet/signing.ts'

const JOBS = [
  { name: 'sweep', everyMs: 30_000, run: sweepExpired },
  { name: 'retention', everyMs: 600_000, run: sweepRetention },
  { name: 'tokens', everyMs: 3_600_000, run: sweepTokens },
  { name: 'guesses', everyMs: 3_600_000, run: sweepGuesses },
  { name: 'log-ins', everyMs: 3_600_000, run: sweepFailures },
  { name: 'dashboard sessions', everyMs: 3_600_000, run: sweepSessions },
  { name: 'networks', everyMs: 86_400_000, run: sweepNetworks },
  { name: 'checkpoint', everyMs: 3_600_000, run: (deps: Deps) => deps.write(tx => deps.audit.checkpoint(tx, deps.now())) },
  { name: 'certificate', everyMs: 86_400_000, run: warnOfExpiry },
] as const

/** What the service does by itself. A job that fails is logged and tried again at its next time; no job overlaps itself. */
export function startPeriodic(deps: Deps): () => void {
  const timers = JOBS.map(({ name, everyMs, run }) => {
    let running = false
    return setInterval(async () => {
      if (running) return
      running = true
      try {
        await run(deps)
      } catch (error) {
        deps.log.error('job.failed', { detail: name, failure: describeFailure(error) })
      } finally {
        running = false
      }
    }, everyMs)
  })
  return () => {
    for (const timer of timers) clearInterval(timer)
  }
}
