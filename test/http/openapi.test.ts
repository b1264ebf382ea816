// Compares the document with the service: every route is called in every way this file knows, and every response must be
// documented. In the other direction, everything documented must have been received.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import { createApp } from '../../src/app.ts'
import { findNameProblem } from '../../src/base/plain-text.ts'
import { Unavailable } from '../../src/base/unavailable.ts'
import { verificationSessions } from '../../src/db/schema/verifications.ts'
import { enrollDevice } from '../../src/devices/enroll.ts'
import { readDevices } from '../../src/devices/read.ts'
import { registerDevice } from '../../src/devices/register.ts'
import { revokeDevice } from '../../src/devices/revoke.ts'
import type { TokenPair } from '../../src/devices/schema.ts'
import type { OpenApi } from '../../src/http/openapi.ts'
import { answerAsIf } from '../helpers/answered.ts'
import { type Answer, createVerification, type ErrorBody, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { vidimus } from '../helpers/cli.ts'
import { ask as askByPage, listOrigin, ORIGIN } from '../helpers/dc.ts'
import { TILL } from '../helpers/devices.ts'
import { CENTRAL_PHONE_CODE, PHONE_CODE, PHONE_ENDS } from '../helpers/id-routes.ts'
import { bodyProblems, type JsonSchema, problemsOf } from '../helpers/json-schema.ts'
import { receive, startTenantFor, stopReceiving, untilAttempted } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

type Response = {
  description: string
  headers: Record<string, { $ref: string }>
  /** A 204 has none. */
  content?: Record<string, { schema: JsonSchema; examples?: Record<string, { value: ErrorBody }> }>
}

type Parameter = { name: string; schema: JsonSchema }
type Webhook = { parameters: Parameter[]; requestBody: { content: Record<string, { schema: JsonSchema }> } }

type Operation = {
  method: string
  path: string
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: { apiKey: string[] }[]
  requestBody?: { content: Record<string, object> }
  parameters?: Parameter[]
  responses: Record<string, Response>
}

type Header = { required: boolean; schema: JsonSchema }

const DAY_MS = 86_400_000

let app: TestApp
let document: OpenApi
let operations: Operation[]
let answers: { operation: Operation; way: string; answer: Answer }[]

afterAll(stopReceiving)

beforeAll(async () => {
  app = await startApp()
  document = (await app.call<OpenApi>('GET', '/openapi.json')).body
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...(operation as unknown as Operation), method, path })),
  )
  const ways: Ways = Object.entries(WAYS)
  const own = ways.filter(([, { options }]) => options)
  const usual = ways.filter(([, { options }]) => !options)
  const groups = Array.from({ length: SERVICES }, (_, nth) => usual.filter((_, at) => at % SERVICES === nth))
  const asked = await Promise.all([...own.map(way => [way]), ...groups].map(askInAll))
  const places = Object.keys(WAYS)
  answers = asked.flat().toSorted((a, b) => places.indexOf(a.way) - places.indexOf(b.way))
}, 300_000)

test('the document passes the recommended rules of redocly without an error or a warning', async () => {
  const dir = temporaryDir()
  await Bun.write(join(dir, 'openapi.json'), JSON.stringify(document))
  const redocly = resolve(import.meta.dir, '../../node_modules/@redocly/cli/bin/cli.js')
  const { stdout } = Bun.spawnSync(
    [process.execPath, redocly, 'lint', '--extends=recommended', '--format=json', 'openapi.json'],
    {
      cwd: dir,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  )
  const { totals, problems } = JSON.parse(stdout.toString())
  expect({ problems, totals }).toEqual({ problems: [], totals: { errors: 0, warnings: 0, ignored: 0 } })
})

test('the document has version 0.1.0 and the public address', () => {
  const { openapi, info, servers } = document
  expect(openapi).toBe('3.1.0')
  expect(info).toMatchObject({ title: 'Vidimus', version: '0.1.0', license: { identifier: 'Apache-2.0' } })
  expect(servers).toEqual([{ url: 'https://verify.example' }])
})

test('the document has every route except its own, its page, preflights, and the hidden routes of pages', () => {
  const table = createApp(app.deps).routes as unknown as { method: string; path: string; hooks: { detail?: { hide?: true } } }[]
  const pages = table.filter(({ hooks }) => hooks.detail?.hide)
  const hidden = pages.filter(({ method, path }) => method !== 'OPTIONS' && /^\/(v1|wallet)\b/.test(path))
  expect(hidden.map(({ path }) => path)).toEqual([])
  const routes = table
    .filter(route => !pages.includes(route))
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
  const documented = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect(documented.toSorted()).toEqual(routes.toSorted())
  expect(documented.length).toBeGreaterThanOrEqual(9)
})

test('every operation has a unique name, a summary, a description and an explained tag', () => {
  const tags = document.tags.map(({ name }) => name)
  for (const operation of operations) {
    expect(operation.operationId).toMatch(/^[a-z]+[A-Z]\w+$/)
    expect(operation.summary).not.toBeEmpty()
    expect(operation.description).not.toBeEmpty()
    expect(operation.tags).toHaveLength(1)
    expect(tags).toContain(operation.tags[0] ?? '')
  }
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
})

test('the document is plain JSON Schema without TypeBox fields, and every object defines further properties', () => {
  const { schemas } = document.components
  const text = JSON.stringify(document)
  expect(text).not.toMatch(/"\$id"|patternProperties|"documented"|"mediaType"|"anyOf":\[\{"const"/)
  expect(schemas.VerificationStatus).toMatchObject({
    properties: { status: { type: 'string', enum: ['pending', 'completed', 'failed', 'expired'] } },
  })
  expect(schemas.CreateVerification).toMatchObject({ properties: { ttl_seconds: { type: 'integer', default: 300 } } })
  const silent: string[] = []
  JSON.parse(text, function (this: unknown, key, value) {
    if (value?.type === 'object' && value.additionalProperties === undefined) silent.push(key)
    return value
  })
  expect(silent).toEqual([])
})

describe('real responses of the routes', () => {
  test('every real response is documented: status, code, body, content type and headers', () => {
    const wrong = answers.flatMap(({ operation, way, answer }) =>
      problemsWith(operation, answer).map(problem => `${operation.operationId}, ${way}: ${answer.status} ${problem}`),
    )
    expect(wrong).toEqual([])
  })

  test('real responses cover every status and code of the document', () => {
    const documented = operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, response]) =>
        codesOf(response).map(code => `${operationId} ${status} ${code}`),
      ),
    )
    const given = answers.map(({ operation, answer }) => `${operation.operationId} ${answer.status} ${codeOf(answer)}`)
    // The route asks nobody.
    const neverGiven = ['getHealth 500 internal_error']
    expect(documented.filter(each => !given.includes(each))).toEqual(neverGiven)
  })

  test('a response with an extra field does not fit the document', () => {
    const objects = answers.filter(({ answer }) => answer.body !== undefined)
    expect(objects.length).toBeGreaterThan(50)
    for (const { operation, answer } of objects) {
      const text = JSON.stringify({ ...(answer.body as object), surprise: 1 })
      expect(problemsWith(operation, { ...answer, text })).toEqual([expect.stringMatching(/surprise: not expected$/)])
    }
  })

  test('a 403 names the scope of the document', () => {
    const refused = answers.filter(({ answer }) => codeOf(answer) === 'insufficient_scope')
    expect(refused).toHaveLength(operations.filter(({ security }) => security.length).length)
    for (const { operation, answer } of refused) {
      const scope = operation.security[0]?.apiKey[0] ?? 'none'
      expect((answer.body as ErrorBody).error.message).toContain(scope)
      expect(operation.description).toContain(`\`${scope}\``)
    }
  })

  test('every header of a real response is documented, apart from those for browsers and caches', () => {
    const silent = answers.flatMap(({ operation, answer }) =>
      [...answer.headers.keys()]
        .filter(name => !FOR_BROWSERS.test(name) && !headersNamed(operation, answer.status).includes(name))
        .map(name => `${operation.operationId} ${answer.status} ${name}`),
    )
    expect([...new Set(silent)]).toEqual([])
  })

  test('a replay has the documented header', () => {
    const replays = answers.filter(({ answer }) => answer.headers.get('idempotent-replayed') === 'true')
    expect(replays.map(({ operation, way }) => `${operation.operationId}, ${way}`)).toEqual([
      'createVerification, a repeat',
      'enrollDevice, a repeat',
      'refreshDevice, a repeat',
    ])
  })
})

const bodySchema = (operationId: string): JsonSchema => {
  const [content] = Object.values(operations.find(each => each.operationId === operationId)?.requestBody?.content ?? {})
  return (content as { schema: JsonSchema }).schema
}

describe('the document is as strict as the service', () => {
  const QUERY = { credentials: [{ id: 'a', format: 'mso_mdoc', meta: { doctype_value: 'org.iso.18013.5.1.mDL' } }] }
  const credential = (more: object) => ({ query: { credentials: [{ ...QUERY.credentials[0], ...more }] } })
  const sdJwt = (more: object) => credential({ format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, ...more })

  const CREATIONS: [what: string, body: object][] = [
    ['a template', { template: 'age_over_18' }],
    ['neither template nor query', { purpose: 'x' }],
    ['both template and query', { template: 'age_over_18', query: QUERY }],
    ['a query', { query: QUERY }],
    ['a query with a foreign member', credential({ later: { a: [1] } })],
    ['an empty credential query', { query: { credentials: [{}] } }],
    ['an id with a space', credential({ id: 'a b' })],
    ['an unknown format', credential({ format: 'jwt_vc' })],
    ['the meta of the other format', credential({ meta: { vct_values: ['urn:eudi:pid:1'] } })],
    [
      '21 credential queries',
      { query: { credentials: Array.from({ length: 21 }, (_, i) => ({ ...QUERY.credentials[0], id: `a${i}` })) } },
    ],
    ['no proof of possession', credential({ require_cryptographic_holder_binding: false })],
    ['a path of one element in an mdoc', credential({ claims: [{ path: ['age_over_18'] }] })],
    ['a path of two elements in an mdoc', credential({ claims: [{ path: ['org.iso.18013.5.1', 'age_over_18'] }] })],
    ['a path that begins with null in an SD-JWT', sdJwt({ claims: [{ path: [null] }] })],
    ['a path with index and null in an SD-JWT', sdJwt({ claims: [{ path: ['a', 0, null] }] })],
    ['a negative index in a path', sdJwt({ claims: [{ path: ['a', -1] }] })],
    ['values of an object', sdJwt({ claims: [{ path: ['a'], values: [{}] }] })],
    ['claim_sets without claims', sdJwt({ claim_sets: [['a']] })],
    ['claim_sets whose claims have no id', sdJwt({ claims: [{ path: ['a'] }], claim_sets: [['a']] })],
    ['claim_sets of claims with ids', sdJwt({ claims: [{ id: 'a', path: ['a'] }], claim_sets: [['a']] })],
    ['an authority that is no key identifier', sdJwt({ trusted_authorities: [{ type: 'aki', values: ['a='] }] })],
    ['an authority of an unknown type', sdJwt({ trusted_authorities: [{ type: 'x', values: ['a'] }] })],
    ['an option without ids', { query: { ...QUERY, credential_sets: [{ options: [[]] }] } }],
    ['a credential set', { query: { ...QUERY, credential_sets: [{ options: [['a']], required: false, purpose: 'x' }] } }],
    ['an empty purpose', { template: 'age_over_18', purpose: '' }],
    ['a lifetime of 59 seconds', { template: 'age_over_18', ttl_seconds: 59 }],
    ['a metadata key of 65 characters', { template: 'age_over_18', metadata: { ['x'.repeat(65)]: 'y' } }],
    ['a webhook_url of another scheme', { template: 'age_over_18', webhook_url: 'ftp://shop.example/' }],
  ]
  test.each(CREATIONS)('a creation with %s: both take it, or both refuse it', async (_, body) => {
    const { key } = await app.tenant()
    const { status } = await app.call('POST', '/v1/verifications', { key, body })
    expect([201, 400, 422]).toContain(status)
    expect(problemsOf(document, bodySchema('createVerification'), body).length > 0).toBe(status !== 201)
  })

  test('the pattern of a device name agrees with the service on every character', () => {
    const { pattern } = (document.components.schemas.RegisterDevice!.properties as Record<string, { pattern: string }>).name!
    const inDocument = new RegExp(pattern, 'u')
    const differing: string[] = []
    for (let code = 0; code <= 0x10ffff; code++) {
      const char = String.fromCodePoint(code)
      for (const name of [char, `a${char}b`]) {
        if (inDocument.test(name) !== (findNameProblem(name) === undefined))
          differing.push(`${code.toString(16)} in ${name.length}`)
      }
    }
    expect(differing).toEqual([])
  })

  test('the pattern of before accepts the same times as the service, and no other offset', async () => {
    const { key } = await app.tenant()
    const parameters = operations.find(each => each.operationId === 'listVerifications')?.parameters ?? []
    const schema = parameters.find(({ name }) => name === 'before')!.schema
    for (const before of [
      '2026-01-31T09:30:00Z',
      '2026-01-31T09:30:00.123456789Z',
      '2026-01-31T09:30:00+01:00',
      '2026-01-31T09:30:60Z',
    ]) {
      const { status } = await app.call('GET', `/v1/verifications?before=${encodeURIComponent(before)}`, { key })
      expect(problemsOf(document, schema, before).length > 0).toBe(status !== 200)
    }
  })

  test('the form of a wallet that fetches its request has a bounded nonce and metadata as JSON', async () => {
    const { id } = await createVerification(app, (await app.tenant()).key)
    const schema = bodySchema('postRequestObject')
    const forms = [
      { wallet_nonce: 'a' },
      { wallet_nonce: '' },
      { wallet_nonce: 'x'.repeat(513) },
      { wallet_metadata: {} },
      { other: 'x' },
      Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`f${i}`, 'x'])),
      { wallet_metadata: [] },
    ]
    for (const form of forms) {
      const fields = Object.entries(form).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ])
      const { status } = await app.call('POST', `/wallet/request/${id}`, {
        raw: new URLSearchParams(fields as [string, string][]),
      })
      expect(problemsOf(document, schema, form).length > 0).toBe(status !== 200)
    }
  })

  test('every example fits its schema', () => {
    const wrong: string[] = []
    JSON.parse(JSON.stringify(document), (name, { examples, ...schema } = {}) => {
      if (Array.isArray(examples)) wrong.push(...examples.flatMap(each => problemsOf(document, schema, each, name)))
      return { ...schema, ...(examples && { examples }) }
    })
    expect(wrong).toEqual([])
  })
})

test('Allow of a 405 has the methods of the exact path, not of a parameter route beside it', async () => {
  for (const path of ['/v1/devices/enroll', '/v1/devices/token']) {
    for (const method of ['OPTIONS', 'GET', 'DELETE', 'PATCH']) {
      const { status, headers } = await app.call(method, path)
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'POST'])
    }
  }
  expect((await app.call('OPTIONS', '/v1/devices/x')).headers.get('allow')).toBe('DELETE, PATCH')
  for (const route of ['request', 'response']) {
    const { status, headers } = await app.call('GET', `/wallet/dc/${route}/vs_x`)
    expect([route, status, headers.get('allow')]).toEqual([route, 405, 'OPTIONS, POST'])
  }
})

test('webhooks fit the document: body and every header, for both types', async () => {
  const receiver = receive()
  const { app: sender, key } = await startTenantFor([receiver])
  for (const persona of ['adult', 'minor'] as const) {
    const { verification } = await verifyWith(sender, key, persona, { body: { webhook_url: receiver.url() } })
    sender.clock.advance(10)
    await untilAttempted(sender, verification.id, 1)
  }
  const types = receiver.received.map(({ headers, body }) => {
    const event = JSON.parse(body)
    const webhook = document.webhooks[event.type] as { post: Webhook }
    const { parameters, requestBody } = webhook.post
    expect(problemsOf(document, requestBody.content['application/json']!.schema, event)).toEqual([])
    expect(problemsOf(document, requestBody.content['application/json']!.schema, { ...event, type: 'x' })).not.toEqual([])
    for (const { name, schema } of parameters) {
      const value = headers[name.toLowerCase()]
      expect(problemsOf(document, schema, schema.type === 'integer' ? Number(value) : value, name)).toEqual([])
    }
    expect(parameters).toHaveLength(5)
    return event.type
  })
  expect(types.sort()).toEqual(Object.keys(document.webhooks).sort())
})

test('vidimus openapi prints the same document and creates no data directory', async () => {
  const dir = join(temporaryDir(), 'data')
  const env = { VIDIMUS_PUBLIC_URL: 'https://verify.example' }
  const runs = await Promise.all([['openapi'], ['openapi', '--json']].map(args => vidimus(dir, args, env)))
  for (const { exitCode, stdout, stderr } of runs) {
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual(document)
  }
  expect(runs.map(({ stdout }) => stdout.trimEnd().includes('\n'))).toEqual([true, false])
  expect(existsSync(dir)).toBe(false)
})

/** `origin`: of the page that asks; also in bodies that name it. */
type Change = { key?: string; id?: string; query?: string; body?: object; headers?: Record<string, string>; origin?: string }
type Scene = { app: TestApp; tenantId: string; id: string; ask: (change?: Change) => Promise<Answer> }
type Way = (scene: Scene) => Promise<Answer>

/** One way to call a route, good or bad; ways that do not apply to a route are harmless. */
const WAYS: Record<string, { options?: Parameters<typeof startApp>[0]; use: Way }> = {
  'as meant': { use: ({ ask }) => ask() },
  'a repeat': { use: ({ ask }) => twice(() => ask({ headers: { 'idempotency-key': 'one' } })) },
  'no key': { use: ({ ask }) => ask({ key: '' }) },
  'through a proxy': { use: ({ ask }) => ask({ headers: { via: '1.1 proxy' } }) },
  'an expired key': {
    use: async ({ app, tenantId, ask }) => {
      const key = await app.key(tenantId, { expiresDays: 30 })
      app.clock.advance(30 * DAY_MS)
      return await ask({ key })
    },
  },
  'a key without scopes': { use: async ({ app, tenantId, ask }) => ask({ key: await app.key(tenantId, { scopes: [] }) }) },
  'no origin': { use: ({ ask }) => ask({ origin: undefined }) },
  'another origin': { use: ({ ask }) => ask({ origin: 'https://other.example' }) },
  'an unknown id': { use: ({ ask }) => ask({ id: 'vs_0000000000000000000000' }) },
  'an unknown field': { use: ({ ask }) => ask({ query: '?limit=20&surprise=1', body: { surprise: 1 } }) },
  'a limit of 0': { use: ({ ask }) => ask({ query: '?limit=0' }) },
  'a key of idempotency with a space': { use: ({ ask }) => ask({ headers: { 'idempotency-key': 'a b' } }) },
  'a repeat with another body': {
    use: async ({ ask }) => {
      const headers = { 'idempotency-key': 'one' }
      await ask({ headers })
      return await ask({ headers, body: { template: 'age_over_21' } })
    },
  },
  'a repeat while the first runs': {
    options: {
      resolve: async () => {
        slowName.asked.resolve()
        return await slowName.answer.promise
      },
    },
    use: ({ ask }) => whileFirstRuns(ask),
  },
  'an unknown template': { use: ({ ask }) => ask({ body: { template: 'no_such_template' } }) },
  'a private webhook': {
    use: ({ ask }) => ask({ body: { template: 'age_over_18', webhook_url: 'http://127.0.0.1/hook' } }),
  },
  'a code that no phone shows': { use: ({ ask }) => ask({ body: { engagement: 'mdoc:x' } }) },
  'a phone that connects by itself': {
    use: ({ ask }) => ask({ body: { engagement: CENTRAL_PHONE_CODE, transports: ['ble_peripheral_server'] } }),
  },
  'a session that its redirect releases': {
    use: async ({ app, id, ask }) => {
      const released = eq(verificationSessions.id, id)
      await app.deps.write(tx => tx.update(verificationSessions).set({ release: 'on_redeem' }).where(released))
      return await ask()
    },
  },
  'an empty wallet_nonce': { use: ({ ask }) => ask({ body: { wallet_nonce: '' } }) },
  'a body of 2 MB': { use: ({ ask }) => ask({ body: { purpose: 'x'.repeat(2_000_000) } }) },
  'an address of 5000 characters': { use: ({ ask }) => ask({ query: `?${'x'.repeat(5000)}` }) },
  'too often': { options: { rateLimitScale: 0.01 }, use: ({ ask }) => twice(() => twice(ask)) },
  'too often without a key': { options: { rateLimitScale: 0.01 }, use: ({ ask }) => twice(() => ask({ key: '' })) },
  'a spent quota': {
    use: async ({ app, ask }) => ask({ key: (await app.tenant({ name: 'Closed shop', dailyQuota: 0 })).key }),
  },
  'an expired session': {
    use: ({ app, ask }) => {
      app.clock.advance(3_600_000)
      return ask()
    },
  },
  'an answered session': {
    use: async ({ app, ask, id }) => {
      await answerAsIf(app, id, RESPONSE_CODE)
      return await ask()
    },
  },
  'a decided session of a device': {
    use: async ({ app, tenantId, ask }) => {
      const { tenantId: owner, deviceId } = verificationSessions
      const ofDevice = and(eq(owner, tenantId), isNotNull(deviceId))
      await app.deps.write(tx => tx.update(verificationSessions).set({ status: 'completed' }).where(ofDevice))
      return await ask()
    },
  },
  'an unanswered session of a device': {
    use: async ({ app, tenantId, ask }) => {
      const { id, tenantId: owner, status, deviceId } = verificationSessions
      const ofDevice = and(eq(owner, tenantId), eq(status, 'pending'), isNotNull(deviceId))
      const [pending] = await app.deps.db.select({ id }).from(verificationSessions).where(ofDevice)
      return await ask(pending)
    },
  },
  'a revoked device': {
    use: async ({ app, tenantId, ask }) => {
      const owner = { tenantId, environment: 'test' as const }
      for (const device of await readDevices(app.deps, owner)) await revokeDevice(app.deps, owner, device.id, 'test')
      return await ask()
    },
  },
  'no database': { use: ({ app, ask }) => withBroken(app, { db: undefined }, ask) },
  'no figures': { use: ({ app, ask }) => withBroken(app, { metrics: { ...app.deps.metrics, render: fail } }, ask) },
  'a full disk': { use: ({ app, ask }) => withBroken(app, { write: async () => fail(), isReady: async () => false }, ask) },
  'a database that does not answer': {
    use: ({ app, ask }) => {
      const db = new Proxy(app.deps.db, { get: lose })
      return withBroken(app, { db, write: lose, sandbox: lose, metrics: { ...app.deps.metrics, render: lose } }, ask)
    },
  },
  'a broken clock': { use: ({ app, ask }) => withBroken(app, { now: fail, isReady: fail }, ask) },
}

const SESSION = {
  template: 'age_over_18',
  purpose: 'To sell you wine',
  metadata: { order: '17' },
  redirect_url: 'https://shop.example/done',
}

const RESPONSE_CODE = 'x'.repeat(43)

/** Some ways share a service, which compiles a route for the first of them; on one for all of them years would pass. */
const SERVICES = 6

type Ways = [way: string, how: (typeof WAYS)[string]][]

async function askInAll(ways: Ways): Promise<typeof answers> {
  const app = await startApp({ rateLimitScale: 1, ...ways[0]?.[1].options })
  const asked: typeof answers = []
  for (const [way, { use }] of ways) asked.push(...(await askAll(app, way, use)))
  return asked
}

/** Each operation has its own tenant and day, so that rate limits do not interfere. */
async function askAll(app: TestApp, way: string, use: Way): Promise<typeof answers> {
  const asked: typeof answers = []
  for (const operation of operations) {
    app.clock.advance(DAY_MS)
    const tenant = await app.tenant()
    const { id } = await createVerification(app, await app.key(tenant.id), SESSION)
    const meant = { id, ...(await prepare(app, operation.operationId, { id, tenantId: tenant.id })) }
    const ask = (change: Change = {}) => askOne(app, operation, { key: tenant.key, ...meant, ...change })
    asked.push({ operation, way, answer: await use({ app, tenantId: tenant.id, id, ask }) })
  }
  return asked
}

/** Prepares a session or device for the operation, and returns the body and id to call it with. */
async function prepare(app: TestApp, operationId: string, { id, tenantId }: { id: string; tenantId: string }): Promise<Change> {
  switch (operationId) {
    case 'createVerification':
      return { body: SESSION }
    case 'redeemResponseCode':
      await answerAsIf(app, id, RESPONSE_CODE)
      return { body: { response_code: RESPONSE_CODE } }
    case 'watchVerification':
      // Then the stream ends at once.
      await answerAsIf(app, id, RESPONSE_CODE)
      return {}
    case 'postRequestObject':
      return { body: { wallet_nonce: 'one' } }
    case 'postWalletResponse':
      await app.call('GET', `/wallet/request/${id}`)
      return { body: { error: 'access_denied', state: await stateOf(app, id) } }
    case 'postDcRequest':
      await listOrigin(app, tenantId)
      return { origin: ORIGIN, body: {} }
    case 'createDcRequest':
      await listOrigin(app, tenantId)
      return { origin: ORIGIN, body: { origin: ORIGIN } }
    case 'postDcResponse':
    case 'createDcResponse': {
      await listOrigin(app, tenantId)
      const { body } = await askByPage(app, id)
      const declined = { protocol: body.requests[0]?.protocol, data: { error: 'access_denied' } }
      return { origin: ORIGIN, body: operationId === 'createDcResponse' ? { origin: ORIGIN, ...declined } : declined }
    }
    case 'createInPersonRequest':
      return { body: { engagement: PHONE_CODE } }
    case 'createInPersonResponse':
      await app.call('POST', `/v1/verifications/${id}/in-person-request`, {
        key: await app.key(tenantId),
        body: { engagement: PHONE_CODE },
      })
      return { body: { message: PHONE_ENDS } }
    case 'reportInPersonFailure':
      return { body: { code: 'lost' } }
    case 'registerDevice':
      return { body: TILL }
    case 'getComparison':
    case 'decideComparison':
      return await holdAtTill(app, tenantId)
    case 'changeDevice':
      return { id: (await registerTill(app, tenantId)).device.id, body: { name: 'Till 2' } }
    case 'pairDevice':
      return { id: (await registerTill(app, tenantId)).device.id, body: {} }
    case 'revokeDevice':
      return { id: (await registerTill(app, tenantId)).device.id }
    case 'enrollDevice':
      return { body: { pairing_code: (await registerTill(app, tenantId)).pairingCode } }
    case 'refreshDevice':
      return { body: { refresh_token: (await pairTill(app, tenantId)).refresh_token } }
    default:
      return { body: {} }
  }
}

const registerTill = (app: TestApp, tenantId: string) => registerDevice(app.deps, { tenantId, environment: 'test' }, TILL, 'test')

async function pairTill(app: TestApp, tenantId: string): Promise<TokenPair> {
  const { pairingCode } = await registerTill(app, tenantId)
  return (await enrollDevice(app.deps, { client: 'elsewhere', code: pairingCode, idempotencyKey: undefined })).pair
}

/** A session of a till whose answer is held, and one without an answer. */
async function holdAtTill(app: TestApp, tenantId: string): Promise<Change> {
  const create = async () => {
    // Budgets of a day each.
    app.clock.advance(DAY_MS)
    return (await createVerification(app, await app.key(tenantId), { template: 'age_over_18_photo' })).id
  }
  const ids = [await create(), await create()]
  const { access_token: key, device } = await pairTill(app, tenantId)
  const { id } = verificationSessions
  await app.deps.write(tx => tx.update(verificationSessions).set({ deviceId: device.id }).where(inArray(id, ids)))
  await answerAsIf(app, ids[0]!, RESPONSE_CODE)
  const held = { status: 'pending' as const, responseCodeHash: null }
  await app.deps.write(tx => tx.update(verificationSessions).set(held).where(eq(id, ids[0]!)))
  return { id: ids[0]!, key, body: { same_person: true } }
}

async function stateOf({ deps }: TestApp, id: string): Promise<string> {
  const [session] = await deps.db.select().from(verificationSessions).where(eq(verificationSessions.id, id))
  return session?.state ?? ''
}

function askOne(
  app: TestApp,
  operation: Operation,
  { key, id = '', query = '', body: given, headers, origin }: Change,
): Promise<Answer> {
  const body = origin !== undefined && given && 'origin' in given ? { ...given, origin } : given
  const isForm = operation.requestBody && !('application/json' in operation.requestBody.content)
  return app.call(operation.method.toUpperCase(), operation.path.replace(/\{\w+\}/, id) + query, {
    ...(operation.security.length > 0 && { key }),
    ...(operation.requestBody && (isForm ? { raw: new URLSearchParams(body as Record<string, string>) } : { body })),
    headers: { ...(origin !== undefined && { origin }), ...headers },
  })
}

async function twice(ask: () => Promise<Answer>): Promise<Answer> {
  await ask()
  return await ask()
}

const slowName = { asked: Promise.withResolvers<void>(), answer: Promise.withResolvers<string[]>() }

/** The name of a webhook is resolved before the session is created: meanwhile the request is in work. */
async function whileFirstRuns(ask: Scene['ask']): Promise<Answer> {
  const change = { headers: { 'idempotency-key': 'one' }, body: { ...SESSION, webhook_url: 'https://slow.example/hook' } }
  const first = ask(change)
  await Promise.race([slowName.asked.promise, first])
  const second = await ask(change)
  slowName.answer.resolve(['93.184.215.14'])
  await first
  return second
}

async function withBroken(app: TestApp, broken: Partial<TestApp['deps']>, ask: Scene['ask']): Promise<Answer> {
  const whole = { ...app.deps }
  try {
    Object.assign(app.deps, broken)
    return await ask()
  } finally {
    Object.assign(app.deps, whole)
  }
}

function lose(): never {
  throw new Unavailable('lost')
}

function fail(): never {
  throw new Error('broken')
}

/** What a client of the API need not read. */
const FOR_BROWSERS =
  /^(access-control-.*|cache-control|content-(length|security-policy|type)|cross-origin-.*|date|referrer-policy|strict-transport-security|x-content-type-options)$/

const headersNamed = ({ responses }: Operation, status: number): string[] =>
  Object.keys(responses[status]?.headers ?? {}).map(name => name.toLowerCase())

function problemsWith({ responses }: Operation, answer: Answer): string[] {
  const response = responses[answer.status]
  if (!response) return ['is not documented']
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  if (!response.content) return [...(answer.text === '' ? [] : ['has a body']), ...headerProblems(response, answer)]
  const content = response.content[type]
  if (!content) return [`"${type}" is not documented`]
  return [
    ...(codesOf(response).includes(codeOf(answer)) ? [] : [`${codeOf(answer)} is not documented`]),
    ...bodyProblems(document, content.schema, type, answer.text),
    ...headerProblems(response, answer),
  ]
}

/** The documented codes of a response; one empty code for a success. */
const codesOf = ({ content }: Response): string[] => Object.keys(content?.['application/json']?.examples ?? { '': {} })

const codeOf = ({ status, body }: Answer): string => (status < 400 ? '' : (body as ErrorBody).error.code)

function headerProblems(response: Response, answer: Answer): string[] {
  const { status, headers } = answer
  // Limits are on in these services, so rate limit headers are required, except where a request fails before its budget is known.
  const isExpected = (name: string) => name.startsWith('RateLimit') && status < 500 && codeOf(answer) !== 'insufficient_scope'
  return Object.entries(document.components.headers as Record<string, Header>).flatMap(([name, { required, schema }]) => {
    const value = headers.get(name)
    const isDocumented = name in response.headers
    if (value === null) return isDocumented && (required || isExpected(name)) ? [`lacks ${name}`] : []
    if (!isDocumented) return [`${name} is not documented`]
    return problemsOf(document, schema, schema.type === 'integer' ? Number(value) : value, name)
  })
}
