import { copyFileSync, existsSync, linkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startThread } from '../base/threads.ts'
import { forgetFailure, goodBackups, keepFailure, listBackups } from '../db/backup-list.ts'
import { databaseFile, sizeOf } from '../db/database-file.ts'
import { backupsFolder, makeBackupsFolder } from '../db/files.ts'
import { PART_NAME_BYTES, removeAllParts } from '../db/part-file.ts'
import { dailyName, hourlyName, isDue, surplusBackups } from './backup-files.ts'
import type { Order, Outcome } from './backup-worker.ts'
import type { Deps } from './deps.ts'

/** A backup that failed is not repeated at once: it is heavy work. */
const AFTER_FAILURE_MS = 600_000
/** The name of a backup has the start of its copy, and no copy takes a day. */
const MARGIN_MS = 86_400_000
/** Room on the disk that a backup leaves free. */
const ROOM_LEFT_BYTES = 256 * 1024 * 1024
const NO_ROOM: Outcome = { ok: false, failure: 'too little room on the disk' }

type Backups = {
  /** Makes a backup when one is due, and deletes surplus ones. */
  runWhenDue(): Promise<void>
  stop(): Promise<void>
}

export function createBackups(deps: Deps, hire: () => Worker = startWorker): Backups {
  const { config, now, random, log, metrics } = deps
  const plan = config.backups
  const { dataDir, keyDir, masterKey } = config
  const places = { dataDir, keyDir, masterKey }
  const folder = backupsFolder(dataDir)
  let notBefore = 0
  let isStopped = false
  let working: { worker: Worker; give: (outcome: Outcome) => void } | undefined

  if (plan) {
    metrics.gauge('vidimus_backup_age_seconds', 'Age of the newest good backup; +Inf without any.', async () => {
      const newest = goodBackups(listBackups(folder), now()).at(-1)
      return newest ? Math.floor((now() - newest.at) / 1000) : Number.POSITIVE_INFINITY
    })
  }

  async function run(order: Order): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const worker = hire()
    working = { worker, give: resolve }
    worker.addEventListener('message', ({ data }: MessageEvent<Outcome>) => resolve(data))
    worker.addEventListener('error', event => {
      // Otherwise the runtime would end this process too.
      event.preventDefault()
      resolve({ ok: false, failure: 'the thread failed' })
    })
    worker.addEventListener('close', () => resolve({ ok: false, failure: 'the thread was lost' }))
    worker.postMessage(order)
    const outcome = await promise
    working = undefined
    worker.terminate()
    return outcome
  }

  async function makeOne(hourly: boolean, at: number): Promise<void> {
    makeBackupsFolder(config.dataDir)
    removeAllParts(folder, /^(hourly|daily|before)-/)
    await deps.erasures.ensure()
    if (isStopped) return
    const startedAt = performance.now()
    const target = join(folder, hourly ? hourlyName(at) : dailyName(at))
    const outcome = hasRoom() ? await run({ places, target, takenAt: at, nonce: random(PART_NAME_BYTES) }) : NO_ROOM
    if (isStopped) return
    metrics.count('vidimus_backups_total', { outcome: outcome.ok ? 'good' : 'failed' })
    if (!outcome.ok) {
      notBefore = at + AFTER_FAILURE_MS
      log.error('backup.failed', { failure: outcome.failure })
      return keepFailure(folder, at, outcome.failure)
    }
    forgetFailure(folder)
    if (hourly && plan && plan.daily > 0) keepAs(target, join(folder, dailyName(at)))
    log.info('backup.made', { count: outcome.report.verifications, ms: Math.round(performance.now() - startedAt) })
    await deleteSurplus()
  }

  /** True when a backup would not fill the disk. */
  function hasRoom(): boolean {
    const file = databaseFile(config.dataDir)
    return deps.space.free() - sizeOf(file) - sizeOf(`${file}-wal`) > ROOM_LEFT_BYTES
  }

  async function deleteSurplus(): Promise<void> {
    for (const { name } of surplusBackups(listBackups(folder), plan, now())) {
      for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `${name}${suffix}`), { force: true })
    }
    const [oldest] = listBackups(folder)
    if (plan && oldest) await deps.erasures.prune(oldest.at - MARGIN_MS)
  }

  return {
    async runWhenDue() {
      const at = now()
      // There are still copies made before upgrades, and replaced databases.
      if (!plan) return await deleteSurplus()
      if (at < notBefore || !isDue(listBackups(folder), plan, at)) return
      try {
        await makeOne(plan.hourly > 0, at)
      } catch (error) {
        // A backup cut off by a stop has not failed.
        if (!isStopped) throw error
      }
    },
    async stop() {
      isStopped = true
      working?.give({ ok: false, failure: 'the service stopped' })
      working?.worker.terminate()
    },
  }
}

/** A hard link where the file system supports it. */
function keepAs(file: string, name: string): void {
  if (existsSync(name)) return
  try {
    linkSync(file, name)
  } catch {
    copyFileSync(file, name)
  }
}

const startWorker = (): Worker => startThread('upkeep/backup-worker')
