// A log-in by OpenID Connect beside the exchange with a wallet that it contains. The page that the customer sees, and the
// wallet's own work, are not measured: they are the same for both.
import { createHash, randomBytes } from 'node:crypto'
import { loadConfig } from '../../src/config.ts'
import { createDeps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { answer, fetchRequest, type Holder } from '../../src/sandbox/wallet/wallet.ts'
import { cycleRound, FORMATS, type Format, holderFor, TO_WARM_UP } from './exchange.ts'
import { inFlight, json } from './in-flight.ts'
import { atMost, type Spread, shown, spreadOf, table } from './output.ts'
import { command, cpuMs, environmentFor, makeTenant, type Server, startService, temporaryDir } from './service.ts'

const ROUNDS = 3
const LOGINS_A_ROUND = 2000
const IN_FLIGHT = 32
const ALGORITHMS = ['ES256', 'RS256'] as const
/** Of the exchange; for ES256. */
const RATIO_MAXIMUM = 1.5
const REDIRECT = 'https://club.example/callback'
const PHASES = ['authorize', 'fetch', 'respond', 'return', 'token', 'userinfo'] as const
type Phase = (typeof PHASES)[number]

type LoginFigures = {
  format: Format
  algorithm: (typeof ALGORITHMS)[number]
  logins_per_second: Spread | null
  server_cpu_us_per_login: Spread | null
  phases_cpu_us: Record<Phase, Spread | null>
  server_cpu_us_per_exchange: Spread | null
  /** Of the exchange of the same round and format. */
  cpu_ratio: Spread | null
}

export type LoginReport = { logins: number; rounds: number; ratio_maximum: number; kinds: LoginFigures[] }

type Client = { id: string; client_secret: string; path: string }

type Round = Awaited<ReturnType<typeof loginRound>>

export async function benchLogin(): Promise<LoginReport> {
  const dir = temporaryDir()
  const { id: tenant, key } = await makeTenant(dir)
  const service = await startService(dir)
  const deps = await createDeps(
    { ...loadConfig(environmentFor(dir)), publicUrl: `http://localhost:${service.port}` },
    realWorld(),
    'command',
  )
  const clients = new Map<string, Client>()
  for (const algorithm of ALGORITHMS) {
    const flags = ['--redirect-uri', REDIRECT, '--template', 'age_over_18', '--id-token-alg', algorithm]
    const call = ['client', 'create', '--tenant', tenant, '--env', 'test', '--name', algorithm, ...flags]
    const made = await command<Omit<Client, 'path'>>(dir, [...call, '--logins-per-hour', '100000'])
    clients.set(algorithm, { ...made, path: `/oidc/${tenant}/test` })
  }
  const kinds: LoginFigures[] = []
  for (const format of FORMATS) {
    const holder = await holderFor(deps, format)
    const exchange = () => cycleRound([service], key, holder, LOGINS_A_ROUND)
    const logIn = (algorithm: string) => loginRound(service, clients.get(algorithm)!, holder)
    for (let warmed = 0; warmed < TO_WARM_UP; warmed += LOGINS_A_ROUND)
      for (const act of [exchange, ...ALGORITHMS.map(algorithm => () => logIn(algorithm))]) await act()
    const rounds: { exchangeUs: number | null; logins: Map<string, Round> }[] = []
    // By turns, because a machine is faster in one minute than in the next.
    for (let turn = 0; turn < ROUNDS; turn++) {
      const { cpuMs: used } = await exchange()
      const logins = new Map<string, Round>()
      for (const algorithm of ALGORITHMS) logins.set(algorithm, await logIn(algorithm))
      rounds.push({ exchangeUs: used === undefined ? null : (used * 1000) / LOGINS_A_ROUND, logins })
    }
    for (const algorithm of ALGORITHMS)
      kinds.push({
        format,
        algorithm,
        ...figuresOf(
          rounds.map(({ logins }) => logins.get(algorithm)!),
          rounds.map(({ exchangeUs }) => exchangeUs),
        ),
      })
  }
  await deps.close()
  await service.stop()
  return { logins: LOGINS_A_ROUND, rounds: ROUNDS, ratio_maximum: RATIO_MAXIMUM, kinds }
}

function figuresOf(rounds: Round[], exchanges: (number | null)[]): Omit<LoginFigures, 'format' | 'algorithm'> {
  const isCounted = cpuMs(process.pid) !== undefined
  const us = ({ cpu }: Round, ...phases: readonly Phase[]) =>
    isCounted ? (phases.reduce((sum, phase) => sum + cpu[phase], 0) * 1000) / LOGINS_A_ROUND : null
  return {
    logins_per_second: spreadOf(rounds.map(({ seconds }) => LOGINS_A_ROUND / seconds)),
    server_cpu_us_per_login: spreadOf(rounds.map(round => us(round, ...PHASES))),
    phases_cpu_us: Object.fromEntries(PHASES.map(phase => [phase, spreadOf(rounds.map(round => us(round, phase)))])) as Record<
      Phase,
      Spread | null
    >,
    server_cpu_us_per_exchange: spreadOf(exchanges),
    cpu_ratio: spreadOf(
      rounds.map((round, i) => (isCounted ? (us(round, ...PHASES) ?? 0) / (exchanges[i] ?? Number.NaN) : null)),
    ),
  }
}

type Login = { page: string; cookies: string[]; verifier: string; walletUri: string }

/** Phase by phase, because the wallet's work lies in between. */
async function loginRound(service: Server, client: Client, holder: Holder) {
  const base = `http://127.0.0.1:${service.port}`
  const issuer = `${base}${client.path}`
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const cpu = {} as Record<Phase, number>
  let seconds = 0
  const phase = async <In, Out>(name: Phase, inputs: In[], act: (input: In) => Promise<Out>): Promise<Out[]> => {
    const [cpuBefore, startedAt] = [cpuMs(service.pid) ?? 0, performance.now()]
    const outputs = await inFlight(IN_FLIGHT, inputs, act)
    seconds += (performance.now() - startedAt) / 1000
    cpu[name] = (cpuMs(service.pid) ?? 0) - cpuBefore
    return outputs
  }

  const verifiers = Array.from({ length: LOGINS_A_ROUND }, () => randomBytes(32).toString('base64url'))
  const begun = await phase('authorize', verifiers, async verifier => {
    const response = await fetch(`${issuer}/authorize?${requestOf(client, verifier)}`, { redirect: 'manual' })
    const cookies = response.headers.getSetCookie().map(line => line.split(';', 1)[0] ?? '')
    return { verifier, cookies, page: response.headers.get('location') ?? '' }
  })
  const shown = await inFlight(IN_FLIGHT, begun, async (login): Promise<Login> => {
    const headers = { cookie: login.cookies.join('; ') }
    const { wallet_uri: walletUri } = await json<{ wallet_uri: string }>(`${base}${new URL(login.page).pathname}/data`, {
      headers,
    })
    return { ...login, walletUri }
  })
  const fetched = await phase('fetch', shown, async ({ page }) =>
    (await fetch(`${base}/wallet/request/${page.split('/').at(-1)}`)).text(),
  )
  const answers = await inFlight(
    IN_FLIGHT,
    shown.map((login, i) => ({ login, text: fetched[i] ?? '' })),
    async ({ login, text }) => {
      const served = async () => new Response(text, { headers: { 'content-type': 'application/oauth-authz-req+jwt' } })
      const request = await fetchRequest(login.walletUri, served, { now: Date.now() })
      return { login, body: (await answer(request, holder, { now: Date.now() })).form.toString() }
    },
  )
  const answered = await phase('respond', answers, async ({ login, body }) => {
    const url = `${base}/wallet/response/${login.page.split('/').at(-1)}`
    const { redirect_uri } = await json<{ redirect_uri: string }>(url, { method: 'POST', headers: form, body })
    return { login, redirect: new URL(redirect_uri) }
  })
  const returned = await phase('return', answered, async ({ login, redirect }) => {
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', cookie: login.cookies.join('; ') }
    const body = JSON.stringify({ response_code: new URLSearchParams(redirect.hash.slice(1)).get('response_code') })
    const { location } = await json<{ location: string }>(`${base}${redirect.pathname}`, { method: 'POST', headers, body })
    return { verifier: login.verifier, code: new URL(location).searchParams.get('code') ?? '' }
  })
  const tokens = await phase('token', returned, ({ verifier, code }) =>
    json<{ access_token: string }>(`${issuer}/token`, {
      method: 'POST',
      headers: form,
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        redirect_uri: REDIRECT,
        client_id: client.id,
        client_secret: client.client_secret,
        code_verifier: verifier,
        code,
      }),
    }),
  )
  const people = await phase('userinfo', tokens, ({ access_token }) =>
    json<{ age_over_18: boolean }>(`${issuer}/userinfo`, { headers: { authorization: `Bearer ${access_token}` } }),
  )
  if (people.some(({ age_over_18 }) => age_over_18 !== true)) throw new Error('a log-in ended without its claim')
  return { seconds, cpu }
}

const requestOf = ({ id }: Client, verifier: string): URLSearchParams =>
  new URLSearchParams({
    client_id: id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
    state: verifier.slice(0, 20),
    nonce: verifier.slice(20),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })

export const describeLogin = ({ logins, rounds, ratio_maximum, kinds }: LoginReport): string =>
  `Log-ins by OpenID Connect, ${rounds} rounds of ${logins} each, beside the exchange of the same round.

${table(
  ['format', 'ID token', 'log-ins/s', ...PHASES.map(phase => `${phase}, us`), 'CPU us/log-in', '/exchange', 'ratio', 'aim'],
  kinds.map(({ format, algorithm, ...each }) => [
    format,
    algorithm,
    shown(each.logins_per_second, 0),
    ...PHASES.map(phase => shown(each.phases_cpu_us[phase], 0)),
    shown(each.server_cpu_us_per_login, 0),
    shown(each.server_cpu_us_per_exchange, 0),
    shown(each.cpu_ratio, 2),
    algorithm === 'ES256' ? atMost(each.cpu_ratio, ratio_maximum) : '',
  ]),
)}`
