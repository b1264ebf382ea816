// The API reference at /docs/api: its examples fit the document, its samples run, and every code that somebody may see has an
// address in the handbook.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/db/refusal.ts'
import { CHECKS } from '../../src/doctor/check.ts'
import { type Examples, referenceArticle } from '../../src/handbook/api.ts'
import examples from '../../src/handbook/examples.json' with { type: 'json' }
import { LANGUAGES, type Language } from '../../src/handbook/samples.ts'
import { addressInHandbook, apiError, ERRORS, type ErrorCode } from '../../src/http/errors.ts'
import type { OpenApi } from '../../src/http/openapi.ts'
import { outcomes } from '../../src/web/shared/words/en.ts'
import { startWithTenant, temporaryDir } from '../helpers/app.ts'
import { type JsonSchema, problemsOf } from '../helpers/json-schema.ts'
import { runOf } from '../helpers/run.ts'

const { app, key } = await startWithTenant()
const { body: document } = await app.call<OpenApi>('GET', '/openapi.json')

type Content = Record<string, { schema: JsonSchema }>
type Operation = { operationId: string; requestBody?: { content: Content }; responses: Record<string, { content?: Content }> }

const operations = Object.values(document.paths).flatMap(methods => Object.values(methods)) as unknown as Operation[]
const schemaOf = (content: Content | undefined): JsonSchema =>
  content?.['application/json']?.schema ?? ({ not: {} } as unknown as JsonSchema)

/** Called by wallets and pages, or no JSON. */
const WITHOUT = [
  'watchVerification',
  'getRequestObject',
  'postRequestObject',
  'postWalletResponse',
  'getMetrics',
  'getSandboxCrl',
  'getSandboxIdentifierList',
  'getSandboxStatusList',
]
/** Answers that a page or a till carries. */
const isCarried = (operationId: string): boolean => /(?:Dc|InPerson)(?:Request|Response|Failure)$/.test(operationId)

test('limits say what they count, and an id that must not be empty has none', () => {
  const type = (schema: object) => {
    const parameter = { name: 'id', in: 'path', required: true, description: '', schema }
    const operation = { tags: ['Devices'], operationId: 'none', summary: '', description: '', security: [], responses: {} }
    const paths = { '/v1/none': { get: { ...operation, parameters: [parameter] } } }
    const html = referenceArticle({ ...document, paths } as unknown as OpenApi, '')
    return /<td><code>id<\/code>.*?<td>(.*?)<\/td>/s.exec(html)?.[1]
  }
  expect(type({ type: 'string', format: 'uuid', minLength: 1 })).toBe('uuid')
  expect(type({ type: 'string', maxLength: 9 })).toBe('string, at most 9 characters')
  const words = { type: 'string', minLength: 1, maxLength: 64 }
  expect(type({ type: 'array', items: words, minItems: 1, maxItems: 20 })).toBe(
    'list of string, 1 to 64 characters, 1 to 20 of them',
  )
  expect(type({ type: 'integer', minimum: 0, default: 5 })).toBe('integer, at least 0, default 5')
})

describe('the examples of the reference', () => {
  test('every example fits the document of the API', () => {
    const problems = Object.entries(examples as Examples).flatMap(([operationId, all]) =>
      Object.entries(all).flatMap(([title, { request, status, body }]) => {
        const operation = operations.find(each => each.operationId === operationId)
        const wanted =
          operationId === 'webhook'
            ? (document.components.schemas.WebhookEvent as JsonSchema)
            : schemaOf(operation?.responses[status]?.content)
        return [
          ...problemsOf(document, wanted, body, `${operationId}, ${title}`),
          ...(request === undefined
            ? []
            : problemsOf(document, schemaOf(operation?.requestBody?.content), request, `${operationId}, ${title}, request`)),
        ]
      }),
    )
    expect(problems).toEqual([])
  })

  test('every operation for merchants and tills has an example', () => {
    const without = operations.map(({ operationId }) => operationId).filter(name => !(name in examples) && !isCarried(name))
    expect(without.toSorted()).toEqual(WITHOUT.toSorted())
  })

  test('the reference shows every operation, created, completed and failed, and every documented error', async () => {
    const { text } = await app.call('GET', '/docs/api')
    for (const { operationId } of operations) expect(text).toContain(`<h3 id="${operationId}">`)
    for (const title of ['created (201)', 'completed (200)', 'failed, a minor (200)']) expect(text).toContain(`Example: ${title}`)
    const codes = [...JSON.stringify(document).matchAll(/"(\w+)":\{"value":\{"error"/g)].map(([, code]) => code)
    for (const code of new Set(codes)) expect(text).toContain(`troubleshooting#${code}"`)
  })
})

/** `joined` makes one program of several samples: starting each by itself takes long. */
const PROGRAMS: Record<Language, { program: string; file: string; joined: (samples: string[]) => string }> = {
  curl: { program: 'sh', file: 'sample.sh', joined: all => all.join('\n') },
  typescript: { program: 'bun', file: 'sample.ts', joined: all => all.map(each => `{\n${each}\n}`).join('\n') },
  python: { program: 'python3', file: 'sample.py', joined: all => all.join('\n') },
  php: { program: 'php', file: 'sample.php', joined: all => all.join('\n?>\n') },
}

const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, each]) => {
    const { operationId, tags, security, responses } = each as unknown as Operation & { tags: string[]; security: object[] }
    const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
    const [type = ''] = Object.keys(answer?.content ?? {})
    const needsKey = security.length > 0
    return { operationId, tag: tags[0] ?? '', method: method.toUpperCase(), path: path.replace('{id}', 'the-id'), needsKey, type }
  }),
)

/** An answer that a sample prints only when it prints what it was answered. */
const MARK = 'the-answer-of-this-call'
const ANSWERS: Record<string, string> = {
  'application/json': JSON.stringify({ mark: MARK }),
  'text/event-stream': `data: ${MARK}\n\n`,
  'text/plain': MARK,
}

/** Calls that only wallets make, or whose answer only wallets and phones read. */
const FOR_WALLETS = ['Wallet', 'Browser', 'In person', 'Sandbox']

describe('the samples of the reference', () => {
  for (const name of Object.keys(LANGUAGES) as Language[]) {
    const { program, file, joined } = PROGRAMS[name]
    const found = program === 'bun' ? process.execPath : Bun.which(program)
    const run = async (text: string, env: Record<string, string>): Promise<string> => {
      const path = join(temporaryDir(), file)
      writeFileSync(path, text)
      const child = Bun.spawn([found ?? '', path], {
        env: { ...process.env, ...env, no_proxy: '*' },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const { exitCode, stdout, stderr } = await runOf(child)
      expect({ exitCode, text, stderr: exitCode === 0 ? '' : stderr }).toEqual({ exitCode: 0, text, stderr: '' })
      return stdout
    }
    const skipped = `SKIPPED, as there is no ${program} here: the ${name} sample`

    test.skipIf(!found)(found ? `the ${name} sample creates a verification` : skipped, async () => {
      const body = { template: 'age_over_18', metadata: { language: name, note: "it's" } }
      const quoted = name === 'curl' ? { ...body, metadata: { language: name } } : body
      const call = { method: 'POST', path: '/v1/verifications', needsKey: true, isText: false, body: quoted }
      const id = /vs_\w+/.exec(await run(LANGUAGES[name](call), { VIDIMUS_URL: app.url, API_KEY: key }))?.[0] ?? 'none'
      const { body: created } = await app.call<{ metadata: object }>('GET', `/v1/verifications/${id}`, { key })
      expect(created.metadata).toEqual(quoted.metadata)
    })

    test.skipIf(!found)(
      found ? `every operation for merchants and tills has a ${name} sample that calls it and prints the answer` : skipped,
      async () => {
        const { text: page } = await app.call('GET', '/docs/api')
        const shown = calls.flatMap(call => {
          const section = page.split(`<h3 id="${call.operationId}">`)[1]?.split('</section>')[0] ?? ''
          const code = new RegExp(`<code class="language-${name}">([^<]*)</code>`).exec(section)?.[1]
          return code === undefined ? [] : [{ ...call, code: unescaped(code) }]
        })
        expect(shown.map(({ operationId }) => operationId)).toEqual(
          calls.filter(({ tag }) => !FOR_WALLETS.includes(tag)).map(({ operationId }) => operationId),
        )
        const seen: string[] = []
        using service = Bun.serve({
          port: 0,
          hostname: '127.0.0.1',
          fetch: ({ method, url, headers }) => {
            const { pathname } = new URL(url)
            const type = calls.find(call => call.method === method && call.path === pathname)?.type ?? 'text/plain'
            seen.push(`${method} ${pathname} ${headers.get('authorization')}`)
            return new Response(ANSWERS[type], { headers: { 'content-type': type } })
          },
        })
        const env = { VIDIMUS_URL: `http://127.0.0.1:${service.port}`, API_KEY: 'vk_test_key', ID: 'the-id' }
        const stdout = await run(joined(shown.map(({ code }) => code)), env)
        expect(seen).toEqual(
          shown.map(({ method, path, needsKey }) => `${method} ${path} ${needsKey ? 'Bearer vk_test_key' : null}`),
        )
        expect(stdout.split(MARK).length - 1).toBe(shown.length)
      },
    )
  }
})

const unescaped = (html: string): string =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')

describe('an address for every code', () => {
  test('every error, verdict, check and refusal has an address on the page of its readers', async () => {
    const addresses = [
      ...(Object.keys(ERRORS) as ErrorCode[]).map(code => addressInHandbook(apiError(code).wireCode)),
      ...Object.keys(outcomes)
        .filter(code => code !== 'expired')
        .map(code => `docs/troubleshooting#${code}`),
      ...CHECKS.map(check => `docs/doctor#${check}`),
      ...Object.keys(REFUSALS).map(code => `docs/commands#${code}`),
    ]
    const missing = addresses.map(async address => {
      const [path, id] = address.split('#')
      return (await app.call('GET', `/${path}`)).text.includes(` id="${id}"`) ? [] : [address]
    })
    expect((await Promise.all(missing)).flat()).toEqual([])
  })

  test('every part that left the page for troubleshooting is reached from its old heading', async () => {
    const { text } = await app.call('GET', '/docs/troubleshooting')
    const leadsTo = (id: string) => new RegExp(`<h2 id="${id}">.*?</h2>\\s*<p>.*?<a href="\\.\\./docs/([^"]+)">`).exec(text)?.[1]
    expect(['errors-of-the-pages', 'checks-of-the-doctor', 'exit-codes', 'log-events'].map(leadsTo)).toEqual([
      'page-errors',
      'doctor#the-checks',
      'commands#exit-codes',
      'log-events',
    ])
  })

  test('every log event of the levels warn and error has an address and an explanation', async () => {
    const { text } = await app.call('GET', '/docs/log-events')
    const events = new Set<string>()
    for await (const file of new Bun.Glob('**/*.ts').scan({ cwd: join(import.meta.dir, '../../src'), absolute: true }))
      for (const [, event = ''] of (await Bun.file(file).text()).matchAll(/log\.(?:warn|error)\(\s*'([\w.]+)'/g))
        events.add(event)
    const isExplained = (event: string) =>
      new RegExp(`<tr id="${RegExp.escape(event)}">\\s*<td>.*</td>\\s*<td>(warn|error)</td>\\s*<td>.{20,}</td>`).test(text)
    expect(events.size).toBeGreaterThan(40)
    expect([...events].filter(event => !isExplained(event))).toEqual([])
  })

  test('an error links to its explanation', async () => {
    const unknown = await app.call('GET', '/v1/verifications/vs_none', { key })
    expect(unknown.headers.get('link')).toBe('<https://verify.example/docs/troubleshooting#session_not_found>; rel="help"')
    const refused = await app.call('GET', '/dashboard/api/session')
    expect([refused.status, refused.headers.get('link')]).toEqual([
      401,
      '<https://verify.example/docs/page-errors#not_logged_in>; rel="help"',
    ])
  })
})
