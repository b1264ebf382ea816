// The part of doctor that only PostgreSQL can be asked. Views of the server show less to a user without pg_monitor:
// what is not seen is called so, and is no problem.
import { existsSync, statfsSync } from 'node:fs'
import { type EngineCheck, type EngineFinding, ok, problem, runCheck, type Standbys, secondOf, warning } from '../check.ts'
import type { MasterKey } from '../root-key.ts'
import { checkMasterKey } from '../root-key.ts'
import type { Connect } from './connect.ts'
import { listPending } from './migrate.ts'
import type { Node } from './nodes.ts'
import { inTransaction } from './open.ts'
import { listLacking } from './roles.ts'
import { createSession, type Session, sqlStateOf } from './session.ts'

/** The tables whose rows change most. */
const WATCHED_TABLES = ['verification_sessions', 'webhook_deliveries', 'idempotency_keys']
const MIB = 1024 * 1024
const DISK_FULL = '53100'
const DEAD_ROWS_MIN = 100_000
const ARCHIVE_AGE_MAX_MS = 3_600_000
/** About 280 KiB in a file, which fit into no memory of a statement. */
const ROWS_OF_TRIAL = 20_000
/** Magic numbers of statfs(2): a container's own layer, and memory. */
const PASSING_FILE_SYSTEMS = [0x794c7630, 0x01021994]

type Checked = {
  connect: Connect
  listNodes(): Promise<Node[]>
  /** This process among the nodes. */
  node: string
  isServer: boolean
  /** False behind a pooler. */
  setsLimits: boolean
  dir: string
  masterKey: MasterKey
}

const CHECKS: [EngineCheck['name'], (checked: Checked, session: Session) => EngineFinding | Promise<EngineFinding>][] = [
  ['server', checkNodes],
  ['database', checkServer],
  ['master_key', checkMasterKey],
  ['backups', checkArchive],
]

export async function runChecks(checked: Checked, names: readonly string[]): Promise<EngineCheck[]> {
  const session = createSession(onClose => checked.connect.open('read', onClose))
  const found: EngineCheck[] = []
  try {
    for (const [name, find] of CHECKS)
      if (names.includes(name)) found.push({ name, ...(await runCheck(() => find(checked, session))) })
    return found
  } finally {
    await session.close()
  }
}

async function checkNodes({ listNodes, node, isServer }: Checked): Promise<EngineFinding> {
  const living = (await listNodes()).filter(({ id }) => isServer || id !== node)
  if (living.length === 0) return warning('no_node')
  const nodes = living.map(({ id, version }) => `${id} (${version})`)
  const isOneVersion = new Set(living.map(({ version }) => version)).size === 1
  return isOneVersion ? ok('nodes_running', { nodes }) : warning('nodes_differ', { nodes })
}

type ServerFacts = { version: string; commit: string; checksums: string; timeout: string }

async function checkServer({ setsLimits }: Checked, session: Session): Promise<EngineFinding> {
  const [facts] = await session.rows<ServerFacts>(
    `SELECT current_setting('server_version') AS version, current_setting('synchronous_commit') AS commit,
       current_setting('data_checksums') AS checksums, current_setting('statement_timeout') AS timeout`,
  )
  const { version, commit, checksums, timeout } = facts!
  if (commit === 'off') return problem('commit_not_synchronous')
  if (!setsLimits && timeout === '0') return warning('statements_unlimited')
  const lacking = await listLacking(session)
  if (lacking.length > 0) return problem('rights_lacking', { tables: lacking })
  if (await isFull(session)) return problem('server_full')
  const standbys = await checkStandbys(session)
  if (standbys.status !== 'ok') return standbys
  const bloated = await listBloated(session)
  if (bloated.length > 0) return warning('rows_pile_up', { tables: bloated })
  if (checksums !== 'on') return warning('no_checksums')
  const contracts = (await listPending(session)).filter(({ kind }) => kind === 'contract').map(({ id }) => id)
  if (contracts.length > 0) return warning('upgrade_unfinished', { migrations: contracts })
  return ok('postgres_answers', { version, standbys })
}

/**
 * Rows that do not fit into the memory of a statement go into a file of the server, until its end. A change of a row proves
 * less: it may fit into a page that is there.
 */
async function isFull(session: Session): Promise<boolean> {
  try {
    await inTransaction(session, async () => {
      await session.rows("SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)")
      await session.rows(`SELECT count(*) FROM generate_series(1, ${ROWS_OF_TRIAL})`)
    })
    return false
  } catch (error) {
    // Others say nothing of the disk: the user may have a limit for such files (53400).
    if (sqlStateOf(error)?.startsWith('53')) return sqlStateOf(error) === DISK_FULL
    throw error
  }
}

async function checkStandbys(session: Session): Promise<Standbys> {
  const standbys = await session.rows<{ state: string | null; behind: number | null }>(
    `SELECT sync_state AS state, pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)::bigint AS behind FROM pg_stat_replication`,
  )
  const count = standbys.length
  if (count === 0) return ok('no_standby')
  const synchronous = standbys.filter(({ state }) => state === 'sync' || state === 'quorum').length
  if (synchronous > 0) return ok('standbys_synchronous', { synchronous, count })
  if (standbys.some(({ state }) => state === null)) return ok('standbys_unseen', { count })
  return warning('standbys_behind', { behind: `${Math.ceil(Math.min(...standbys.map(each => each.behind ?? 0)) / MIB)} MiB` })
}

async function listBloated(session: Session): Promise<string[]> {
  const rows = await session.rows<{ name: string }>(
    `SELECT relname::text AS name FROM pg_stat_user_tables
     WHERE relname = ANY(string_to_array($1, ',')) AND n_dead_tup > $2 AND n_dead_tup > n_live_tup ORDER BY relname`,
    [WATCHED_TABLES.join(), DEAD_ROWS_MIN],
  )
  return rows.map(({ name }) => name)
}

type Archive = { mode: string; archived: number | null; failed: number | null; now: number }

async function checkArchive({ dir }: Checked, session: Session): Promise<EngineFinding> {
  const [archive] = await session.rows<Archive>(
    `SELECT current_setting('archive_mode') AS mode, (extract(epoch FROM last_archived_time) * 1000)::bigint AS archived,
       (extract(epoch FROM last_failed_time) * 1000)::bigint AS failed,
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM pg_stat_archiver`,
  )
  const { mode, archived, failed, now } = archive!
  if (mode === 'off') return warning('archive_off')
  if (failed !== null && failed > (archived ?? 0)) return problem('archive_failing', { since: secondOf(failed) })
  if (archived === null) return warning('archive_empty')
  const at = secondOf(archived)
  if (now - archived > ARCHIVE_AGE_MAX_MS) return warning('archive_old', { at })
  return isPassing(dir) ? warning('archive_good_directory_passing', { at, dir }) : ok('archive_good', { at })
}

function isPassing(dir: string): boolean {
  return process.platform === 'linux' && existsSync(dir) && PASSING_FILE_SYSTEMS.includes(statfsSync(dir).type)
}
