import { apiError } from '../http/errors.ts'
import { parseJson } from '../json.ts'
import { withoutFormats } from '../openid4vp/dcql-match.ts'
import { type EncryptionKey, type From, requestClaims, responseUri, signRequest } from '../openid4vp/request-object.ts'
import { requestSigner } from '../signing/keys.ts'
import { keepResponseKey } from '../verifications/answer-store.ts'
import type { VerificationRow } from '../verifications/store.ts'
import { recordEvent } from '../verifications/timeline.ts'
import type { Deps } from './deps.ts'
import { newResponseKey, publicPartOf, sealResponseKey } from './response-key.ts'
import { askedOf, openSession } from './session.ts'

export const WALLET_NONCE_CHARS_MAX = 512
export const WALLET_METADATA_CHARS_MAX = 16_384

/** What a wallet tells of itself when it posts for the request (OpenID4VP 1.0 § 5.10). */
export type WalletSays = { nonce?: string; formats?: string[] }

/** The signed request object of a pending session. It can be fetched again: nonce and key stay the same for one session. */
export async function requestObject(deps: Deps, id: string, from: From, wallet: WalletSays = {}): Promise<string> {
  const session = await openSession(deps, id)
  // By value there is nothing to fetch.
  if (session.profile === 'eu-av') throw apiError('session_not_found')
  const encryptionKey = await recordRequestFetched(deps, session)
  const { query } = await askedOf(deps, session)
  const claims = requestClaims({
    clientId: session.clientId,
    responseUri: responseUri(deps.config.publicUrl, id, from),
    nonce: session.nonce,
    state: session.state,
    query: wallet.formats ? withoutFormats(query, new Set(wallet.formats)) : query,
    issuedAt: deps.wall(),
    expiresAt: session.expiresAt,
    encryptionKey,
    walletNonce: wallet.nonce,
    registrationCertificate: deps.registrationCertificate,
  })
  return await signRequest(claims, await requestSigner(deps, session.signingKeyId))
}

/** One key per session, whoever fetches first: of two at once, the one that is stored serves both. */
async function recordRequestFetched(deps: Deps, session: VerificationRow): Promise<EncryptionKey | undefined> {
  const encrypts = session.profile === 'haip'
  const fresh = encrypts && session.sealedResponseKey === null ? sealResponseKey(deps, session, newResponseKey(deps)) : null
  const sealed = await deps.write(async tx => {
    await recordEvent(deps, tx, session, 'request_fetched', {})
    return fresh ? await keepResponseKey(tx, session, fresh) : session.sealedResponseKey
  })
  deps.publish('session', session.id)
  if (!encrypts) return undefined
  // The sweep ended the session, and with it its key, while this request was under way.
  if (!sealed) throw apiError('session_expired')
  return publicPartOf(deps, session, sealed)
}

/** Unknown members are ignored, and nothing that a wallet says of itself lowers what is asked of it. */
export function readWalletSays(form: ReadonlyMap<string, string>): WalletSays {
  const nonce = form.get('wallet_nonce')
  if (nonce !== undefined && (nonce === '' || nonce.length > WALLET_NONCE_CHARS_MAX)) {
    throw apiError('invalid_request', { message: `wallet_nonce: expected 1 to ${WALLET_NONCE_CHARS_MAX} characters` })
  }
  return { nonce, formats: supportedFormats(form.get('wallet_metadata')) }
}

function supportedFormats(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  const invalid = () => apiError('invalid_request', { message: 'wallet_metadata: expected a JSON object' })
  if (text.length > WALLET_METADATA_CHARS_MAX) throw invalid()
  let metadata: unknown
  try {
    metadata = parseJson(text, { depthMax: 16 })
  } catch (error) {
    throw apiError('invalid_request', { message: 'wallet_metadata: not valid JSON', cause: error })
  }
  if (metadata === null || typeof metadata !== 'object' || Array.isArray(metadata)) throw invalid()
  const formats = (metadata as { vp_formats_supported?: unknown }).vp_formats_supported
  if (formats === null || typeof formats !== 'object' || Array.isArray(formats)) return undefined
  return ['dc+sd-jwt', 'mso_mdoc'].filter(format => Object.hasOwn(formats, format))
}
