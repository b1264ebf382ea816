// The part of doctor that only PostgreSQL can be asked. Views of the server show less to a user without pg_monitor:
// what is not seen is called so, and is no problem.
import { existsSync, statfsSync } from 'node:fs'
import { type EngineCheck, type Found, ok, problem, runCheck, secondOf, someOf, warning } from '../check.ts'
import type { MasterKey } from '../root-key.ts'
import { checkMasterKey } from '../sqlite/checks.ts'
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
  const count = living.length
  if (count === 0)
    return warning({
      en: ['No service is running on this database.', 'Start it: vidimus serve'],
      de: ['An dieser Datenbank läuft kein Dienst.', 'Starten Sie ihn: vidimus serve'],
    })
  const names = living.map(({ id, version }) => `${id} (${version})`)
  const text = {
    en: `${count === 1 ? '1 node is' : `${count} nodes are`} running: ${someOf(names)}.`,
    de: `${count === 1 ? '1 Knoten läuft' : `${count} Knoten laufen`}: ${someOf(names, 'de')}.`,
  }
  if (new Set(living.map(({ version }) => version)).size > 1)
    return warning({
      en: [text.en, 'They are of several versions: restart the older ones with the new program.'],
      de: [text.de, 'Sie haben verschiedene Versionen: Starten Sie die älteren mit dem neuen Programm neu.'],
    })
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
    return problem({
      en: [
        'synchronous_commit is off: a crash of the server loses what was acknowledged.',
        'Switch it on for the user and the database of the service.',
      ],
      de: [
        'synchronous_commit ist aus: Bei einem Absturz des Servers geht Bestätigtes verloren.',
        'Schalten Sie es für Benutzer und Datenbank des Dienstes ein.',
      ],
    })
  if (!setsLimits && timeout === '0') {
    const command = "ALTER ROLE … SET statement_timeout = '5s'"
    const others = ["lock_timeout = '2s'", "idle_in_transaction_session_timeout = '5s'"]
    return warning({
      en: [
        'Through a pooler the service cannot limit its statements, and the server does not do it.',
        `Run: ${command}; the same for ${others.join(' and ')}.`,
      ],
      de: [
        'Durch einen Pooler kann der Dienst seine Anweisungen nicht begrenzen, und der Server tut es nicht.',
        `Führen Sie aus: ${command}; ebenso ${others.join(' und ')}.`,
      ],
    })
  }
  const lacking = await listLacking(session)
  if (lacking.length > 0)
    return problem({
      en: [
        `The user of VIDIMUS_DATABASE_URL lacks rights to ${someOf(lacking)}: requests fail.`,
        'Run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL, which grants them.',
      ],
      de: [
        `Dem Benutzer aus VIDIMUS_DATABASE_URL fehlen Rechte an ${someOf(lacking, 'de')}: Anfragen scheitern.`,
        'Rufen Sie „vidimus upgrade“ mit VIDIMUS_DATABASE_OWNER_URL auf; das erteilt sie.',
      ],
    })
  if (await isFull(session))
    return problem({
      en: ['The disk of the database server is full, or nearly: creations fail.', 'Make room there.'],
      de: ['Die Platte des Datenbankservers ist voll oder fast voll: Neue Prüfungen scheitern.', 'Schaffen Sie dort Platz.'],
    })
  const standbys = await checkStandbys(session)
  if (standbys.status !== 'ok') return standbys
  const bloated = await listBloated(session)
  if (bloated.length > 0)
    return warning({
      en: [
        `Deleted rows pile up in ${bloated.join(', ')}.`,
        'See that autovacuum runs, and end transactions that are open for hours.',
      ],
      de: [
        `Gelöschte Zeilen häufen sich in ${bloated.join(', ')}.`,
        'Sorgen Sie dafür, dass autovacuum läuft, und beenden Sie stundenlange Transaktionen.',
      ],
    })
  if (checksums !== 'on')
    return warning({
      en: ['The server has no data checksums: damage on its disk stays unnoticed.', 'Stop it and run: pg_checksums --enable'],
      de: [
        'Der Server hat keine Prüfsummen: Schäden auf seiner Platte bleiben unbemerkt.',
        'Halten Sie ihn an und rufen Sie auf: pg_checksums --enable',
      ],
    })
  const contracts = (await listPending(session)).filter(({ kind }) => kind === 'contract').map(({ id }) => id)
  if (contracts.length > 0)
    return warning({
      en: [
        `The last upgrade is not finished (${contracts.join(', ')}).`,
        'When no node of the earlier version runs any more: vidimus upgrade --finish',
      ],
      de: [
        `Die letzte Umstellung ist nicht abgeschlossen (${contracts.join(', ')}).`,
        'Sobald kein Knoten der früheren Version mehr läuft: vidimus upgrade --finish',
      ],
    })
  return ok({
    en: `PostgreSQL ${version} answers. ${standbys.detail}`,
    de: `PostgreSQL ${version} antwortet. ${standbys.de.detail}`,
  })
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

async function checkStandbys(session: Session): Promise<Found> {
  const standbys = await session.rows<{ state: string | null; behind: number | null }>(
    `SELECT sync_state AS state, pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)::bigint AS behind FROM pg_stat_replication`,
  )
  const count = standbys.length
  if (count === 0) return ok({ en: 'No standby is seen from here.', de: 'Von hier ist kein Standby zu sehen.' })
  const synchronous = standbys.filter(({ state }) => state === 'sync' || state === 'quorum').length
  if (synchronous > 0)
    return ok({
      en: `${synchronous} of ${count} standbys are synchronous.`,
      de: `${synchronous} von ${count} Standbys sind synchron.`,
    })
  if (standbys.some(({ state }) => state === null))
    return ok({
      en: `${count} standbys; to see more, grant pg_monitor to the user of the service.`,
      de: `${count} Standbys; um mehr zu sehen, geben Sie dem Benutzer des Dienstes pg_monitor.`,
    })
  const behind = `${Math.ceil(Math.min(...standbys.map(each => each.behind ?? 0)) / MIB)} MiB`
  return warning({
    en: [
      `No standby is synchronous: a failover can lose what was acknowledged. The nearest is ${behind} behind.`,
      'Name one in synchronous_standby_names, if that must not be.',
    ],
    de: [
      `Kein Standby ist synchron: Ein Wechsel kann Bestätigtes verlieren. Der nächste liegt ${behind} zurück.`,
      'Nennen Sie einen in synchronous_standby_names, wenn das nicht sein darf.',
    ],
  })
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
    return warning({
      en: [
        'The server archives no log, and backups made otherwise are not seen from here.',
        'See that they are made, and try to restore one.',
      ],
      de: [
        'Der Server archiviert kein Log, und andere Sicherungen sind von hier nicht zu sehen.',
        'Sorgen Sie dafür, dass es welche gibt, und spielen Sie eine zur Probe zurück.',
      ],
    })
  if (failed !== null && failed > (archived ?? 0))
    return problem({
      en: [`The server cannot archive its log since ${secondOf(failed)}.`, 'Read the log of the server: archive_command fails.'],
      de: [
        `Der Server kann sein Log seit ${secondOf(failed)} nicht archivieren.`,
        'Lesen Sie das Log des Servers: archive_command scheitert.',
      ],
    })
  if (archived === null)
    return warning({
      en: ['The server has archived nothing yet.', 'See that base backups are made, and try to restore one.'],
      de: ['Der Server hat noch nichts archiviert.', 'Sorgen Sie für Grundsicherungen, und spielen Sie eine zur Probe zurück.'],
    })
  if (now - archived > ARCHIVE_AGE_MAX_MS)
    return warning({
      en: [`The server archived its log last at ${secondOf(archived)}.`, 'Set archive_timeout, so that little can be lost.'],
      de: [
        `Der Server hat sein Log zuletzt am ${secondOf(archived)} archiviert.`,
        'Setzen Sie archive_timeout, damit wenig verloren gehen kann.',
      ],
    })
  const told = {
    en: `The server archived its log last at ${secondOf(archived)}. Base backups are not seen from here.`,
    de: `Der Server hat sein Log zuletzt am ${secondOf(archived)} archiviert. Grundsicherungen sind von hier nicht zu sehen.`,
  }
  if (isPassing(dir))
    return warning({
      en: [
        `${told.en} But ${dir} does not outlive this container, and with it the log of erasures, which a restore needs.`,
        'Put VIDIMUS_DATA_DIR on a volume.',
      ],
      de: [
        `${told.de} Aber ${dir} endet mit diesem Container, und damit das Log der Löschungen, das eine Rücksicherung braucht.`,
        'Legen Sie VIDIMUS_DATA_DIR auf ein Volume.',
      ],
    })
  return ok(told)
}

function isPassing(dir: string): boolean {
  return process.platform === 'linux' && existsSync(dir) && PASSING_FILE_SYSTEMS.includes(statfsSync(dir).type)
}
