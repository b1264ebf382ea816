import type { Db } from '../../db/engine.ts'
import { noticeName } from '../../db/topics.ts'
import type { From } from '../../openid4vp/exchange/request-object.ts'
import { countEnds } from '../../usage/outcomes.ts'
import type { Deps } from '../deps.ts'
import { announceEnd, queueResult } from '../end/announce.ts'
import { closeSession, insertResult } from '../end/answer-store.ts'
import { countsAsFirst } from '../end/first-times.ts'
import { heldUntil } from '../hold.ts'
import { hasPortrait, isUnkept, keepPortrait, PORTRAIT_MS, type Result, withoutPortrait } from '../portraits.ts'
import { type SessionSecrets, sealResult } from '../present.ts'
import { type OpenSession, refuseClosed } from '../read.ts'
import { withResponseCode } from '../redirect-url.ts'
import { newResponseCode, storedResponseCode } from '../response-code.ts'
import { findSession } from '../store.ts'
import { type BrowserChannel, fetchesInRecord, type PhoneChannel, recordEvent, type SessionEvents, trustOf } from '../timeline.ts'

/** The verdict on an answer. */
export type Outcome = {
  status: 'completed' | 'failed'
  result: Result
  /** Every check of every credential, for the timeline. */
  findings: SessionEvents['response_posted']['findings']
  /** A document was proven by a MAC, not by a signature. */
  proof?: 'mac'
}

/** `from` of the wallet's own answer, or the page that brought it, or the phone that was read in person. */
type Way = { from: From } | BrowserChannel | PhoneChannel

type Answered = { secrets: SessionSecrets; outcome: Outcome; way: Way; requestId: string }

/** `isComparable`: the answer is held until a device has compared its photo. */
type Recorded = { isComparable: boolean; responseCode?: string; redirectUri?: string }

/**
 * Records the one answer of a session, and gives the address that the holder goes to next. One
 * statement decides which answer was first; the result, the message owed to the merchant and the
 * audit record are in its transaction.
 */
export async function recordAnswer(
  deps: Deps,
  session: OpenSession,
  { secrets, outcome, way, requestId }: Answered,
): Promise<Recorded> {
  // Through the QR code the wallet is on another device than the shop: the hosted page gets the
  // code (page-owner.ts). A held answer is released by the holder's own browser: the page that
  // showed the QR code may be an attacker's.
  const channel = 'channel' in way ? way : undefined
  const browser = channel?.channel === 'dc_api' ? channel : undefined
  const isPageReturn = 'from' in way && way.from === 'qr' && session.release === null && session.isSameDevice !== 1
  const { status, result, findings } = outcome
  const isDevice = session.deviceId !== null
  const isPhoto = hasPortrait(result)
  const isComparable = isDevice && isPhoto && status === 'completed'
  const isHeld = isComparable || (session.release === 'on_redeem' && status === 'completed')
  // The page that brought an answer always gets a code: whoever redeems it had that page. A comparison needs none, and the
  // caller that read a phone has the answer.
  const isRedirected = 'from' in way && secrets.redirect_url !== undefined && !isPageReturn
  const hasCode = !isComparable && (browser !== undefined || isRedirected)
  const code = hasCode ? newResponseCode(deps.random) : undefined
  // A burst of creations runs ahead of the clock by a few milliseconds; an answer never precedes its session.
  const at = Math.max(deps.now(), session.createdAt)
  const { id, tenantId, environment, wrappingKey } = session
  const trust = trustOf(findings)
  const mayBeFirst = status === 'completed' && !isHeld && countsAsFirst(session, trust)
  const stored = isPhoto && (isDevice || isUnkept(session)) ? withoutPortrait(result) : result
  const owed = await deps.write(async tx => {
    const closing = { id, tenantId, at, status: isHeld ? 'pending' : status, answeredFrom: isPageReturn ? 'qr' : null } as const
    const fetches = await closeSession(tx, { ...closing, ...(code && storedResponseCode(code, at)) })
    if (!fetches) return await refuseLate(tx, id, at)
    const sessionKey = await deps.sessionKeys.of(tx, session)
    // A held answer has no record of its own until it is released.
    const auditSeq = isHeld
      ? session.auditSeq
      : await deps.audit.append(tx, {
          at,
          tenantId,
          actor: 'wallet',
          action: `verification.${status}`,
          subjectId: id,
          details: {
            environment,
            error: result.error?.code,
            ...(trust.length > 0 && { trust }),
            ...fetchesInRecord(deps, { ...session, ...fetches }, sessionKey),
            channel: channel?.channel,
            protocol: browser?.protocol,
          },
          session: { id, wrappingKey, sessionKey },
          bornAt: session.auditSeq,
        })
    await insertResult(tx, { ...sealResult(deps, { id, tenantId, sessionKey }, stored, at), auditSeq })
    if (stored !== result && (isComparable || !isDevice)) {
      const keptUntil = isComparable ? heldUntil(at, session) : deps.now() + PORTRAIT_MS
      await keepPortrait(deps, tx, { ...session, sessionKey }, { result, keptUntil })
    }
    await recordEvent(deps, tx, session, 'response_posted', { status, error: result.error?.code, findings, ...channel })
    if (mayBeFirst) await deps.firstTimes.note(tx, session, at)
    if (isHeld) return undefined
    const owed = await queueResult(deps, tx, session, secrets, { status, at, requestId })
    await countEnds(tx, [{ ...session, outcome: result.error?.code ?? status, at, respondedAt: at }])
    return owed
  })
  if (mayBeFirst) deps.firstTimes.remember(session)
  if (isHeld) deps.publish('session', noticeName(id))
  else announceEnd(deps, session, { status, error: result.error }, owed)
  if (code === undefined) return { isComparable }
  return {
    isComparable,
    responseCode: code,
    redirectUri: secrets.redirect_url === undefined ? undefined : withResponseCode(secrets.redirect_url, code),
  }
}

/** Another answer, a cancellation, the deadline or an erasure was first. */
async function refuseLate(tx: Db, id: string, now: number): Promise<never> {
  refuseClosed(await findSession(tx, id), now)
  throw new Error('a session that cannot be closed is closed')
}
