// The people and things that requests are about. All of it is made through the door, so that the same scene stands in a test and
// in front of a service of its own process.
import type { Operation } from './operations.ts'
import { type Param, PEM, SECRET, type Shape, TENANT } from './shapes.ts'
import { AFTER, authorityOf, decline, ENDS_SESSIONS, type Left, ONE_BY_ONE, PREPARE, type Prepared, QUERY } from './spent.ts'
import type { Outcome, Wire, WireAnswer, WireRequest } from './wire.ts'

/** Requests are sent side by side: one after the other, most of the time would go to waiting. */
const AT_ONCE = 16

export type Header = readonly [string, string]

/** Callers by name, with the headers that each of them sends. */
export type Cast = {
  credentials: Record<string, readonly Header[]>
  /** Names of the dashboard users. */
  users?: { owner: string; member: string }
  /** `own` is the tenant of the good credentials; what is spent goes on in `workshop`, so that lists of `own` stay short. */
  tenants: { own: string; foreign: string; workshop: string }
  /** Receiver of webhooks. */
  hookUrl: string
}

export type Asked = { status: number; body: Record<string, unknown>; headers: Headers; text: string }

export type Scene = Awaited<ReturnType<typeof setScene>>

export async function setScene(wire: Wire, cast: Cast) {
  const created = new Map<string, number>()

  async function send(request: WireRequest): Promise<Outcome> {
    const outcome = await wire.send(request)
    if (outcome === 'closed') return outcome
    if (outcome.status === 201 && !outcome.headers.get('idempotent-replayed')) count(created, request)
    if (outcome.status === 200 && EXAMPLES.test(request.target)) count(created, request, EXAMPLES_A_STEP)
    return outcome
  }

  async function ask(method: string, target: string, who: string, body?: unknown): Promise<Asked> {
    const isForm = body instanceof URLSearchParams
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
    const answer = (await send({
      method,
      target,
      headers: [
        ['host', 'localhost'],
        ...(cast.credentials[who] ?? []),
        ...(body === undefined ? [] : [['content-type', type] as const]),
      ],
      body: body === undefined ? undefined : new TextEncoder().encode(isForm ? body.toString() : JSON.stringify(body)),
    })) as WireAnswer
    return { ...answer, body: parsed(answer.text) as Asked['body'] }
  }

  const must = async (...call: Parameters<typeof ask>): Promise<Asked> => {
    const answer = await ask(...call)
    if (answer.status >= 300) throw new Error(`${call[0]} ${call[1]}: ${answer.status} ${answer.text}`)
    return answer
  }

  const things = await furnish(must, cast)
  const pem = cast.credentials.owner ? await authorityOf(must) : ''
  const stage: Stage = { ask, must, cast, things, waiting: [] }
  const latest = new Map<string, Prepared>()

  return {
    ...stage,
    created,
    /** Fills in what the shape only names. */
    async request(operation: Operation, shape: Shape): Promise<WireRequest> {
      const wantsFresh = shape.params.some(each => 'of' in each && each.of === 'own') || String(shape.body).includes(SECRET)
      const prepare = wantsFresh && shape.mode !== 'hostile' ? PREPARE[operation.id] : undefined
      // A near-valid case is mostly refused, so it uses what the last case left.
      const left = shape.mode === 'near' ? latest.get(operation.id) : undefined
      const prepared = left ?? (await prepare?.(stage)) ?? {}
      if (prepare) latest.set(operation.id, prepared)
      const { id, secret = 'x'.repeat(43) } = prepared
      const target = shape.params.reduce<string>((path, param, i) => {
        const name = operation.params[i]!
        // Without a fresh one of its own a case must not use up what others need.
        const isSpent = name === operation.params.at(-1) && isOwn(param) && PREPARE[operation.id] !== undefined
        return path.replace(`{${name}}`, () => (isSpent ? (id ?? 'x') : nameOf(things, operation, name, param)))
      }, operation.path)
      const body =
        typeof shape.body === 'string'
          ? filledIn(shape.body, { [SECRET]: secret, [TENANT]: cast.tenants.own, [PEM]: pem })
          : shape.body
      return {
        method: shape.method,
        target: `${target}${shape.query}`,
        headers: headersOf(operation, shape, cast),
        body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
      }
    },
    send,
    /** Puts back what a case took away or left behind. */
    after: async (operation: Operation, { body }: WireRequest, outcome: Outcome) =>
      outcome !== 'closed' && outcome.status < 300
        ? await AFTER[operation.id]?.(stage, (parsed(outcome.text) ?? {}) as Left, parsed(new TextDecoder().decode(body)))
        : undefined,
    /** An operation that ends log-ins would end those of parallel cases, so it runs alone. */
    atOnce: ({ id }: Operation): number => (ENDS_SESSIONS.has(AFTER[id]!) || ONE_BY_ONE.has(id) ? 1 : AT_ONCE),
  }
}

function filledIn(text: string, values: Record<string, string>): string {
  return Object.entries(values).reduce(
    (filled, [name, value]) => filled.replaceAll(name, JSON.stringify(value).slice(1, -1)),
    text,
  )
}

export type Stage = {
  ask: (...call: [string, string, string, unknown?]) => Promise<Asked>
  must: Stage['ask']
  cast: Cast
  things: Things
  /** Devices whose pairing code nobody may have used, and who can revoke them. */
  waiting: [string, string][]
}

const isOwn = (param: Param): boolean => 'of' in param && param.of === 'own'

function headersOf({ body }: Operation, shape: Shape, { credentials }: Cast): Header[] {
  const given = new Set(shape.headers.map(([name]) => name))
  const usual: Header[] = [
    ['host', 'localhost'],
    ...(credentials[shape.who] ?? []),
    ...(body && shape.body !== undefined ? [['content-type', body.type] as const] : []),
  ]
  return [...usual.filter(([name]) => !given.has(name)), ...shape.headers]
}

const CREATIONS: [RegExp, string][] = [
  [/^\/v1\/verifications(\?|$)/, 'verifications'],
  [/^\/dashboard\/api\/tenants\/[^/]+\/verifications(\?|$)/, 'verifications'],
  [/^\/v1\/devices(\?|$)/, 'devices'],
  [/^\/dashboard\/api\/tenants\/[^/]+\/devices(\?|$)/, 'devices'],
  [/^\/dashboard\/api\/tenants\/[^/]+\/keys(\/[^/]+\/roll)?(\?|$)/, 'keys'],
  [/^\/dashboard\/api\/tenants(\?|$)/, 'tenants'],
]

/** The only creation that is no 201. */
const EXAMPLES = /^\/dashboard\/api\/tenants\/[^/]+\/verifications\/examples(\?|$)/
const EXAMPLES_A_STEP = 5

function count(created: Map<string, number>, { target }: WireRequest, many = 1): void {
  const what = [...CREATIONS, [EXAMPLES, 'verifications'] as const].find(([pattern]) => pattern.test(target))?.[1]
  if (what) created.set(what, (created.get(what) ?? 0) + many)
}

type Whose = 'own' | 'foreign' | 'gone' | 'nobody'
type Things = Record<string, Record<Whose, string[]>>

async function furnish(must: Stage['ask'], cast: Cast): Promise<Things> {
  const { own, foreign } = cast.tenants
  const verification = async (who: string, body: object = {}) =>
    (
      await must('POST', '/v1/verifications', who, {
        template: 'age_over_18',
        purpose: 'To sell you wine',
        ttl_seconds: 3600,
        ...body,
      })
    ).body.id as string
  const device = async (who: string) =>
    ((await must('POST', '/v1/devices', who, { name: 'Till', allowed_templates: ['age_over_18'] })).body.device as { id: string })
      .id
  const pending = [
    await verification('test'),
    await verification('test', { metadata: { a: 'b' }, redirect_url: 'https://shop.example/#x' }),
  ]
  const odd = await verification('test', { template: undefined, query: ODD_QUERY })
  const declined = await verification('test', { redirect_url: 'https://shop.example/done' })
  await decline(must, declined)
  const erased = await verification('test')
  await must('DELETE', `/v1/verifications/${erased}`, 'test')
  const sessions = {
    own: [...pending, odd, declined],
    foreign: [await verification('foreign'), await verification('live')],
    gone: [erased],
    nobody: ['vs_0000000000000000000000', 'x'],
  }
  const nobody = ['key_0000000000000000', '00000000-0000-7000-8000-000000000000', 'x']
  const some = (ids: string[]) => ({ own: ids, foreign: nobody, gone: nobody, nobody })
  const things: Things = {
    verifications: sessions,
    v: sessions,
    request: sessions,
    response: sessions,
    devices: { own: [await device('test')], foreign: [await device('foreign'), await device('live')], gone: nobody, nobody },
    tenant: { own: [own], foreign: [foreign], gone: nobody, nobody },
    templates: { own: ['own_template', 'another'], foreign: ['age_over_18'], gone: ['no_such'], nobody: ['x'] },
  }
  const page = await must('GET', '/till', 'none')
  things.assets = some([...page.text.matchAll(/assets\/([\w.-]+)/g)].map(([, name = '']) => name))
  if (!cast.credentials.owner) return things
  const hooked = await verification('test', { webhook_url: cast.hookUrl })
  await decline(must, hooked)
  const base = `/dashboard/api/tenants/${own}`
  await must('PUT', `${base}/templates/own_template`, 'owner', { title: 'Own', query: QUERY })
  const listed = async (path: string) =>
    ((await must('GET', `/dashboard/api${path}`, 'owner')).body.data as { id: string }[]).map(({ id }) => id)
  return {
    ...things,
    keys: some(await listed(`/tenants/${own}/keys`)),
    users: some((await listed('/users')).slice(1)),
    sessions: some(['ses_0000000000000000']),
    trust: some(nobody),
    deliveries: some(await listed(`/tenants/${own}/deliveries?environment=test`)),
  }
}

const ODD_QUERY = {
  credentials: [
    { ...QUERY.credentials[0], claims: [{ path: ['org.iso.18013.5.1', 'constructor'] }, { path: ['x', '__proto__'] }] },
  ],
}

function nameOf(things: Things, { path }: Operation, name: string, param: Param): string {
  if ('text' in param) return param.text
  const kind = name === 'tenant' ? 'tenant' : (new RegExp(`/([\\w-]+)/\\{${name}\\}`).exec(path)?.[1] ?? '')
  const ids = things[kind]?.[param.of] ?? ['x']
  return ids[turn++ % ids.length] ?? 'x'
}

/** Each in turn: which of them it is must not depend on chance outside the seed. */
let turn = 0

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
