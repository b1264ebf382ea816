import type { Configured } from '../ground.ts'
import { BUILTIN } from '../templates/read.ts'
import { LANGUAGES } from '../words/languages.ts'
import { CLAIMS_SUPPORTED } from './claims.ts'
import type { Issuer } from './client-store.ts'
import { issuerOf } from './present.ts'

/** OpenID Connect Discovery 1.0 § 3. A tenant's own templates are not listed: their names may be telling. */
export function readDiscovery({ config }: Configured, of: Issuer): object {
  const issuer = issuerOf(config, of)
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    scopes_supported: ['openid', ...BUILTIN.map(({ key }) => scopeOf(key))],
    acr_values_supported: [acrOf(of)],
    claim_types_supported: ['normal'],
    claims_supported: CLAIMS_SUPPORTED,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    ui_locales_supported: LANGUAGES,
    service_documentation: `${config.publicUrl}/docs/openid-connect`,
  }
}

export const scopeOf = (template: string): string => `vidimus:${template}`

/** Every check of the verdict held. How sure the issuer was of the person is the issuer's to say. */
export const acrOf = ({ environment }: Issuer): string => `urn:vidimus:acr:${environment === 'live' ? 'verified' : 'test'}`
