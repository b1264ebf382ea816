import type { Random } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Sealer } from '../seal.ts'
import type { Clock } from '../time.ts'
import type { Engine } from './engine.ts'
import type { BackupPlan } from './sqlite/backup-list.ts'
import { runChecks } from './sqlite/checks.ts'
import { openDataDir, type Role } from './sqlite/data-dir.ts'
import { databaseFile, sizeOf } from './sqlite/files.ts'
import { type Space, watchSpace } from './sqlite/space.ts'
import { createStorage } from './sqlite/storage.ts'

const NO_LABELS = {}

export type { Role, Space }

export type Opened = {
  engine: Engine
  sealer: Sealer
  /** Room on the disk of the data directory. */
  space: Space
  /** True on the first start, while the directory is empty. */
  isNew: boolean
  /** The latest time this installation is known to have shown; `now` when the clock is not behind it. */
  shownAt: number
  /** Migrations that this start applied to an older database. */
  upgraded: readonly string[]
}

type Settings = { dataDir: string; backups: BackupPlan | undefined }
type Opening = { config: Settings; now: number; random: Random; role: Role }
type Instruments = { log: Log; metrics: Metrics; now: Clock }

/** The only place that knows which database is used. */
export function openEngine({
  config,
  now: startedAt,
  random,
  role,
}: Opening): Omit<Opened, 'engine' | 'space'> & { open(instruments: Instruments): Pick<Opened, 'engine' | 'space'> } {
  const dir = config.dataDir
  const { writer, reader, sealer, unlock, isNew, shownAt, upgraded } = openDataDir({ dir, now: startedAt, random, role })
  return {
    sealer,
    isNew,
    shownAt,
    upgraded,
    open({ log, metrics, now }) {
      const space = watchSpace({ dir, random, log })
      const storage = createStorage(
        writer,
        reader,
        (size, ms) => {
          metrics.observe('vidimus_commit_group_size', NO_LABELS, size)
          metrics.observe('vidimus_commit_seconds', NO_LABELS, ms / 1000)
        },
        () => space.makeRoom(),
      )
      addGauges(metrics, databaseFile(dir), space)
      const checks = () => runChecks({ dir, role, space, now, backups: config.backups })
      const close = async () => {
        await storage.close()
        unlock()
      }
      return { engine: { ...storage, checks, close }, space }
    },
  }
}

function addGauges(metrics: Metrics, file: string, space: Space): void {
  metrics.gauge('vidimus_database_bytes', 'Size of the database file.', () => sizeOf(file))
  metrics.gauge('vidimus_wal_bytes', 'Size of the write-ahead log.', () => sizeOf(`${file}-wal`))
  metrics.gauge('vidimus_disk_free_bytes', 'Free space on the disk of the data directory.', () => space.free())
  metrics.gauge('vidimus_ballast_held', '1 while space is held back for erasing on a full disk, 0 when it was released.', () =>
    Number(space.hasBallast()),
  )
}
