// What an operator reads off /metrics beside the counters: each is looked up when the page is asked for, never in between.
import { readdirSync } from 'node:fs'
import { version } from '../../package.json' with { type: 'json' }
import { readHead } from '../audit/browse.ts'
import type { Deps } from '../deps.ts'
import { openFilesLimit } from '../doctor/open-files.ts'
import { signingState } from '../signing/certificate.ts'
import { countPending } from '../verifications/store.ts'
import { countPendingDeliveries, findOldestDue } from '../webhooks/store.ts'
import type { Listener } from './listener.ts'

export function addGauges(deps: Deps): void {
  const { metrics, db, now } = deps
  const startedAt = now()
  metrics.gauge('vidimus_build_info', 'Always 1; its labels say what runs.', () => 1, { version, bun: Bun.version })
  metrics.gauge('vidimus_verifications_pending', 'Sessions that are pending.', () => countPending(db))
  metrics.gauge('vidimus_webhooks_pending', 'Messages that are still to be delivered.', () => countPendingDeliveries(db))
  metrics.gauge('vidimus_webhook_oldest_due_seconds', 'How long the message that waits longest has been due.', async () => {
    const at = now()
    return (at - ((await findOldestDue(db, at)) ?? at)) / 1000
  })
  metrics.gauge('vidimus_signing_certificate_seconds_left', 'Until the certificate wallets see expires.', async () => {
    return Math.floor(((await signingState(deps)).notAfter - now()) / 1000)
  })
  metrics.gauge(
    'vidimus_audit_records',
    'Length of the audit chain; it never shrinks.',
    async () => (await readHead(db))?.seq ?? 0,
  )
  metrics.gauge('vidimus_write_queue', 'Writes that wait for their commit.', deps.waitingWrites)
  addProcess(deps, startedAt)
}

/** Of the port itself, where https is ours to serve. */
export function addTlsGauge({ metrics, now }: Deps, { certificateEndsAt }: Pick<Listener, 'certificateEndsAt'>): void {
  if (certificateEndsAt() === undefined) return
  metrics.gauge('vidimus_tls_certificate_seconds_left', 'Until the certificate of the port expires.', () =>
    Math.floor(((certificateEndsAt() ?? 0) - now()) / 1000),
  )
}

/** Under the names that every exporter uses. */
function addProcess({ metrics }: Deps, startedAt: number): void {
  metrics.gauge('process_start_time_seconds', 'When the service was started, since 1970.', () => startedAt / 1000)
  metrics.gauge('process_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss())
  metrics.gauge('process_cpu_seconds_total', 'Processor time of the process, user and system.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  if (process.platform !== 'linux') return
  metrics.gauge('process_open_fds', 'Files and connections that are open.', () => readdirSync('/proc/self/fd').length)
  const limit = openFilesLimit()
  if (limit !== undefined) metrics.gauge('process_max_fds', 'How many may be.', () => limit)
}
