import { base62 } from '../../ids.ts'
import type { Metrics } from '../../metrics.ts'
import type { Opened, Opening } from '../opening.ts'
import { runChecks } from './checks.ts'
import { openDataDir } from './data-dir.ts'
import { databaseFile, sizeOf } from './files.ts'
import { watchPlace } from './in-place.ts'
import { shortLivedInMemory } from './short-lived.ts'
import { type Space, watchSpace } from './space.ts'
import { createStorage } from './storage.ts'

const NO_LABELS = {}
/** No other node waits for this one. */
const ONLY_LIFE = { number: 0, until: Number.POSITIVE_INFINITY }
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
      const checks = () => runChecks({ dir, masterKey: config.masterKey, role, space, now, backups: config.backups })
      const close = async () => {
        await storage.close()
        unlock()
      }
      const node = base62(random, 16)
      const livingNodes = async () => [node]
      const readiness = { isBeating: () => true, life: () => ONLY_LIFE, provenMs: () => PROVEN_MS }
      return {
        engine: { ...storage, ...readiness, node, livingNodes, checks, close },
        space,
        shortLived: shortLivedInMemory(now),
      }
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
