// What a wallet says of itself when it fetches a request with a POST (OpenID4VP 1.0 § 5.10). It narrows the request to the formats
// that the wallet knows, and leaves notes on the timeline; it refuses nothing, and lowers nothing that must be presented. The text
// itself is not kept: it tells wallets, and with them people, apart.

import { parseJson } from '../../base/json.ts'
import { isObject } from '../../base/members.ts'
import { apiError } from '../../http/errors.ts'
import type { Format } from '../../words/templates.ts'

export const WALLET_METADATA_CHARS_MAX = 16_384
const DEPTH_MAX = 16

export type WalletMetadata = Record<string, unknown>

/** Parts of our requests that a wallet says it cannot take. */
export const WALLET_NOTES = ['client_id_prefix', 'response_mode', 'encryption', 'signing_algorithm'] as const
export type WalletNote = (typeof WALLET_NOTES)[number]

export function parseWalletMetadata(text: string | undefined): WalletMetadata {
  if (text === undefined) return {}
  const invalid = () => apiError('invalid_request', { message: 'wallet_metadata: expected a JSON object' })
  if (text.length > WALLET_METADATA_CHARS_MAX) throw invalid()
  let metadata: unknown
  try {
    metadata = parseJson(text, { depthMax: DEPTH_MAX })
  } catch (error) {
    throw apiError('invalid_request', { message: 'wallet_metadata: not valid JSON', cause: error })
  }
  if (!isObject(metadata)) throw invalid()
  return metadata
}

/** Undefined where the wallet does not say. */
export function formatsIn({ vp_formats_supported: formats }: WalletMetadata): Format[] | undefined {
  if (!isObject(formats)) return undefined
  return (['dc+sd-jwt', 'mso_mdoc'] as const).filter(format => Object.hasOwn(formats, format))
}

/** `clientId` and `encrypts` are those of the request. A list that is missing says nothing. */
export function notesOn(metadata: WalletMetadata, { clientId, encrypts }: { clientId: string; encrypts: boolean }): WalletNote[] {
  const lacks = (member: string, ...ours: string[]): boolean => {
    const listed = metadata[member]
    return Array.isArray(listed) && !ours.some(each => listed.includes(each))
  }
  const noted: Record<WalletNote, boolean> = {
    client_id_prefix: lacks('client_id_prefixes_supported', clientId.slice(0, clientId.indexOf(':'))),
    response_mode: lacks('response_modes_supported', encrypts ? 'direct_post.jwt' : 'direct_post'),
    encryption:
      encrypts &&
      (lacks('authorization_encryption_alg_values_supported', 'ECDH-ES') ||
        lacks('authorization_encryption_enc_values_supported', 'A128GCM', 'A256GCM')),
    signing_algorithm: lacks('request_object_signing_alg_values_supported', 'ES256'),
  }
  return WALLET_NOTES.filter(note => noted[note])
}
