// A program that people log in to, and the browser they use.
import { createHash, randomBytes } from 'node:crypto'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import { type ClientWithSecret, createClient } from '../../src/oidc/clients.ts'
import type { NewClient } from '../../src/oidc/schema.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { HostedVerification, PageReturn } from '../../src/verifications/schema.ts'
import type { Answer, Call, ErrorBody, TestApp } from './app.ts'
import { answerWith, fetchOf, holderOf } from './wallet.ts'

export const CALLBACK = 'https://shop.example/callback'

export type Place = { app: TestApp; tenant: string; environment?: 'test' | 'live' }
export type Party = Place & { client: ClientWithSecret }

export async function makeClient(place: Place, settings: Partial<NewClient> = {}): Promise<Party> {
  const { app, tenant, environment = 'test' } = place
  const wanted = { name: 'Wine shop', redirect_uris: [CALLBACK], templates: ['age_over_18'], ...settings }
  return { ...place, client: await createClient(app.deps, { tenantId: tenant, environment }, wanted, 'test') }
}

export const issuerPath = ({ tenant, environment = 'test' }: Place): string => `/oidc/${tenant}/${environment}`

type Kept = { value: string; path: string }

/** Cookies by name and path, as browsers keep them. */
export function openBrowser(app: Pick<TestApp, 'call'>) {
  const jar = new Map<string, Kept>()
  const cookiesFor = (path: string) =>
    [...jar]
      .filter(([, kept]) => path === kept.path || path.startsWith(`${kept.path}/`))
      .map(([name, { value }]) => `${name.split(' ')[0]}=${value}`)
      .join('; ')
  return {
    jar,
    async call<Body = Partial<ErrorBody>>(method: string, path: string, { headers, ...rest }: Call = {}): Promise<Answer<Body>> {
      const cookie = cookiesFor(path.split('?')[0]!)
      const own: Record<string, string> = method === 'POST' ? { 'sec-fetch-site': 'same-origin' } : {}
      const answer = await app.call<Body>(method, path, { ...rest, headers: { ...(cookie && { cookie }), ...own, ...headers } })
      for (const set of answer.headers.getSetCookie()) {
        const [, name = '', value = '', at = ''] = /^([^=]+)=([^;]*); Path=([^;]+)/.exec(set) ?? []
        jar.set(`${name} ${at}`, { value, path: at })
      }
      return answer
    },
  }
}

export type Browser = ReturnType<typeof openBrowser>

export const newVerifier = (): string => randomBytes(32).toString('base64url')
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

type Asked = Record<string, string | undefined>

export const authorizePath = (party: Party, asked: Asked = {}): string => {
  const fields = {
    client_id: party.client.id,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
    state: 'state-1',
    nonce: 'nonce-1',
    ...asked,
  }
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  return `${issuerPath(party)}/authorize?${new URLSearchParams(given)}`
}

/** A log-in that a browser began. */
export type Begun = { browser: Browser; id: string; returnPath: string; verifier: string }

export async function begin(party: Party, asked?: Asked, browser = openBrowser(party.app)): Promise<Begun> {
  const { begun, answer } = await tryToBegin(party, browser, asked)
  if (!begun) throw new Error(`not begun: ${answer.status} ${answer.headers.get('location')} ${answer.text}`)
  return begun
}

/** `begun` is undefined when it was refused. */
export async function tryToBegin(
  party: Party,
  browser: Browser,
  asked: Asked = {},
): Promise<{ answer: Answer; begun: Begun | undefined }> {
  const verifier = newVerifier()
  const pkce = { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }
  const before = new Set(browser.jar.keys())
  const answer = await browser.call('GET', authorizePath(party, { ...pkce, ...asked }))
  const id = /^https:\/\/verify\.example\/v\/(vs_\w+)$/.exec(answer.headers.get('location') ?? '')?.[1]
  if (answer.status !== 303 || !id) return { answer, begun: undefined }
  const own = [...browser.jar.entries()].find(([name]) => name.startsWith('__Secure-login') && !before.has(name))!
  return { answer, begun: { browser, id, returnPath: own[1].path, verifier } }
}

export const pageOf = async ({ browser, id }: Begun): Promise<HostedVerification> =>
  (await browser.call<HostedVerification>('GET', `/v/${id}/data`)).body

/** The wallet of the phone or computer that shows the page answers, and leads back; `qr` is on another phone. */
export async function answerLogin(
  { app }: Party,
  begun: Begun,
  {
    persona = 'adult',
    by = 'wallet_uri',
    ...options
  }: { persona?: PersonaId; by?: 'wallet_uri' | 'qr_uri' } & Parameters<typeof answerWith>[3] = {},
): Promise<string | undefined> {
  const uri = (await pageOf(begun))[by]
  if (!uri) throw new Error(`the page shows no ${by}`)
  const exchange = await answerWith(app, await holderOf(app, persona), uri, options)
  const redirect = (exchange as { answer?: { redirect_uri?: string } }).answer?.redirect_uri ?? redirectIn(exchange)
  if (by === 'wallet_uri') return codeIn(redirect)
  const { body } = await begun.browser.call<PageReturn>('POST', `/v/${begun.id}/return`)
  return codeIn(body.return_url)
}

const redirectIn = (exchange: object): string | undefined => /"redirect_uri":"([^"]+)"/.exec(JSON.stringify(exchange))?.[1]

const codeIn = (url: string | undefined): string | undefined => /#response_code=(.+)$/.exec(url ?? '')?.[1]

export const comeBack = (
  { browser, returnPath }: Pick<Begun, 'browser' | 'returnPath'>,
  response_code?: string,
  headers: Record<string, string> = {},
) =>
  browser.call<{ location?: string } & Partial<ErrorBody>>('POST', returnPath, {
    body: response_code === undefined ? {} : { response_code },
    headers,
  })

/** The parameters that the client gets. */
export const answerIn = (location: string | null | undefined): Record<string, string> =>
  Object.fromEntries(new URL(location ?? '').searchParams)

export type Tokens = { access_token: string; id_token: string; scope: string; token_type: string; expires_in: number }
export type TokenAnswer = Answer<Tokens & { error?: string; error_description?: string }>

type Exchange = {
  code: string | undefined
  verifier?: string | undefined
  form?: Record<string, string>
  headers?: Record<string, string>
}

/** By the secret in the header, where the client has one. */
export function exchange(party: Party, { code = '', verifier, form = {}, headers }: Exchange): Promise<TokenAnswer> {
  const { app, client } = party
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: CALLBACK,
    ...(verifier !== undefined && { code_verifier: verifier }),
    ...(client.auth === 'none' && { client_id: client.id }),
    ...form,
  }
  return app.call('POST', `${issuerPath(party)}/token`, {
    raw: new URLSearchParams(fields).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(headers ?? (client.client_secret ? { authorization: basic(client.id, client.client_secret) } : {})),
    },
  })
}

export const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

export const userinfo = (party: Party, token: string) =>
  party.app.call<Record<string, unknown>>('GET', `${issuerPath(party)}/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  })

/** Verified as a client does: by the published keys, the issuer and the audience. */
export async function readIdToken(party: Party, token: string): Promise<{ header: object; claims: JWTPayload }> {
  const { app, client } = party
  const url = `${app.deps.config.publicUrl}${issuerPath(party)}`
  const keys = createRemoteJWKSet(new URL(`${app.url}${issuerPath(party)}/jwks`))
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer: url,
    audience: client.id,
    currentDate: new Date(app.clock.now()),
  })
  return { header: protectedHeader, claims: payload }
}

/** From the first redirect to the tokens. */
export async function logIn(party: Party, options: Parameters<typeof answerLogin>[2] & { asked?: Asked } = {}) {
  const { asked, ...answering } = options
  const begun = await begin(party, asked)
  const response = await answerLogin(party, begun, answering)
  const { body } = await comeBack(begun, response)
  const answer = answerIn(body.location)
  const tokens = await exchange(party, { code: answer.code, verifier: begun.verifier })
  return { begun, answer, tokens }
}

export { fetchOf }
