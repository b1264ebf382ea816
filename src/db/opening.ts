// Arguments and result of opening a database, on either engine.
import type { Random } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Sealer } from '../base/seal.ts'
import type { Clock } from '../base/time.ts'
import type { BackupPlan } from './backup-list.ts'
import type { DatabaseSettings } from './database-url.ts'
import type { Engine, Space } from './engine.ts'
import type { MasterKey } from './root-key.ts'
import type { ShortLived } from './short-lived.ts'
import type { Role } from './sqlite/data-dir.ts'

export type { Role, Space }

export type Opened = {
  sealer: Sealer
  /** True on the first start, while the database is empty. */
  isNew: boolean
  /** True where no other process may serve this database. */
  isAlone: boolean
  /** The time of the database, where it is another machine's; undefined when this machine's counts, or time is injected. */
  wall: Clock | undefined
  /** The latest time this installation is known to have shown; `now` when the clock is not behind it. */
  shownAt: number
  /** Migrations that this start applied to an older database. */
  upgraded: readonly string[]
  open(instruments: Instruments): Promise<{ engine: Engine; space: Space; shortLived: ShortLived }>
}

type Instruments = { log: Log; metrics: Metrics; now: Clock }

export type Opening = {
  config: {
    dataDir: string
    masterKey: MasterKey
    backups: BackupPlan | undefined
    database: DatabaseSettings | undefined
  }
  now: number
  /** The machine's clock; undefined when time is injected. */
  wall: Clock | undefined
  random: Random
  role: Role
  /** A service may wait a minute for the database of another machine; commands do not. */
  onWait?: OnWait
  /** Ends that wait, with its reason as the error. Nothing after the wait is interrupted. */
  stopping?: AbortSignal
}

/** Called once, when the database at this address does not answer at once. */
export type OnWait = (address: string, why: string) => void
