import type { Db } from '../db/engine.ts'
import { readForm } from '../http/body.ts'
import { ApiError, apiError } from '../http/errors.ts'
import { traceOf } from '../http/plugin.ts'
import { byValueClientId, type From, responseUri } from '../openid4vp/request-object.ts'
import { readResponse, UnreadableResponse, type WalletResponse } from '../openid4vp/response.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import { announceEnd, oweResult } from '../verifications/announce.ts'
import { closeSession, insertResult } from '../verifications/answer-store.ts'
import { storable } from '../verifications/portraits.ts'
import { sealResult } from '../verifications/present.ts'
import { withResponseCode } from '../verifications/redirect-url.ts'
import { newResponseCode, storedResponseCode } from '../verifications/response-code.ts'
import { findSession, type VerificationRow } from '../verifications/store.ts'
import { type Outcome, recordEvent } from '../verifications/timeline.ts'
import type { Deps } from './deps.ts'
import { outcomeOf, refusedByWallet } from './outcome.ts'
import { openResponseKey, type ResponseKeyPair } from './response-key.ts'
import { type Asked, askedOf, openSession, refuseClosed } from './session.ts'

const FORM_BYTES_MAX = 1024 * 1024

/** Takes a wallet's answer: read, judge, record once. */
export async function respond(deps: Deps, id: string, request: Request, from: From): Promise<{ redirect_uri?: string }> {
  const session = await openSession(deps, id)
  const asked = await askedOf(deps, session)
  const key = session.sealedResponseKey ? await openResponseKey(deps, session, session.sealedResponseKey) : undefined
  const response = await readOrRefuse(deps, session, asked, key, request)
  const outcome = await judge(deps, session, asked, { key, from, response })
  const code = await record(deps, session, asked, outcome, { from, requestId: traceOf(request).id })
  return code === undefined ? {} : { redirect_uri: withResponseCode(asked.secrets.redirect_url ?? '', code) }
}

/** What is not an answer to this session leaves a moment on its timeline and nothing else. */
async function readOrRefuse(
  deps: Deps,
  session: VerificationRow,
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
    const { reason, told } = unreadable(error)
    await deps.write(tx => recordEvent(deps, tx, session, 'response_unreadable', { reason }))
    throw told
  }
}

/** The wallet is told what is wrong with its form, and no more: why that is no answer to this session is for the timeline. */
function unreadable(error: unknown): { reason: string; told: ApiError } {
  if (error instanceof UnreadableResponse)
    return { reason: `response: ${error.message}`, told: apiError('invalid_wallet_response', { cause: error }) }
  if (error instanceof ApiError && error.status === 400)
    return { reason: error.message, told: apiError('invalid_wallet_response', { message: error.message, cause: error }) }
  throw error
}

async function judge(
  deps: Deps,
  session: VerificationRow,
  { query, rules }: Asked,
  { key, from, response }: { key: ResponseKeyPair | undefined; from: From; response: WalletResponse },
): Promise<Outcome> {
  if (response.kind === 'error') return refusedByWallet(response.code)
  if (response.kind === 'malformed')
    return outcomeOf({ status: 'failed', failure: 'presentation_malformed', credentials: [] }, response.detail)
  const { publicUrl } = deps.config
  // A wallet's clock is held against the machine's, which was put back if the session is from later.
  const now = deps.wall()
  const verdict = await deps.verifier.verify({
    query,
    presentations: response.presentations,
    expected: {
      now,
      createdAt: Math.min(now, session.createdAt),
      nonce: session.nonce,
      clientId: session.profile === 'eu-av' ? byValueClientId(publicUrl, session.id, from) : session.clientId,
      // The one that the answer was posted to: a wallet posts to the address of the request that it signed for.
      responseUri: responseUri(publicUrl, session.id, from),
      encryptionKeyThumbprint: response.encrypted && key ? key.thumbprint : null,
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

/** One statement decides who answered first; the result, the message owed to the merchant and the audit record go with it. Gives the response code. */
async function record(
  deps: Deps,
  session: VerificationRow,
  { secrets }: Asked,
  outcome: Outcome,
  { from, requestId }: { from: From; requestId: string },
): Promise<string | undefined> {
  // Through the QR code the wallet is on another device than the shop: the hosted page gets the code (page-owner.ts).
  // A held answer is released by the holder's own browser: the page that showed the QR code may be an attacker's.
  const isPageReturn = from === 'qr' && session.release === null
  const code = secrets.redirect_url === undefined || isPageReturn ? undefined : newResponseCode(deps.random)
  // A burst of creations runs ahead of the clock by a few milliseconds; an answer never precedes its session.
  const at = Math.max(deps.now(), session.createdAt)
  const { id, tenantId } = session
  const isHeld = session.release === 'on_redeem' && outcome.status === 'completed'
  const status = isHeld ? 'pending' : outcome.status
  const stored = storable(session.template, outcome.result)
  const owed = await deps.write(async tx => {
    const closing = { id, tenantId, at, status, answeredFrom: isPageReturn ? 'qr' : null } as const
    if (!(await closeSession(tx, { ...closing, ...(code && storedResponseCode(code, at)) }))) return await refuseLate(tx, id, at)
    // Until it is redeemed, the record of its creation stands for it.
    const auditSeq = isHeld
      ? session.auditSeq
      : await deps.audit.append(tx, {
          at,
          tenantId,
          actor: 'wallet',
          action: `verification.${outcome.status}`,
          subjectId: id,
          details: { environment: session.environment, error: outcome.result.error?.code },
        })
    await insertResult(tx, { ...sealResult(deps, session, stored, at), auditSeq })
    await recordEvent(deps, tx, session, 'response_posted', {
      status: outcome.status,
      error: outcome.result.error?.code,
      findings: outcome.findings,
    })
    return isHeld ? undefined : await oweResult(deps, tx, session, secrets, { status: outcome.status, at, requestId })
  })
  if (stored !== outcome.result) deps.portraits.keep(id, outcome.result)
  if (isHeld) deps.publish('session', id)
  else announceEnd(deps, session, { status: outcome.status, error: outcome.result.error }, owed)
  return code
}

/** Another answer, the deadline or an erasure came in between. */
async function refuseLate(tx: Db, id: string, now: number): Promise<never> {
  const session = await findSession(tx, id)
  if (session) refuseClosed(session, now)
  throw apiError('session_not_found')
}
