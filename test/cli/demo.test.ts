import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import type { DemoSession } from '../../src/demo/schema.ts'
import type { IssuedDocuments } from '../../src/sandbox/schema.ts'
import { newPrivateJwk, present, publicJwk } from '../../src/sandbox/wallet/wallet.ts'
import { call, temporaryDir, until } from '../helpers/app.ts'
import { vidimus } from '../helpers/command.ts'
import { type RunningDemo, spawnDemo, startDemo, stopDemos } from '../helpers/demo.ts'

afterAll(stopDemos)

const sh = async (script: string): Promise<{ out: string; exitCode: number }> => {
  const child = Bun.spawn(['sh', '-c', script], { stdout: 'pipe', stderr: 'inherit' })
  return { out: await new Response(child.stdout).text(), exitCode: await child.exited }
}

/** Answers as a person does in the page that the first command names. */
async function answerAsAdult(origin: string, id: string): Promise<void> {
  const deviceKey = await newPrivateJwk()
  const body = { persona: 'adult', holder_key: publicJwk(deviceKey) }
  const { body: issued } = await call<IssuedDocuments>(origin, 'POST', '/sandbox/documents', { body })
  const { body: session } = await call<{ wallet_uri: string }>(origin, 'GET', `/v/${id}/data`)
  const holder = { persona: 'adult' as const, deviceKey, credentials: issued.credentials }
  await present(session.wallet_uri, holder, { fetch, now: Date.parse(issued.now) })
}

describe('a running demo', () => {
  let temporary: string
  let demo: RunningDemo
  let origin: string

  beforeAll(async () => {
    temporary = temporaryDir()
    demo = await startDemo(temporary)
    origin = new URL(demo.url).origin
  })

  test('has one directory of its own, in the temporary one, and serves its page', async () => {
    expect(readdirSync(temporary)).toEqual([demo.data_dir.split('/').at(-1)!])
    expect(existsSync(`${demo.data_dir}/master.key`)).toBe(true)
    expect((await call(origin, 'GET', '/demo')).status).toBe(200)
  })

  test('prints four commands that work one after the other, with the answer of a wallet in between', async () => {
    const [create, status, read, erase] = demo.commands as [string, string, string, string]
    expect(demo.commands).toHaveLength(4)
    const asked = await sh(create)
    const id = new RegExp(`^Answer it here: ${origin}/v/(vs_\\w{22})\\n$`).exec(asked.out)?.[1] ?? ''
    expect(id).not.toBe('')
    const withId = (command: string) => sh(`ID=${id}; ${command}`).then(({ out }) => JSON.parse(out))
    expect(await withId(status)).toEqual({ id, status: 'pending' })
    await answerAsAdult(origin, id)
    expect(await withId(read)).toMatchObject({ id, status: 'completed', claims: { age_over_18: true } })
    await until(async () => (await call<{ webhook?: object }>(origin, 'GET', `/demo/sessions/${id}`)).body.webhook !== undefined)
    expect(await withId(erase)).toMatchObject({
      id,
      deleted: { verification_sessions: 1, verification_results: 1, webhook_deliveries: 1 },
    })
    expect((await withId(read)).error.code).toBe('session_not_found')
    expect((await call<{ ok: boolean }>(origin, 'GET', '/demo/audit')).body.ok).toBe(true)
  })

  test('shows no check of an answer that is held in the back office', async () => {
    const body = { template: 'age_over_18', redirect_url: 'https://shop.example/done', release: 'on_redeem' }
    const { body: created } = await call<{ id: string }>(origin, 'POST', '/v1/verifications', { key: demo.key, body })
    await answerAsAdult(origin, created.id)
    const { body: session } = await call<DemoSession>(origin, 'GET', `/demo/sessions/${created.id}`)
    expect([session.verification.status, session.checks]).toEqual(['pending', []])
    expect(session.moments.map(({ event }) => event)).toEqual(['created', 'request_fetched'])
  })

  test('prints commands that can be pasted at once', async () => {
    const { out, exitCode } = await sh(demo.commands.join('\n'))
    expect(exitCode).toBe(0)
    expect(out).toMatch(/"status":"pending"\}.*"deleted":\{"verification_sessions":1/s)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('exits 0 on %s, and its directory is gone', async signal => {
    const dir = temporaryDir()
    const other = await startDemo(dir)
    expect(readdirSync(dir)).toHaveLength(1)
    other.process.kill(signal)
    expect(await other.process.exited).toBe(0)
    expect(await new Response(other.process.stderr).text()).toBe('')
    expect(readdirSync(dir)).toEqual([])
  })
})

test('demo without --json prints the address and the commands, and a QR code if a phone can reach it', async () => {
  for (const [env, hasCode] of [[{}, false] as const, [{ VIDIMUS_PUBLIC_URL: 'https://demo.example' }, true] as const]) {
    const child = spawnDemo(temporaryDir(), ['--port', '0'], env)
    const reader = child.stdout.getReader()
    let text = ''
    while (!text.includes('/dashboard#setup=')) text += new TextDecoder().decode((await reader.read()).value)
    expect(text).toMatch(/The demo is at http:\/\/localhost:\d+\/demo/)
    expect(/█/.test(text)).toBe(hasCode)
    expect(text.match(/curl -s/g)).toHaveLength(4)
    child.kill('SIGINT')
    expect(await child.exited).toBe(0)
  }
})

test('a demo that cannot start says why, and leaves no directory', async () => {
  const dir = temporaryDir()
  const { process: first, url } = await startDemo(dir)
  const refused = spawnDemo(dir, ['--port', new URL(url).port])
  expect(await refused.exited).toBe(1)
  expect(await new Response(refused.stderr).text()).toContain('cannot listen on')
  expect(readdirSync(dir)).toHaveLength(1)
  first.kill('SIGINT')
  await first.exited
  expect(readdirSync(dir)).toEqual([])
})

test('a wrong call of demo exits 2', async () => {
  for (const args of [['--port', 'x'], ['--port', '70000'], ['now'], ['--fast']]) {
    expect((await vidimus(temporaryDir(), ['demo', '--no-open', ...args])).exitCode).toBe(2)
  }
})
