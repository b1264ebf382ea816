// VIDIMUS_DATABASE_URL: postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full, or ?host=/directory for a socket.

export type DatabaseAddress = {
  user: string
  password: string
  host: string
  port: number
  database: string
  /** File of the server's socket; undefined for a network connection. */
  socket: string | undefined
  /** `off`: in clear, on this machine only. `require`: encrypted, the server is not checked. */
  tls: 'off' | 'require' | 'verify-ca' | 'verify-full'
}

export type DatabaseSettings = DatabaseAddress & {
  /** Connections of this node, without the one that listens. */
  connections: number
  /** False behind a pooler in transaction mode: nothing may outlive a transaction. */
  prepare: boolean
  /** PEM of the authority of the server's certificate. */
  ca: string | undefined
}

const MODES = ['require', 'verify-ca', 'verify-full'] as const
const PARAMETERS = ['sslmode', 'host']
const PORT_DEFAULT = 5432

/** Throws with the reason; the text may hold a password and is never quoted. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  // URL refuses an empty host together with a user, which is the usual form for sockets.
  const url = URL.parse(text.replace(/^postgres(ql)?:\/\/([^/@]*@)?\//, 'postgres://$2localhost/'))
  if (!url || !/^postgres(ql)?:$/.test(url.protocol))
    throw new Error('use a form like postgres://user:password@host/database?sslmode=verify-full')
  const unknown = [...url.searchParams.keys()].find(name => !PARAMETERS.includes(name))
  if (unknown !== undefined) throw new Error(`unknown parameter ${unknown}; known are ${PARAMETERS.join(', ')}`)
  const database = decodeURIComponent(url.pathname.slice(1))
  const user = decodeURIComponent(url.username)
  if (!database || database.includes('/')) throw new Error('the name of the database is missing: postgres://user@host/DATABASE')
  if (!user) throw new Error('the name of the user is missing: postgres://USER@host/database')
  const port = Number(url.port || PORT_DEFAULT)
  const directory = url.searchParams.get('host') ?? undefined
  if (directory !== undefined && !directory.startsWith('/'))
    throw new Error('host must be the directory of a socket, beginning with /')
  const socket = directory && `${directory.replace(/\/+$/, '')}/.s.PGSQL.${port}`
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return {
    user,
    password: decodeURIComponent(url.password),
    host,
    port,
    database,
    socket,
    tls: tlsMode(url.searchParams.get('sslmode'), socket !== undefined || isLoopback(host)),
  }
}

function tlsMode(text: string | null, isLocal: boolean): DatabaseAddress['tls'] {
  const mode = MODES.find(each => each === text)
  if (mode) return mode
  if (text !== null && !(text === 'disable' && isLocal)) {
    throw new Error(`sslmode must be one of ${MODES.join(', ')}; disable is for a database on this machine`)
  }
  if (!isLocal)
    throw new Error(
      'the database is on another machine, so add ?sslmode=verify-full (or require, which does not check the server)',
    )
  return 'off'
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127\./.test(host)
