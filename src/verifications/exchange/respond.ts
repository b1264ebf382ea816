import { readForm } from '../../http/body.ts'
import { traceOf } from '../../http/plugin.ts'
import { byValueClientId, type From, responseUri } from '../../openid4vp/exchange/request-object.ts'
import { readResponse, UnreadableResponse, type WalletResponse } from '../../openid4vp/exchange/response.ts'
import { boundToRedirect } from '../../openid4vp/exchange/session-transcript.ts'
import { type OpenSession, readOpenSession } from '../read.ts'
import { recordAnswer } from './answer.ts'
import { askedOf, type Question } from './asked.ts'
import type { Deps } from './deps.ts'
import { refusedByWallet } from './outcome.ts'
import { openResponseKey, type ResponseKeyPair } from './response-key.ts'
import { judge, readOrRefuse } from './settle.ts'

const FORM_BYTES_MAX = 1024 * 1024

/** Takes a wallet's answer: read, judge, record once. */
export async function respond(
  deps: Deps,
  id: string,
  request: Request,
  { from, requestId = traceOf(request).id }: { from: From; requestId?: string },
): Promise<{ redirect_uri?: string }> {
  const session = await readOpenSession(deps, id)
  const asked = await askedOf(deps, session)
  const key = await openResponseKey(deps, session)
  const response = await readOrRefuse(deps, session, requestId, () => readAnswer(request, session, asked, key))
  const outcome =
    response.kind === 'error'
      ? refusedByWallet(response.code)
      : await judge(deps, session, asked, response, bindingOf(deps, session, { from, key: response.encrypted ? key : undefined }))
  const { secrets } = asked
  const { redirectUri } = await recordAnswer(deps, session, { secrets, outcome, way: { from }, requestId })
  return redirectUri === undefined ? {} : { redirect_uri: redirectUri }
}

async function readAnswer(
  request: Request,
  { profile, state }: OpenSession,
  { query }: Question,
  key: ResponseKeyPair | undefined,
): Promise<WalletResponse> {
  const form = await readForm(request, FORM_BYTES_MAX)
  if (profile === 'haip' && !key) throw new UnreadableResponse('the request was never fetched')
  return await readResponse(form, { state, query, key: key && { kid: key.publicKey.kid, privateKey: key.privateKey } })
}

type Way = { from: From; key: ResponseKeyPair | undefined }

function bindingOf({ config: { publicUrl } }: Deps, { id, profile, clientId, nonce }: OpenSession, { from, key }: Way) {
  return boundToRedirect({
    clientId: profile === 'eu-av' ? byValueClientId(publicUrl, id, from) : clientId,
    nonce,
    // The address that the answer was posted to: a wallet posts to that of the request which it signed for.
    responseUri: responseUri(publicUrl, id, from),
    encryptionKeyThumbprint: key ? key.thumbprint : null,
  })
}
