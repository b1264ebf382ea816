import { lookForAlerts } from '../alerts/look.ts'
import { sendOwed } from '../alerts/send.ts'
import { SIGN_EVERY_MS, signHead } from '../audit/sign-head.ts'
import { describeFailure } from '../base/log.ts'
import { within } from '../base/time.ts'
import type { Db, Job } from '../db/engine.ts'
import { recordShownAt } from '../db/shown-at.ts'
import type { Deps } from '../deps.ts'
import { sweepTokens } from '../devices/expire.ts'
import { sweepNetworks } from '../guesses/networks.ts'
import { sweepGuesses } from '../guesses/pairing.ts'
import { turnKeys } from '../oidc/keys.ts'
import { sealIssuersAgain } from '../oidc/seal-again.ts'
import { sweepSignIns } from '../people/log-in/sign-ins.ts'
import { sweepFailures } from '../people/log-in/throttle.ts'
import { sweepSessions } from '../people/session.ts'
import { sealSandboxAgain } from '../sandbox/world.ts'
import { lookAtKeys, turnWrappingKey } from '../session-keys/turn.ts'
import { warnOfExpiry } from '../signing/certificate.ts'
import { retireSigningKeys } from '../signing/retire.ts'
import { refreshDue } from '../trust/lists/refresh.ts'
import { prefetchLists, prefetchListsOfAnchors } from '../trust/status/refresh.ts'
import { noticeClockStep } from '../upkeep/clock.ts'
import { createBackups } from '../upkeep/schedule.ts'
import { sealAgain } from '../upkeep/seal-again.ts'
import { sweepExpired } from '../verifications/end/expire.ts'
import { sweepHeld, sweepPortraits } from '../verifications/end/release.ts'
import { sweepLogins, sweepRetention } from '../verifications/erasure/retain.ts'

/** A stop waits this long for jobs under way. */
const DRAIN_MS = 5000
const HOUR_MS = 3_600_000

/** Jobs on shared rows: one process of an installation runs each. */
export const SHARED_JOBS: Job<Deps>[] = [
  { name: 'sweep', everyMs: 30_000, run: sweepExpired },
  { name: 'held answers', everyMs: 10_000, run: sweepHeld },
  { name: 'portraits', everyMs: 60_000, run: sweepPortraits },
  { name: 'retention', everyMs: 600_000, run: sweepRetention },
  { name: 'ended log-ins', everyMs: 30_000, run: sweepLogins },
  { name: 'tokens', everyMs: 3_600_000, run: sweepTokens },
  { name: 'guesses', everyMs: 3_600_000, run: sweepGuesses },
  { name: 'log-ins', everyMs: 3_600_000, run: sweepFailures },
  { name: 'sign-ins', everyMs: 3_600_000, run: sweepSignIns },
  { name: 'dashboard sessions', everyMs: 3_600_000, run: sweepSessions },
  { name: 'networks', everyMs: 3_600_000, run: sweepNetworks },
  { name: 'checkpoint', everyMs: SIGN_EVERY_MS, run: signHead },
  { name: 'alerts', everyMs: 300_000, run: lookForAlerts },
  { name: 'mail', everyMs: 60_000, run: sendOwed },
  { name: 'certificate', everyMs: 86_400_000, run: warnOfExpiry },
  { name: 'signing keys', everyMs: 3_600_000, run: retireSigningKeys },
  { name: 'seal again', everyMs: 60_000, run: deps => sealAgain(deps, tx => sealOthersAgain(deps, tx)) },
  { name: 'OpenID keys', everyMs: 3_600_000, run: turnKeys },
  { name: 'trust lists', everyMs: 60_000, run: refreshDue },
  { name: 'revocation lists', everyMs: 60_000, run: prefetchLists },
  { name: 'revocation lists of issuers', everyMs: 3_600_000, run: prefetchListsOfAnchors },
  // Not an hour after the start: a service that is restarted more often would never turn it.
  { name: 'wrapping key', everyMs: 10_000, isOnTheHour: true, run: turnWrappingKey },
]

/** Settings of rooms that upkeep/ does not know. */
async function sealOthersAgain(deps: Deps, tx: Db): Promise<void> {
  await sealSandboxAgain(deps, tx)
  await sealIssuersAgain(deps, tx)
}

/** Jobs on the memory, the clock or the disk of this process. */
const NODE_JOBS: Job<Deps>[] = [
  { name: 'budgets', everyMs: 60_000, run: ({ shortLived }) => shortLived.sweep() },
  { name: 'keys', everyMs: 60_000, run: lookAtKeys },
  { name: 'heartbeat', everyMs: 60_000, run: deps => recordShownAt(deps, deps.now()) },
]

/** Returns a function that stops the jobs and waits for those that run. */
export const startPeriodic = (deps: Deps): (() => Promise<void>) =>
  startJobs(deps, [...SHARED_JOBS.map(job => deps.whenLeader(job)), ...NODE_JOBS])

/** Room on the disk, backups and clock steps: for the operator, not for callers. */
export function startUpkeep(deps: Deps): () => Promise<void> {
  // Disk and backups of PostgreSQL are its server's.
  const backups = deps.config.database ? undefined : createBackups(deps)
  const stopJobs = startJobs(deps, [
    { name: 'clock', everyMs: 10_000, run: noticeClockStep },
    ...(backups
      ? [
          { name: 'space', everyMs: 10_000, run: () => deps.space.look() },
          { name: 'backup', everyMs: 60_000, run: () => backups.runWhenDue() },
        ]
      : []),
  ])
  return async () => {
    const ended = stopJobs()
    await backups?.stop()
    await ended
  }
}

/**
 * A job that fails is logged and runs again at its next time; no job overlaps itself. Stopping waits for jobs under way;
 * one that takes longer is cut off, and goes on after the next start.
 */
function startJobs(deps: Deps, jobs: readonly Job<Deps>[]): () => Promise<void> {
  const underWay = new Map<string, Promise<boolean>>()
  const stopping = new AbortController()
  /** False when it failed. */
  const runOnce = async ({ name, run }: Job<Deps>) => {
    try {
      await run(deps, stopping.signal)
      return true
    } catch (error) {
      if (stopping.signal.aborted) deps.log.info('job.cut_off', { detail: name })
      else deps.log.error('job.failed', { detail: name, failure: describeFailure(error) })
      return false
    } finally {
      underWay.delete(name)
    }
  }
  const begin = (job: Job<Deps>): Promise<boolean> => {
    const running = underWay.get(job.name) ?? runOnce(job)
    underWay.set(job.name, running)
    return running
  }
  const timers = jobs.map(job =>
    setInterval(job.isOnTheHour ? onTheHour(deps, () => begin(job)) : () => void begin(job), job.everyMs),
  )
  return async () => {
    for (const timer of timers) clearInterval(timer)
    stopping.abort()
    await within(
      DRAIN_MS,
      Promise.all(underWay.values()).then(() => {}),
      () => {},
    )
  }
}

/** Begins at once, each time that the clock has entered another hour, and again where it failed. */
function onTheHour({ now }: Deps, begin: () => Promise<boolean>): () => void {
  let last: number | undefined
  const look = async () => {
    const hour = Math.floor(now() / HOUR_MS)
    if (hour === last) return
    last = hour
    if (!(await begin())) last = undefined
  }
  void look()
  return () => void look()
}
