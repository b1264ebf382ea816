// The base of all features: clock, randomness, resolver, log, metrics, database. No feature is
// imported here, and only this file makes the real ones.
import { randomFillSync } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { Random } from './base/ids.ts'
import { createLog, type Log } from './base/log.ts'
import { createMetrics, type Metrics } from './base/metrics.ts'
import type { Sealer } from './base/seal.ts'
import { type Clock, steadyClock, watchSteps } from './base/time.ts'
import { type Config, readExtraCa } from './config.ts'
import type { Engine } from './db/engine.ts'
import { type OnWait, openEngine, type Role, type Space } from './db/open.ts'
import type { ShortLived } from './db/short-lived.ts'
import type { EgressPolicy, Resolve } from './egress/policy.ts'
import { createResolver } from './egress/resolve.ts'
import { watchLoad } from './http/load.ts'
import { createRateLimits, type RateLimits } from './http/rate-limit.ts'
import { createTurns, type Turns } from './http/turns.ts'
import { createSessionKeys, type SessionKeys } from './session-keys/keys.ts'

const NO_LABELS = {}

export type Ground = Engine & {
  config: Config
  /** Never goes back, so that a corrected clock revives nothing. For everything that expires here. */
  now: Clock
  /** The machine's clock. For comparisons with the clocks of others. */
  wall: Clock
  /** Milliseconds by which the wall clock was set forward or back since the last call. */
  clockStep: () => number
  random: Random
  sealer: Sealer
  /** The keys of verifications, mixed into all that is sealed of them. */
  sessionKeys: SessionKeys
  log: Log
  metrics: Metrics
  limits: RateLimits
  /** True while this machine has more to do than it can; http/load.ts refuses what may wait. */
  isOverloaded: () => boolean
  /** How long a creation or a wallet's answer took. */
  took: (ms: number) => void
  /** Shares the event loop between long requests and all others. */
  turns: Turns
  resolve: Resolve
  egress: EgressPolicy
  /** Room on the disk. */
  space: Space
  /** Claims and budgets. */
  shortLived: ShortLived
  /** True on the first start, while the data directory is empty. */
  isNew: boolean
  /** True where no other process may serve this database. */
  isAlone: boolean
  /** Migrations that this start applied. */
  upgraded: readonly string[]
}

// What verbs ask for, by the kind of verb: one of these, or two or three joined.

type Slice<Name extends keyof Ground> = Pick<Ground, Name>

/** Reads what is committed. */
export type Reading = Slice<'db' | 'now'>
/** Reads a few committed rows from pages that stay in memory. */
export type Peeking = Slice<'warm'>
/** Changes rows whose races are decided by their own statements. */
export type Writing = Slice<'write' | 'now'>
/** Makes something new: an id, a token, a certificate. */
export type Making = Slice<'random' | 'now'>
/** Compares times, those of others too. */
export type Timing = Slice<'now' | 'wall'>
/** Opens what is kept sealed. */
export type Unsealing = Slice<'sealer' | 'sessionKeys'>
/** Seals what is kept. */
export type Sealing = Unsealing & Slice<'random'>
/** Calls another host, within the rules for outgoing calls. */
export type Calling = Slice<'resolve' | 'egress' | 'now'>
/** Keeps settings in memory until they change. */
export type Remembering = Slice<'db' | 'settingsVersion'>
/** Tells the operator. */
export type Reporting = Slice<'log' | 'metrics'>
/** Tells everybody who waits what happened, and counts it. */
export type Announcing = Slice<'publish' | 'metrics'>
/** Depends on how this installation is configured. */
export type Configured = Slice<'config'>
/** Lets other requests go on in between. */
export type Yielding = Slice<'turns'>

/** The machine's share. Tests replace it. */
export type World = {
  now: Clock
  /** The machine's clock, steps included; defaults to `now`. */
  wall?: Clock
  /** Unaffected by clock changes. Without it, a clock behind the last run stands still. */
  monotonic?: Clock
  random: Random
  resolve: Resolve
  writeLog: (line: string) => void
  prettyLog: boolean
  /** Ends the wait for a database that does not answer. */
  stopping?: AbortSignal
}

export const realWorld = (): World => ({
  now: steadyClock(Date.now, () => performance.now()),
  wall: Date.now,
  monotonic: () => performance.now(),
  random: createRandom(),
  resolve: createResolver(),
  writeLog: createLogWriter(() => process.stderr),
  get prettyLog() {
    return process.stderr.isTTY === true
  },
})

export async function createGround(config: Config, world: World, role: Role): Promise<Ground> {
  const { random, resolve } = world
  const egress = egressOf(config)
  const { writeLog: write } = world
  const logWith = (now: Clock) => createLog({ level: config.log, now, write, isPretty: () => world.prettyLog })
  const opened = await openEngine({
    config,
    now: world.now(),
    wall: world.monotonic && world.wall,
    random,
    role,
    stopping: world.stopping,
    onWait: role === 'server' ? logWait(logWith(world.now)) : undefined,
  })
  const { sealer, isNew, isAlone, shownAt, upgraded } = opened
  const monotonic = world.monotonic ?? (() => 0)
  const clock = opened.wall ? steadyClock(opened.wall, monotonic) : world.now
  // A clock set back since the last run continues from the latest time that was shown then.
  const now = clock() < shownAt ? steadyClock(clock, monotonic, shownAt) : clock
  const log = logWith(now)
  const metrics = createMetrics()
  if (upgraded.length && role === 'server') log.info('database.upgraded', { detail: upgraded.join(', ') })
  const { engine, space, shortLived } = await opened.open({ log, metrics, now })
  const load = watchLoad(
    () => performance.now(),
    lagMs => metrics.observe('vidimus_event_loop_lag_seconds', NO_LABELS, lagMs / 1000),
  )
  return {
    ...engine,
    async close() {
      load.stop()
      await engine.close()
    },
    config,
    now,
    wall: world.wall ?? world.now,
    clockStep: watchSteps(world.wall ?? now, () => performance.now()),
    random,
    sealer,
    sessionKeys: createSessionKeys({ keyDir: config.keyDir, sealer, random }),
    log,
    metrics,
    limits: createRateLimits(now, config.rateLimitScale, policy => metrics.count('vidimus_rate_limited_total', { policy })),
    // Scale 0 turns all limits off, this one too.
    isOverloaded: () => config.rateLimitScale > 0 && load.isOverloaded(),
    took: load.took,
    turns: createTurns(() => performance.now(), setImmediate),
    resolve,
    egress,
    space,
    shortLived,
    isNew,
    isAlone,
    upgraded,
  }
}

const logWait =
  (log: Log): OnWait =>
  (address, failure) =>
    log.warn('database.awaited', { address, failure })

/** The destinations that this machine may call. */
export const egressOf = ({ egressAllow, host, port, extraCaFile }: Config): EgressPolicy => ({
  allow: egressAllow,
  listener: { addresses: ownAddresses(host), port },
  extraCa: readExtraCa(extraCaFile),
})

/** This service's own addresses: webhooks must not call them. */
const ownAddresses = (host: string): string[] => [
  host,
  ...Object.values(networkInterfaces()).flatMap(addresses => addresses?.map(({ address }) => address) ?? []),
]

/** Random bytes, drawn 8 KiB at a time: a system call for each id costs more than the id. */
function createRandom(): Random {
  // Not a Buffer: a slice of one runs its constructor, which costs more than the copy.
  const pool = new Uint8Array(8192)
  let used = pool.length
  return count => {
    if (count > pool.length) return randomFillSync(new Uint8Array(count))
    if (used + count > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + count)
    // Bytes already handed out are erased here.
    pool.fill(0, used, used + count)
    used += count
    return bytes
  }
}

/** Writes all lines of one turn of the event loop at once. The stream is made with the first: it takes milliseconds. */
function createLogWriter(stream: () => NodeJS.WriteStream): (line: string) => void {
  let lines: string[] = []
  return line => {
    if (lines.push(line) > 1) return
    setImmediate(() => {
      const text = `${lines.join('\n')}\n`
      lines = []
      stream().write(text)
    })
  }
}
