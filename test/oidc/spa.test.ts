// `oidc-client-ts` in Chromium: a page that holds no secret, and asks for tokens across origins.
import { afterAll, beforeAll, expect } from 'bun:test'
import { join } from 'node:path'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { browserTest, type OpenPage } from '../helpers/browser.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'
import { type Client, type Provider, startProvider, stopProviders } from './provider.ts'

let provider: Provider
let client: Client
let shop: ReturnType<typeof Bun.serve>
let origin: string

const page = () =>
  `<!doctype html><title>Wine club</title><button>Log in</button><output></output>
<script src="/page.js" data-authority="${provider.issuer}" data-client-id="${client.id}"></script>`

beforeAll(async () => {
  const { outputs } = await Bun.build({ entrypoints: [join(import.meta.dir, 'spa/page.ts')], target: 'browser', format: 'iife' })
  const script = await outputs[0]!.text()
  shop = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      new URL(url).pathname === '/page.js'
        ? new Response(script, { headers: { 'content-type': 'text/javascript' } })
        : new Response(page(), { headers: { 'content-type': 'text/html' } }),
  })
  origin = `http://localhost:${shop.port}`
  provider = await startProvider()
  client = await provider.client({ redirect_uris: [`${origin}/callback`], auth: 'none' })
})
afterAll(async () => {
  await shop.stop(true)
  stopProviders()
})

type Profile = { refused?: string; error?: string; message?: string } & Record<string, unknown>

/** The wallet of the same phone: it opens the way back in the browser that asked. */
async function logIn(openPage: OpenPage, { persona = 'adult' as PersonaId, back = (url: string) => url } = {}): Promise<Profile> {
  const page = await openPage(origin)
  await page.goto('/')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(/\/v\/vs_\w+$/)
  const walletUri = await page.evaluate(async () => {
    const data = (await (await fetch(`${location.pathname}/data`)).json()) as { wallet_uri?: string }
    return data.wallet_uri ?? ''
  })
  const { redirectUri = '' } = await answerWith(provider.app, await holderOf(provider.app, persona), walletUri)
  await page.route(
    `${origin}/callback?*`,
    route => {
      const url = route.request().url()
      if (back(url) === url) return route.continue()
      return route.fulfill({ status: 303, headers: { location: back(url) } })
    },
    { times: 1 },
  )
  await page.goto(redirectUri)
  await page.waitForURL(`${origin}/callback?*`)
  const shown = page.locator('output', { hasText: '{' })
  return JSON.parse((await shown.textContent()) ?? '') as Profile
}

browserTest('oidc-client-ts logs in without a secret, and reads userinfo across origins', async openPage => {
  expect(await logIn(openPage)).toMatchObject({ sub: expect.stringMatching(/^[\w-]{43}$/), given_name: 'Erika' })
})

browserTest('oidc-client-ts refuses another state, and gets the reason of a customer who declined', async openPage => {
  const other = (url: string) => url.replace(/state=[^&]+/, 'state=another')
  expect(await logIn(openPage, { back: other })).toMatchObject({ message: 'No matching state found in storage' })
  expect(await logIn(openPage, { persona: 'declines' })).toMatchObject({ refused: 'ErrorResponse', error: 'access_denied' })
})

// It relies on TLS and PKCE, as OpenID Connect Core 3.1.3.7 allows: a page needs to trust the connection for its own script, too.
browserTest(
  'oidc-client-ts looks at neither issuer, nonce nor signature of an ID token, as openid-connect.md says',
  async openPage => {
    for (const what of ['iss', 'nonce', 'signature'] as const) {
      provider.spoil(what)
      expect([what, (await logIn(openPage)).refused]).toEqual([what, undefined])
    }
    provider.spoil('nothing')
  },
)
