// Real `kill -9` of a real process under load, again and again on one directory.

import { afterAll, expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, startApp, temporaryDir, until } from '../helpers/app.ts'
import { type Served, serve, stopServing } from '../helpers/cli.ts'
import { expectSound, isOnPostgres, rowsOf } from '../helpers/database.ts'

afterAll(stopServing)

// On PostgreSQL each round begins once the claims of the killed node are void, after four seconds.
const KILLS = isOnPostgres ? 8 : 10
const CLIENTS = 24

test('a kill -9 under load loses no acknowledged creation; afterwards usage equals sessions and the chain verifies', async () => {
  const dir = temporaryDir()
  const key = await prepare(dir)
  const acknowledged = new Map<string, Verification>()
  const unknown = new Set<string>()
  let counter = 0

  const post = (url: string, name: string) => {
    const body = { template: 'age_over_18', metadata: { name } }
    return call<Verification>(url, 'POST', '/v1/verifications', { key, body, headers: { 'idempotency-key': name } })
  }

  const create = async (url: string, name: string) => {
    let answer = await post(url, name)
    // The machine of the tests may have more to do than it can.
    while (answer.status === 429) answer = await post(url, name)
    const { status, body, text } = answer
    if (status !== 201) throw new Error(`unexpected answer ${status} ${text}`)
    return body
  }

  /** On PostgreSQL other nodes hold the key for the killed one until it counts as dead. */
  const repeat = async (url: string, name: string) => {
    if (isOnPostgres) await until(async () => (await post(url, name)).status !== 409)
    return await create(url, name)
  }

  for (let round = 0; round < KILLS; round++) {
    const service = await serve(dir, [], { VIDIMUS_PUBLIC_URL: 'https://verify.example' })
    // Requests that the last kill left open are repeated with their key: one session each, whatever
    // had become of it.
    for (const name of unknown) acknowledged.set(name, await repeat(service.url, name))
    unknown.clear()

    let stopped = false
    const client = async () => {
      while (!stopped) {
        const name = `creation-${counter++}`
        unknown.add(name)
        try {
          acknowledged.set(name, await create(service.url, name))
          unknown.delete(name)
        } catch (error) {
          if (!stopped) throw error
        }
      }
    }
    const clients = Array.from({ length: CLIENTS }, client)
    // However busy the machine is: every kill comes amid creations.
    await until(async () => acknowledged.size > (round + 1) * CLIENTS)
    await Bun.sleep((round * 37) % 200)
    stopped = true
    await kill(service.process)
    await Promise.all(clients)
  }

  expect(acknowledged.size).toBeGreaterThan(KILLS * CLIENTS)
  const service = await serve(dir, [], { VIDIMUS_PUBLIC_URL: 'https://verify.example' })
  for (const name of unknown) acknowledged.set(name, await repeat(service.url, name))
  for (const verification of acknowledged.values()) {
    const { body } = await call<Verification>(service.url, 'GET', `/v1/verifications/${verification.id}`, { key })
    expect(body).toEqual(verification)
  }
  await kill(service.process)
  expect(new Set([...acknowledged.values()].map(({ id }) => id)).size).toBe(acknowledged.size)
  await checkFile(dir, acknowledged.size)
}, 180_000)

async function prepare(dir: string): Promise<string> {
  const app = await startApp({ dir, now: Date.now() })
  const { id, key } = await app.tenant()
  await changeTenant(app.deps, id, { dailyQuota: 10_000_000 }, 'test')
  await app.stop()
  return key
}

async function checkFile(dir: string, sessions: number): Promise<void> {
  const one = (sql: string) => Number(Object.values(rowsOf(dir, sql)[0] ?? {})[0])
  expectSound(dir)
  const app = await startApp({ dir, now: Date.now() })
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  await app.stop()
  expect(one('SELECT count(*) FROM verification_sessions')).toBe(sessions)
  expect(one('SELECT sum(verifications_created) FROM usage_days')).toBe(sessions)
  expect(one('SELECT count(*) FROM idempotency_keys')).toBe(sessions)
  expect(one("SELECT count(*) FROM audit_records WHERE action = 'verification.created'")).toBe(sessions)
}

async function kill(service: Served['process']): Promise<void> {
  service.kill('SIGKILL')
  await service.exited
}
