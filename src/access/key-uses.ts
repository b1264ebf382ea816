// When keys were last used, to the hour: at most one write an hour for each key, all that wait in
// one, and no request waits for it.

import { describeFailure } from '../base/log.ts'
import type { Reporting, Writing } from '../ground.ts'
import { markKeyUsed } from './store.ts'

const HOUR_MS = 3_600_000
const REMEMBERED_MAX = 10_000

export type KeyUses = {
  /** Records a request that the key was good for. */
  note(keyId: string): void
}

export function createKeyUses({ write, now, log }: Writing & Reporting): KeyUses {
  const hours = new Map<string, number>()
  let waiting = new Map<string, number>()
  let isWriting = false

  async function writeWaiting(): Promise<void> {
    isWriting = true
    while (waiting.size > 0) {
      // Sorted, so that two processes do not wait for each other.
      const uses = [...waiting].sort(([a], [b]) => (a < b ? -1 : 1))
      waiting = new Map()
      await write(async tx => {
        for (const [keyId, hour] of uses) await markKeyUsed(tx, keyId, hour)
      }).catch(error => {
        for (const [keyId] of uses) hours.delete(keyId)
        log.warn('key.use_not_recorded', { failure: describeFailure(error) })
      })
    }
    isWriting = false
  }

  return {
    note(keyId) {
      const at = now()
      const hour = at - (at % HOUR_MS)
      if (hours.get(keyId) === hour) return
      if (hours.size >= REMEMBERED_MAX) hours.clear()
      hours.set(keyId, hour)
      waiting.set(keyId, hour)
      if (!isWriting) void writeWaiting()
    },
  }
}
