// The steps of every channel with an answer: read or refuse it, then judge it.
import { ApiError, apiError } from '../../http/errors.ts'
import type { Expected } from '../../openid4vp/credential.ts'
import type { Matching } from '../../openid4vp/dcql/match.ts'
import { type Presented, UnreadableResponse } from '../../openid4vp/exchange/response.ts'
import { builtinOf } from '../../templates/resolve.ts'
import type { OpenSession } from '../read.ts'
import { recordEvent } from '../timeline.ts'
import { nameInLog } from '../unreadable.ts'
import type { Outcome } from './answer.ts'
import type { Question } from './asked.ts'
import type { Deps } from './deps.ts'
import { outcomeOf } from './outcome.ts'

/** An answer that is not to this session only leaves an event on its timeline, and a line in the log. */
export async function readOrRefuse<Answer>(
  deps: Deps,
  session: OpenSession,
  requestId: string,
  read: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await read()
  } catch (error) {
    const { reason, detail, refusal } = unreadable(error)
    const named = { tenant: session.tenantId, session: nameInLog(deps.audit, session) }
    deps.log.info('wallet.answer_unreadable', { request_id: requestId, ...named, detail })
    await deps.write(tx => recordEvent(deps, tx, session, 'response_unreadable', { reason }))
    throw refusal
  }
}

/**
 * The sender learns what is wrong with its form; the other reasons are on the timeline and in the
 * log. `detail` is for the log: a sentence about the form may name what was sent.
 */
function unreadable(error: unknown): { reason: string; detail: string; refusal: ApiError } {
  if (error instanceof UnreadableResponse) {
    const { reason } = error
    return { reason: `response: ${reason}`, detail: reason, refusal: apiError('invalid_wallet_response', { cause: error }) }
  }
  if (error instanceof ApiError && error.status === 400) {
    const { code, message } = error
    const refusal = apiError('invalid_wallet_response', { message, cause: error })
    return { reason: message, detail: `the body was refused: ${code}`, refusal }
  }
  throw error
}

type Answer = { kind: 'malformed'; detail: string } | { kind: 'presentations'; presentations: Presented[]; matching?: Matching }

/** `binding`: what the presentations must be bound to. */
export async function judge(
  deps: Deps,
  session: OpenSession,
  { query, rules }: Question,
  answer: Answer,
  binding: Omit<Expected, 'now' | 'createdAt'>,
): Promise<Outcome> {
  if (answer.kind === 'malformed')
    return outcomeOf({ status: 'failed', failure: 'presentation_malformed', credentials: [] }, answer.detail)
  // A wallet's clock is compared with the machine's, which was put back if the session was created later.
  const now = deps.wall()
  const verdict = await deps.verifier.verify({
    query,
    presentations: answer.presentations,
    ...(answer.matching && { matching: answer.matching }),
    expected: { now, createdAt: Math.min(now, session.createdAt), ...binding },
    anchors: await deps.anchors(session.environment),
    environment: session.environment,
    status: deps.status,
    crls: deps.crls,
    now: deps.now,
    rules,
    ageOver: builtinOf(session)?.ageOver,
  })
  return outcomeOf(verdict)
}
