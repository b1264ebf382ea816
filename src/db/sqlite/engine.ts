import { base62 } from '../../base/ids.ts'
import type { Metrics } from '../../base/metrics.ts'
import { databaseFile, sizeOf } from '../database-file.ts'
import type { Leases, Space } from '../engine.ts'
import type { Opened, Opening } from '../opening.ts'
import { createReadiness } from '../readiness.ts'
import { runChecks } from './checks.ts'
import { openDataDir } from './data-dir.ts'
import { watchPlace } from './in-place.ts'
import { shortLivedInMemory } from './short-lived.ts'
import { watchSpace } from './space.ts'
import { createStorage } from './storage.ts'

const NO_LABELS = {}
/** A disk may be full the next second. */
const PROVEN_MS = 1000

export async function openSqlite({ config, now: startedAt, random, role }: Opening): Promise<Opened> {
  const dir = config.dataDir
  const { writer, reader, sealer, unlock, isNew, shownAt, upgraded } = openDataDir({
    dir,
    masterKey: config.masterKey,
    now: startedAt,
    random,
    role,
  })
  return {
    sealer,
    isNew,
    isAlone: true,
    wall: undefined,
    shownAt,
    upgraded,
    async open({ log, metrics, now }) {
      const space = watchSpace({ dir, random, log })
      const storage = createStorage(writer, reader, {
        onGroup(size, ms) {
          metrics.observe('vidimus_commit_group_size', NO_LABELS, size)
          metrics.observe('vidimus_commit_seconds', NO_LABELS, ms / 1000)
        },
        makeRoom: () => space.makeRoom(),
        assertInPlace: watchPlace(databaseFile(dir), log),
      })
      addGauges(metrics, databaseFile(dir), space)
      const checks = (names: readonly string[]) =>
        runChecks({ dir, masterKey: config.masterKey, role, space, now, backups: config.backups }, names)
      const close = async () => {
        await storage.close()
        unlock()
      }
      const leases = leasesOfOne(base62(random, 16))
      const isReady = createReadiness({ write: storage.write, leases, space, now, provenMs: () => PROVEN_MS })
      return {
        engine: { ...storage, leases, isReady, checks, close },
        space,
        shortLived: shortLivedInMemory(now),
      }
    },
  }
}

/** No other process waits for this one. */
const leasesOfOne = (holder: string): Leases => ({
  holder,
  holders: async () => [holder],
  begin: () => () => Number.POSITIVE_INFINITY,
  isHeld: () => true,
})

function addGauges(metrics: Metrics, file: string, space: Space): void {
  metrics.gauge('vidimus_database_bytes', 'Size of the database file.', () => sizeOf(file))
  metrics.gauge('vidimus_wal_bytes', 'Size of the write-ahead log.', () => sizeOf(`${file}-wal`))
  metrics.gauge('vidimus_disk_free_bytes', 'Free space on the disk of the data directory.', () => space.free())
  metrics.gauge('vidimus_ballast_held', '1 while space is held back for erasing on a full disk, 0 when it was released.', () =>
    Number(space.hasBallast()),
  )
}
