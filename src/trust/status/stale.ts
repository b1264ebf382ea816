import { isoUtc } from '../../base/time.ts'
import type { Reading, Reporting } from '../../ground.ts'
import { asOf, type ListBytes } from '../../openid4vp/trust/list-cache.ts'

const EVERY_MS = 3_600_000

/** Logs once an hour and host that a list is used of which no newer one can be fetched. */
export function createStaleLog({ log, now }: Reporting & Pick<Reading, 'now'>): (list: ListBytes) => void {
  const logged = new Map<string, number>()
  return list => {
    const { host } = new URL(list.uri)
    const at = now()
    if (at - (logged.get(host) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return
    // Only the hosts of the last hour count.
    for (const [each, last] of logged) if (at - last >= EVERY_MS) logged.delete(each)
    logged.set(host, at)
    log.warn('status.stale_used', { address: host, detail: `the list is as of ${isoUtc(asOf(list))}` })
  }
}
