// What the pages for Keycloak and other programs say of addresses and algorithms is what the service publishes.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Provider, startProvider, stopProviders } from '../oidc/provider.ts'

const PAGES = join(import.meta.dir, '../../src/handbook/pages/recipes')
const page = (name: string) => readFileSync(join(PAGES, name), 'utf8')

let provider: Provider
let published: Record<string, string & string[]>

beforeAll(async () => {
  provider = await startProvider()
  await provider.client({ redirect_uris: ['https://sso.example/realms/shop/broker/wallet/endpoint'] })
  published = (await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json()) as typeof published
})
afterAll(stopProviders)

test('keycloak.md has the addresses that the service publishes, takes no mail address for proven, and checks signatures', () => {
  const json = /^```json\n([\s\S]*?)^```$/m.exec(page('keycloak.md'))?.[1] ?? ''
  const { alias, trustEmail, config } = JSON.parse(json.replaceAll('https://verify.example/oidc/TENANT/live', provider.issuer))
  expect(config).toMatchObject({
    issuer: published.issuer,
    authorizationUrl: published.authorization_endpoint,
    tokenUrl: published.token_endpoint,
    userInfoUrl: published.userinfo_endpoint,
    jwksUrl: published.jwks_uri,
    validateSignature: 'true',
    pkceEnabled: 'true',
  })
  expect(published.token_endpoint_auth_methods_supported).toContain(config.clientAuthMethod)
  expect(published.code_challenge_methods_supported).toContain(config.pkceMethod)
  expect(trustEmail).toBe(false)
  expect(page('keycloak.md')).toContain(`/broker/${alias}/endpoint`)
})

test('openid-clients.md names only addresses that the service has', () => {
  const known = [published.authorization_endpoint, published.token_endpoint, published.userinfo_endpoint]
  const named = [...page('openid-clients.md').matchAll(/ISSUER(\/[\w./-]+)/g)].map(([, path = '']) => `${provider.issuer}${path}`)
  expect(named.length).toBeGreaterThan(5)
  expect(
    named.filter(url => !known.includes(url as string & string[]) && !url.endsWith('/.well-known/openid-configuration')),
  ).toEqual([])
})

test('openid-clients.md says of each program whether it was run', () => {
  const programs = page('openid-clients.md').split(/^## /m).slice(1)
  expect(programs.length).toBe(6)
  expect(programs.filter(text => !/\*\*(Not run|Run with)/.test(text))).toEqual([])
})
