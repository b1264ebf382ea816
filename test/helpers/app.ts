import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { createKey, type ExpiryDays } from '../../src/access/keys.ts'
import { type Environment, SCOPES, type Scope } from '../../src/access/scopes.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { tenants } from '../../src/db/schema/tenants.ts'
import { createDeps, type Deps } from '../../src/deps.ts'
import type { World } from '../../src/ground.ts'
import { start } from '../../src/service/start.ts'
import { createTenant, readTenants } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import type { WorkerOptions } from '../../src/webhooks/delivery/worker.ts'
import { databaseOf, dropDatabases, keepingOpen, prepareDirectory } from './database.ts'
import { takeIssuers } from './shared-issuers.ts'

/** A Wednesday at noon: far from midnight, so that a test that crosses it says so. */
export const NOON = Date.parse('2026-03-04T12:00:00.000Z')

export type Answer<Body = unknown> = { status: number; headers: Headers; text: string; body: Body }

export type Call = { key?: string; body?: unknown; raw?: BodyInit; headers?: Record<string, string> }

type TestClock = { now(): number; advance(ms: number): void; set(ms: number): void }

export type TestApp = Awaited<ReturnType<typeof startApp>>

type Options = {
  config?: Partial<Config>
  /** Limits are off unless a test is about them. */
  rateLimitScale?: number
  resolve?: World['resolve']
  /** An existing directory, to start again on it; or an empty one, where the start is the first in every respect. */
  dir?: string
  now?: number
  /** A node that runs: this one joins it on its database, with its clock and its keys. PostgreSQL only. */
  beside?: { home: string; clock: TestClock }
  /** The thread that posts webhooks, and the limits of a call. */
  sending?: WorkerOptions
}

const open = new Set<() => Promise<void>>()
const directories = new Set<string>()

const firstEnded: (() => void)[] = []

/** Ends what a service would wait for when it stops. */
export const endFirst = (end: () => void): void => void firstEnded.push(end)

/** Stops what was started and removes what was written. */
export async function cleanUp(): Promise<void> {
  for (const end of firstEnded) end()
  for (const stop of open) await stop()
  await dropDatabases()
  for (const dir of directories) rmSync(dir, { recursive: true, force: true })
}

export function temporaryDir(parent = tmpdir()): string {
  const dir = mkdtempSync(join(parent, 'vidimus-test-'))
  directories.add(dir)
  return dir
}

/** The start makes everything itself where the master key is not in the directory, or not yet. */
const isPrepared = ({ config, beside, dir }: Options): boolean => dir === undefined && !config?.masterKey && !beside

function preparedDir(options: Options): string {
  const dir = temporaryDir()
  if (isPrepared(options)) prepareDirectory(dir)
  return dir
}

/** The real service on a real file and a real port, with a clock that the test moves. */
export async function startApp(options: Options = {}) {
  const { settled, ...installation } = await createInstallation(options)
  const { deps } = installation
  const service = await start(deps, { sending: options.sending })
  await settled()
  return {
    ...installation,
    url: service.url,
    stop: stopOnce(service.stop),
    call: <Body = unknown>(method: string, path: string, options?: Call) => call<Body>(service.url, method, path, options),
  }
}

export type Installation = Awaited<ReturnType<typeof openInstallation>>

/** The same without a port, threads and jobs, for tests that call the features themselves: a start costs twice as much. */
export async function openInstallation(options: Options = {}) {
  const { settled: _, ...installation } = await createInstallation(options)
  return { ...installation, stop: stopOnce(installation.deps.close) }
}

function stopOnce(end: () => Promise<void>): () => Promise<void> {
  const stop = async () => {
    if (open.delete(stop)) await end()
  }
  open.add(stop)
  return stop
}

async function createInstallation(options: Options) {
  const { config, rateLimitScale = 0, resolve, dir = preparedDir(options), now = NOON, beside } = options
  const home = beside?.home ?? dir
  const clock = beside?.clock ?? testClock(now)
  const logs: string[] = []
  const world: World = {
    now: clock.now,
    random: count => randomBytes(count),
    resolve: resolve ?? (async () => ['93.184.215.14']),
    writeLog: line => void logs.push(line),
    prettyLog: false,
  }
  const settings = {
    ...loadConfig({
      PORT: '0',
      VIDIMUS_DATA_DIR: dir,
      VIDIMUS_KEY_DIR: home,
      VIDIMUS_LOG: 'debug',
      ...(await databaseOf(home)),
    }),
    publicUrl: 'https://verify.example',
    rateLimitScale,
  }
  const deps = await createDeps({ ...settings, ...config }, world, 'server')
  // How busy the machine of the tests is must not decide them.
  deps.isOverloaded = () => false
  const settled = leaveHoursToTests(deps)
  // Otherwise its address, which certificates name, is known only once it listens.
  if (isPrepared(options) && deps.config.publicUrl !== '') await takeIssuers(deps)
  return {
    dir,
    /** The directory of the first node, whose database and keys all share. */
    home,
    deps,
    /** The looks of the start are over. */
    settled,
    logs,
    clock,
    /** A tenant of its own, with a key for each environment that may do everything. */
    tenant: (settings?: Parameters<typeof createTenant>[1]) => makeTenant(deps, settings),
    key: (tenantId: string, options: KeyOptions = {}) => makeKey(deps, tenantId, options),
  }
}

const NEVER_MS = 2 ** 31 - 1

/** Jobs on the hour run at the start only: a test moves the clock by days, and runs them itself. */
function leaveHoursToTests(deps: Deps): () => Promise<void> {
  const { whenLeader } = deps
  const first: Promise<void>[] = []
  deps.whenLeader = job => {
    const led = whenLeader(job)
    if (!job.isOnTheHour) return led
    const run: typeof led.run = (given, signal) => {
      const running = led.run(given, signal)
      first.push(running)
      return running
    }
    return { ...led, everyMs: NEVER_MS, run }
  }
  return async () => void (await Promise.allSettled(first))
}

/** The service and a tenant of its own. */
export async function startWithTenant(options?: Options, settings?: Parameters<typeof createTenant>[1]) {
  const app = await startApp(options)
  return { app, ...(await app.tenant(settings)) }
}

export function testClock(startsAt: number): TestClock {
  let at = startsAt
  return {
    now: () => at,
    advance(ms) {
      at += ms
    },
    set(ms) {
      at = ms
    },
  }
}

export async function call<Body>(
  url: string,
  method: string,
  path: string,
  { key, body, raw, headers = {} }: Call = {},
): Promise<Answer<Body>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
    redirect: 'manual',
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: parsed(text) as Body }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function makeTenant(deps: Deps, { name, ...settings }: Partial<Parameters<typeof createTenant>[1]> = {}) {
  const { tenant } = await createTenant(deps, { name: await freeName(deps, name), ...settings }, 'test')
  return { id: tenant.id, key: await makeKey(deps, tenant.id), liveKey: await makeKey(deps, tenant.id, { environment: 'live' }) }
}

const named = new WeakSet<Deps>()

/** Tests that share a service give their shops one name: the one that had it gets another. */
async function freeName(deps: Deps, wanted: string | undefined): Promise<string> {
  const isFirst = !named.has(deps)
  named.add(deps)
  const other = `Shop ${randomBytes(4).toString('hex')}`
  if (wanted === undefined && !isFirst) return other
  const name = wanted ?? 'Shop'
  const before = (await readTenants(deps.db)).find(each => each.name === name)
  if (!before) return name
  if (wanted === undefined) return other
  await deps.writeSettings(tx =>
    tx
      .update(tenants)
      .set({ name: `${name} ${before.id}` })
      .where(eq(tenants.id, before.id)),
  )
  return name
}

type KeyOptions = { environment?: Environment; scopes?: readonly Scope[]; expiresDays?: ExpiryDays }

async function makeKey(
  deps: Deps,
  tenantId: string,
  { environment = 'test', scopes = SCOPES, expiresDays }: KeyOptions = {},
): Promise<string> {
  const { key } = await createKey(deps, { tenantId, environment, scopes, expiresDays, actor: 'test' })
  return key
}

export type ErrorBody = { error: { code: string; message: string; reason?: { code: string; values: object } } }

/** Status and error code in one line, for tables: `404 not_found`. */
export const outcome = ({ status, body }: Answer): string =>
  [status, (body as Partial<ErrorBody> | undefined)?.error?.code].join(' ').trim()

/** A verification made through the door; the test fails if it is refused. */
export async function createVerification(app: TestApp, key: string, body: object = {}): Promise<Verification> {
  const answer = await app.call<Verification>('POST', '/v1/verifications', { key, body: { template: 'age_over_18', ...body } })
  if (answer.status !== 201) throw new Error(`not created: ${answer.status} ${answer.text}`)
  return answer.body
}

/** Polls until the condition holds, for 30 seconds at most. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  await keepingOpen(async () => {
    for (let i = 0; i < 6000; i++) {
      if (await condition()) return
      await Bun.sleep(5)
    }
    throw new Error('the condition did not hold within 30 seconds')
  })
}
