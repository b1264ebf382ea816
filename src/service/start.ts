import { createApp } from '../app.ts'
import { startLinking } from '../audit/link.ts'
import { signHead, signHeadWhenDue } from '../audit/sign-head.ts'
import { describeFailure } from '../base/log.ts'
import { compileHotCode } from '../base/threads.ts'
import { within } from '../base/time.ts'
import { recordShownAt } from '../db/shown-at.ts'
import type { Demo } from '../demo/furnish.ts'
import type { Deps } from '../deps.ts'
import { warnOfFewFiles } from '../doctor/open-files.ts'
import type { Configured, Reporting } from '../ground.ts'
import { readTlsPair, warnOfDates } from '../http/tls-pair.ts'
import { ensureWrappingKey } from '../session-keys/ensure.ts'
import { warnOfExpiry } from '../signing/certificate.ts'
import { ensureSigningKey } from '../signing/keys.ts'
import { announce } from '../verifications/end/announce.ts'
import { shred } from '../verifications/erasure/erase.ts'
import { startWorker, type WebhookWorker, type WorkerOptions } from '../webhooks/delivery/worker.ts'
import { addGauges, addTlsGauge } from './gauges.ts'
import { listen, shownHost } from './listener.ts'
import { startPeriodic } from './periodic.ts'
import { reloadTls } from './tls-reload.ts'
import { warmUp } from './warm-up.ts'

const DRAIN_MS = 10_000

export type Service = {
  url: string
  /** Reads VIDIMUS_TLS_CERT and VIDIMUS_TLS_KEY again; false when the port was lost. */
  reloadTls: () => boolean
  /** Loads what the first customer needs. */
  warmUp: () => Promise<void>
  stop: () => Promise<void>
}

type Options = { demo?: Demo; sending?: WorkerOptions }

/**
 * Listens, then starts webhooks and periodic jobs. A start that fails closes the database, whose
 * timer would keep the process from exiting.
 */
export async function start(deps: Deps, options: Options = {}): Promise<Service> {
  try {
    return await startService(deps, options)
  } catch (error) {
    await deps.close()
    throw error
  }
}

async function startService(deps: Deps, { demo, sending }: Options): Promise<Service> {
  const { config } = deps
  addGauges(deps)
  warnOfFewFiles(deps)
  await ensureWrappingKey(deps)
  await ensureSigningKey(deps)
  // A process that was killed before it could empty the log has left erased text in it.
  await shred(deps)
  const pair = config.tls && readTlsPair(config.tls)
  if (pair) warnOfDates(pair, deps.now(), deps.log)
  const app = createApp(deps, demo)
  const listener = listen(app, config, pair)
  addTlsGauge(deps, listener)
  const url = `${pair ? 'https' : 'http'}://${shownHost(config.host)}:${listener.port}`
  deps.egress.listener.port = listener.port
  config.publicUrl ||= url.replace('127.0.0.1', 'localhost')
  await turn()
  const worker = await startSending(deps, sending).catch(async error => {
    // A process that listens but sends nothing would look healthy.
    deps.changes.close()
    await within(DRAIN_MS, listener.stop(), () => {})
    throw error
  })
  await turn()
  await signHeadWhenDue(deps).catch(error => warnUnsigned(deps, error))
  await turn()
  const stopPeriodic = startPeriodic(deps)
  const stopLinking = startLinking(deps)
  compileHotCode()
  let isStopped = false
  return {
    url,
    reloadTls: () => reloadTls(deps, listener),
    warmUp: () => warmUp(deps, app.routes, () => isStopped),
    async stop() {
      isStopped = true
      const jobsEnded = stopPeriodic()
      // Event streams would stay open as long as their sessions.
      deps.changes.close()
      // New connections are refused at once; requests under way have DRAIN_MS to finish.
      await within(DRAIN_MS, listener.stop(), () => {})
      await worker.stop()
      await stopLinking()
      await jobsEnded
      await signHead(deps).catch(error => warnUnsigned(deps, error))
      // The next start continues from this time; without it, from the last record.
      await recordShownAt(deps, deps.now()).catch(error =>
        deps.log.warn('heartbeat.not_recorded', { failure: describeFailure(error) }),
      )
      await deps.close()
    },
  }
}

async function startSending(deps: Deps, sending: WorkerOptions | undefined): Promise<WebhookWorker> {
  await warnOfExpiry(deps)
  await turn()
  return await startWorker(deps, delivery => announce(deps, delivery), sending)
}

/** A turn of the event loop between the parts of the start: a first request waits for one part at most. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

const warnUnsigned = ({ log }: Deps, error: unknown): void => log.warn('audit.not_signed', { failure: describeFailure(error) })

/** Warns of plain http beyond this machine, and logs the private addresses that webhooks may call. */
export function logOpenPorts({ config: { host, tls, egressAllow }, log }: Reporting & Configured): void {
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
