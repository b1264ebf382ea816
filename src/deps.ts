// The only place where a real clock, randomness, name resolution and the database are made. Everything else is handed what it needs.
import { randomFillSync } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { createStorage, type Storage } from '#db'
import { type KnownKeys, rememberKeys } from './access/known-keys.ts'
import { createNetworks, type Networks } from './access/networks.ts'
import { type Audit, createAudit } from './audit/append.ts'
import { type Config, ConfigError } from './config.ts'
import { openDataDir, type Role } from './db/data-dir.ts'
import { watchLoad } from './http/load.ts'
import { createRateLimits, type RateLimits } from './http/rate-limit.ts'
import type { Random } from './ids.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { type CrlChecker, createCrlChecker } from './openid4vp/crl-check.ts'
import { createStatusChecker, type StatusChecker } from './openid4vp/status-list.ts'
import { createSandbox, type Sandbox } from './sandbox/world.ts'
import type { Sealer } from './seal.ts'
import { type Clock, steadyClock, watchSteps } from './time.ts'
import { createErasures, type Erasures } from './upkeep/erasures.ts'
import { type Space, watchSpace } from './upkeep/space.ts'
import { type Changes, createChanges } from './verifications/changes.ts'
import { createPortraits, type Portraits } from './verifications/portraits.ts'
import { type Anchors, rememberAnchors } from './wallet/anchors.ts'
import { crlFetcher } from './wallet/crl.ts'
import { rememberIdentity } from './wallet/keys.ts'
import { isLocalList, isSandboxList, statusFetcher } from './wallet/status.ts'
import type { EgressPolicy, Resolve } from './webhooks/egress.ts'
import { readExtraCa } from './webhooks/extra-ca.ts'
import { createOutbox, type Outbox } from './webhooks/outbox.ts'
import { createResolver } from './webhooks/resolve.ts'

const NO_LABELS = {}

export type RequestIdentity = { clientId: string; signingKeyId: string }

export type Deps = Storage & {
  config: Config
  /** Never goes back, so that a corrected clock revives nothing: for all that expires here. */
  now: Clock
  /** What the machine shows: for what is compared with the clocks of others. */
  wall: Clock
  random: Random
  sealer: Sealer
  audit: Audit
  limits: RateLimits
  /** Requests wait so long that what can come again is refused. */
  isOverloaded: () => boolean
  /** API keys by their hash. */
  keys: KnownKeys
  /** Where somebody authenticated lately. */
  networks: Networks
  /** Who follows a session. */
  changes: Changes
  /** What is shown for a while, and never stored. */
  portraits: Portraits
  log: Log
  metrics: Metrics
  /** What must be erased again after a restore. */
  erasures: Erasures
  /** Room on the disk. */
  space: Space
  /** How far the wall clock was set forward or back since this was last asked. */
  clockStep: () => number
  resolve: Resolve
  egress: EgressPolicy
  /** Who is told of messages that are owed, or must no longer be sent. */
  outbox: Outbox
  /** The name under which wallets know this service now, and the key that proves it. */
  identity: () => Promise<RequestIdentity>
  /** Whose signatures count. */
  anchors: Anchors
  /** What the issuers of credentials say of them now. */
  status: StatusChecker
  /** Revocation lists of issuers' certificates. */
  crls: CrlChecker
  /** The issuer that test sessions trust. */
  sandbox: () => Promise<Sandbox>
  /** The relying party's registration certificate, a JWT that wallets are shown. */
  registrationCertificate: string | undefined
  /** True on the very first start, while there is nothing in the directory. */
  isNew: boolean
  /** The migrations that an older database was brought up to date with just now. */
  upgraded: readonly string[]
}

/** What the outside world provides; tests hand in their own. */
export type World = {
  now: Clock
  /** What the machine shows, steps and all; without it `now`. */
  wall?: Clock
  /** What passes whatever the clock is set to; without it nothing does. */
  monotonic?: Clock
  random: Random
  resolve: Resolve
  writeLog: (line: string) => void
  prettyLog: boolean
}

export const realWorld = (): World => ({
  now: steadyClock(Date.now, () => performance.now()),
  wall: Date.now,
  monotonic: () => performance.now(),
  random: createRandom(),
  resolve: createResolver(),
  writeLog: createLogWriter(process.stderr),
  prettyLog: process.stderr.isTTY === true,
})

export function createDeps(config: Config, world: World, role: Role): Deps {
  const { random, resolve } = world
  const extraCa = readExtraCa(config.extraCaFile)
  const opened = openDataDir({ dir: config.dataDir, now: world.now(), random, role })
  const { writer, reader, sealer, unlock, isNew, shownAt, upgraded } = opened
  const now = world.now() < shownAt ? steadyClock(world.now, world.monotonic ?? (() => 0), shownAt) : world.now
  const log = createLog({ level: config.log, now, write: world.writeLog, pretty: world.prettyLog })
  const metrics = createMetrics()
  if (upgraded.length && role === 'server') log.info('database.upgraded', { detail: upgraded.join(', ') })
  const space = watchSpace({ dir: config.dataDir, random, log })
  const storage = createStorage(
    writer,
    reader,
    (size, ms) => {
      metrics.observe('vidimus_commit_group_size', NO_LABELS, size)
      metrics.observe('vidimus_commit_seconds', NO_LABELS, ms / 1000)
    },
    () => space.makeRoom(),
  )
  const audit = createAudit(sealer, random)
  const load = watchLoad(
    () => performance.now(),
    lagMs => metrics.observe('vidimus_event_loop_lag_seconds', NO_LABELS, lagMs / 1000),
  )
  const close = async () => {
    load.stop()
    await storage.close()
    unlock()
  }
  const egress = {
    allow: config.egressAllow,
    listener: { addresses: ownAddresses(config.host), port: config.port },
    extraCa,
  }
  const sandbox = createSandbox({ ...storage, now, random, sealer, config })
  return {
    ...storage,
    close,
    config,
    now,
    wall: world.wall ?? world.now,
    random,
    sealer,
    audit,
    limits: createRateLimits(now, config.rateLimitScale, policy => metrics.count('vidimus_rate_limited_total', { policy })),
    isOverloaded: () => config.rateLimitScale > 0 && load.isOverloaded(),
    keys: rememberKeys(storage),
    networks: createNetworks({ ...storage, now, sealer, log }),
    changes: createChanges(),
    portraits: createPortraits(now),
    log,
    metrics,
    erasures: createErasures({ ...storage, config, audit, space }),
    space,
    clockStep: watchSteps(world.wall ?? now, () => performance.now()),
    resolve,
    egress,
    outbox: createOutbox(),
    identity: rememberIdentity({ ...storage, config }),
    anchors: rememberAnchors({ ...storage, sandbox }),
    // In development the sandbox issuer's list is on plain http; it is read without a network.
    status: createStatusChecker(statusFetcher({ egress, resolve, sandbox, now, metrics }), now, {
      allowHttp: isSandboxList(config),
      isLocal: isLocalList(config),
    }),
    crls: createCrlChecker(crlFetcher({ egress, resolve, sandbox, now, metrics }), now),
    sandbox,
    registrationCertificate: readRegistrationCertificate(config.wallet.registrationCertFile),
    isNew,
    upgraded,
  }
}

function readRegistrationCertificate(file: string): string | undefined {
  if (!file) return undefined
  const jwt = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt))
    throw new ConfigError(`VIDIMUS_REGISTRATION_CERT: ${file} does not hold a registration certificate (a JWT)`)
  return jwt
}

/** Webhooks never call this service itself, under whichever of its addresses. */
const ownAddresses = (host: string): string[] => [
  host,
  ...Object.values(networkInterfaces()).flatMap(addresses => addresses?.map(({ address }) => address) ?? []),
]

/** From the system's generator, fetched in larger pieces: one call per id would cost more than the id. */
function createRandom(): Random {
  // No Buffer: a piece of one is made by its constructor, which costs more than the copy.
  const pool = new Uint8Array(8192)
  let used = pool.length
  return count => {
    if (count > pool.length) return randomFillSync(new Uint8Array(count))
    if (used + count > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    const bytes = pool.slice(used, used + count)
    // What was handed out must not lie in memory a second time.
    pool.fill(0, used, used + count)
    used += count
    return bytes
  }
}

/** Lines of one turn of the event loop leave together. */
function createLogWriter(stream: NodeJS.WriteStream): (line: string) => void {
  let lines: string[] = []
  return line => {
    if (lines.push(line) > 1) return
    setImmediate(() => {
      stream.write(`${lines.join('\n')}\n`)
      lines = []
    })
  }
}
