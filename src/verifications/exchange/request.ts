import { parseJson } from '../../base/json.ts'
import { apiError } from '../../http/errors.ts'
import { withoutFormats } from '../../openid4vp/dcql/credential-sets.ts'
import { type From, requestClaims, responseUri, signRequest } from '../../openid4vp/exchange/request-object.ts'
import { readOpenSession } from '../read.ts'
import { askingOf } from './asked.ts'
import type { Deps } from './deps.ts'
import { recordRequestFetched } from './response-key.ts'

export const WALLET_NONCE_CHARS_MAX = 512
export const WALLET_METADATA_CHARS_MAX = 16_384

/** Parameters of a wallet that fetches the request with a POST (OpenID4VP 1.0 § 5.10). */
type WalletParameters = { nonce?: string; formats?: string[] }

/** Can be fetched again: nonce and key of a session stay the same. */
export async function requestObject(deps: Deps, id: string, from: From, wallet: WalletParameters = {}): Promise<string> {
  const session = await readOpenSession(deps, id)
  // The request is in the link itself.
  if (session.profile === 'eu-av') throw apiError('session_not_found')
  const encryptionKey = await recordRequestFetched(deps, session)
  const { query } = await askingOf(deps, session)
  const signer = await deps.requestSigner(session.signingKeyId)
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
    registrationCertificate: await deps.registrations(session, query, signer),
    registrationForm: deps.config.wallet.verifierInfoData,
  })
  return await signRequest(claims, signer)
}

/** Unknown members are ignored. Nothing here lowers what the wallet must present. */
export function readWalletParameters(form: ReadonlyMap<string, string>): WalletParameters {
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
