import { expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import type { TokenPair } from '../../src/devices/schema.ts'
import { startApp, type TestApp } from '../helpers/app.ts'
import { deviceOf, enroll, outcome, pair, refresh, register, rows } from '../helpers/devices.ts'

const CLAIMS = 1000
const REFRESHES = 200
const ROUNDS = 20

const usage = async (app: TestApp, token: string) => outcome(await app.call('GET', '/v1/usage', { key: token }))

const liveTokens = (app: TestApp, kind: string) =>
  rows(app.dir, `SELECT 1 FROM device_tokens WHERE kind = '${kind}' AND spent_at IS NULL AND revoked_at IS NULL`).length

test('1,000 simultaneous claims of a code make one winner and 999 identical losers', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { device, pairing_code } = await register(app, key)
  const answers = await Promise.all(Array.from({ length: CLAIMS }, () => enroll(app, pairing_code)))
  const [winner, ...more] = answers.filter(({ status }) => status === 200)
  const losers = answers.filter(({ status }) => status === 400)
  expect([more.length, losers.length]).toEqual([0, CLAIMS - 1])
  expect(new Set(losers.map(({ text }) => text)).size).toBe(1)
  expect(losers[0]?.body.error.code).toBe('invalid_pairing_code')
  expect(await usage(app, winner?.body.access_token ?? '')).toBe('200')
  expect((await deviceOf(app, key, device.id)).status).toBe('active')
  expect([liveTokens(app, 'access'), liveTokens(app, 'refresh')]).toEqual([1, 1])
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
})

test('1,000 simultaneous claims with one Idempotency-Key all get the same pair', async () => {
  const app = await startApp()
  const { pairing_code } = await register(app, (await app.tenant()).key)
  const answers = await Promise.all(Array.from({ length: CLAIMS }, () => enroll(app, pairing_code, 'one')))
  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
  expect(liveTokens(app, 'refresh')).toBe(1)
})

test('200 simultaneous refreshes of a token make one pair, and then a revoked device with the new pair dead', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { device, access_token, refresh_token } = await pair(app, key)
  const answers = await Promise.all(Array.from({ length: REFRESHES }, () => refresh(app, refresh_token)))
  const [winner, ...more] = answers.filter(({ status }) => status === 200)
  const losers = answers.filter(({ status }) => status === 400)
  expect([more.length, losers.length]).toEqual([0, REFRESHES - 1])
  expect(new Set(losers.map(({ text }) => text)).size).toBe(1)
  expect((await deviceOf(app, key, device.id)).status).toBe('revoked')
  expect(await usage(app, access_token)).toBe('401 invalid_api_key')
  expect(await usage(app, winner?.body.access_token ?? '')).toBe('401 invalid_api_key')
  expect(outcome(await refresh(app, winner?.body.refresh_token ?? ''))).toBe('400 invalid_refresh_token')
  expect([liveTokens(app, 'access'), liveTokens(app, 'refresh')]).toEqual([0, 0])
  expect(rows(app.dir, "SELECT 1 FROM audit_records WHERE action = 'device.revoked'")).toHaveLength(1)
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
})

test('200 simultaneous refreshes with one Idempotency-Key all get the same pair, and the device stays', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { device, refresh_token } = await pair(app, key)
  const answers = await Promise.all(Array.from({ length: REFRESHES }, () => refresh(app, refresh_token, 'one')))
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(answers[0]?.status).toBe(200)
  expect((await deviceOf(app, key, device.id)).status).toBe('active')
})

test('once a revocation has answered, no creation and no refresh that begins later goes through', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  for (let round = 0; round < ROUNDS; round++) {
    const { device, ...first } = await pair(app, key)
    let held: Omit<TokenPair, 'device'> = first
    let revokedAt = Number.POSITIVE_INFINITY
    const late: string[] = []
    const use = async (act: () => ReturnType<typeof refresh>) => {
      const begun = performance.now()
      const answer = await act()
      if (answer.status < 300 && begun > revokedAt) late.push(answer.text)
      return answer
    }
    const stop = Date.now() + 30
    const creating = async () => {
      while (Date.now() < stop)
        await use(() => app.call('POST', '/v1/verifications', { key: held.access_token, body: { template: 'age_over_18' } }))
    }
    const refreshing = async () => {
      while (Date.now() < stop) {
        const answer = await use(() => refresh(app, held.refresh_token))
        if (answer.status !== 200) return
        held = answer.body
      }
    }
    const revoking = async () => {
      await Bun.sleep(round % 10)
      expect((await app.call('DELETE', `/v1/devices/${device.id}`, { key })).status).toBe(200)
      revokedAt = performance.now()
    }
    await Promise.all([creating(), creating(), refreshing(), revoking()])
    expect(late).toEqual([])
    expect(await usage(app, held.access_token)).toBe('401 invalid_api_key')
    expect(outcome(await refresh(app, held.refresh_token))).toBe('400 invalid_refresh_token')
  }
})

test('1,000 registrations at once have 1,000 codes and ids, and the list has one order', async () => {
  const app = await startApp()
  const tenants = await Promise.all(Array.from({ length: 20 }, () => app.tenant()))
  const made = await Promise.all(tenants.flatMap(({ key }) => Array.from({ length: 50 }, () => register(app, key))))
  expect(new Set(made.map(({ pairing_code }) => pairing_code)).size).toBe(1000)
  expect(new Set(made.map(({ device }) => device.id)).size).toBe(1000)
  for (const { key } of tenants) {
    const { body } = await app.call<{ data: { created_at: string }[] }>('GET', '/v1/devices', { key })
    const times = body.data.map(({ created_at }) => created_at)
    expect(times).toEqual([...new Set(times)].sort().reverse())
  }
})
