// Real `kill -9` of a real process while tills pair and rotate, twenty times on one directory.
// Tills behave as ours do: they store the Idempotency-Key before they send, and repeat with it when
// no answer came.
import { afterAll, expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import type { Device, TokenPair } from '../../src/devices/schema.ts'
import { call, startApp, temporaryDir, until } from '../helpers/app.ts'
import { type Served, serve, stopServing } from '../helpers/cli.ts'
import { expectSound, rowsOf } from '../helpers/database.ts'
import { type Registered, TILL } from '../helpers/devices.ts'

afterAll(stopServing)

const KILLS = 20
const TILLS = 12

type Till = { key: string; code?: string; pair?: TokenPair; attempt: string; enrolments: Set<string> }

test('a kill -9 amid enrolments and rotations strands no till and leaves at most one live refresh token per device', async () => {
  const dir = temporaryDir()
  const keys = await prepare(dir)
  const tills: Till[] = Array.from({ length: TILLS }, () => ({ key: keys[0]!, attempt: 'attempt-0', enrolments: new Set() }))
  let attempts = 0
  let exchanges = 0

  /** One exchange; its key is changed only once the answer is there. */
  const advance = async (url: string, till: Till) => {
    till.code ??= (await post<Registered>(url, '/v1/devices', TILL, { key: till.key })).pairing_code
    const headers = { 'idempotency-key': till.attempt }
    const pair = till.pair
      ? await post<TokenPair>(url, '/v1/devices/token', { refresh_token: till.pair.refresh_token }, { headers })
      : await post<TokenPair>(url, '/v1/devices/enroll', { pairing_code: till.code }, { headers })
    till.enrolments.add(pair.device.id)
    till.pair = pair
    till.attempt = `attempt-${++attempts}`
    exchanges++
  }

  for (let round = 0; round < KILLS; round++) {
    // Some start over with a new code, so that enrolments too are hit by the kill. In another shop each time: codes that were left
    // behind wait there, 50 at most.
    const anew = { key: keys[round]!, code: undefined, pair: undefined }
    for (const till of tills.slice(0, TILLS / 2)) Object.assign(till, { ...anew, enrolments: new Set() })
    const service = await serve(dir)
    let stopped = false
    const run = async (till: Till) => {
      while (!stopped) {
        try {
          await advance(service.url, till)
        } catch (error) {
          if (!stopped) throw error
        }
      }
    }
    const running = tills.map(run)
    // However busy the machine is: every kill comes amid exchanges.
    await until(async () => exchanges > (round + 1) * TILLS)
    await Bun.sleep((round * 37) % 200)
    stopped = true
    await kill(service)
    await Promise.all(running)
  }

  const service = await serve(dir)
  // Requests that the last kill left open are repeated: every till goes on, and none has to pair
  // again.
  for (const till of tills) {
    await advance(service.url, till)
    const { status } = await call(service.url, 'GET', '/v1/usage', { key: till.pair?.access_token })
    expect([status, till.enrolments.size]).toEqual([200, 1])
  }
  for (const key of keys) {
    const { body } = await call<{ data: Device[] }>(service.url, 'GET', '/v1/devices', { key })
    expect(body.data.filter(({ status }) => status === 'revoked')).toEqual([])
  }
  await kill(service)
  expect(exchanges).toBeGreaterThan(KILLS * TILLS)
  await checkFile(dir)
})

async function post<Body>(url: string, path: string, body: object, options: object): Promise<Body> {
  const answer = await call<Body>(url, 'POST', path, { body, ...options })
  if (answer.status >= 300) throw new Error(`${path}: unexpected answer ${answer.status} ${answer.text}`)
  return answer.body
}

/** A shop for each kill. */
async function prepare(dir: string): Promise<string[]> {
  const app = await startApp({ dir, now: Date.now() })
  const keys: string[] = []
  for (let i = 0; i < KILLS; i++) keys.push((await app.tenant()).key)
  await app.stop()
  return keys
}

async function checkFile(dir: string): Promise<void> {
  const all = (sql: string) => rowsOf(dir, sql)
  expectSound(dir)
  const live = "kind = 'refresh' AND spent_at IS NULL AND revoked_at IS NULL"
  expect(all(`SELECT device_id FROM device_tokens WHERE ${live} GROUP BY device_id HAVING count(*) > 1`)).toEqual([])
  // An active device has exactly one; a spent code belongs to a device that is enrolled.
  expect(
    all(
      `SELECT id FROM devices WHERE status = 'active' AND (SELECT count(*) FROM device_tokens WHERE device_id = id AND ${live}) <> 1`,
    ),
  ).toEqual([])
  expect(
    all(
      "SELECT 1 FROM device_tokens JOIN devices ON id = device_id WHERE kind = 'pairing' AND (spent_at IS NULL) <> (status = 'pending')",
    ),
  ).toEqual([])
  const app = await startApp({ dir, now: Date.now() })
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  await app.stop()
}

async function kill({ process }: Served): Promise<void> {
  process.kill('SIGKILL')
  await process.exited
}
