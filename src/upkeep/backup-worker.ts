// Makes a backup in a thread: copying and checking reads every page, and the service must not wait for that.

import { describeFailure } from '../base/log.ts'
import { StartRefusal } from '../db/refusal.ts'
import { type BackupReport, makeBackup, type Places } from './backup.ts'

declare const self: Worker

export type Order = { places: Places; target: string; takenAt: number; nonce: Uint8Array }
export type Outcome = { ok: true; report: BackupReport } | { ok: false; failure: string }

self.onmessage = async ({ data: { places, target, takenAt, nonce } }: MessageEvent<Order>) => {
  self.postMessage(await attempt(() => makeBackup(places, target, { takenAt, random: () => nonce, mayReplace: true })))
}

async function attempt(make: () => Promise<BackupReport>): Promise<Outcome> {
  try {
    return { ok: true, report: await make() }
  } catch (error) {
    // The cause says what is wrong with the copy. Neither message quotes data.
    const found = error instanceof StartRefusal && error.cause instanceof Error ? ` (${error.cause.message})` : ''
    return { ok: false, failure: `${describeFailure(error)}${found}` }
  }
}
