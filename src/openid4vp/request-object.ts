import type { DcqlQuery } from './dcql.ts'

/**
 * How a request reaches the wallet. `haip`: signed and by reference, the answer encrypted. `plain`: the same with an unencrypted answer.
 * `eu-av`: by value and unsigned, as the EU age verification app asks for it.
 */
export type Profile = 'haip' | 'plain' | 'eu-av'

/** COSE algorithms: wallets compare the numbers literally, so ECDSA with SHA-256 is named both ways (-7, and -9 with its curve). */
const MDOC_ALGORITHMS = [-7, -9]

export const requestUri = (publicUrl: string, id: string): string => `${publicUrl}/wallet/request/${id}`

/** Kept verbatim: the session transcript of an mdoc is computed over this very string. */
export const responseUri = (publicUrl: string, id: string): string => `${publicUrl}/wallet/response/${id}`

export const byReferenceUri = (clientId: string, uri: string): string =>
  `openid4vp://authorize?${new URLSearchParams({ client_id: clientId, request_uri: uri })}`

type ByValue = { publicUrl: string; id: string; nonce: string; state: string; query: DcqlQuery }

export function byValueUri({ publicUrl, id, nonce, state, query }: ByValue): string {
  const uri = responseUri(publicUrl, id)
  const parameters = {
    client_id: `redirect_uri:${uri}`,
    response_type: 'vp_token',
    response_mode: 'direct_post',
    response_uri: uri,
    nonce,
    state,
    dcql_query: JSON.stringify(query),
    client_metadata: JSON.stringify({
      vp_formats_supported: { mso_mdoc: { issuerauth_alg_values: MDOC_ALGORITHMS, deviceauth_alg_values: MDOC_ALGORITHMS } },
    }),
  }
  return `av://authorize?${new URLSearchParams(parameters)}`
}
