export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/**
 * Every field that a log line may have. Deliberately absent: bodies, headers, query strings, paths
 * with ids, session ids, API keys, tokens, pairing and response codes, secrets, claims, metadata,
 * purposes, URLs of merchants.
 */
export type LogFields = {
  request_id?: string
  method?: string
  /** The route's template, `/v1/verifications/:id`: a real path contains a session id, which is a capability. */
  route?: string
  status?: number
  ms?: number
  key_prefix?: string
  /** The id: a name is free text. */
  device?: string
  tenant?: string
  /** The name of a user who exists: others are free text, and may be passwords. */
  user?: string
  /** /24 or /48. */
  network?: string
  /** The first digits of its subject on the audit chain: its id is a capability. */
  session?: string
  error_code?: string
  /** Name and code, never the message: libraries quote values there. */
  failure?: string
  count?: number
  address?: string
  detail?: string
}

export type Log = Record<Exclude<LogLevel, 'silent'>, (event: string, fields?: LogFields) => void>

type Options = { level: LogLevel; now: () => number; write: (line: string) => void; isPretty?: () => boolean }

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }

export function createLog({ level, now, write, isPretty = () => false }: Options): Log {
  const at =
    (own: LogLevel) =>
    (event: string, fields: LogFields = {}) => {
      if (RANK[own] < RANK[level]) return
      const time = new Date(now()).toISOString()
      const line = isPretty() ? prettyLine(time, own, event, fields) : JSON.stringify({ time, level: own, event, ...fields })
      write(printable(withoutSecrets(line)))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function prettyLine(time: string, level: LogLevel, event: string, fields: LogFields): string {
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? JSON.stringify(value) : value}`)
  return `${time.slice(11, 23)} ${level.padEnd(5)} ${event} ${rest.join(' ')}`.trimEnd()
}

/** A second defence, should a secret ever get into a field. No word boundary in front: an escaped line break ends in a letter. */
function withoutSecrets(line: string): string {
  return line.replace(
    /(vk_(?:test|live)_\w{4}|vs_|vdr?_|whsec_|ocs_|ol_|vo_)[\w+/-]{12,}|VD-[0-9A-Z]{4}-[0-9A-Z]{4}/g,
    (_, prefix) => `${prefix ?? ''}***`,
  )
}

/** JSON does not escape these, but a terminal obeys the first and viewers break lines at the last two. */
function printable(line: string): string {
  return line.replace(/[\x7f-\x9f\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Wrapped errors that are looked at: drizzle's, the engine's, the driver's. */
const CHAIN_MAX = 3

/** Name, code and place, without the message: messages quote values. Not the name of the class, which the build shortens. */
export function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return typeof failure
  // An error that wraps one of the database or the network hides its name and code.
  const chain = [failure]
  for (let { cause } = failure; cause instanceof Error && chain.length < CHAIN_MAX; cause = cause.cause) chain.push(cause)
  const name = chain.map(each => each.name).find(each => each !== 'Error') ?? 'Error'
  const code = chain.map(codeOf).find(each => each !== undefined)
  // The stack begins with the message, which may look like a place itself.
  const frames = failure.stack?.replace(failure.message, '') ?? ''
  const origin = /^\s+at .*?\(?([^()\s]+:\d+):\d+\)?$/m.exec(frames)?.[1]?.replace(/^.*\/(src|node_modules)\//, '$1/')
  return [name, typeof code === 'string' ? code : undefined, origin].filter(Boolean).join(' ')
}

/** PostgreSQL's own code, such as 23505, is in `errno`; `code` says only that the server refused. */
function codeOf(failure: unknown): unknown {
  const { code, errno } = (failure ?? {}) as { code?: unknown; errno?: unknown }
  return code === 'ERR_POSTGRES_SERVER_ERROR' ? errno : code
}
