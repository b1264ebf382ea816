// The clients in Python and PHP, against the running service and against the vectors of the TypeScript one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, type TestApp, until } from '../helpers/app.ts'
import { receive, startAppFor } from '../helpers/receiver.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'
import { bodyOf, verifyVectors } from './vectors.ts'

const SDK = resolve(import.meta.dir, '../../src/sdk')
const LANGUAGES = [
  { language: 'python', program: Bun.which('python3'), sources: 'python', script: 'drive.py' },
  { language: 'php', program: Bun.which('php'), sources: 'php/src', script: 'drive.php' },
]

/** For one read, and at least one pause between two looks. */
const WAIT_SECONDS = 3

type Failed = { failed: string; status: number | null; maybe_done: boolean }
type Created = Verification & { page_url: string }

let app: TestApp
let key: string
let secret: string
const receiver = receive()

beforeAll(async () => {
  app = await startAppFor([receiver], { now: Date.now() })
  const created = await createTenant(app.deps, { name: 'Wine shop' }, 'test')
  secret = created.webhookSecret
  key = await app.key(created.tenant.id)
})
afterAll(cleanUp)

/** A program that obeys orders one after the other. */
function hire(program: string, { sources, script }: { sources: string; script: string }) {
  const child = Bun.spawn([program, join(import.meta.dir, script)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...process.env, CLIENT_DIR: join(SDK, sources.split('/')[0]!), PYTHONDONTWRITEBYTECODE: '1' },
  })
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  return {
    async order<Result>(call: string, given: object): Promise<Result> {
      child.stdin.write(`${JSON.stringify({ call, ...given })}\n`)
      child.stdin.flush()
      while (!rest.includes('\n')) {
        const { done, value } = await lines.read()
        if (done) throw new Error('the client ended')
        rest += value
      }
      const [line = '', ...others] = rest.split('\n')
      rest = others.join('\n')
      return JSON.parse(line)
    },
    end: () => child.kill(),
  }
}

for (const { language, program, ...files } of LANGUAGES) {
  describe.skipIf(program === null)(`the client in ${language}${program ? '' : ' (SKIPPED: it is not installed)'}`, () => {
    let worker: ReturnType<typeof hire>
    beforeAll(() => {
      worker = hire(program!, files)
    })
    afterAll(() => worker.end())

    const call = <Result = Verification>(name: string, ...args: unknown[]) =>
      worker.order<Result>(name, { base_url: app.url, api_key: key, with: args })
    const answer = async ({ wallet_uri = '' }: Verification) => await answerWith(app, await holderOf(app), wallet_uri)

    test('creates, waits, redeems, verifies the webhook, and erases', async () => {
      const created = await call<Created>('create', { template: 'age_over_18', webhook_url: receiver.url(`/${language}`) })
      expect(created.page_url).toBe(`${app.deps.config.publicUrl}/v/${created.id}`)
      const waiting = call('wait', created.id)
      await answer(created)
      expect(await waiting).toMatchObject({ id: created.id, status: 'completed', claims: { age_over_18: true } })

      // Due by the clock of the test, which stands still otherwise.
      await until(async () => {
        app.clock.advance(10)
        return receiver.received.some(({ path }) => path === `/${language}`)
      })
      const { body, headers } = receiver.received.find(({ path }) => path === `/${language}`)!
      const message = { payload: Buffer.from(body).toString('base64'), header: headers['x-service-signature'] }
      expect(await worker.order<string>('verify_webhook', { ...message, secret })).toBe(created.id)

      const second = await call<Created>('create', { template: 'age_over_18', redirect_url: 'https://shop.example/back' })
      const { redirect_uri } = (await answer(second)).body as { redirect_uri: string }
      const code = new URLSearchParams(new URL(redirect_uri).hash.slice(1)).get('response_code')
      expect(await call('redeem', second.id, code)).toMatchObject({ id: second.id, status: 'completed' })
      expect(await call<Failed>('redeem', second.id, code)).toMatchObject({ failed: 'invalid_response_code', maybe_done: false })

      const third = await call<Created>('create', { template: 'age_over_18' }, `order-7-${language}`)
      expect((await call<Created>('create', { template: 'age_over_18' }, `order-7-${language}`)).id).toBe(third.id)
      expect(await call('cancel', third.id)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
      expect(await call('erase', third.id)).toMatchObject({ deleted: { verification_sessions: 1 } })
      expect(await call<Failed>('get', third.id)).toMatchObject({ failed: 'session_not_found', status: 404 })
      expect((await call<Verification[]>('list')).map(({ id }) => id)).toContain(created.id)
      expect((await call<{ key: string }[]>('templates')).map(each => each.key)).toContain('age_over_18')
      expect(await call<object>('usage')).toHaveProperty('daily_quota')
    })

    test('repeats a creation with the same Idempotency-Key, never a redemption, and follows no redirect', async () => {
      const seen: { path: string; key: string | null }[] = []
      const server = Bun.serve({
        port: 0,
        fetch(request) {
          const { pathname } = new URL(request.url)
          seen.push({ path: pathname, key: request.headers.get('idempotency-key') })
          if (pathname.endsWith('/cancel')) return Response.redirect('/elsewhere', 307)
          const error = { error: { code: 'internal_error', message: 'Try again.' } }
          const isFirst = seen.length === 1
          return isFirst || pathname.endsWith('/redeem') ? Response.json(error, { status: 500 }) : Response.json({ id: 'vs_1' })
        },
      })
      const to = (name: string, ...args: unknown[]) =>
        worker.order<Failed & Created>(name, { base_url: `http://127.0.0.1:${server.port}`, api_key: 'vk_test_1', with: args })
      expect(await to('create', { template: 'age_over_18' })).toMatchObject({ id: 'vs_1' })
      expect(seen).toHaveLength(2)
      expect(seen[0]?.key).toBe(seen[1]?.key ?? '')
      expect(await to('redeem', 'vs_1', 'x')).toEqual({ failed: 'internal_error', status: 500, maybe_done: true } as never)
      expect(await to('cancel', 'vs_1')).toMatchObject({ failed: 'unexpected_answer', status: 307 })
      expect(seen.map(({ path }) => path.split('/').at(-1))).toEqual(['verifications', 'verifications', 'redeem', 'cancel'])
      await server.stop(true)
      expect(await to('redeem', 'vs_1', 'x')).toMatchObject({ failed: 'no_answer', maybe_done: true })
      const here = 'http://127.0.0.1'
      const wrong = [
        `${here}:1\n`,
        `${here}:1 `,
        `${here}:x`,
        `${here}:99999`,
        'http://:pw@127.0.0.1',
        `${here}/a b`,
        `${here}?x`,
      ]
      for (const base_url of ['ftp://x', 'http://verify.example', 'http://10.example.com', ...wrong])
        expect([base_url, await worker.order<Failed>('usage', { base_url, api_key: 'vk_test_1', with: [] })]).toEqual([
          base_url,
          expect.objectContaining({ failed: 'wrong_call' }),
        ])
      expect(await call<Failed>('create', {}, 'two words')).toMatchObject({ failed: 'wrong_call' })
    })

    test('does not wait for the midnight of a spent quota, and an answer that is cut off is a failed call', async () => {
      let asked = 0
      const spent = Bun.serve({
        port: 0,
        fetch() {
          asked++
          const error = { error: { code: 'quota_exceeded', message: 'Used up.' } }
          return Response.json(error, { status: 429, headers: { 'retry-after': '43200' } })
        },
      })
      const to = (port: number | undefined, name: string, ...args: unknown[]) =>
        worker.order<Failed>(name, { base_url: `http://127.0.0.1:${port}`, api_key: 'vk_test_1', with: args })
      expect(await to(spent.port, 'create', { template: 'age_over_18' })).toMatchObject({ failed: 'quota_exceeded', status: 429 })
      expect(asked).toBe(1)
      await spent.stop(true)
      for (const answer of ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":', 'nonsense\r\n\r\n']) {
        const cut = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: socket => void socket.end(answer) } })
        expect(await to(cut.port, 'redeem', 'vs_1', 'x')).toMatchObject({
          failed: expect.stringMatching(/^(no|unexpected)_answer$/),
          maybe_done: true,
        })
        cut.stop(true)
      }
    })

    const orderTo = (port: number | undefined, name: string, ...args: unknown[]) =>
      worker.order<Failed & Created>(name, { base_url: `http://127.0.0.1:${port}`, api_key: 'vk_test_1', with: args })

    test.each([
      ['a 429 of a proxy', 429, '<h1>Slow down</h1>', '43200'],
      ['a 503 of a proxy', 503, '<h1>Away</h1>', '43200'],
      ['a 429 with a date', 429, '{"error":{"code":"rate_limit_exceeded","message":"Later."}}', 'Fri, 01 Jan 2100 00:00:00 GMT'],
      ['a 429 with a number of months', 429, '{"error":{"code":"rate_limit_exceeded","message":"Later."}}', '9999999'],
    ])('is not repeated before the Retry-After of %s', async (_, status, body, after) => {
      let asked = 0
      const busy = Bun.serve({
        port: 0,
        fetch() {
          asked++
          return new Response(body, { status, headers: { 'retry-after': after } })
        },
      })
      expect(await orderTo(busy.port, 'get', 'vs_1')).toMatchObject({ status })
      expect(asked).toBe(1)
      await busy.stop(true)
    })

    test.each([
      ['a response', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"a":'],
      [
        'a response in chunks',
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n',
      ],
      ['a 503', 'HTTP/1.1 503 Away\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n<h1>A'],
      ['nonsense', 'nonsense\r\n\r\n'],
    ])('repeats a creation with the same Idempotency-Key after %s that is cut off', async (_, answer) => {
      const keys: (string | undefined)[] = []
      const whole = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"id":"vs_1"}'
      const cut = Bun.listen<{ request: string }>({
        hostname: '127.0.0.1',
        port: 0,
        socket: {
          open(socket) {
            socket.data = { request: '' }
          },
          data(socket, bytes) {
            socket.data.request += bytes.toString()
            if (!socket.data.request.endsWith('}')) return
            keys.push(/^idempotency-key: (.+)\r$/im.exec(socket.data.request)?.[1])
            socket.end(keys.length === 1 ? answer : whole)
          },
        },
      })
      expect(await orderTo(cut.port, 'create', { template: 'age_over_18' })).toMatchObject({ id: 'vs_1' })
      expect(keys).toEqual([expect.stringMatching(/./), keys[0]])
      cut.stop(true)
    })

    test('stops waiting at its own limit, although the service is silent', async () => {
      let asked = 0
      const reached = Promise.withResolvers<void>()
      const silent = Bun.listen({
        hostname: '127.0.0.1',
        port: 0,
        socket: {
          open() {
            asked++
            reached.resolve()
          },
          data() {},
        },
      })
      expect(await orderTo(silent.port, 'wait', 'vs_1', 0.2)).toMatchObject({ failed: 'no_answer' })
      // The client may have given up before this process saw its connection.
      await reached.promise
      expect(asked).toBe(1)
      silent.stop(true)
    })

    test.each([
      ['create', { template: 'age_over_18' }],
      ['get', 'vs_1'],
      ['list'],
      ['wait', 'vs_1'],
      ['cancel', 'vs_1'],
      ['redeem', 'vs_1', 'x'],
      ['erase', 'vs_1'],
      ['templates'],
      ['usage'],
    ])('%s fails as every call does when something else answers with other JSON', async (name, ...args) => {
      for (const body of ['{}', '[]', '{"data":null,"id":null,"status":null}']) {
        const other = Bun.serve({ port: 0, fetch: () => new Response(body, { headers: { 'content-type': 'application/json' } }) })
        expect([body, await orderTo(other.port, name, ...args)]).toEqual([
          body,
          expect.objectContaining({ failed: 'unexpected_answer', status: 200 }),
        ])
        await other.stop(true)
      }
    })

    test.each(['nan', 'inf', '-1'])('refuses %s as a number of seconds', async seconds => {
      const [{ header, secrets, now, ...vector } = verifyVectors[0]!] = verifyVectors.filter(each => each.expect === 'accept')
      const message = { payload: Buffer.from(bodyOf(vector)).toString('base64'), header, secret: secrets }
      // Compared with NaN, no message is too old.
      const said = await worker.order<Failed>('verify_webhook', { ...message, now, tolerance: seconds })
      expect(said).toEqual({ failed: 'wrong_call' } as never)
      expect(await call<Failed>('wait', 'vs_1', seconds)).toEqual({ failed: 'wrong_call' } as never)
      const impatient = { base_url: app.url, api_key: key, timeout: seconds, with: [] }
      expect(await worker.order<Failed>('usage', impatient)).toEqual({ failed: 'wrong_call' } as never)
    })

    test('looks a last time when the time of wait is over', async () => {
      const over = performance.now() + WAIT_SECONDS * 1000
      const fetch = () => Response.json({ id: 'vs_1', status: performance.now() < over ? 'pending' : 'completed' })
      const service = Bun.serve({ port: 0, fetch })
      expect(await orderTo(service.port, 'wait', 'vs_1', WAIT_SECONDS)).toMatchObject({ status: 'completed' })
      await service.stop(true)
    })

    test('says that nobody has answered only after the time of wait', async () => {
      const pending = Bun.serve({ port: 0, fetch: () => Response.json({ id: 'vs_1', status: 'pending' }) })
      const from = performance.now()
      expect(await orderTo(pending.port, 'wait', 'vs_1', WAIT_SECONDS)).toMatchObject({ failed: 'still_pending' })
      expect(performance.now() - from).toBeGreaterThanOrEqual(WAIT_SECONDS * 1000)
      await pending.stop(true)
    })

    test('fails as every call does when the answer is nested too deeply', async () => {
      const deep = Bun.serve({ port: 0, fetch: () => new Response('['.repeat(200_000)) })
      expect(await orderTo(deep.port, 'get', 'vs_1')).toMatchObject({ failed: 'unexpected_answer', status: 200 })
      await deep.stop(true)
    })

    test('says of every webhook vector what the TypeScript client says', async () => {
      for (const { secrets, header, tolerance, now, expect: expected, ...vector } of verifyVectors) {
        const message = {
          payload: Buffer.from(bodyOf(vector)).toString('base64'),
          header,
          now,
          ...(tolerance !== undefined && { tolerance }),
        }
        const said = await worker.order<string | Failed>('verify_webhook', { ...message, secret: secrets })
        expect([vector.name, typeof said === 'string' ? 'accept' : said.failed]).toEqual([vector.name, expected])
      }
    })

    // In a class with the method `list`, type checkers read `list` in an annotation as that method.
    test.skipIf(language !== 'python')('has annotations that a type checker resolves', () => {
      const code =
        'import typing, vidimus; [typing.get_type_hints(each, localns=vars(vidimus.Vidimus)) for each in vars(vidimus.Vidimus).values() if callable(each)]'
      const { exitCode, stderr } = Bun.spawnSync([program!, '-c', code], {
        env: { ...process.env, PYTHONPATH: join(SDK, files.sources), PYTHONDONTWRITEBYTECODE: '1' },
      })
      expect([exitCode, stderr.toString()]).toEqual([0, ''])
    })

    test.skipIf(language !== 'php')('says that php.ini forbids it to open addresses', () => {
      const code = 'require getenv("CLIENT"); new Vidimus\\Vidimus("https://verify.example", "vk_test_1");'
      const { stdout } = Bun.spawnSync([program!, '-d', 'allow_url_fopen=0', '-d', 'display_errors=1', '-r', code], {
        env: { ...process.env, CLIENT: join(SDK, files.sources, 'Vidimus.php') },
      })
      expect(stdout.toString()).toContain('allow_url_fopen')
    })

    test.skipIf(language !== 'php')('keeps the key out of the stack trace of a wrong call', () => {
      const code = 'require getenv("CLIENT"); new Vidimus\\Vidimus("nowhere", "vk_test_Hidden");'
      const { stdout } = Bun.spawnSync(
        [
          program!,
          '-d',
          'zend.exception_ignore_args=0',
          '-d',
          'zend.exception_string_param_max_len=80',
          '-d',
          'display_errors=1',
          '-r',
          code,
        ],
        {
          env: { ...process.env, CLIENT: join(SDK, files.sources, 'Vidimus.php') },
        },
      )
      expect(stdout.toString()).toContain('SensitiveParameterValue')
      expect(stdout.toString()).not.toContain('vk_test_')
    })

    test('is at most 400 lines', () => {
      const folder = join(SDK, files.sources)
      const sources = readdirSync(folder).filter(name => /\.(py|php)$/.test(name))
      const lines = sources.flatMap(name => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
      expect(lines.length).toBeGreaterThan(100)
      expect(lines.length).toBeLessThanOrEqual(400)
    })
  })
}
