import { apiError } from '../../http/errors.ts'
import { withoutFormats } from '../../openid4vp/dcql/credential-sets.ts'
import type { DcqlQuery } from '../../openid4vp/dcql/dcql.ts'
import {
  type EncryptionKey,
  type From,
  requestClaims,
  responseUri,
  signRequest,
} from '../../openid4vp/exchange/request-object.ts'
import type { Language } from '../../words/languages.ts'
import { readOpenSession } from '../read.ts'
import { type AskingSession, askingOf } from './asked.ts'
import type { Deps } from './deps.ts'
import { recordRequestFetched } from './response-key.ts'
import { formatsIn, notesOn, parseWalletMetadata, type WalletMetadata } from './wallet-metadata.ts'

export const WALLET_NONCE_CHARS_MAX = 512

/** Parameters of a wallet that fetches the request with a POST (OpenID4VP 1.0 § 5.10). */
type WalletParameters = { nonce?: string; metadata: WalletMetadata }

type Fetching = {
  from: From
  /** Of the wallet, or else of the page that its link was on. */
  language: Language | undefined
  /** Of a POST. */
  wallet?: WalletParameters
}

/** Can be fetched again: nonce and key of a session stay the same. */
export async function requestObject(deps: Deps, id: string, { from, language, wallet }: Fetching): Promise<string> {
  const session = await readOpenSession(deps, id)
  // The request is in the link itself.
  if (session.profile === 'eu-av') throw apiError('session_not_found')
  const { query } = await askingOf(deps, session, language)
  const formats = wallet && formatsIn(wallet.metadata)
  const asked = formats ? withoutFormats(query, new Set(formats)) : query
  const dropped = query.credentials.map(({ id }) => id).filter(each => !asked.credentials.some(({ id: kept }) => kept === each))
  const notes = wallet ? notesOn(wallet.metadata, { clientId: session.clientId, encrypts: session.profile === 'haip' }) : []
  const encryptionKey = await recordRequestFetched(deps, session, {
    method: wallet ? 'post' : 'get',
    ...(formats && { formats }),
    ...(dropped.length > 0 && { dropped }),
    ...(notes.length > 0 && { notes }),
  })
  return await signedRequest(deps, session, { query, asked, encryptionKey, from, walletNonce: wallet?.nonce })
}

type Asking = {
  query: DcqlQuery
  /** Without the formats that the wallet lacks. */
  asked: DcqlQuery
  encryptionKey: EncryptionKey | undefined
  from?: From
  walletNonce?: string | undefined
}

export async function signedRequest(
  deps: Deps,
  session: AskingSession,
  { query, asked, encryptionKey, from, walletNonce }: Asking,
): Promise<string> {
  const signer = await deps.requestSigner(session.signingKeyId)
  const claims = requestClaims({
    clientId: session.clientId,
    responseUri: responseUri(deps.config.publicUrl, session.id, from),
    nonce: session.nonce,
    state: session.state,
    query: asked,
    issuedAt: deps.wall(),
    expiresAt: session.expiresAt,
    encryptionKey,
    walletNonce,
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
  return { nonce, metadata: parseWalletMetadata(form.get('wallet_metadata')) }
}
