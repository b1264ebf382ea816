// Gauges of /metrics. Each is read only when the page is requested.
import { readdirSync } from 'node:fs'
import { version } from '../../package.json' with { type: 'json' }
import { countRaised } from '../alerts/look.ts'
import { readHead } from '../audit/browse.ts'
import { readUnlinked } from '../audit/link.ts'
import type { Deps } from '../deps.ts'
import { openFilesLimit } from '../doctor/open-files.ts'
import { currentOf } from '../session-keys/keys.ts'
import { signingStates } from '../signing/certificate.ts'
import { countFailing, countTrusted, leastMsLeft, oldestLookMs } from '../trust/figures.ts'
import { readProgress } from '../upkeep/seal-again.ts'
import { countPending } from '../verifications/store.ts'
import { countPending as countPendingDeliveries, overdueMs } from '../webhooks/browse.ts'
import type { Listener } from './listener.ts'

export function addGauges(deps: Deps): void {
  const { metrics, db, now } = deps
  const startedAt = now()
  metrics.gauge('vidimus_build_info', 'Always 1; the labels name the version.', () => 1, { version, bun: Bun.version })
  metrics.gauge('vidimus_verifications_pending', 'Pending sessions.', () => countPending(db))
  metrics.gauge('vidimus_webhooks_pending', 'Webhooks still to be delivered.', () => countPendingDeliveries(deps))
  metrics.gauge(
    'vidimus_webhook_oldest_due_seconds',
    'Time since the oldest undelivered webhook was due.',
    async () => (await overdueMs(deps)) / 1000,
  )
  metrics.gauge(
    'vidimus_signing_certificate_seconds_left',
    'Time until the first certificate that wallets see expires.',
    async () => Math.floor((Math.min(...(await signingStates(deps)).map(({ notAfter }) => notAfter)) - now()) / 1000),
  )
  metrics.gauge(
    'vidimus_audit_records',
    'Length of the audit chain; it never shrinks.',
    async () => (await readHead(db))?.seq ?? 0,
  )
  metrics.gauge('vidimus_alerts_raised', 'Alerts that hold now.', () => countRaised(deps))
  if (deps.looseEntries) addUnlinked(deps)
  metrics.gauge('vidimus_write_queue', 'Writes waiting for their commit.', deps.waitingWrites)
  metrics.gauge(
    'vidimus_wrapping_key_age_seconds',
    'Age of the key that new verifications depend on; +Inf without any.',
    async () => {
      const activeAt = currentOf(await deps.sessionKeys.look(db))?.activeAt
      return activeAt ? Math.floor((now() - activeAt) / 1000) : Number.POSITIVE_INFINITY
    },
  )
  metrics.gauge('vidimus_verifications_to_seal_again', 'Verifications not yet sealed under the newest keys.', async () => {
    const progress = await readProgress(deps)
    return progress ? Math.max(1, progress.total - progress.count) : 0
  })
  addTrust(deps)
  addProcess(deps, startedAt)
}

/** Lists of live sessions: those of test sessions stop no customer. */
function addTrust(deps: Deps): void {
  const { metrics } = deps
  metrics.gauge('vidimus_trust_anchors', 'Issuer certificates that live sessions trust.', () => countTrusted(deps))
  metrics.gauge('vidimus_trust_lists_failing', 'Live trust lists whose last update failed.', () => countFailing(deps))
  metrics.gauge(
    'vidimus_trust_list_seconds_left',
    'Time until the first live trust list ends; +Inf without any.',
    async () => (await leastMsLeft(deps)) / 1000,
  )
  metrics.gauge(
    'vidimus_trust_list_age_seconds',
    'Time since the oldest look at a live trust list that succeeded.',
    async () => (await oldestLookMs(deps)) / 1000,
  )
  metrics.gauge(
    'vidimus_status_list_age_seconds',
    'Age of the oldest list of revoked documents that was used in the last hour.',
    () => Math.floor(deps.status.oldestMs() / 1000),
  )
}

/** Only where records are linked to the chain after their commit. */
function addUnlinked({ metrics, db, now }: Deps): void {
  metrics.gauge(
    'vidimus_audit_unlinked',
    'Audit records that wait for their place on the chain.',
    async () => (await readUnlinked(db)).count,
  )
  metrics.gauge('vidimus_audit_unlinked_oldest_seconds', 'Time since the oldest of them was made.', async () => {
    const { oldestAt } = await readUnlinked(db)
    return oldestAt === null ? 0 : (now() - oldestAt) / 1000
  })
}

/** Only where this service serves https itself. */
export function addTlsGauge({ metrics, now }: Deps, { certificateEndsAt }: Listener): void {
  if (certificateEndsAt() === undefined) return
  metrics.gauge('vidimus_tls_certificate_seconds_left', 'Time until the certificate of the https port expires.', () =>
    Math.floor(((certificateEndsAt() ?? 0) - now()) / 1000),
  )
}

/** Standard names of Prometheus exporters. */
function addProcess({ metrics }: Deps, startedAt: number): void {
  metrics.gauge('process_start_time_seconds', 'Start time of the service, in seconds since 1970.', () => startedAt / 1000)
  metrics.gauge('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss())
  metrics.gauge('process_cpu_seconds_total', 'Processor time of the process, user and system.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  if (process.platform !== 'linux') return
  metrics.gauge('process_open_fds', 'Open files and connections.', () => readdirSync('/proc/self/fd').length)
  const limit = openFilesLimit()
  if (limit !== undefined) metrics.gauge('process_max_fds', 'Limit of open files and connections.', () => limit)
}
