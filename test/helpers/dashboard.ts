import type { Session } from '../../src/people/schema.ts'
import { openSetup } from '../../src/people/users/setup.ts'
import { inviteUser } from '../../src/people/users/users.ts'
import { type Answer, type ErrorBody, startWithTenant, type TestApp } from './app.ts'

export const PASSWORD = 'orchard lantern 8 crisp'
export const ORIGIN = 'https://verify.example'

type Request = { body?: unknown; raw?: string; headers?: Record<string, string> }

/** The address the browser has, and the origin its page is of. */
type Where = { from?: string; origin?: string }

export type Browser = ReturnType<typeof openBrowser>

/** A browser at the dashboard: keeps its cookie, and sends what a page of our own origin sends. */
export function openBrowser(app: Pick<TestApp, 'call'>, { from, origin = ORIGIN }: Where = {}) {
  /** `cookie`: the session. `known`: those of a browser that logged in before. */
  const state: { cookie?: string; csrf?: string; known: string[] } = { known: [] }
  let own: Record<string, string> = from === undefined ? {} : { 'x-forwarded-for': from }

  const headersOf = (method: string): Record<string, string> => ({
    ...own,
    'user-agent': 'Test browser/1.0',
    ...cookiesOf([state.cookie, ...state.known]),
    ...(method !== 'GET' && {
      origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
      ...(state.csrf !== undefined && { 'x-csrf-token': state.csrf }),
    }),
  })

  async function send<Body = ErrorBody>(method: string, path: string, { body = {}, raw, headers = {} }: Request = {}) {
    const sent = Object.entries({ ...headersOf(method), ...headers }).filter(([, value]) => value !== '')
    const answer = await app.call<Body>(method, `/dashboard/api${path}`, {
      headers: Object.fromEntries(sent),
      ...(method !== 'GET' && { raw: raw ?? JSON.stringify(body) }),
    })
    keep(answer)
    return answer
  }

  function keep(answer: Answer<unknown>): void {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const [name = ''] = pair.split('=')
      if (name.endsWith('-session')) state.cookie = pair.endsWith('=') ? undefined : pair
      else state.known = [...state.known.filter(each => !each.startsWith(`${name}=`)), pair]
    }
    const { csrf_token } = (answer.body ?? {}) as Partial<Session>
    if (csrf_token !== undefined) state.csrf = csrf_token
  }

  return {
    state,
    /** Another address from now on. */
    from: (address: string) => {
      own = { 'x-forwarded-for': address }
    },
    get: <Body = ErrorBody>(path: string, request?: Request) => send<Body>('GET', path, request),
    post: <Body = ErrorBody>(path: string, body: unknown = {}, request: Request = {}) =>
      send<Body>('POST', path, { body, ...request }),
    put: <Body = ErrorBody>(path: string, body: unknown = {}, request: Request = {}) =>
      send<Body>('PUT', path, { body, ...request }),
    delete: <Body = ErrorBody>(path: string, body: unknown = {}, request: Request = {}) =>
      send<Body>('DELETE', path, { body, ...request }),
    send,
    logIn: (name: string, password = PASSWORD) => send<Session & ErrorBody>('POST', '/login', { body: { name, password } }),
  }
}

const cookiesOf = (pairs: (string | undefined)[]): Record<string, string> => {
  const cookie = pairs.filter(pair => pair !== undefined).join('; ')
  return cookie === '' ? {} : { cookie }
}

export const tokenOf = (url: string | null): string => url?.split('=').at(-1) ?? ''

/** The first user, set up through the door. */
export async function setUpOwner(app: TestApp, name = 'olivia', at: string | Where = {}): Promise<Browser> {
  const browser = openBrowser(app, typeof at === 'string' ? { from: at } : at)
  const answer = await browser.post('/setup', { token: tokenOf(await openSetup(app.deps)), name, password: PASSWORD })
  if (answer.status !== 201) throw new Error(`not set up: ${answer.status} ${answer.text}`)
  return browser
}

/** A user of one tenant, who has chosen a password by the link. */
export async function joinMember(
  app: TestApp,
  tenantId: string,
  name: string,
  role?: 'member' | 'viewer',
  origin?: string,
): Promise<Browser> {
  const { url } = await inviteUser(app.deps, { name, memberOf: tenantId, role }, 'test')
  const browser = openBrowser(app, { origin })
  const answer = await browser.post('/choose-password', { token: tokenOf(url), password: PASSWORD })
  if (answer.status !== 200) throw new Error(`not joined: ${answer.status} ${answer.text}`)
  return browser
}

/** The service with a tenant, and an owner who is logged in. */
export async function startOwned(...options: Parameters<typeof startWithTenant>) {
  const started = await startWithTenant(...options)
  return { ...started, boss: await setUpOwner(started.app) }
}

export { outcome } from './app.ts'
