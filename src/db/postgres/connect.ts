import { SQL } from 'bun'
import { within } from '../../base/time.ts'
import type { DatabaseAddress, DatabaseSettings, Server } from '../database-url.ts'

const CONNECT_SECONDS = 5
const SEEK_EVERY_MS = 500
/** A server that has not said by then whether it takes writes is passed over. */
const ASKED_MS = 2000

/** `read` cannot write, and `write` only in a transaction. `light` holds beats, leases and notices: a crash of the server may lose its last moment. */
type Use = 'read' | 'write' | 'light' | 'job' | 'schema' | 'listen'

/**
 * The statements that open a transaction: behind a pooler, limits are set in each one. `isAwaited`: others are sent only after
 * their answers. If BEGIN is cancelled, each statement behind it is a transaction of its own.
 */
export type Begin = { statements: readonly string[]; isAwaited: boolean }

export type Connect = {
  counts: { reads: number; writes: number }
  begin: Begin
  /** A client of one connection; opens it with its first statement. `onClose`: that connection ended, however. */
  open(use: Use, onClose?: () => void): SQL
  /** Chooses the first server that takes writes. */
  choose(): Promise<void>
  /** Lost connections look for no other server any more. */
  close(): void
}

/** The server ends what takes longer, and frees its locks. */
export const LIMITS = {
  statement_timeout: '5s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '5s',
} as const

const OWN_LIMITS: Record<Use, Record<string, string>> = {
  read: { default_transaction_read_only: 'on' },
  // Statements behind a BEGIN that fails must change nothing.
  write: { default_transaction_read_only: 'on' },
  light: { synchronous_commit: 'off' },
  job: { statement_timeout: '60s', lock_timeout: '2s', idle_in_transaction_session_timeout: '60s' },
  schema: { statement_timeout: '0', idle_in_transaction_session_timeout: '60s' },
  listen: { statement_timeout: '0' },
}

const SET_LIMITS = `SELECT ${Object.entries(LIMITS)
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ')}`

/** One for beats, one for notices, two for leases and claims. */
const LIGHT_CONNECTIONS = 4

export function createConnect(settings: DatabaseSettings, node: string): Connect {
  const { connections, prepare } = settings
  const writes = Math.max(1, Math.floor((connections - LIGHT_CONNECTIONS) / 2))
  const servers: Server[] = [settings, ...settings.others]
  let current = servers[0]!
  let isClosed = false
  let isSeeking = false
  const asking = new Set<SQL>()

  const choose = async (): Promise<void> => {
    if (servers.length === 1) return
    for (const server of servers) {
      if (isClosed) return
      if (!(await takesWrites(settings, server, asking))) continue
      current = server
      return
    }
  }
  /** The former primary closes its connections, or is gone, after a failover. */
  const seek = async () => {
    while (!isClosed) {
      await choose()
      if (isClosed || (await takesWrites(settings, current, asking))) return
      await Bun.sleep(SEEK_EVERY_MS)
    }
  }
  const onLost = () => {
    if (isClosed || isSeeking || servers.length === 1) return
    isSeeking = true
    void seek().finally(() => {
      isSeeking = false
    })
  }

  return {
    counts: { writes, reads: Math.max(1, connections - LIGHT_CONNECTIONS - writes) },
    begin: prepare
      ? { statements: ['BEGIN READ WRITE'], isAwaited: false }
      : { statements: ['BEGIN', SET_LIMITS], isAwaited: true },
    open(use, onClose) {
      const listen = use === 'listen' ? settings.listen : undefined
      return new SQL({
        ...optionsFor({ ...settings, ...listen }, listen ?? current),
        prepare: prepare || listen !== undefined,
        onclose() {
          onClose?.()
          onLost()
        },
        connection:
          prepare || listen
            ? { application_name: `vidimus/${node}`, ...LIMITS, ...OWN_LIMITS[use] }
            : // A pooler refuses parameters that it does not know.
              { application_name: `vidimus/${node}` },
      })
    },
    choose,
    close() {
      isClosed = true
      // A connection that waits for its answer would keep the process alive.
      for (const client of asking) void client.close({ timeout: 0 }).catch(() => {})
    },
  }
}

async function takesWrites(settings: DatabaseSettings, server: Server, asking: Set<SQL>): Promise<boolean> {
  const client = new SQL({ ...optionsFor(settings, server), prepare: false })
  asking.add(client)
  try {
    const asked = client.unsafe<{ is_standby: boolean }[]>('SELECT pg_is_in_recovery() AS is_standby')
    const isPrimary = asked.then(([row]) => row?.is_standby === false)
    return await within(ASKED_MS, isPrimary, () => false)
  } catch {
    // Unreachable ones are passed over; when all are, opening says why.
    return false
  } finally {
    asking.delete(client)
    await client.close({ timeout: 0 }).catch(() => {})
  }
}

function optionsFor({ user, password, database, tls, ca }: DatabaseSettings, { socket, host, port }: Server) {
  return {
    adapter: 'postgres' as const,
    ...(socket === undefined ? { hostname: host, port } : { path: socket }),
    username: user,
    password,
    database,
    max: 1,
    bigint: true,
    connectionTimeout: CONNECT_SECONDS,
    idleTimeout: 0,
    ...tlsOptions(tls, ca, host),
  }
}

/** Bun does not fall back to a connection in clear (test/postgres/connection.test.ts). */
function tlsOptions(mode: DatabaseAddress['tls'], ca: string | undefined, host: string): object {
  if (mode === 'off') return { tls: false }
  if (mode === 'require') return { tls: { rejectUnauthorized: false } }
  const checked = { rejectUnauthorized: true, ca, serverName: host }
  return { tls: mode === 'verify-full' ? checked : { ...checked, checkServerIdentity: () => undefined } }
}
