import { SQL } from 'bun'
import type { DatabaseAddress, DatabaseSettings } from './address.ts'

const CONNECT_SECONDS = 5

/** `read` cannot write. `light` holds beats, leases and notices: a crash of the server may lose its last moment. */
export type Use = 'read' | 'write' | 'light' | 'job' | 'listen'

export type Connect = {
  counts: { reads: number; writes: number }
  /** A client of one connection; opens it with its first statement. */
  open(use: Use): SQL
}

/** The server ends what takes longer, and frees its locks. */
const LIMITS = {
  statement_timeout: '5s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '5s',
} as const

const OWN_LIMITS: Record<Use, Record<string, string>> = {
  read: { default_transaction_read_only: 'on' },
  write: {},
  light: { synchronous_commit: 'off' },
  job: { statement_timeout: '60s', lock_timeout: '2s', idle_in_transaction_session_timeout: '60s' },
  listen: { statement_timeout: '0' },
}

const LIGHT_CONNECTIONS = 2

export function createConnect(settings: DatabaseSettings, node: string): Connect {
  const { connections, socket, host, port, user, password, database, tls, ca, prepare } = settings
  const writes = Math.max(1, Math.floor((connections - LIGHT_CONNECTIONS) / 2))
  return {
    counts: { writes, reads: Math.max(1, connections - LIGHT_CONNECTIONS - writes) },
    open: use =>
      new SQL({
        adapter: 'postgres',
        ...(socket === undefined ? { hostname: host, port } : { path: socket }),
        username: user,
        password,
        database,
        max: 1,
        bigint: true,
        prepare,
        connectionTimeout: CONNECT_SECONDS,
        idleTimeout: 0,
        ...tlsOptions(tls, ca, host),
        connection: prepare
          ? { application_name: `vidimus/${node}`, ...LIMITS, ...OWN_LIMITS[use] }
          : // A pooler refuses parameters that it does not know.
            { application_name: `vidimus/${node}` },
      }),
  }
}

function tlsOptions(mode: DatabaseAddress['tls'], ca: string | undefined, host: string): object {
  if (mode === 'off') return { tls: false }
  const checked = { rejectUnauthorized: true, ca, serverName: host }
  if (mode === 'require') return { tls: { rejectUnauthorized: false } }
  return { tls: mode === 'verify-full' ? checked : { ...checked, checkServerIdentity: () => undefined } }
}
