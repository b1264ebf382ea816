import { readForm } from '../http/body.ts'
import { ApiError, apiError } from '../http/errors.ts'
import { traceOf } from '../http/plugin.ts'
import { byValueClientId, type From, responseUri } from '../openid4vp/request-object.ts'
import { readResponse, UnreadableResponse, type WalletResponse } from '../openid4vp/response.ts'
import { boundToRedirect } from '../openid4vp/session-transcript.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import { type Outcome, recordAnswer } from '../verifications/answer.ts'
import { type OpenSession, readOpenSession } from '../verifications/read.ts'
import { openResponseKey, type ResponseKeyPair } from '../verifications/response-key.ts'
import { recordEvent } from '../verifications/timeline.ts'
import { type Asked, askedOf } from './asked.ts'
import type { Deps } from './deps.ts'
import { outcomeOf, refusedByWallet } from './outcome.ts'

const FORM_BYTES_MAX = 1024 * 1024

/** Takes a wallet's answer: read, judge, record once. */
export async function respond(deps: Deps, id: string, request: Request, from: From): Promise<{ redirect_uri?: string }> {
  const session = await readOpenSession(deps, id)
  const asked = await askedOf(deps, session)
  const key = await openResponseKey(deps, session)
  const response = await readOrRefuse(deps, session, asked, key, request)
  const outcome = await judge(deps, session, asked, { key, from, response })
  const { secrets } = asked
  const redirectUri = await recordAnswer(deps, session, { secrets, outcome, from, requestId: traceOf(request).id })
  return redirectUri === undefined ? {} : { redirect_uri: redirectUri }
}

/** A form that is no answer to this session leaves a moment on its timeline, nothing else. */
async function readOrRefuse(
  deps: Deps,
  session: OpenSession,
  { query }: Asked,
  key: ResponseKeyPair | undefined,
  request: Request,
): Promise<WalletResponse> {
  try {
    const form = await readForm(request, FORM_BYTES_MAX)
    if (session.profile === 'haip' && !key) throw new UnreadableResponse('the request was never fetched')
    return await readResponse(form, {
      state: session.state,
      query,
      key: key && { kid: key.publicKey.kid, privateKey: key.privateKey },
    })
  } catch (error) {
    const { reason, refusal } = unreadable(error)
    await deps.write(tx => recordEvent(deps, tx, session, 'response_unreadable', { reason }))
    throw refusal
  }
}

/** The wallet learns what is wrong with its form; the other reasons are on the timeline only. */
function unreadable(error: unknown): { reason: string; refusal: ApiError } {
  if (error instanceof UnreadableResponse)
    return { reason: `response: ${error.message}`, refusal: apiError('invalid_wallet_response', { cause: error }) }
  if (error instanceof ApiError && error.status === 400)
    return { reason: error.message, refusal: apiError('invalid_wallet_response', { message: error.message, cause: error }) }
  throw error
}

async function judge(
  deps: Deps,
  session: OpenSession,
  { query, rules }: Asked,
  { key, from, response }: { key: ResponseKeyPair | undefined; from: From; response: WalletResponse },
): Promise<Outcome> {
  if (response.kind === 'error') return refusedByWallet(response.code)
  if (response.kind === 'malformed')
    return outcomeOf({ status: 'failed', failure: 'presentation_malformed', credentials: [] }, response.detail)
  const { publicUrl } = deps.config
  // A wallet's clock is compared with the machine's, which was put back if the session was created
  // later.
  const now = deps.wall()
  const verdict = await deps.verifier.verify({
    query,
    presentations: response.presentations,
    expected: {
      now,
      createdAt: Math.min(now, session.createdAt),
      ...boundToRedirect({
        clientId: session.profile === 'eu-av' ? byValueClientId(publicUrl, session.id, from) : session.clientId,
        nonce: session.nonce,
        // The address that the answer was posted to: a wallet posts to that of the request which it
        // signed for.
        responseUri: responseUri(publicUrl, session.id, from),
        encryptionKeyThumbprint: response.encrypted && key ? key.thumbprint : null,
      }),
    },
    anchors: await deps.anchors(session.environment),
    environment: session.environment,
    status: deps.status,
    crls: deps.crls,
    now: deps.now,
    rules,
    ageOver: session.template === null ? undefined : BUILTIN_TEMPLATES.get(session.template)?.ageOver,
  })
  return outcomeOf(verdict)
}
