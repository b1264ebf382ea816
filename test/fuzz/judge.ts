// What every answer must be, whatever was asked: no fault of ours, the envelope, a code of the closed list with its own status,
// documented for that route, and a body that its schema describes with nothing added.
import { ApiError, ERRORS, type ErrorCode } from '../../src/http/errors.ts'
import { bodyProblems } from '../helpers/json-schema.ts'
import type { Operation, Surface } from './operations.ts'
import type { Shape } from './shapes.ts'
import type { Outcome, WireAnswer } from './wire.ts'

const MESSAGE_CHARS_MAX = 1000
/** The runtime refuses a head above 16 KiB by itself; path, cookie and usual headers take less than one of them. */
const LONG_HEAD_BYTES = 15 * 1024

/** Each code as callers read it, with the statuses it may come with. */
const STATUSES = Map.groupBy(
  (Object.keys(ERRORS) as ErrorCode[]).map(code => new ApiError(code)),
  ({ wireCode }) => wireCode,
)

export function problemsWith(surface: Surface, operation: Operation, shape: Shape, outcome: Outcome): string[] {
  if (shape.isWild) return problemsWithWild(outcome)
  if (outcome === 'closed') return ['hung up without an answer']
  if (outcome.status === 431 && isLong(shape)) return outcome.text === '' ? [] : ['431 with a body']
  const isHead = shape.method === 'HEAD'
  const found = [
    ...headerProblems(outcome),
    ...(outcome.status >= 400 ? refusalProblems(outcome, isHead, operation.isPublic) : []),
  ]
  if (shape.isAstray || shape.method !== operation.method || !operation.responses) return found
  return [...found, ...documentProblems(surface, operation, outcome)]
}

const isLong = ({ query, headers }: Shape): boolean =>
  query.length + headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > LONG_HEAD_BYTES

/** A request that is not HTTP is refused without or with the envelope, or not answered; it is never a 5xx and never done. */
function problemsWithWild(outcome: Outcome): string[] {
  if (outcome === 'closed') return []
  if (outcome.status >= 500) return [`is ${outcome.status}`]
  return outcome.status >= 400 && outcome.text !== '' ? refusalProblems(outcome, false, true) : []
}

const REQUIRED_HEADERS = [
  'x-content-type-options',
  'referrer-policy',
  'cache-control',
  'cross-origin-resource-policy',
  'content-security-policy',
  'strict-transport-security',
  'x-request-id',
]

function headerProblems({ headers }: WireAnswer): string[] {
  return REQUIRED_HEADERS.filter(name => !headers.get(name)).map(name => `lacks ${name}`)
}

/** Our own pages may also get a reason, where the schema of their route has one. */
function refusalProblems({ status, headers, text }: WireAnswer, isHead: boolean, isPublic: boolean): string[] {
  if (status >= 500) return [`is ${status}: ${text.slice(0, 300)}`]
  if (isHead) return []
  if (!headers.get('content-type')?.startsWith('application/json')) return [`a refusal as ${headers.get('content-type')}`]
  const body = parsed(text) as { error?: { code?: string; message?: string; reason?: object } } | undefined
  const { code, message, reason } = body?.error ?? {}
  if (typeof code !== 'string' || typeof message !== 'string' || message === '')
    return [`not the envelope: ${text.slice(0, 200)}`]
  return [
    ...(JSON.stringify(body) === JSON.stringify({ error: { code, message, reason: isPublic ? undefined : reason } })
      ? []
      : [`more than the envelope: ${text.slice(0, 200)}`]),
    ...(STATUSES.get(code)?.some(each => each.status === status) ? [] : [`${code} does not go with ${status}`]),
    ...(message.length > MESSAGE_CHARS_MAX ? [`a message of ${message.length} characters`] : []),
    ...(/node_modules|SQLITE|\.ts:\d|undefined|\[object /.test(message)
      ? [`a message out of the engine room: ${message.slice(0, 200)}`]
      : []),
  ]
}

function documentProblems({ document }: Surface, { responses, isPublic }: Operation, answer: WireAnswer): string[] {
  const response = responses?.[answer.status]
  if (!response) return [`${answer.status} is not documented: ${answer.text.slice(0, 200)}`]
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  if (!response.content) return answer.text === '' ? [] : [`${answer.status} has a body`]
  const content = response.content[type]
  if (!content) return [`${answer.status} as "${type}" is not documented`]
  const body = type === 'application/json' ? parsed(answer.text) : undefined
  const code = (body as { error?: { code: string } } | undefined)?.error?.code
  return [
    ...bodyProblems(document, content.schema, type, answer.text),
    ...(isPublic && answer.status >= 400 && !(code !== undefined && code in (content.examples ?? {}))
      ? [`${code} is not documented`]
      : []),
  ]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
