// Measures the delay of one tenant's small requests beside the dearest legal ones of another, and in the same run beside the
// bare framework, which reads the same bytes and throws them away.
import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { join } from 'node:path'
import {
  type DearAnswer,
  dearAnswers,
  deepJson,
  longMetadata,
  longQuery,
  manyAlternatives,
  type Sent,
  tooManyValues,
} from './dear-requests.ts'
import type { VictimReport, Watch } from './dear-victim.ts'
import { fixed, table } from './output.ts'
import { command, makeTenant, type Server, startFloor, startService, temporaryDir } from './service.ts'

const SESSIONS = 100
const AT_ONCE = 10
const MEASURED_MS = 2000
const SETTLED_MS = 200
/** The worst delay that is allowed beyond the cryptography of one answer. */
export const DELAY_MS_MAX = 50

type Delay = { p50: number; p99: number; max: number }
export type DearFigures = {
  name: string
  /** Answers by status. */
  statuses: Record<string, number>
  floor: Delay
  service: Delay
  /** The longest of the dear requests themselves. */
  slowest_ms: number
  crypto_ms: number
  ratio: number
}
export type DearReport = { aim_ms: number; quiet: Delay; cases: DearFigures[] }

type Dear = { name: string; signatures: number; send: (target: Server) => Promise<Response> }

/** `tell`: called after each case. `only`: the cases whose name contains it. */
export async function benchDear(tell: (figures: DearFigures) => void, only = ''): Promise<DearReport> {
  const dir = temporaryDir()
  const env = { VIDIMUS_RATE_LIMIT_SCALE: '1', VIDIMUS_TRUSTED_PROXIES: '127.0.0.1', VIDIMUS_WALLET_PROFILE: 'plain' }
  const attacker = await makeTenant(dir)
  const { id } = await command<{ id: string }>(dir, ['tenant', 'create', '--name', 'Other', '--daily-quota', '10000000'])
  const { key } = await command<{ key: string }>(dir, ['key', 'create', '--tenant', id, '--env', 'live'])
  const service = await startService(dir, env)
  const floor = await startFloor(temporaryDir())
  const victim = await startVictim(service, key)
  const beside = await startVictim(floor, key)
  const cases: DearFigures[] = []
  const dears = await prepare(service, attacker)
  // Each once before anything is measured: what is loaded with a first use delays once in the life of a process.
  for (const { send } of dears) await (await send(service)).bytes()
  await Bun.sleep(MEASURED_MS)
  const quiet = await victim.tell()
  const verifyMs = measureVerify()
  for (const dear of dears.filter(({ name }) => name.includes(only))) {
    const below = await measure(dear, floor, beside)
    const own = await measure(dear, service, victim)
    const [floorDelay, delay] = [less(below.delay, quiet), less(own.delay, quiet)]
    const figures = {
      name: dear.name,
      statuses: own.statuses,
      floor: floorDelay,
      service: delay,
      slowest_ms: own.slowestMs,
      crypto_ms: dear.signatures * verifyMs,
      ratio: delay.max / Math.max(1, floorDelay.max),
    }
    cases.push(figures)
    tell(figures)
  }
  victim.stop()
  beside.stop()
  await service.stop()
  await floor.stop()
  return { aim_ms: DELAY_MS_MAX, quiet, cases }
}

/** Beyond what they take in quiet. */
const less = ({ p50, p99, max }: Delay, quiet: Delay): Delay => ({
  p50: Math.max(0, p50 - quiet.p50),
  p99: Math.max(0, p99 - quiet.p50),
  max: Math.max(0, max - quiet.p50),
})

async function startVictim({ port }: Server, key: string) {
  const worker = new Worker(join(import.meta.dir, 'dear-victim.ts'))
  const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '203.0.113.7' }
  const body = JSON.stringify({ template: 'age_over_18' })
  const requests: Watch['requests'] = [
    { method: 'POST', path: '/v1/verifications', headers, body },
    ...Array.from({ length: 9 }, () => ({ method: 'GET', path: '/v1/verifications?limit=1', headers })),
  ]
  worker.postMessage({ port, requests } satisfies Watch)
  return {
    async tell(): Promise<Delay> {
      const told = Promise.withResolvers<VictimReport>()
      worker.onmessage = ({ data }) => told.resolve(data)
      worker.postMessage('tell')
      const { ms } = await told.promise
      const sorted = ms.toSorted((a, b) => a - b)
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
      return { p50: at(0.5), p99: at(0.99), max: at(1) }
    },
    stop: () => worker.terminate(),
  }
}

type Measured = { delay: Delay; statuses: Record<string, number>; slowestMs: number }

async function measure({ send }: Dear, target: Server, victim: Awaited<ReturnType<typeof startVictim>>): Promise<Measured> {
  await Bun.sleep(SETTLED_MS)
  await victim.tell()
  const statuses: Record<string, number> = {}
  let slowestMs = 0
  const endsAt = performance.now() + MEASURED_MS
  const client = async () => {
    while (performance.now() < endsAt) {
      const begun = performance.now()
      const answer = await send(target)
      await answer.bytes()
      slowestMs = Math.max(slowestMs, performance.now() - begun)
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      if (answer.status === 429) await Bun.sleep(100)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  return { delay: await victim.tell(), statuses, slowestMs }
}

let stranger = 0
/** Another one each time: budgets of addresses do not stop those who have many. */
const newAddress = (): string => `198.18.${(stranger >> 8) & 255}.${stranger++ & 255}`

async function ask({ port }: Server, { method, path, body, type = 'application/json', headers = {} }: Sent): Promise<Response> {
  return await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    // The dashboard refuses plain http through a proxy.
    headers: {
      ...(!headers.cookie && { 'x-forwarded-for': newAddress() }),
      ...(body !== undefined && { 'content-type': type }),
      ...headers,
    },
    body,
  })
}

async function prepare(service: Server, { id, key }: { id: string; key: string }): Promise<Dear[]> {
  const headers = { authorization: `Bearer ${key}` }
  const creation = (body: object): Sent => ({ method: 'POST', path: '/v1/verifications', headers, body: JSON.stringify(body) })
  const create = async (body: object) => {
    for (;;) {
      const answer = await ask(service, creation(body))
      if (answer.status === 201) return ((await answer.json()) as { id: string }).id
      if (answer.status !== 429) throw new Error(`a dear session was answered ${answer.status}: ${await answer.text()}`)
      await Bun.sleep(1000)
    }
  }
  const cookie = await logIn(service)
  const page = `/dashboard/api/tenants/${id}/verifications`
  const get = (name: string, path: string, own: Record<string, string> = headers): Dear => ({
    name,
    signatures: 0,
    send: target => ask(target, { method: 'GET', path, headers: own }),
  })
  const post = (name: string, sent: Sent): Dear => ({ name, signatures: 0, send: target => ask(target, sent) })
  const answers = await Promise.all(dearAnswers.map(answer => dearAnswer(service, create, answer)))
  const pages = await Promise.all(Array.from({ length: AT_ONCE }, () => create({ query: manyAlternatives })))
  let next = 0
  const metadata = await Promise.all(
    Array.from({ length: SESSIONS }, () => create({ template: 'age_over_18', metadata: longMetadata })),
  )
  const before = new Date(Date.now() + 1).toISOString()
  await Promise.all(Array.from({ length: SESSIONS }, () => create({ query: longQuery })))
  return [
    {
      name: 'page of 500 alternatives',
      signatures: 0,
      send: target => ask(target, { method: 'GET', path: `/v/${pages[next++ % pages.length]}/data` }),
    },
    get('list of 100, queries of 63 KB', '/v1/verifications?limit=100'),
    get(`list of ${metadata.length}, long metadata`, `/v1/verifications?limit=100&before=${before}`),
    get('dashboard list of 100, long metadata', `${page}?environment=test&limit=100&before=${before}`, { cookie }),
    get('dashboard list of 100, queries', `${page}?environment=test&limit=100`, { cookie }),
    get('audit page of 100', `/dashboard/api/tenants/${id}/audit?limit=100`, { cookie }),
    post('creation, query of 63 KB', creation({ query: longQuery })),
    post('creation, long metadata', creation({ template: 'age_over_18', metadata: longMetadata })),
    post('creation, 10,100 values', creation({ query: tooManyValues })),
    post('creation, deep JSON', { ...creation({}), body: deepJson }),
    ...answers,
  ]
}

/** Each answer is posted to a session of its own until one was recorded; then to the next. */
async function dearAnswer(
  service: Server,
  create: (body: object) => Promise<string>,
  { name, query, token, signatures }: DearAnswer,
): Promise<Dear> {
  const text = JSON.stringify(await token())
  const sessions = await Promise.all(Array.from({ length: AT_ONCE }, () => create({ query })))
  const forms = await Promise.all(
    sessions.map(async id => {
      const request = await (await ask(service, { method: 'GET', path: `/wallet/request/${id}` })).text()
      const { state } = JSON.parse(Buffer.from(request.split('.')[1] ?? '', 'base64url').toString()) as { state: string }
      return { path: `/wallet/response/${id}`, body: new URLSearchParams({ vp_token: text, state }).toString() }
    }),
  )
  let next = 0
  return {
    name,
    signatures,
    send: target => ask(target, { method: 'POST', type: 'application/x-www-form-urlencoded', ...forms[next++ % forms.length]! }),
  }
}

async function logIn({ setupUrl, port }: Server): Promise<string> {
  const { origin } = new URL(setupUrl ?? '')
  const answer = await fetch(`http://localhost:${port}/dashboard/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ token: setupUrl?.split('=').at(-1), name: 'bench', password: 'orchard lantern 8 crisp' }),
  })
  if (answer.status !== 201) throw new Error(`the set-up answered ${answer.status}`)
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** One signature of P-256, on this machine and now. */
function measureVerify(): number {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicKey = createPublicKey(privateKey)
  const signature = sign('sha256', Buffer.from('text'), privateKey)
  const begun = performance.now()
  for (let i = 0; i < 500; i++) verify('sha256', Buffer.from('text'), publicKey, signature)
  return (performance.now() - begun) / 500
}

export function describeDear({ aim_ms, quiet, cases }: DearReport): string {
  const rows = cases.map(({ name, statuses, floor, service, slowest_ms, crypto_ms, ratio }) => [
    name,
    Object.entries(statuses)
      .map(([status, count]) => `${count} x ${status}`)
      .join(', '),
    ...[floor.max, service.p50, service.p99, service.max, crypto_ms, slowest_ms].map(ms => fixed(ms, 1)),
    fixed(ratio, 1),
    service.max - crypto_ms <= aim_ms ? 'met' : 'missed',
  ])
  return [
    `Small requests of one tenant while ${AT_ONCE} clients of another send the dearest ones for ${MEASURED_MS} ms: the delay beyond ${fixed(quiet.p50, 2)} ms in quiet (worst ${fixed(quiet.max, 1)} ms).`,
    '',
    table(
      [
        'dear request',
        'answers',
        'floor worst ms',
        'p50 ms',
        'p99 ms',
        'worst ms',
        'cryptography ms',
        'itself ms',
        'of floor',
        `at most ${aim_ms} ms`,
      ],
      rows,
    ),
  ].join('\n')
}
