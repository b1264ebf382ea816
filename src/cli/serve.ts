import http from 'node:http'
import { createKey } from '../access/keys.ts'
import { SCOPES } from '../access/scopes.ts'
import { createApp } from '../app.ts'
import { signHead, signHeadWhenDue } from '../audit/sign-head.ts'
import { type Config, loadConfig, VARIABLES } from '../config.ts'
import { openSetup } from '../dashboard/setup.ts'
import { recordHeartbeat } from '../db/heartbeat.ts'
import type { Demo } from '../demo/furnish.ts'
import { createDeps, type Deps, realWorld } from '../deps.ts'
import { warnOfFewFiles } from '../doctor/open-files.ts'
import { describeFailure } from '../log.ts'
import { startPeriodic, startUpkeep } from '../periodic.ts'
import { createTenant } from '../tenants/settings.ts'
import { listTenants } from '../tenants/store.ts'
import { ensureTestSecrets } from '../tenants/webhook-secret.ts'
import { within } from '../time.ts'
import { announce } from '../verifications/announce.ts'
import { ensureSigningKey } from '../wallet/keys.ts'
import { warnOfExpiry } from '../wallet/signing.ts'
import { type Dispatch, type Sending, startDispatch } from '../webhooks/dispatch.ts'
import { addGauges, addTlsGauge } from './gauges.ts'
import { listen } from './listener.ts'
import { ACTOR, parseCall, print, table, UsageError } from './output.ts'
import { readTlsPair, warnOfExpiredPair } from './tls-pair.ts'
import { reloadTls } from './tls-reload.ts'

const DRAIN_MS = 10_000
/** Above what clients send: the runtime's own refusal of large headers (431) has no envelope. */
const HEADER_BYTES_MAX = 16 * 1024

const HELP = `usage: vidimus serve [--dev] [--json]

Starts the service. The first start makes the data directory with database, master key, and a signing key with its certificate. With --dev it also
makes a tenant with a test key, and prints the key; test sessions then read status lists from this machine, over http too. While nobody has set up
the dashboard, each start prints a link that does it, once and within the hour. With --json the first line of standard output is
{"listening":…,"setup_url":…}.

SIGTERM and SIGINT stop it: what is under way is answered first. SIGHUP reads VIDIMUS_TLS_CERT and VIDIMUS_TLS_KEY again, for new connections; a
pair that cannot be used is refused with a line in the log, and the old one stays.

${table(
  ['VARIABLE', 'DEFAULT', 'MEANING'],
  Object.entries(VARIABLES).map(([name, variable]) => [name, variable.default, variable.meaning]),
)}

example: PORT=8080 VIDIMUS_DATA_DIR=/var/lib/vidimus vidimus serve`

export async function runServe(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { dev: { type: 'boolean' } })
  if (values.help) return print(HELP)
  if (words.length) throw new UsageError(`serve takes no "${words[0]}"`)
  const config = { ...loadConfig(process.env), isDev: values.dev === true }
  // Before anything is open: a signal that comes early must not cut a start in half.
  const stopped = stopSignal()
  const hangUps = hangUpSignals(config)
  const world = realWorld()
  const deps = createDeps(config, values.json ? { ...world, prettyLog: false } : world, 'server')
  const service = await start(deps)
  try {
    const firstKey = values.dev ? await makeFirstKey(deps) : undefined
    const setupUrl = await openSetupIfPossible(deps)
    if (values.json)
      print(JSON.stringify({ listening: service.url, setup_url: setupUrl, ...(firstKey && { test_key: firstKey }) }))
    else print(welcome(service.url, config, setupUrl, firstKey))
    tellOfOpenings(deps)
    deps.log.info('service.started', { address: service.url })
    const stopUpkeep = startUpkeep(deps)
    const lost = portLost(service, hangUps)
    const isStopped = await Promise.race([stopped.then(() => true), lost.then(() => false)])
    await stopUpkeep()
    return isStopped ? 0 : 1
  } finally {
    await service.stop()
  }
}

/** On a full disk there is no link, and everything else: whoever makes room finds a service that runs. */
const openSetupIfPossible = (deps: Deps): Promise<string | null> =>
  openSetup(deps).catch(error => {
    deps.log.warn('setup.no_link', { failure: describeFailure(error) })
    return null
  })

export type Service = {
  url: string
  /** Reads VIDIMUS_TLS_CERT and VIDIMUS_TLS_KEY again; false when nobody listens any more. */
  reloadTls: () => boolean
  stop: () => Promise<void>
}

/** Listens, and starts what the service does by itself. */
export async function start(deps: Deps, { demo, sending }: { demo?: Demo; sending?: Sending } = {}): Promise<Service> {
  const { config } = deps
  ;(http as { maxHeaderSize: number }).maxHeaderSize = HEADER_BYTES_MAX
  addGauges(deps)
  warnOfFewFiles(deps)
  await ensureSigningKey(deps)
  await ensureTestSecrets(deps)
  const pair = config.tls && readTlsPair(config.tls)
  if (pair) warnOfExpiredPair(pair, deps.now(), deps.log)
  const listener = listen(createApp(deps, demo), config, pair)
  addTlsGauge(deps, listener)
  const url = `${pair ? 'https' : 'http'}://${shownHost(config.host)}:${listener.port}`
  deps.egress.listener.port = listener.port
  config.publicUrl ||= url.replace('127.0.0.1', 'localhost')
  // Whoever waits for the first answer does not wait for the rest of the start.
  await new Promise<void>(resolve => setImmediate(resolve))
  const dispatch = await startSending(deps, sending).catch(async error => {
    // A process that listens and does only half of its work would be taken for a good one.
    deps.changes.close()
    await within(DRAIN_MS, listener.stop(), () => {})
    await deps.close()
    throw error
  })
  await signHeadWhenDue(deps).catch(error => warnUnsigned(deps, error))
  const stopPeriodic = startPeriodic(deps)
  return {
    url,
    reloadTls: () => reloadTls(deps, listener),
    async stop() {
      stopPeriodic()
      // They would stay open for as long as their sessions last.
      deps.changes.close()
      // New connections are refused at once; what is under way gets its answer, within reason.
      await within(DRAIN_MS, listener.stop(), () => {})
      await dispatch.stop()
      await signHead(deps).catch(error => warnUnsigned(deps, error))
      // The next start goes on from here; without it from the last record.
      await recordHeartbeat(deps, deps.now()).catch(error =>
        deps.log.warn('heartbeat.not_recorded', { failure: describeFailure(error) }),
      )
      await deps.close()
    },
  }
}

async function startSending(deps: Deps, sending: Sending | undefined): Promise<Dispatch> {
  await warnOfExpiry(deps)
  const dispatch = await startDispatch(deps, delivery => announce(deps, delivery), sending)
  // At once: what is owed or erased before that would be told to nobody.
  deps.outbox.attach(dispatch)
  return dispatch
}

const warnUnsigned = ({ log }: Deps, error: unknown): void => log.warn('audit.not_signed', { failure: describeFailure(error) })

const shownHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** So that a developer can call the API a second after the first start. */
async function makeFirstKey(deps: Deps): Promise<string | undefined> {
  if ((await listTenants(deps.db)).length > 0) return undefined
  const { tenant } = await createTenant(deps, { name: 'Development' }, ACTOR)
  const { key } = await createKey(deps, {
    tenantId: tenant.id,
    environment: 'test',
    scopes: SCOPES,
    label: 'first test key',
    actor: ACTOR,
  })
  return key
}

function welcome(url: string, { publicUrl, dataDir }: Config, setupUrl: string | null, firstKey: string | undefined): string {
  const lines = [
    '',
    `  Vidimus listens on ${url}`,
    `  Dashboard      ${publicUrl}/dashboard`,
    `  API reference  ${publicUrl}/docs`,
    `  Data           ${dataDir}`,
  ]
  if (setupUrl) lines.push('', '  Set up the dashboard (works once, within the hour):', `    ${setupUrl}`)
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

/** In the log, which is there with --json, too: what this installation lets in or out more than another. */
function tellOfOpenings({ config: { host, tls, egressAllow }, log }: Pick<Deps, 'config' | 'log'>): void {
  if (!tls && host !== '127.0.0.1' && host !== 'localhost' && host !== '::1') {
    const detail = 'plain http; put a TLS proxy in front, or set VIDIMUS_TLS_CERT and VIDIMUS_TLS_KEY'
    log.warn('service.plain_http', { address: host, detail })
  }
  if (egressAllow.length > 0) {
    const list = egressAllow.map(({ address, prefix, port }) => `${address}/${prefix}:${port}`).join(', ')
    log.info('webhooks.private_destinations', {
      count: egressAllow.length,
      detail: `VIDIMUS_EGRESS_ALLOW lets them reach ${list}`,
    })
  }
}

/**
 * From the very start on: by default this signal ends a process. What comes before there is anything to reload has nothing to say. A service
 * without certificates in somebody's terminal ends with the terminal, as it should.
 */
function hangUpSignals({ tls }: Config): { each: () => void } {
  const hangUps = { each: () => {} }
  if (tls || !process.stdin.isTTY) process.on('SIGHUP', () => hangUps.each())
  return hangUps
}

/** Once a reload could not have the port back: whoever supervises the service starts it again. */
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
