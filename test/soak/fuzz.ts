// The fuzz of test/fuzz against a service of its own process, until the time is over: `bun test/soak/fuzz.ts [--seed N] [--minutes M]`.
import fc from 'fast-check'
import { curlLine } from '../fuzz/curl-line.ts'
import { problemsWith } from '../fuzz/judge.ts'
import { meaningOf, PASSWORD, SHOP } from '../fuzz/meanings.ts'
import { type Operation, readSurface } from '../fuzz/operations.ts'
import { type Cast, type Header, type Scene, setScene } from '../fuzz/scene.ts'
import { type Shape, shapesOf } from '../fuzz/shapes.ts'
import { asUser } from '../fuzz/spent.ts'
import { openWires } from '../fuzz/wire.ts'
import { temporaryDir } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/cli.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { residentMb, serviceOn } from './service.ts'

const MINUTE_MS = 60_000
const CASES_PER_ROUND = 200
/** Passwords are checked at their real cost here. */
const PASSWORD_CASES_PER_ROUND = 10
const PASSWORDS = /\/(login|logout|password|choose-password|reauthenticate|setup|sessions(\/\{id\})?)$/
const VIOLATIONS_MAX = 20
const PUBLIC_URL = 'https://verify.example'
const SCOPES = 'verifications:create,verifications:read,verifications:delete,devices:manage'

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const until = Date.now() + minutes * MINUTE_MS
const surface = readSurface()
const dir = temporaryDir()
const server = await serviceOn(dir, { VIDIMUS_PUBLIC_URL: PUBLIC_URL, VIDIMUS_LOG: 'error' })
const wires = openWires({ hostname: '127.0.0.1', port: Number(new URL(server.url).port) })
const scene = await setScene(wires, await castOf(dir))

const counts = {
  rounds: 0,
  cases: 0,
  valid: 0,
  near: 0,
  hostile: 0,
  succeeded: 0,
  refused: 0,
  rss_mb_start: rssMb(),
  rss_mb_end: 0,
}
const violations: string[] = []
const answerMs: number[] = []

for (let each = seed; Date.now() < until && violations.length < VIOLATIONS_MAX; each++) {
  await logIn(scene.must, scene.cast, 'owner', 'olivia')
  for (const operation of surface.operations) if (Date.now() < until) await fuzzRound(operation, each)
  counts.rounds++
  process.stderr.write(`seed ${each}: ${counts.cases} cases, ${violations.length} violations, ${rssMb()} MB\n`)
}
counts.rss_mb_end = rssMb()
violations.push(...(await account()))
wires.close()
await server.stop()
process.exit(
  soakLine({ script: 'soak/fuzz', seed, minutes, counts, percentiles: { answer: percentilesOf(answerMs) }, violations }),
)

function rssMb(): number {
  return Math.round(residentMb(server.pid))
}

async function fuzzRound(operation: Operation, roundSeed: number): Promise<void> {
  const shapes = shapesOf(surface, operation, meaningOf(operation, Object.keys(scene.cast.credentials)))
  const numRuns = PASSWORDS.test(operation.path) ? PASSWORD_CASES_PER_ROUND : CASES_PER_ROUND
  const waiting = fc.sample(shapes, { seed: roundSeed, numRuns }).entries()
  const lane = async () => {
    for (const [index, shape] of waiting) {
      const problems = await tryShape(operation, shape)
      if (problems.length > 0) violations.push(`${operation.id} (seed ${roundSeed}, path "${index}"): ${problems.join('; ')}`)
      if (violations.length >= VIOLATIONS_MAX) return
    }
  }
  await Promise.all(Array.from({ length: scene.atOnce(operation) }, lane))
}

async function tryShape(operation: Operation, shape: Shape): Promise<string[]> {
  try {
    const request = await scene.request(operation, shape)
    const startedAt = performance.now()
    const outcome = await scene.send(request)
    answerMs.push(performance.now() - startedAt)
    await scene.after(operation, request, outcome)
    counts.cases++
    counts[shape.mode]++
    counts[outcome !== 'closed' && outcome.status < 400 ? 'succeeded' : 'refused']++
    const problems = problemsWith(surface, operation, shape, outcome)
    return problems.length > 0 ? [...problems, curlLine(request)] : []
  } catch (error) {
    return [String(error)]
  }
}

/** As much was counted as was acknowledged, and the audit chain holds. */
async function account(): Promise<string[]> {
  const used = await Promise.all(
    ['test', 'foreign', 'workshop'].map(async who => (await scene.must('GET', '/v1/usage', who)).body),
  )
  const counted = used
    .flatMap(({ recent }) => recent as { verifications_created: number }[])
    .reduce((sum, { verifications_created }) => sum + verifications_created, 0)
  const acknowledged = scene.created.get('verifications') ?? 0
  const audit = await vidimusJson<{ ok: boolean; count: number }>(dir, 'audit', 'verify')
  return [
    ...(counted === acknowledged ? [] : [`${counted} creations are counted, ${acknowledged} were acknowledged`]),
    ...(audit.ok ? [] : ['the audit chain does not hold']),
  ]
}

/** Through the command line, as an operator would. */
async function castOf(dataDir: string): Promise<Cast> {
  const tenant = async (name: string) =>
    (await vidimusJson<{ id: string }>(dataDir, 'tenant', 'create', '--name', name, '--daily-quota', '10000000')).id
  const key = async (id: string, environment: string, scopes = SCOPES): Promise<Header[]> => {
    const minted = ['key', 'create', '--tenant', id, '--env', environment, '--scopes', scopes]
    return [['authorization', `Bearer ${(await vidimusJson<{ key: string }>(dataDir, ...minted)).key}`]]
  }
  const [own, foreign, workshop] = [await tenant('Own'), await tenant('Foreign'), await tenant('Workshop')]
  for (const env of ['test', 'live']) await vidimusJson(dataDir, 'origin', 'add', SHOP, '--tenant', own, '--env', env)
  const page: Header[] = [
    ['origin', PUBLIC_URL],
    ['sec-fetch-site', 'same-origin'],
    ['user-agent', 'Fuzz/1.0'],
  ]
  const cast: Cast = {
    credentials: {
      none: [],
      garbage: [['authorization', 'Bearer vk_test_garbage']],
      test: await key(own, 'test'),
      live: await key(own, 'live'),
      foreign: await key(foreign, 'test'),
      workshop: await key(workshop, 'test'),
      scopeless: await key(own, 'test', 'devices:manage'),
      shopper: [['origin', SHOP]],
      page,
      visitor: [...page, ['cookie', `__Host-session=${'x'.repeat(43)}`]],
    },
    users: { owner: 'olivia', member: 'mia' },
    tenants: { own, foreign, workshop },
    hookUrl: 'https://shop.example/hook',
  }
  const ask = bareAsk(cast)
  cast.credentials.owner = await join(ask, page, await invite(dataDir, 'olivia'))
  cast.credentials.member = await join(ask, page, await invite(dataDir, 'mia', own))
  await join(ask, page, await invite(dataDir, 'lena', workshop))
  const { pairing_code } = (await ask('POST', '/v1/devices', 'test', { name: 'Till', allowed_templates: ['age_over_18'] })).body
  const { access_token } = (await ask('POST', '/v1/devices/enroll', 'none', { pairing_code })).body
  cast.credentials.device = [['authorization', `Bearer ${access_token}`]]
  return cast
}

async function invite(dataDir: string, name: string, tenant?: string): Promise<string> {
  const { url } = await vidimusJson<{ url: string }>(
    dataDir,
    'user',
    'invite',
    '--name',
    name,
    ...(tenant ? ['--tenant', tenant] : []),
  )
  return url.split('=').at(-1) ?? ''
}

type Ask = Scene['must']

function bareAsk(cast: Cast): Ask {
  return async (method, target, who, body) => {
    const headers: Header[] = [...(cast.credentials[who] ?? []), ['content-type', 'application/json']]
    const response = await fetch(`${server.url}${target}`, {
      method,
      headers: headers as [string, string][],
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${target}: ${response.status} ${text}`)
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
  }
}

async function join(ask: Ask, page: readonly Header[], token: string): Promise<readonly Header[]> {
  const { headers, body } = await ask('POST', '/dashboard/api/choose-password', 'page', { token, password: PASSWORD })
  return asUser(page, headers.get('set-cookie') ?? '', body.csrf_token as string)
}

/** A password counts as just given for five minutes only. */
async function logIn(ask: Ask, cast: Cast, who: string, name: string): Promise<void> {
  const { headers, body } = await ask('POST', '/dashboard/api/login', 'page', { name, password: PASSWORD })
  cast.credentials[who] = asUser(cast.credentials.page ?? [], headers.get('set-cookie') ?? '', body.csrf_token as string)
}
