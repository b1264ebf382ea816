// The part of doctor that only PostgreSQL can be asked. Views of the server show less to a user without pg_monitor:
// what is not seen is called so, and is no problem.
import { statfsSync } from 'node:fs'
import { type EngineCheck, type Found, ok, problem, runCheck, secondOf, someOf, warning } from '../check.ts'
import type { MasterKey } from '../root-key.ts'
import { checkMasterKey } from '../sqlite/checks.ts'
import type { Connect } from './connect.ts'
import { listPending } from './migrate.ts'
import type { Node } from './nodes.ts'
import { createSession, type Session } from './session.ts'

/** The tables whose rows change most. */
const WATCHED_TABLES = ['verification_sessions', 'webhook_deliveries', 'idempotency_keys']
const DEAD_ROWS_MIN = 100_000
const ARCHIVE_AGE_MAX_MS = 3_600_000
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

export async function runChecks(checked: Checked): Promise<EngineCheck[]> {
  const session = createSession(onClose => checked.connect.open('read', onClose))
  try {
    return [
      { name: 'server', ...(await runCheck(() => checkNodes(checked))) },
      { name: 'database', ...(await runCheck(() => checkServer(session, checked))) },
      { name: 'master_key', ...(await runCheck(() => checkMasterKey(checked))) },
      { name: 'backups', ...(await runCheck(() => checkArchive(session, checked))) },
    ]
  } finally {
    await session.close()
  }
}

async function checkNodes({ listNodes, node, isServer }: Checked): Promise<Found> {
  const living = (await listNodes()).filter(({ id }) => isServer || id !== node)
  if (living.length === 0) return warning('No service is running on this database.', 'Start it: vidimus serve')
  const names = someOf(living.map(({ id, version }) => `${id} (${version})`))
  const text = living.length === 1 ? `1 node is running: ${names}.` : `${living.length} nodes are running: ${names}.`
  if (new Set(living.map(({ version }) => version)).size > 1)
    return warning(text, 'They are of several versions: restart the older ones with the new program.')
  return ok(text)
}

type ServerFacts = { version: string; commit: string; checksums: string; timeout: string }

async function checkServer(session: Session, { setsLimits }: Checked): Promise<Found> {
  const [facts] = await session.rows<ServerFacts>(
    `SELECT current_setting('server_version') AS version, current_setting('synchronous_commit') AS commit,
       current_setting('data_checksums') AS checksums, current_setting('statement_timeout') AS timeout`,
  )
  const { version, commit, checksums, timeout } = facts!
  if (commit === 'off')
    return problem(
      'synchronous_commit is off: a crash of the server loses what was acknowledged.',
      'Switch it on for the user and the database of the service.',
    )
  if (!setsLimits && timeout === '0')
    return warning(
      'Through a pooler the service cannot limit its statements, and the server does not do it.',
      "Run: ALTER ROLE … SET statement_timeout = '5s'; the same for lock_timeout = '2s' and idle_in_transaction_session_timeout = '5s'.",
    )
  const standbys = await checkStandbys(session)
  if (standbys.status !== 'ok') return standbys
  const bloated = await listBloated(session)
  if (bloated.length > 0)
    return warning(
      `Deleted rows pile up in ${bloated.join(', ')}.`,
      'See that autovacuum runs, and end transactions that are open for hours.',
    )
  if (checksums !== 'on')
    return warning(
      'The server has no data checksums: damage on its disk stays unnoticed.',
      'Stop it and run: pg_checksums --enable',
    )
  const contracts = (await listPending(session)).filter(({ kind }) => kind === 'contract')
  if (contracts.length > 0)
    return warning(
      `The last upgrade is not finished (${contracts.map(({ id }) => id).join(', ')}).`,
      'When no node of the earlier version runs any more: vidimus upgrade --finish',
    )
  return ok(`PostgreSQL ${version} answers. ${standbys.detail}`)
}

async function checkStandbys(session: Session): Promise<Found> {
  const standbys = await session.rows<{ state: string | null }>('SELECT sync_state AS state FROM pg_stat_replication')
  if (standbys.length === 0) return ok('No standby is seen from here.')
  const synchronous = standbys.filter(({ state }) => state === 'sync' || state === 'quorum').length
  if (synchronous > 0) return ok(`${synchronous} of ${standbys.length} standbys are synchronous.`)
  if (standbys.some(({ state }) => state === null))
    return ok(`${standbys.length} standbys; to see more, grant pg_monitor to the user of the service.`)
  return warning(
    'No standby is synchronous: a failover can lose what was acknowledged.',
    'Name one in synchronous_standby_names, if that must not be.',
  )
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

async function checkArchive(session: Session, { dir }: Checked): Promise<Found> {
  const [archive] = await session.rows<Archive>(
    `SELECT current_setting('archive_mode') AS mode, (extract(epoch FROM last_archived_time) * 1000)::bigint AS archived,
       (extract(epoch FROM last_failed_time) * 1000)::bigint AS failed,
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM pg_stat_archiver`,
  )
  const { mode, archived, failed, now } = archive!
  if (mode === 'off')
    return warning(
      'The server archives no log, and backups made otherwise are not seen from here.',
      'See that they are made, and try to restore one.',
    )
  if (failed !== null && failed > (archived ?? 0))
    return problem(
      `The server cannot archive its log since ${secondOf(failed)}.`,
      'Read the log of the server: archive_command fails.',
    )
  if (archived === null)
    return warning('The server has archived nothing yet.', 'See that base backups are made, and try to restore one.')
  if (now - archived > ARCHIVE_AGE_MAX_MS)
    return warning(
      `The server archived its log last at ${secondOf(archived)}.`,
      'Set archive_timeout, so that little can be lost.',
    )
  const told = `The server archived its log last at ${secondOf(archived)}. Base backups are not seen from here.`
  if (isPassing(dir))
    return warning(
      `${told} But ${dir} does not outlive this container, and with it the log of erasures, which a restore needs.`,
      'Put VIDIMUS_DATA_DIR on a volume.',
    )
  return ok(told)
}

function isPassing(dir: string): boolean {
  return process.platform === 'linux' && PASSING_FILE_SYSTEMS.includes(statfsSync(dir).type)
}
