import type { Random } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Sealer } from '../seal.ts'
import type { Engine } from './engine.ts'
import { openDataDir, type Role } from './sqlite/data-dir.ts'
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

type Opening = { dataDir: string; now: number; random: Random; role: Role }

/** The only place that knows which database is used. */
export function openEngine({
  dataDir,
  now,
  random,
  role,
}: Opening): Omit<Opened, 'engine' | 'space'> & { open(log: Log, metrics: Metrics): Pick<Opened, 'engine' | 'space'> } {
  const { writer, reader, sealer, unlock, isNew, shownAt, upgraded } = openDataDir({ dir: dataDir, now, random, role })
  return {
    sealer,
    isNew,
    shownAt,
    upgraded,
    open(log, metrics) {
      const space = watchSpace({ dir: dataDir, random, log })
      const storage = createStorage(
        writer,
        reader,
        (size, ms) => {
          metrics.observe('vidimus_commit_group_size', NO_LABELS, size)
          metrics.observe('vidimus_commit_seconds', NO_LABELS, ms / 1000)
        },
        () => space.makeRoom(),
      )
      const close = async () => {
        await storage.close()
        unlock()
      }
      return { engine: { ...storage, close }, space }
    },
  }
}
