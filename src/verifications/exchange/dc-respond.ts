import type { Yielding } from '../../ground.ts'
import { readBody } from '../../http/body.ts'
import { apiError } from '../../http/errors.ts'
import { traceOf } from '../../http/plugin.ts'
import { readIsoAnswer, readOpenIdAnswer } from '../../openid4vp/exchange/dc-response.ts'
import { UnreadableResponse, type WalletResponse } from '../../openid4vp/exchange/response.ts'
import { boundToOrigin, isoDcApiTranscript } from '../../openid4vp/exchange/session-transcript.ts'
import { mayAsk } from '../../tenants/origins.ts'
import type { OpenSession } from '../read.ts'
import { recordEvent } from '../timeline.ts'
import { recordAnswer } from './answer.ts'
import { askedOf } from './asked.ts'
import { type Door, openSessionOf, originOf } from './dc-door.ts'
import { type DcEntry, findDcEntry } from './dc-entries.ts'
import { type DcAnswered, PageAnswer, ServerAnswer } from './dc-schema.ts'
import type { Deps } from './deps.ts'
import { keyPairOf } from './response-key.ts'
import { judge, readOrRefuse } from './settle.ts'

/** One long text and a few members around it. */
const BODY = { bytesMax: 1024 * 1024, valuesMax: 1000 }

/** Takes an answer that the browser gave to a page. The request that it answers is found by the origin. */
export async function dcRespond(deps: Deps, door: Door): Promise<DcAnswered> {
  const { id: requestId } = traceOf(door.request)
  const session = await openSessionOf(deps, door)
  const asked = await askedOf(deps, session)
  // A page without an origin is refused before its body is read.
  const pageOrigin = door.owner ? undefined : originOf(door.request)
  const { body, entry, response, thumbprint } = await readOrRefuse(deps, session, requestId, async () => {
    const { origin, ...sent } = pageOrigin
      ? { origin: pageOrigin, ...(await readBody(door.request, PageAnswer, BODY)) }
      : await readBody(door.request, ServerAnswer, BODY)
    const found = await findDcEntry(deps, session, origin)
    if (!found && door.owner && !(await mayAsk(deps, session, origin))) throw apiError('origin_not_allowed')
    if (!found?.protocols.includes(sent.protocol)) throw new UnreadableResponse('this origin was not asked by this protocol')
    return { body: sent, entry: found, ...(await readAnswer(deps, found, sent, asked.query)) }
  })

  const { protocol } = body
  const count = (outcome: string) => deps.metrics.count('vidimus_dc_answers_total', { protocol, outcome })
  if (response.kind === 'error') {
    await deps.write(tx => recordEvent(deps, tx, session, 'dc_error', { protocol, code: response.code }))
    count('error')
    return { status: 'pending', wallet_error: response.code }
  }
  const outcome = await judge(deps, session, asked, response, bindingOf(session, entry, protocol, thumbprint))
  const recorded = await recordAnswer(deps, session, {
    secrets: asked.secrets,
    outcome,
    way: { channel: 'dc_api', protocol, origin: entry.origin },
    requestId,
  })
  count(outcome.status)
  return {
    status: recorded.isComparable ? 'pending' : outcome.status,
    ...(recorded.responseCode !== undefined && { response_code: recorded.responseCode }),
    ...(recorded.redirectUri !== undefined && { redirect_uri: recorded.redirectUri }),
  }
}

type Sent = { protocol: string; data: Record<string, unknown> }

async function readAnswer(
  { turns }: Yielding,
  entry: DcEntry,
  { protocol, data }: Sent,
  query: Parameters<typeof readOpenIdAnswer>[1]['query'],
): Promise<{ response: WalletResponse; thumbprint: Uint8Array }> {
  const { publicKey, privateKey, thumbprint } = await keyPairOf(protocol === 'org-iso-mdoc' ? entry.isoKey : entry.key)
  if (protocol !== 'org-iso-mdoc')
    return { response: await readOpenIdAnswer(data, { query, key: { kid: publicKey.kid, privateKey } }), thumbprint }
  const point = Buffer.concat([Buffer.of(4), Buffer.from(publicKey.x, 'base64url'), Buffer.from(publicKey.y, 'base64url')])
  const { encryptionInfo, origin } = entry
  const request = { query, key: { privateKey, point }, encryptionInfo, origin, nextTurn: turns.next }
  return { response: await readIsoAnswer(data, request), thumbprint }
}

function bindingOf(
  { clientId }: OpenSession,
  { origin, nonce, encryptionInfo }: DcEntry,
  protocol: string,
  thumbprint: Uint8Array,
) {
  const byOrigin = boundToOrigin({ origin, nonce, encryptionKeyThumbprint: thumbprint })
  if (protocol === 'org-iso-mdoc') return { ...byOrigin, transcript: () => isoDcApiTranscript(encryptionInfo, origin) }
  const detail = 'The proof of possession was made for the QR code: its audience is our client id, not the origin of the page.'
  return { ...byOrigin, mistakenAudience: { audience: clientId, detail } }
}
