// Guesses at one thing for an hour, over HTTP, while the clock of the service runs fast; each is compared with what the plan lets through.
import { parseNetworks } from '../../../src/egress/addresses.ts'
import { type Answer, startApp, type TestApp } from '../../helpers/app.ts'
import type { Seeded } from '../../helpers/seeded.ts'
import type { Reference } from './reference.ts'

export const HOUR_MS = 3_600_000
/** Address of honest callers. */
export const HOME = '192.0.2.1'
export const ATTACKER = '203.0.113.7'

export type Soak = { random: Seeded; violations: string[]; counts: Record<string, number> }

type Target = {
  name: string
  /** The status of a wrong guess that was looked at. */
  heard: number
  guess: (app: TestApp) => Promise<Answer>
  reference: Reference
  /** Between two guesses, at most. */
  gapMs: number
  isRestarted?: boolean
}

/** An hour of guesses, in bursts and one by one, perhaps over restarts. As many are heard as may be, give or take one. */
export async function guessFor(
  app: TestApp,
  hours: number,
  target: Target,
  { random, violations, counts }: Soak,
): Promise<TestApp> {
  const { name, heard, guess, reference, gapMs, isRestarted } = target
  const endsAt = app.clock.now() + hours * HOUR_MS
  let [own, planned, found] = [app, 0, 0]
  while (own.clock.now() < endsAt) {
    own.clock.advance(random.below(3) === 0 ? 0 : random.below(gapMs))
    if (isRestarted && random.below(200) === 0) {
      await own.stop()
      own = await limited(own.dir, own.clock.now())
      reference.restart()
      counts.restarts!++
    }
    if (reference.mayGuess(own.clock.now())) planned++
    const { status, headers } = await guess(own)
    counts.guesses!++
    if (status === heard) found++
    else if (status !== 429 || !(Number(headers.get('retry-after')) >= 1)) violations.push(`F29 ${name}: answered ${status}`)
    if (Math.abs(found - planned) > 1) {
      violations.push(`F29 ${name}: ${found} guesses were looked at, and ${planned} may be`)
      return own
    }
  }
  counts.heard! += found
  counts.hours! += hours
  return own
}

export const from = (address: string) => ({ 'x-forwarded-for': address })

export const newAddress = ({ below }: Seeded): string => `198.${18 + below(2)}.${below(256)}.${below(256)}`

/** The whole service, with its limits on, behind a proxy that tells it the addresses. */
export const limited = (dir?: string, now?: number) =>
  startApp({ rateLimitScale: 1, config: { trustedProxies: parseNetworks('127.0.0.1') }, dir, now })
