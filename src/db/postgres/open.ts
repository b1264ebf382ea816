// Opens a PostgreSQL database, or refuses it: a refusal changes nothing and says in one line what to do.

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Random } from '../../base/ids.ts'
import { createSealer, type Sealer } from '../../base/seal.ts'
import { within } from '../../base/time.ts'
import type { DatabaseSettings } from '../database-url.ts'
import type { OnWait } from '../opening.ts'
import { type REFUSALS, StartRefusal } from '../refusal.ts'
import { findRootKey, findWrapper, insertRootKey, loadMasterKey, type MasterKey, newRootKey, openRootKey } from '../root-key.ts'
import { type Connect, createConnect } from './connect.ts'
import { keepEpoch, shareKeys } from './key-epoch.ts'
import { hasSchema, isBeingMoved, isUpToDate, MIGRATION_LOCK, migrate } from './migrate.ts'
import { drizzleOver } from './pool.ts'
import { ConnectionLost, createSession, isConnectionLost, type Session, sqlStateOf } from './session.ts'

const VERSION_MINIMUM = 140_000
const REACHABLE_WITHIN_MS = 60_000
const RETRY_MS = 500
const SILENCE_SHOWN_MS = 1000
const NO_ANSWER = 'it does not answer'
const CLOCK_OFF_MAX_MS = 60_000
/** The server ends a statement of the start after 60 seconds. */
const SILENCE_MAX_MS = 65_000
export const COMMAND_PATIENCE_MS = 5000

type OpenedDatabase = {
  connect: Connect
  /** Names this process among the nodes. */
  node: string
  sealer: Sealer
  /** True for the process that made the root key, even if another one made the schema. */
  isNew: boolean
  upgraded: string[]
  version: string
}

type Opening = {
  settings: DatabaseSettings
  masterKey: MasterKey
  now: number
  random: Random
  mayMigrate: boolean
  /** A command does not wait for a database that is down. */
  patienceMs?: number
  onWait?: OnWait
  stopping?: AbortSignal
  /** Makes the master key of a new installation. */
  makeMasterKey: () => void
  /** Undefined when time is injected. */
  wall?: () => number
}

export async function openDatabase({
  settings,
  masterKey,
  now,
  random,
  mayMigrate,
  wall,
  patienceMs = REACHABLE_WITHIN_MS,
  onWait,
  stopping,
  makeMasterKey,
}: Opening): Promise<OpenedDatabase> {
  const node = `${hostname().slice(0, 40)}-${Buffer.from(random(6)).toString('hex')}`
  const connect = createConnect(settings, node)
  const session = createSession(onClose => connect.open('job', onClose), { silenceMaxMs: SILENCE_MAX_MS })
  try {
    await reach(connect, session, { patienceMs, stopping, onWait: why => onWait?.(addressOf(settings), why) })
    const version = await refuseUnfit(session)
    if (wall) await refuseWrongClock(session, wall)
    await refuseHalfMoved(session)
    const upgraded = (await isUpToDate(session)) ? [] : await upgradeAt(settings, { now, mayMigrate })
    const { sealer, isNew } = await openSealer(session, { masterKey, random, makeMasterKey })
    return { connect, node, sealer, isNew, upgraded, version }
  } catch (error) {
    connect.close()
    throw refusalFrom(error)
  } finally {
    await session.close()
  }
}

/** A change of the schema has no time limit, unlike everything else at a start. */
const upgradeAt = (settings: DatabaseSettings, wanted: { now: number; mayMigrate: boolean }): Promise<string[]> =>
  withSession(settings, 'schema', async session => (await migrate(session, wanted)).upgraded)

/** Asked by commands that need an installation: they must not make one in an empty database by mistake. */
export const hasInstallation = (settings: DatabaseSettings): Promise<boolean> =>
  withSession(settings, 'job', async session => {
    await refuseHalfMoved(session)
    return (await hasSchema(session)) && (await findRootKey(drizzleOver(session))) !== undefined
  })

/** One short act on a database that is not opened as a whole. */
export async function withSession<Result>(
  settings: DatabaseSettings,
  use: 'job' | 'schema',
  act: (session: Session) => Promise<Result>,
): Promise<Result> {
  const connect = createConnect(settings, 'command')
  const session = createSession(onClose => connect.open(use, onClose), {
    silenceMaxMs: use === 'schema' ? Number.POSITIVE_INFINITY : SILENCE_MAX_MS,
  })
  try {
    await reach(connect, session, { patienceMs: COMMAND_PATIENCE_MS })
    await refuseUnfit(session)
    return await act(session)
  } catch (error) {
    throw refusalFrom(error)
  } finally {
    connect.close()
    await session.close()
  }
}

/** A session of the user that may change the schema, in the database that the service uses. */
export const withOwner = <Result>(settings: DatabaseSettings, act: (session: Session) => Promise<Result>): Promise<Result> =>
  withSession({ ...settings, ...settings.owner }, 'schema', async session => {
    if (settings.owner && (await placeOf(session)) !== (await withSession(settings, 'job', placeOf)))
      throw new StartRefusal(
        'database_refused',
        'VIDIMUS_DATABASE_OWNER_URL leads to another database than VIDIMUS_DATABASE_URL; name the same one in both',
      )
    return await act(session)
  })

/** Names are not compared: a pooler may have its own for a database. */
async function placeOf(session: Session): Promise<string> {
  const [found] = await session.rows<{ place: string }>(
    `SELECT extract(epoch FROM pg_postmaster_start_time()) || ' ' || oid AS place
     FROM pg_database WHERE datname = current_database()`,
  )
  return found!.place
}

type Patience = { patienceMs: number; stopping?: AbortSignal; onWait?: (why: string) => void }

/** Waits for a server that starts, and for a standby that takes over. A pooler whose server is down takes connections, and is silent. */
async function reach(connect: Connect, session: Session, { patienceMs, stopping, onWait }: Patience): Promise<void> {
  const until = performance.now() + patienceMs
  let sayOnce = onWait
  const say = (why: string) => {
    sayOnce?.(why)
    sayOnce = undefined
  }
  const silence = setTimeout(say, SILENCE_SHOWN_MS, NO_ANSWER)
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>()
  const onStop = () => stop(stopping?.reason)
  stopping?.addEventListener('abort', onStop)
  const attempt = async () => {
    stopping?.throwIfAborted()
    await connect.choose()
    await session.rows('SELECT 1')
  }
  try {
    for (;;) {
      try {
        return await within(Math.max(RETRY_MS, until - performance.now()), Promise.race([attempt(), stopped]), () => {
          session.drop()
          throw new ConnectionLost(NO_ANSWER)
        })
      } catch (error) {
        if (!isConnectionLost(error) || isWithoutTls(error) || performance.now() > until) throw error
        say((innermost(error) as Error).message)
        await Bun.sleep(RETRY_MS)
      }
    }
  } finally {
    clearTimeout(silence)
    stopping?.removeEventListener('abort', onStop)
  }
}

const addressOf = ({ host, port, socket, others }: DatabaseSettings): string =>
  [{ host, port, socket }, ...others].map(server => server.socket ?? `${server.host}:${server.port}`).join(', ')

type Facts = Record<'number' | 'version' | 'encoding' | 'fsync' | 'full_page_writes' | 'is_standby' | 'read_only', string>

async function refuseUnfit(session: Session): Promise<string> {
  const [facts] = await session.rows<Facts>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
       pg_encoding_to_char(encoding) AS encoding, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes, pg_is_in_recovery()::text AS is_standby,
       current_setting('default_transaction_read_only') AS read_only
     FROM pg_database WHERE datname = current_database()`,
  )
  const { number, version, encoding, fsync, full_page_writes, is_standby, read_only } = facts!
  if (Number(number) < VERSION_MINIMUM)
    throw new StartRefusal('postgres_too_old', `PostgreSQL ${version} is too old; use 14 or newer`)
  if (encoding !== 'UTF8')
    throw new StartRefusal(
      'encoding_wrong',
      `the database has the encoding ${encoding}; create one with ENCODING 'UTF8' TEMPLATE template0`,
    )
  for (const [name, value] of Object.entries({ fsync, full_page_writes })) {
    if (value !== 'on')
      throw new StartRefusal(
        'not_durable',
        `the setting ${name} is off, so a crash can lose or damage data; switch it on in postgresql.conf, and reload the server`,
      )
  }
  if (is_standby === 'true')
    throw new StartRefusal(
      'database_read_only',
      'the server is read-only, a standby; name the primary in VIDIMUS_DATABASE_URL, or all servers of the cluster',
    )
  if (read_only !== 'off')
    throw new StartRefusal(
      'database_read_only',
      'default_transaction_read_only is on for this user or database; switch it off with ALTER ROLE or ALTER DATABASE',
    )
  return version
}

async function refuseHalfMoved(session: Session): Promise<void> {
  if (!(await isBeingMoved(session))) return
  throw new StartRefusal('database_moved', 'the move into this database is not finished; call "vidimus move" again')
}

/** Nodes with clocks far apart would disagree on what is expired. */
async function refuseWrongClock(session: Session, wall: () => number): Promise<void> {
  const sentAt = wall()
  const [row] = await session.rows<{ at: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at')
  const off = row!.at - (sentAt + wall()) / 2
  if (Math.abs(off) > CLOCK_OFF_MAX_MS) {
    throw new StartRefusal(
      'clock_apart',
      `this machine's clock is ${Math.round(Math.abs(off) / 1000)} seconds ${off > 0 ? 'behind' : 'ahead of'} the database's; set both by NTP`,
    )
  }
}

type Keys = Pick<Opening, 'masterKey' | 'random' | 'makeMasterKey'>

/** The first node of an empty database makes the keys; a database with a key needs its master key. */
async function openSealer(session: Session, keys: Keys): Promise<{ sealer: Sealer; isNew: boolean }> {
  const { masterKey, random } = keys
  const db = drizzleOver(session)
  const isNew = !(await findRootKey(db)) && (await makeRootKey(session, keys))
  return await inTransaction(session, async () => {
    await shareKeys(session)
    const found = (await findRootKey(db))!
    const sealer = createSealer(openRootKey(findWrapper(masterKey, found, random), found), random)
    await keepEpoch(session, sealer.epoch)
    return { sealer, isNew }
  })
}

type Joined = Keys & { connect: Connect; sealer: Sealer }

/** Called after the first beat: from then on this node keeps the keys from being replaced. */
export async function refuseOldKeys({ connect, sealer, ...keys }: Joined): Promise<void> {
  const session = createSession(onClose => connect.open('job', onClose), { silenceMaxMs: SILENCE_MAX_MS })
  try {
    if ((await openSealer(session, keys)).sealer.epoch === sealer.epoch) return
    throw new StartRefusal('key_wrong', 'the keys were replaced while this node started; start it again')
  } finally {
    await session.close()
  }
}

/**
 * Takes the lock: when two nodes start at once, only the one whose key is stored makes a key file.
 * False for the other.
 */
async function makeRootKey(session: Session, { masterKey, random, makeMasterKey }: Keys): Promise<boolean> {
  const db = drizzleOver(session)
  return await inTransaction(session, async () => {
    await session.rows(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    if (await findRootKey(db)) return false
    if (!existsSync(masterKey.file) && !masterKey.isGiven) makeMasterKey()
    await insertRootKey(db, newRootKey(createSealer(loadMasterKey(masterKey), random), random))
    return true
  })
}

export async function inTransaction<Result>(session: Session, act: () => Promise<Result>): Promise<Result> {
  await session.rows('BEGIN')
  try {
    const result = await act()
    await session.rows('COMMIT')
    return result
  } catch (error) {
    await session.rows('ROLLBACK').catch(() => session.drop())
    throw error
  }
}

type Reason = keyof typeof REFUSALS

/** Refusals by PostgreSQL's error code; the server's own message follows, which never has a password. */
const REASONS: Record<string, [Reason, string]> = {
  '28P01': ['database_refused', 'the database refuses the user or password; mend VIDIMUS_DATABASE_URL or the password file'],
  '28000': ['database_refused', 'the database refuses this user from here; mend VIDIMUS_DATABASE_URL or pg_hba.conf'],
  '3D000': ['database_refused', 'there is no such database; create it, or mend VIDIMUS_DATABASE_URL'],
  '42501': [
    'rights_missing',
    'the user of VIDIMUS_DATABASE_URL lacks a right; run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL, which grants it',
  ],
  '53300': [
    'database_unreachable',
    'the server has no connection left; raise max_connections or lower VIDIMUS_DATABASE_CONNECTIONS',
  ],
  '53100': ['database_unreachable', 'the disk of the database server is full; make room there, and try again'],
  '55000': ['database_refused', 'the database takes no connections at present; let it, or mend VIDIMUS_DATABASE_URL'],
  // All that a pooler refuses has this code.
  '08P01': [
    'database_unreachable',
    'a pooler before the database refuses the connection; set VIDIMUS_DATABASE_PREPARE=off behind one, or mend VIDIMUS_DATABASE_URL',
  ],
  '57014': [
    'database_unreachable',
    'the database cancelled a statement, after its time limit or by an administrator; try again, and see what else it is doing',
  ],
  '55P03': ['schema_older', 'the schema cannot be changed while others hold its tables; end long transactions, and try again'],
}

export function refusalFrom(failure: unknown): unknown {
  if (failure instanceof StartRefusal) return failure
  // Errors around it quote the statement and its values.
  const error = innermost(failure)
  const because = (error as Error).message
  const known = REASONS[sqlStateOf(error) ?? '']
  if (known) return new StartRefusal(known[0], `${known[1]} (${because})`, error)
  if (isWithoutTls(error) || isUntrusted(error))
    return new StartRefusal(
      'database_refused',
      `the connection to the database cannot be trusted (${because}); mend its certificate, VIDIMUS_DATABASE_CA or sslmode`,
      error,
    )
  if (isConnectionLost(error))
    return new StartRefusal(
      'database_unreachable',
      `cannot reach the database of VIDIMUS_DATABASE_URL (${because}); start it, or mend the address`,
      error,
    )
  return failure
}

const innermost = (error: unknown): unknown => (error instanceof Error && error.cause ? innermost(error.cause) : error)

const isWithoutTls = (error: unknown): boolean => codeOf(error).startsWith('ERR_POSTGRES_TLS')

/** Names of OpenSSL and Node for certificates that do not verify. */
const isUntrusted = (error: unknown): boolean => /^ERR_TLS_|CERT|^UNABLE_TO_|SELF_SIGNED|^HOSTNAME_MISMATCH/.test(codeOf(error))

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '')
