import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import type { HostedVerification } from '../../src/verifications/schema.ts'
import { createVerification, startApp, temporaryDir } from '../helpers/app.ts'
import { listOrigin } from '../helpers/dc.ts'
import { type Run, runOf } from '../helpers/run.ts'
import { itemsRequest, readCode } from '../sandbox/foreign-reader.ts'

const SCRIPT = resolve(import.meta.dir, '../../scripts/sandbox-wallet.ts')

test.each([
  [['--bogus'], /^sandbox-wallet: Unknown option '--bogus'\n$/],
  [['--person', 'minor'], /^sandbox-wallet: Unknown option '--person'; did you mean --persona\?\n$/],
  [['--origin', 'https://shop.example'], /^sandbox-wallet: --origin goes with --dc: .*\n$/],
  [['--persona'], /^sandbox-wallet: --persona needs a value; .*\n$/],
  [['--in-person'], /^sandbox-wallet: --till goes with --in-person and the wallet_uri of its session\n$/],
  [['--till', 'vd_x'], /^sandbox-wallet: --till goes with --in-person and the wallet_uri of its session\n$/],
])('a call with %j is told in one line, with exit code 2', async (flags, says) => {
  const { exitCode, stdout, stderr } = await run(temporaryDir(), 'openid4vp://authorize?client_id=x', ...flags)
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(says) })
})

test('a link out of the QR code of the hosted page is answered', async () => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const { id } = await createVerification(app, (await app.tenant()).key, { redirect_url: 'https://shop.example/done' })
  const { body } = await app.call<HostedVerification>('GET', `/v/${id}/data`)
  const { stdout, stderr } = await run(app.dir, body.qr_uri ?? '')
  expect([stdout, stderr]).toEqual([expect.stringMatching(/answered 200 \{\}\nThe verification is completed now\.\n$/), ''])
})

test('a data directory that is not of the service is refused in one line, and the session stays open', async () => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const other = await startApp({ now: Date.now() })
  const { id, wallet_uri = '' } = await createVerification(app, (await app.tenant()).key)
  const { exitCode, stdout, stderr } = await run(other.dir, wallet_uri)
  const says = `sandbox-wallet: ${other.dir} is not the data directory of the service at ${app.deps.config.publicUrl}; set VIDIMUS_DATA_DIR to the one that its start prints\n`
  expect([exitCode, stdout, stderr]).toEqual([1, '', says])
  expect((await app.call<HostedVerification>('GET', `/v/${id}/data`)).body.status).toBe('pending')
})

test('an answer that is held until the redirect is told as one', async () => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const body = { redirect_url: 'https://shop.example/done', release: 'on_redeem' }
  const { wallet_uri = '' } = await createVerification(app, (await app.tenant()).key, body)
  const { stdout } = await run(app.dir, wallet_uri)
  expect(stdout).toEndWith('The verification is pending (answered; it completes when its response code is redeemed) now.\n')
})

test('an answer to a service that is busy for a moment is told with how it ended', async () => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const { wallet_uri = '' } = await createVerification(app, (await app.tenant()).key)
  let refusals = 0
  app.deps.isOverloaded = () => ++refusals < 2
  const { stdout, stderr } = await run(app.dir, wallet_uri)
  expect([stdout, stderr]).toEqual([expect.stringMatching(/The verification is completed now\.\n$/), ''])
  expect(refusals).toBe(2)
})

test('an answer to a service that stays too busy to tell how it ended is told as one', async () => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const { id, wallet_uri = '' } = await createVerification(app, (await app.tenant()).key)
  app.deps.isOverloaded = () => true
  const { exitCode, stdout, stderr } = await run(app.dir, wallet_uri)
  expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/answered 200 \{\}\n$/)])
  expect(stderr).toMatch(
    /^sandbox-wallet: how it ended cannot be read now \(429: .*\); ask http.*\/v1\/verifications\/.*\/status\n$/,
  )
  expect(stderr).toContain(id)
})

test.each([
  ['a listed origin', ['--origin', 'https://shop.example']],
  ['the service itself', []],
])('a page of %s is answered through the browser, with a code', async (_, flags) => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const { id, key } = await app.tenant()
  await listOrigin(app, id, 'https://shop.example')
  const { wallet_uri = '' } = await createVerification(app, key)
  const { stdout, stderr } = await run(app.dir, wallet_uri, '--dc', ...flags)
  const says = /answered 200 \{"status":"completed","response_code":"[\w-]{43}"\}\nThe verification is completed now\.\n$/
  expect([stdout, stderr]).toEqual([expect.stringMatching(says), ''])
})

test('a page whose origin is not listed is told in one line', async () => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const { wallet_uri = '' } = await createVerification(app, (await app.tenant()).key)
  const { exitCode, stderr } = await run(app.dir, wallet_uri, '--dc', '--origin', 'https://attacker.example')
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(/^sandbox-wallet: the service answered 403: origin_not_allowed, .*\n$/),
  ])
})

test('a phone is read as by a till, with the token of whoever created the session', async () => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const { key } = await app.tenant()
  const { wallet_uri = '' } = await createVerification(app, key)
  const { stdout, stderr } = await run(app.dir, wallet_uri, '--in-person', '--till', key)
  const says = /answered 200 \{"status":"completed","message":"oWZzdGF0dXMU"\}\nThe verification is completed now\.\n$/
  expect([stdout, stderr]).toEqual([expect.stringMatching(says), ''])
  const refused = await run(app.dir, wallet_uri, '--in-person', '--till', 'vd_unknown')
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/^sandbox-wallet: the service answered 401: /)])
})

test('a phone without a till prints its code, answers by line, and ends when the reader says so', async () => {
  const app = await startApp({ config: { publicUrl: '' }, now: Date.now() })
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([process.execPath, SCRIPT, '--in-person'], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: app.dir, VIDIMUS_PUBLIC_URL: app.deps.config.publicUrl },
    stdin: 'pipe',
    stdout: 'pipe',
  })
  const lines = linesOf(child.stdout)
  const session = readCode(await lines())
  const av = 'eu.europa.ec.av.1'
  const itemsRequests = [itemsRequest(av, { [av]: ['age_over_18'] })]
  const say = (message: Uint8Array) => child.stdin.write(`${Buffer.from(message).toString('base64url')}\n`)
  say(session.establish({ version: '1.0', docRequests: itemsRequests.map(asked => ({ itemsRequest: asked })) }))
  await child.stdin.flush()
  const response = session.open(Buffer.from(await lines(), 'base64url'))
  expect(session.proofOf(response)).toBe('deviceSignature')
  say(Buffer.from('a16673746174757314', 'hex'))
  await child.stdin.flush()
  expect(await child.exited).toBe(0)
})

/** One line after the other. */
function linesOf(stream: ReadableStream<Uint8Array>): () => Promise<string> {
  const reader = stream.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader()
  let known = ''
  return async () => {
    while (!known.includes('\n')) {
      const { value, done } = await reader.read()
      if (done) throw new Error('there is no more line')
      known += value
    }
    const end = known.indexOf('\n')
    const line = known.slice(0, end)
    known = known.slice(end + 1)
    return line
  }
}

async function run(dir: string, ...call: string[]): Promise<Run> {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([process.execPath, SCRIPT, ...call], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: dir },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return await runOf(child)
}
