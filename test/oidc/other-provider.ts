// `oidc-provider`, set up like ours: the code flow, PKCE for all but one client, no registration.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { type ClientName, LOOPBACK, REDIRECT } from './differential-cases.ts'
import { CHALLENGE, type Side } from './side.ts'

const SECRET = 'a-secret-of-thirty-two-characters'

const CLIENTS: Record<
  ClientName,
  { token_endpoint_auth_method: string; client_secret?: string; redirect_uris?: string[]; application_type?: string }
> = {
  secret: { token_endpoint_auth_method: 'client_secret_post', client_secret: SECRET },
  other: { token_endpoint_auth_method: 'client_secret_basic', client_secret: SECRET },
  old: { token_endpoint_auth_method: 'client_secret_post', client_secret: SECRET },
  public: { token_endpoint_auth_method: 'none', redirect_uris: [LOOPBACK], application_type: 'native' },
}

export async function startOther(): Promise<Side & { stop(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, resolve))
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  const keys = await Promise.all(
    ['RS256', 'ES256'].map(async alg => {
      const { privateKey } = await generateKeyPair(alg, { extractable: true })
      return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: alg }
    }),
  )
  const provider = new Provider(issuer, {
    clients: Object.entries(CLIENTS).map(([client_id, more]) => ({
      client_id,
      redirect_uris: [REDIRECT],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      ...more,
    })),
    jwks: { keys },
    cookies: { keys: ['a-key-for-cookies-of-this-test'], long: { sameSite: 'none' } },
    enableHttpPostMethods: true,
    allowOmittingSingleRegisteredRedirectUri: false,
    ttl: Object.fromEntries(['Interaction', 'Grant', 'Session', 'AccessToken', 'IdToken'].map(name => [name, 600])),
    renderError(ctx: { body: unknown }) {
      ctx.body = 'refused'
    },
    scopes: ['openid', 'vidimus:identity_basic'],
    responseTypes: ['code'],
    pkce: { required: (_: unknown, { clientId }: { clientId: string }) => clientId !== 'old' },
    features: { devInteractions: { enabled: false }, resourceIndicators: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  })
  server.on('request', provider.callback())
  return {
    issuer,
    authorizeUrl: `${issuer}/auth`,
    tokenUrl: `${issuer}/token`,
    clients: Object.fromEntries(
      Object.entries(CLIENTS).map(([id, { client_secret }]) => [id, { id, secret: client_secret }]),
    ) as Side['clients'],
    isBegun: location => location.includes('/interaction/'),
    async newCode(clientId, withChallenge) {
      const grant = new provider.Grant({ accountId: 'erika', clientId })
      grant.addOIDCScope('openid')
      const client = await provider.Client.find(clientId)
      const code = new provider.AuthorizationCode({
        accountId: 'erika',
        client,
        grantId: await grant.save(),
        redirectUri: CLIENTS[clientId].redirect_uris?.[0] ?? REDIRECT,
        scope: 'openid',
        nonce: 'the-nonce',
        authTime: Math.floor(Date.now() / 1000),
        ...(withChallenge && { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' }),
      })
      return await code.save()
    },
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
