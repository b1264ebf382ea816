import { fstatSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { createKey, FIRST_KEY_LABEL } from '../access/keys.ts'
import { SCOPES } from '../access/scopes.ts'
import { describeFailure } from '../base/log.ts'
import { type Config, loadConfig } from '../config.ts'
import { createDeps, type Deps } from '../deps.ts'
import { realWorld } from '../ground.ts'
import { needsSetup, openSetup } from '../people/users/setup.ts'
import { startUpkeep } from '../service/periodic.ts'
import { logOpenPorts, type Service, start } from '../service/start.ts'
import { createTenant, readTenants } from '../tenants/settings.ts'
import { VARIABLES } from '../variables.ts'
import { defineCommand } from './command.ts'
import { toggle } from './flags.ts'
import { ACTOR, table } from './output.ts'

const VARIABLE_ROWS = Object.entries(VARIABLES).map(([name, variable]) => [name, variable.default, variable.meaning])

export const command = defineCommand(
  {
    summary: 'start the service (the default)',
    flags: {
      dev: toggle(
        `also make a tenant with a test key, and print the key; test sessions then read status lists
         from this machine, over http too`,
      ),
    },
    about: `Starts the service. The first start makes the data directory with database, master key, and a
signing key with its certificate. While nobody has set up the dashboard, each start prints a link
that does it, once and within the hour; on PostgreSQL only the start that makes the database does.
With --json the first line of standard output is {"listening":…,"setup_url":…}.

SIGTERM and SIGINT stop it: open requests are answered first. SIGHUP reads VIDIMUS_TLS_CERT and
VIDIMUS_TLS_KEY again, for new connections; a pair that cannot be used is refused with a line in
the log, and the old one stays.

${table(['VARIABLE', 'DEFAULT', 'MEANING'], VARIABLE_ROWS)}`,
    example: 'PORT=8080 VIDIMUS_DATA_DIR=/var/lib/vidimus vidimus serve',
  },
  async ({ dev, json }, { env, print }) => {
    const config = { ...loadConfig(env), isDev: dev }
    // First: an early signal must not interrupt the start.
    const stopped = stopSignal()
    const hangUps = hangUpSignals(config)
    const world = realWorld()
    world.stopping = abortedBy(stopped)
    const deps = await createDeps(config, json ? { ...world, prettyLog: false } : world, 'server').catch(unlessStopped)
    if (!deps) return 0
    // Warnings of the runtime, of a lost connection for example, are logged as events.
    console.warn = (...words) => deps.log.warn('runtime.warned', { detail: words.join(' ') })
    const service = await start(deps)
    try {
      const firstKey = dev ? await makeFirstKey(deps) : undefined
      // Each link voids the one before: of several processes, only the one that made the database prints one.
      const setupUrl = deps.isNew || deps.isAlone ? await openSetupIfPossible(deps) : null
      const isUnset = setupUrl === null && (await needsSetup(deps))
      if (json) print(JSON.stringify({ listening: service.url, setup_url: setupUrl, ...(firstKey && { test_key: firstKey }) }))
      else print(welcome(service.url, config, { setupUrl, isUnset, firstKey }))
      logOpenPorts(deps)
      deps.log.info('service.started', { address: service.url })
      const stopUpkeep = startUpkeep(deps)
      void service.warmUp()
      const lost = portLost(service, hangUps)
      const isStopped = await Promise.race([stopped.then(() => true), lost.then(() => false)])
      await stopUpkeep()
      return isStopped ? 0 : 1
    } finally {
      await service.stop()
    }
  },
)

const STOPPED = new Error('stopped while it waited for its database')

function abortedBy(stopped: Promise<void>): AbortSignal {
  const controller = new AbortController()
  void stopped.then(() => controller.abort(STOPPED))
  return controller.signal
}

function unlessStopped(error: unknown): undefined {
  if (error !== STOPPED) throw error
}

/** The service starts without a link on a full disk. */
const openSetupIfPossible = (deps: Deps): Promise<string | null> =>
  openSetup(deps).catch(error => {
    deps.log.warn('setup.no_link', { failure: describeFailure(error) })
    return null
  })

/** A test key on the first start, for a developer who wants to call the API at once. */
async function makeFirstKey(deps: Deps): Promise<string | undefined> {
  if ((await readTenants(deps.db)).length > 0) return undefined
  const { tenant } = await createTenant(deps, { name: 'Development' }, ACTOR)
  const wanted = { tenantId: tenant.id, environment: 'test', scopes: SCOPES, label: FIRST_KEY_LABEL, actor: ACTOR } as const
  return (await createKey(deps, wanted)).key
}

type Offer = { setupUrl: string | null; isUnset: boolean; firstKey: string | undefined }

function welcome(url: string, { publicUrl, dataDir, hasSandbox }: Config, { setupUrl, isUnset, firstKey }: Offer): string {
  const lines = [
    '',
    `  Vidimus listens on ${url}`,
    `  Dashboard      ${publicUrl}/dashboard`,
    `  Till           ${publicUrl}/till`,
    ...(hasSandbox ? [`  Sandbox wallet ${publicUrl}/sandbox`] : []),
    `  Handbook       ${publicUrl}/docs`,
    `  API reference  ${publicUrl}/docs/api`,
    `  Data           ${dataDir}`,
  ]
  if (setupUrl) lines.push('', '  Set up the dashboard (works once, within the hour):', `    ${setupUrl}`)
  if (isUnset) lines.push('', '  Set up the dashboard: "vidimus user invite --name NAME" prints a link.')
  if (firstKey) {
    lines.push(
      '',
      `  Your test key (shown once): ${firstKey}`,
      '',
      '  Ask a wallet for an age:',
      `    curl ${publicUrl}/v1/verifications -H "Authorization: Bearer ${firstKey}" \\`,
      `      -H "Content-Type: application/json" -d '{"template":"age_over_18"}'`,
    )
  }
  return [...lines, ''].join('\n')
}

/**
 * Handled from the start on: by default SIGHUP ends a process. Signals before the service listens
 * are ignored. Without certificates, a service in a terminal ends with the terminal.
 */
function hangUpSignals({ tls }: Config): { each: () => void } {
  const hangUps = { each: () => {} }
  if (tls || !isInTerminal()) process.on('SIGHUP', () => hangUps.each())
  return hangUps
}

/** The runtime's stream is asked last: it takes milliseconds to make. */
function isInTerminal(): boolean {
  try {
    const input = fstatSync(0)
    return input.isCharacterDevice() && input.rdev !== statSync(devNull).rdev && process.stdin.isTTY
  } catch {
    return process.stdin.isTTY
  }
}

/** Resolves when a reload lost the port: the service exits, and its supervisor starts it again. */
const portLost = (service: Service, hangUps: { each: () => void }) =>
  new Promise<void>(resolve => {
    hangUps.each = () => {
      if (!service.reloadTls()) resolve()
    }
  })

export const stopSignal = () =>
  new Promise<void>(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
