// VIDIMUS_DATABASE_URL: postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full, or ?host=/directory for a socket.
// Several hosts, HOST:PORT,HOST:PORT, are a primary and its standbys in any order.

export type Server = {
  host: string
  port: number
  /** File of the server's socket; undefined for a network connection. */
  socket: string | undefined
}

export type DatabaseAddress = Server & {
  user: string
  password: string
  database: string
  /** Further servers of the same cluster: the one that takes writes is used. */
  others: Server[]
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
  /** The address for LISTEN where `prepare` is false; without it, changes are found at intervals. */
  listen: DatabaseAddress | undefined
  /** The user that may change the schema; undefined when it is this one. */
  owner: DatabaseAddress | undefined
}

const MODES = ['require', 'verify-ca', 'verify-full'] as const
const PARAMETERS = ['sslmode', 'host']
const PORT_DEFAULT = 5432
const SERVERS_MAX = 8

/** Throws with the reason; the text may hold a password and is never quoted. */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  // URL knows one host only, and refuses none together with a user, which is the usual form for sockets.
  const [, login = '', hosts = '', rest = ''] =
    /^postgres(?:ql)?:\/\/([^/@]*@)?([^/?@]*)(\/.*)?$/.exec(text) ??
    refuse('use a form like postgres://user:password@host/database?sslmode=verify-full')
  const url = URL.parse(`postgres://${login}localhost${rest}`) ?? refuse('the user, password or database is not percent-encoded')
  // Not quoted either: it may be the rest of a password with a bare "?".
  if ([...url.searchParams.keys()].some(name => !PARAMETERS.includes(name)))
    refuse(`there is an unknown parameter; known are ${PARAMETERS.join(', ')}`)
  const database = decoded(url.pathname.slice(1))
  const user = decoded(url.username)
  if (!database || database.includes('/')) refuse('the name of the database is missing: postgres://user@host/DATABASE')
  if (!user) refuse('the name of the user is missing: postgres://USER@host/database')
  const [first, ...others] = serversOf(hosts, url.searchParams.get('host') ?? undefined)
  const isLocal = [first!, ...others].every(({ socket, host }) => socket !== undefined || isLoopback(host))
  return {
    ...first!,
    others,
    user,
    password: decoded(url.password),
    database,
    tls: tlsMode(url.searchParams.get('sslmode'), isLocal),
  }
}

function serversOf(hosts: string, directory: string | undefined): Server[] {
  const servers = (hosts || 'localhost').split(',').map(serverOf)
  if (servers.length > SERVERS_MAX) refuse(`name at most ${SERVERS_MAX} hosts`)
  if (directory === undefined) return servers
  if (!directory.startsWith('/')) refuse('host must be the directory of a socket, beginning with /')
  if (servers.length > 1) refuse('a socket is on this machine: name no hosts beside it')
  return servers.map(server => ({ ...server, socket: `${directory.replace(/\/+$/, '')}/.s.PGSQL.${server.port}` }))
}

function serverOf(text: string): Server {
  const url = URL.parse(`postgres://${text}/`)
  if (!url?.hostname || url.username) return refuse('a host is not one like db.example, 10.0.0.5:5432 or [fd00::5]:5432')
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || PORT_DEFAULT), socket: undefined }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse('a % in the user, password or database must be written %25')
  }
}

function tlsMode(text: string | null, isLocal: boolean): DatabaseAddress['tls'] {
  const mode = MODES.find(each => each === text)
  if (mode) return mode
  if (text !== null && !(text === 'disable' && isLocal))
    refuse(`sslmode must be one of ${MODES.join(', ')}; disable is for a database on this machine`)
  if (!isLocal)
    refuse('the database is on another machine, so add ?sslmode=verify-full (or require, which does not check the server)')
  return 'off'
}

function refuse(reason: string): never {
  throw new Error(reason)
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127\./.test(host)
