import { sweepGuesses } from '../access/guessing.ts'
import { sweepNetworks } from '../access/networks.ts'
import { SIGN_EVERY_MS, signHead } from '../audit/sign-head.ts'
import { recordHeartbeat } from '../db/heartbeat.ts'
import type { Deps } from '../deps.ts'
import { sweepTokens } from '../devices/expire.ts'
import { describeFailure } from '../log.ts'
import { sweepSessions } from '../people/session.ts'
import { sweepFailures } from '../people/throttle.ts'
import { warnOfExpiry } from '../signing/certificate.ts'
import { noticeClockStep } from '../upkeep/clock.ts'
import { createBackups } from '../upkeep/schedule.ts'
import { sweepExpired } from '../verifications/expire.ts'
import { sweepRetention } from '../verifications/retain.ts'
import { sweepUnredeemed } from '../verifications/unredeemed.ts'

const JOBS = [
  { name: 'sweep', everyMs: 30_000, run: sweepExpired },
  { name: 'unredeemed', everyMs: 30_000, run: sweepUnredeemed },
  { name: 'retention', everyMs: 600_000, run: sweepRetention },
  { name: 'portraits', everyMs: 60_000, run: async (deps: Deps) => deps.portraits.sweep() },
  { name: 'tokens', everyMs: 3_600_000, run: sweepTokens },
  { name: 'guesses', everyMs: 3_600_000, run: sweepGuesses },
  { name: 'log-ins', everyMs: 3_600_000, run: sweepFailures },
  { name: 'dashboard sessions', everyMs: 3_600_000, run: sweepSessions },
  { name: 'networks', everyMs: 86_400_000, run: sweepNetworks },
  { name: 'checkpoint', everyMs: SIGN_EVERY_MS, run: signHead },
  { name: 'certificate', everyMs: 86_400_000, run: warnOfExpiry },
  { name: 'heartbeat', everyMs: 60_000, run: (deps: Deps) => recordHeartbeat(deps, deps.now()) },
] as const

/** What the service does by itself. */
export const startPeriodic = (deps: Deps): (() => void) => startJobs(deps, JOBS)

/** What it does for whoever operates it: room on the disk, backups, an eye on the clock. */
export function startUpkeep(deps: Deps): () => Promise<void> {
  const backups = createBackups(deps)
  const stopJobs = startJobs(deps, [
    { name: 'space', everyMs: 10_000, run: () => deps.space.look() },
    { name: 'clock', everyMs: 10_000, run: noticeClockStep },
    { name: 'backup', everyMs: 60_000, run: () => backups.runWhenDue() },
  ])
  return async () => {
    stopJobs()
    await backups.stop()
  }
}

type Job = { name: string; everyMs: number; run: (deps: Deps) => Promise<void> }

/** A job that fails is logged and tried again at its next time; no job overlaps itself. */
function startJobs(deps: Deps, jobs: readonly Job[]): () => void {
  const timers = jobs.map(({ name, everyMs, run }) => {
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
