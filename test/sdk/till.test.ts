import { afterAll, afterEach, beforeAll, beforeEach, expect, setSystemTime, test } from 'bun:test'
import { inspect } from 'node:util'
import { createTill, type Till, type TillStorage } from '../../src/sdk/client.ts'
import { startApp, type TestApp } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { deviceOf, register } from '../helpers/devices.ts'
import { type FaultyProxy, startFaultyProxy, stopProxies } from '../helpers/faulty-proxy.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'
import { failure } from './failure.ts'

const LIFE_MS = 3_600_000

let app: TestApp
let key: string
let proxy: FaultyProxy
let disk: Disk
let till: Till

type Disk = { text: string | undefined; writes: string[]; isFull: boolean } & TillStorage

function newDisk(): Disk {
  const disk: Disk = {
    text: undefined,
    writes: [],
    isFull: false,
    read: async () => disk.text,
    async write(text) {
      if (disk.isFull) throw new Error('the disk is full')
      disk.writes.push(text)
      disk.text = text
    },
  }
  return disk
}

beforeAll(async () => {
  app = await startApp()
  key = (await app.tenant()).key
})
beforeEach(async () => {
  proxy = await startFaultyProxy(app.url)
  disk = newDisk()
  till = createTill({ baseUrl: proxy.url, storage: disk })
})
afterEach(() => setSystemTime())
afterAll(stopProxies)

const sent = (path: string) => proxy.seen.filter(seen => seen.path === path).map(({ headers }) => headers['idempotency-key'])
const exchanges = () => sent('/v1/devices/token')
const later = (ms: number) => setSystemTime(new Date(Date.now() + ms))

async function paired(): Promise<string> {
  const { pairing_code } = await register(app, key)
  return (await till.enroll(pairing_code)).id
}

test('a till creates, waits and reads; other calls are refused', async () => {
  expect(await till.isPaired()).toBe(false)
  expect((await failure(till.usage())).code).toBe('not_paired')
  await paired()
  expect(await till.isPaired()).toBe(true)
  expect((await till.templates()).data.map(template => template.key)).toEqual(['age_over_18'])
  const { id, wallet_uri = '' } = await till.verifications.create({ template: 'age_over_18' })
  await answerWith(app, await holderOf(app), wallet_uri)
  expect(await till.verifications.wait(id)).toMatchObject({ id, status: 'completed' })
  expect((await till.verifications.list()).data.map(({ id }) => id)).toEqual([id])
  expect((await failure(till.verifications.create({ template: 'age_over_21' }))).code).toBe('insufficient_scope')
  expect(exchanges()).toEqual([])
})

test('a pairing whose response is lost is repeated with the stored idempotency key', async () => {
  const { pairing_code, device } = await register(app, key)
  proxy.next('lose', 'cut')
  expect(await till.enroll(pairing_code)).toMatchObject({ id: device.id, status: 'active' })
  const keys = sent('/v1/devices/enroll')
  expect([keys.length, new Set(keys).size]).toEqual([3, 1])
  expect(disk.writes[0]).toContain(keys[0] as string)
  expect(disk.writes).toHaveLength(2)
  expect(disk.text).not.toContain(pairing_code)
  await till.usage()
})

test('a till that crashes before its tokens are stored is paired again with the same code', async () => {
  const { pairing_code, device } = await register(app, key)
  proxy.always(/enroll$/, 'lose')
  expect(await failure(till.enroll(pairing_code, { timeoutMs: 200 }))).toMatchObject({ code: 'no_answer', maybeDone: true })
  const restarted = createTill({ baseUrl: app.url, storage: disk })
  expect((await restarted.enroll(pairing_code)).id).toBe(device.id)
  await restarted.usage()
})

test('tokens are refreshed between 70 and 90 % of their life, before they are used', async () => {
  await paired()
  later(LIFE_MS * 0.69)
  await till.usage()
  expect(exchanges()).toEqual([])
  later(LIFE_MS * 0.22)
  await till.usage()
  expect(exchanges()).toHaveLength(1)
  await till.usage()
  expect(exchanges()).toHaveLength(1)
})

test('a lost response to a refresh leaves the till paired', async () => {
  const id = await paired()
  const before = disk.text
  later(LIFE_MS)
  proxy.next('lose', 'lose')
  await till.usage()
  const keys = exchanges()
  expect([keys.length, new Set(keys).size]).toEqual([3, 1])
  expect(before).toContain(keys[0] as string)
  expect(disk.text).not.toContain(keys[0] as string)
  expect((await deviceOf(app, key, id)).status).toBe('active')
  // The next refresh uses a new key.
  await till.refresh()
  expect(new Set(exchanges()).size).toBe(2)
  await till.usage()
})

test('a till that crashes during a refresh works after its restart', async () => {
  const id = await paired()
  later(LIFE_MS)
  disk.isFull = true
  await expect(till.usage()).rejects.toThrow('the disk is full')
  disk.isFull = false
  await createTill({ baseUrl: proxy.url, storage: disk }).usage()
  expect(new Set(exchanges()).size).toBe(1)
  expect((await deviceOf(app, key, id)).status).toBe('active')
})

test('many parallel calls refresh the tokens once', async () => {
  const id = await paired()
  later(LIFE_MS)
  const sessions = await Promise.all(Array.from({ length: 10 }, () => till.verifications.create({ template: 'age_over_18' })))
  expect(new Set(sessions.map(({ id }) => id)).size).toBe(10)
  expect(exchanges()).toHaveLength(1)
  expect((await deviceOf(app, key, id)).status).toBe('active')
})

test('two tills that share a storage and its lock refresh the tokens once', async () => {
  const id = await paired()
  let last: Promise<unknown> = Promise.resolve()
  const lock = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const mine = last.then(work, work)
    last = mine
    return mine
  }
  const tills = Array.from({ length: 3 }, () => createTill({ baseUrl: proxy.url, storage: { ...disk, lock } }))
  later(LIFE_MS)
  await Promise.all(tills.map(each => each.usage()))
  expect(exchanges()).toHaveLength(1)
  expect((await deviceOf(app, key, id)).status).toBe('active')
})

test('tokens that the service considers expired are refreshed, and the call is done once', async () => {
  const own = await startApp()
  const tenant = await own.tenant()
  const { pairing_code } = await register(own, tenant.key)
  const slow = createTill({ baseUrl: own.url, storage: disk })
  await slow.enroll(pairing_code)
  own.clock.advance(LIFE_MS + 1000)
  await slow.verifications.create({ template: 'age_over_18' })
  expect(rowsOf(own.dir, 'SELECT id FROM verification_sessions')).toHaveLength(1)
})

test('tokens are used until they expire while a refresh fails', async () => {
  await paired()
  proxy.always(/\/v1\/devices\/token$/, { status: 429, headers: { 'retry-after': '3600' }, body: '' })
  later(LIFE_MS * 0.95)
  await till.usage()
  await till.usage()
  // No second refresh follows at once.
  expect(exchanges()).toHaveLength(1)
  later(LIFE_MS * 0.1)
  expect((await failure(till.usage())).status).toBe(429)
})

test('an answer without tokens takes the place of none', async () => {
  const { pairing_code } = await register(app, key)
  const foreign = { status: 200, body: '{"login":"https://hotel.example"}' }
  proxy.next(foreign)
  expect(await failure(till.enroll(pairing_code))).toMatchObject({ code: 'unexpected_answer', maybeDone: true })
  expect(await till.isPaired()).toBe(false)
  await till.enroll(pairing_code)
  proxy.next(foreign)
  expect(await failure(till.refresh())).toMatchObject({ code: 'unexpected_answer', maybeDone: true })
  await till.refresh()
  await till.usage()
})

test('a revoked till deletes its tokens and can be paired again', async () => {
  const id = await paired()
  await app.call('DELETE', `/v1/devices/${id}`, { key })
  expect((await failure(till.usage())).code).toBe('invalid_api_key')
  expect((await failure(till.refresh())).code).toBe('invalid_refresh_token')
  expect(await till.isPaired()).toBe(false)
  expect((await failure(till.usage())).code).toBe('not_paired')
  await paired()
  await till.usage()
})

test('aborting a call during a refresh does not affect other calls', async () => {
  await paired()
  later(LIFE_MS)
  const controller = new AbortController()
  const aborted = till.usage({ signal: controller.signal }).catch(error => error)
  const other = till.usage()
  controller.abort('enough')
  expect(await aborted).toBe('enough')
  await other
  expect(exchanges()).toHaveLength(1)
})

test('tokens are in no text of a till or an error', async () => {
  const id = await paired()
  const { access, refresh } = JSON.parse(disk.text ?? '').tokens
  await app.call('DELETE', `/v1/devices/${id}`, { key })
  const failures = [await failure(till.usage()), await failure(till.refresh())]
  const texts = [till, ...failures].flatMap(each => [String(each), JSON.stringify(each), inspect(each, { depth: 9 })])
  expect(texts.filter(text => text.includes(access) || text.includes(refresh))).toEqual([])
})

test('read, write and lock are called on the storage itself, which may be an object of any class', async () => {
  class Safe implements TillStorage {
    #text = ''
    #last: Promise<unknown> = Promise.resolve()
    locks = 0
    read() {
      return this.#text
    }
    write(text: string) {
      this.#text = text
    }
    lock<Result>(work: () => Promise<Result>): Promise<Result> {
      this.locks++
      const done = this.#last.then(work)
      this.#last = done.catch(() => undefined)
      return done
    }
  }
  const safe = new Safe()
  const own = createTill({ baseUrl: proxy.url, storage: safe })
  const { pairing_code, device } = await register(app, key)
  expect((await own.enroll(pairing_code)).id).toBe(device.id)
  await own.refresh()
  expect([safe.locks, exchanges().length]).toEqual([2, 1])
})

test('a till compares the photo, and a decision whose response is lost gives the recorded outcome', async () => {
  const { pairing_code } = await register(app, key, { allowed_templates: ['age_over_18_photo'] })
  await till.enroll(pairing_code)
  const hold = async () => {
    const { id, wallet_uri } = await till.verifications.create({ template: 'age_over_18_photo' })
    expect((await failure(till.verifications.comparison(id))).code).toBe('session_not_found')
    await answerWith(app, await holderOf(app), wallet_uri ?? '')
    return id
  }
  const id = await hold()
  const { portrait, claims } = await till.verifications.comparison(id)
  expect([portrait.slice(0, 11), claims]).toEqual(['data:image/', { age_over_18: true }])
  proxy.next('lose')
  expect(await till.verifications.compare(id, true)).toMatchObject({ id, status: 'completed' })
  expect((await failure(till.verifications.compare(id, true))).code).toBe('session_already_responded')
  const other = await hold()
  expect(await till.verifications.compare(other, false)).toMatchObject({ status: 'failed', error: { code: 'not_same_person' } })
})
