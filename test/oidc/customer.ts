// A customer who logs in: a browser without scripts that does what the pages' scripts do, and a wallet.
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { TestApp } from '../helpers/app.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

type Cookie = { name: string; value: string; path: string }

export type Browser = {
  /** Follows no redirect, and keeps cookies. */
  open(address: string | URL, init?: RequestInit): Promise<Response>
}

/** Cookies by path only: all of them are of one host. */
export function browser(): Browser {
  const jar = new Map<string, Cookie>()
  return {
    async open(address, init = {}) {
      const { pathname } = new URL(address)
      const sent = [...jar.values()].filter(({ path }) => pathname === path || pathname.startsWith(`${path.replace(/\/$/, '')}/`))
      const headers = new Headers(init.headers)
      if (sent.length > 0) headers.set('cookie', sent.map(({ name, value }) => `${name}=${value}`).join('; '))
      const response = await fetch(address, { ...init, headers, redirect: 'manual' })
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        const path = /; *path=([^;]+)/i.exec(line)?.[1] ?? '/'
        jar.set(`${name} ${path}`, { name, value, path })
      }
      return response
    },
  }
}

export type Login = { browser: Browser; pageUrl: string; walletUri: string }

/** From the shop's redirect to the page with the request for the wallet. */
export async function begin(authorizeUrl: string | URL, by: Browser = browser()): Promise<Login> {
  const begun = await by.open(authorizeUrl)
  const pageUrl = begun.headers.get('location') ?? ''
  if (begun.status !== 303 || !/\/v\/vs_\w+$/.test(pageUrl))
    throw new Error(`not begun: ${begun.status} ${pageUrl} ${await begun.text()}`)
  const data = (await (await by.open(`${pageUrl}/data`)).json()) as { wallet_uri?: string }
  return { browser: by, pageUrl, walletUri: data.wallet_uri ?? '' }
}

/** Where the wallet leads its browser: the way back, with the one-time code in the fragment. */
export async function answered(app: TestApp, login: Login, persona: PersonaId = 'adult'): Promise<string> {
  const { redirectUri, body } = await answerWith(app, await holderOf(app, persona), login.walletUri)
  if (redirectUri === undefined) throw new Error(`the wallet was not led back: ${JSON.stringify(body)}`)
  return redirectUri
}

/** What the script of the way back does. */
export async function comeBack({ browser }: Pick<Login, 'browser'>, redirectUri: string): Promise<Response> {
  const { origin, pathname, hash } = new URL(redirectUri)
  const code = new URLSearchParams(hash.slice(1)).get('response_code')
  return await browser.open(`${origin}${pathname}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify(code === null ? {} : { response_code: code }),
  })
}

/** The whole of a log-in: the address at the shop that the browser is sent to. */
export async function logIn(app: TestApp, authorizeUrl: string | URL, persona?: PersonaId): Promise<URL> {
  const login = await begin(authorizeUrl)
  const back = await comeBack(login, await answered(app, login, persona))
  const { location } = (await back.json()) as { location?: string }
  if (location === undefined) throw new Error(`no way back: ${back.status}`)
  return new URL(location)
}
