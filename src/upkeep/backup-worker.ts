// The thread that makes a backup: copying and checking a database takes every page of it, and the service must not wait for that.
import { StartRefusal } from '../db/refusal.ts'
import { describeFailure } from '../log.ts'
import { type BackupReport, makeBackup } from './backup.ts'

declare const self: Worker

export type Order = { dir: string; target: string; takenAt: number }
export type Outcome = { ok: true; report: BackupReport } | { ok: false; failure: string }

self.onmessage = async ({ data: { dir, target, takenAt } }: MessageEvent<Order>) => {
  self.postMessage(await attempt(() => makeBackup(dir, target, takenAt)))
}

async function attempt(make: () => Promise<BackupReport>): Promise<Outcome> {
  try {
    return { ok: true, report: await make() }
  } catch (error) {
    // What was found in the copy says more than that it was refused; neither quotes anything of it.
    const found = error instanceof StartRefusal && error.cause instanceof Error ? ` (${error.cause.message})` : ''
    return { ok: false, failure: `${describeFailure(error)}${found}` }
  }
}
