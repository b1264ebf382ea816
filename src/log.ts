import type { LogLevel } from './config.ts'

/**
 * All that a log line may carry. Not here, and so never logged: bodies, headers, query strings, paths with ids in them, session ids,
 * API keys, tokens, pairing and response codes, secrets, claims, metadata, purposes, URLs of merchants.
 */
export type LogFields = {
  request_id?: string
  method?: string
  /** The route's template, `/v1/verifications/:id`: a real path would carry a session id, which is a capability. */
  route?: string
  status?: number
  ms?: number
  key_prefix?: string
  tenant?: string
  /** The first digits of what the audit chain calls it: its id is a capability. */
  session?: string
  device?: string
  error_code?: string
  /** The class and code of a failure, never its message: libraries put offending values there. */
  failure?: string
  count?: number
  address?: string
  detail?: string
}

export type Log = Record<Exclude<LogLevel, 'silent'>, (event: string, fields?: LogFields) => void>

type Options = { level: LogLevel; now: () => number; write: (line: string) => void; pretty?: boolean }

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }

export function createLog({ level, now, write, pretty = false }: Options): Log {
  const at =
    (own: LogLevel) =>
    (event: string, fields: LogFields = {}) => {
      if (RANK[own] < RANK[level]) return
      const time = new Date(now()).toISOString()
      const line = pretty ? prettyLine(time, own, event, fields) : JSON.stringify({ time, level: own, event, ...fields })
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

/** The second fence, should a secret ever slip into a field. No word boundary in front: an escaped line break ends in a letter. */
function withoutSecrets(line: string): string {
  return line.replace(
    /(vk_(?:test|live)_\w{4}|vs_|vdr?_|whsec_)[\w+/-]{12,}|VD-[0-9A-Z]{4}-[0-9A-Z]{4}/g,
    (_, prefix) => `${prefix ?? ''}***`,
  )
}

/** JSON leaves these as they are, but a terminal obeys the first and a viewer breaks lines at the last two. */
function printable(line: string): string {
  return line.replace(/[\x7f-\x9f\u2028\u2029]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The kind of a failure and where it came from, without its message: messages quote the values that offended. */
export function describeFailure(failure: unknown): string {
  if (!(failure instanceof Error)) return typeof failure
  // What wraps a failure of the database or the network hides its code.
  const code = [failure, failure.cause]
    .map(each => (each as { code?: unknown } | undefined)?.code)
    .find(each => each !== undefined)
  // The message stands at the head of the stack, and may itself look like a place.
  const frames = failure.stack?.replace(failure.message, '') ?? ''
  const origin = /^\s+at .*?\(?([^()\s]+:\d+):\d+\)?$/m.exec(frames)?.[1]?.replace(/^.*\/(src|node_modules)\//, '$1/')
  return [failure.constructor.name, typeof code === 'string' ? code : undefined, origin].filter(Boolean).join(' ')
}
