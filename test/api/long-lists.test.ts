// Lists of sessions whose details, queries or results are as large as they may be.
import { afterAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { verificationResults } from '../../src/db/schema/verifications.ts'
import { fixVersion } from '../../src/templates/resolve.ts'
import type { Result } from '../../src/verifications/portraits.ts'
import { sealResult } from '../../src/verifications/present.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, startWithTenant, type TestApp } from '../helpers/app.ts'
import { joinMember, startOwned } from '../helpers/dashboard.ts'
import { editRows, isOnPostgres } from '../helpers/database.ts'
import { examine } from '../helpers/doctor.ts'
import { sdJwtQuery } from '../helpers/queries.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const paths = (count: number) => Array.from({ length: count }, (_, i) => [`claim_${i}_${'x'.repeat(500)}`])
/** 63 KB. */
const LONG_QUERY = { credentials: [sdJwtQuery('a', paths(60)), sdJwtQuery('b', paths(55))] }
const LONG_METADATA = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`name-${i}`, 'ä'.repeat(500)]))

const withQuery = { query: LONG_QUERY, template: undefined }

const list = (app: TestApp, key: string, query: string) =>
  app.call<{ data: Verification[] }>('GET', `/v1/verifications${query}`, { key })

/** The columns of all that is opened from here on. */
function watchOpened(app: TestApp): string[] {
  const opened: string[] = []
  const { sealer } = app.deps
  const { open } = sealer
  sealer.open = (place, sealed) => {
    opened.push(`${place.table}.${place.column}`)
    return open(place, sealed)
  }
  return opened
}

async function enlarge({ deps }: TestApp, session: { id: string; tenantId: string }, result: Result): Promise<void> {
  const sessionKey = (await deps.sessionKeys.find(deps.db, session.id))!
  const { salt, sealed } = sealResult(deps, { ...session, sessionKey }, result, deps.now())
  await deps.write(tx =>
    tx.update(verificationResults).set({ salt, sealed }).where(eq(verificationResults.verificationId, session.id)),
  )
}

const queriesIn = (opened: string[]) => opened.filter(name => name === 'verification_sessions.sealed_query').length

describe('a list', () => {
  test('a list, a search, the list of the dashboard and an export open no query; the page of one session opens one', async () => {
    const { app, boss, ...tenant } = await startOwned()
    const made = []
    for (let i = 0; i < 3; i++)
      made.push(await createVerification(app, tenant.key, { ...withQuery, metadata: { order: `o-${i}` } }))
    const opened = watchOpened(app)
    const page = `/tenants/${tenant.id}/verifications`
    expect((await list(app, tenant.key, '?limit=100')).body.data.map(({ id }) => id)).toContain(made[0]!.id)
    expect((await boss.get(`${page}?environment=test&limit=100`)).status).toBe(200)
    expect((await boss.get<{ data: object[] }>(`${page}?environment=test&search=o-1`)).body.data).toHaveLength(1)
    const csv = await boss.post(`${page}/export?environment=test`)
    expect([csv.status, csv.text.split('\r\n').length]).toEqual([200, made.length + 2])
    expect(opened).toContain('verification_sessions.sealed')
    expect(queriesIn(opened)).toBe(0)
    expect((await app.call('GET', `/v/${made[0]!.id}/data`)).status).toBe(200)
    expect(queriesIn(opened)).toBe(1)
  })

  test('a list has the links of pending eu-av sessions as a read of each has, from the one version of their template', async () => {
    const { app, key } = await startWithTenant()
    const templates = (await app.call<{ data: { key: string }[] }>('GET', '/v1/templates', { key })).body.data.map(
      each => each.key,
    )
    const made: Verification[] = []
    for (const template of templates) made.push(await createVerification(app, key, { template }))
    const links = made.filter(({ wallet_uri }) => wallet_uri?.startsWith('av://'))
    expect(links.length).toBeGreaterThan(0)
    const opened = watchOpened(app)
    const { body } = await list(app, key, '?limit=100')
    expect(body.data).toEqual(made.toReversed())
    expect(queriesIn(opened)).toBe(0)
  })

  test('a list that is too long for one piece has the same sessions in the same order, each as a read of it alone', async () => {
    const { app, key } = await startWithTenant()
    const made: Verification[] = []
    for (let i = 0; i < 30; i++) made.unshift(await createVerification(app, key, { metadata: LONG_METADATA }))
    const { status, body, text, headers } = await list(app, key, '?limit=100')
    expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, 'application/json'])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(text.length).toBeGreaterThan(512 * 1024)
    expect(body).toEqual({ data: made })
    expect((await list(app, key, '?limit=5')).body.data).toEqual(made.slice(0, 5))
  })

  test('a long list of the dashboard has the same sessions in the same order as short pages of it', async () => {
    const { app, boss, ...tenant } = await startOwned()
    for (let i = 0; i < 30; i++) await createVerification(app, tenant.key, { metadata: LONG_METADATA })
    type Page = { data: { created_at: string }[]; next_before: string | null }
    const page = async (query: string) =>
      (await boss.get<Page>(`/tenants/${tenant.id}/verifications?environment=test&${query}`)).body
    const [long, short] = [await page('limit=29'), await page('limit=5')]
    expect(long.data).toHaveLength(29)
    expect(long.data.slice(0, 5)).toEqual(short.data)
    expect([long.next_before, short.next_before]).toEqual([long.data.at(-1)!.created_at, short.data.at(-1)!.created_at])
  })

  test('a long list breaks off at an unreadable session, and a short one is 500', async () => {
    const { app, key } = await startWithTenant()
    const made: Verification[] = []
    for (let i = 0; i < 30; i++) made.push(await createVerification(app, key, { metadata: LONG_METADATA }))
    const zeros = isOnPostgres ? "decode(repeat('00', length(sealed)), 'hex')" : 'zeroblob(length(sealed))'
    editRows(app, `UPDATE verification_sessions SET sealed = ${zeros} WHERE id = ?`, made[15]!.id)
    await expect(list(app, key, '?limit=100')).rejects.toThrow()
    const short = `?limit=1&before=${encodeURIComponent(made[16]!.created_at)}`
    expect((await list(app, key, short)).status).toBe(500)
    expect((await list(app, key, '?limit=14')).body.data).toHaveLength(14)
    expect(app.logs.filter(line => JSON.parse(line).event === 'verification.unreadable').length).toBeGreaterThan(1)
  })

  test('results that are too large for their page are read apart and shown whole, on the dashboard too', async () => {
    const { app, boss, key, ...tenant } = await startOwned()
    const made: Verification[] = []
    for (let i = 0; i < 20; i++) made.unshift((await verifyWith(app, key, 'adult')).verification)
    const claims = { portrait: 'x'.repeat(40_000) }
    for (const { id } of made) await enlarge(app, { id, tenantId: tenant.id }, { claims, credentials: [] })
    const { body } = await list(app, key, '')
    expect(body.data.map(({ id }) => id)).toEqual(made.map(({ id }) => id))
    expect(body.data.filter(each => Bun.deepEquals(each.claims, claims))).toHaveLength(20)
    expect((await app.call<Verification>('GET', `/v1/verifications/${made[0]!.id}`, { key })).body).toEqual(body.data[0]!)
    const { body: page } = await boss.get<{ data: { id: string }[] }>(`/tenants/${tenant.id}/verifications?environment=test`)
    expect(page.data.map(({ id }) => id)).toEqual(made.map(({ id }) => id))
  })
})

test('a query that cannot be opened is found by the doctor, and the list still has its session', async () => {
  const { app, key } = await startWithTenant()
  const { id } = await createVerification(app, key, withQuery)
  const zeros = isOnPostgres ? "decode(repeat('00', length(sealed_query)), 'hex')" : 'zeroblob(length(sealed_query))'
  editRows(app, `UPDATE verification_sessions SET sealed_query = ${zeros} WHERE id = ?`, id)
  expect((await list(app, key, '')).status).toBe(200)
  expect((await examine(app.deps, true)).find(({ name }) => name === 'database')?.detail).toContain(id)
})

test('many creations with large templates keep no more than 4 MiB of versions in memory, the latest ones', async () => {
  const { app } = await startWithTenant()
  const { db, versions, write } = app.deps
  const query = { credentials: [sdJwtQuery('a', paths(100))] } as unknown as Parameters<typeof fixVersion>[2]['query']
  const hashes = Array.from({ length: 100 }, (_, i) => `version-${i}`)
  await write(async tx => {
    for (const hash of hashes) await fixVersion(tx, hash, { query, rules: [] })
  })
  const read = []
  for (const hash of hashes) read.push(await versions.find(db, hash))
  const kept = []
  for (const [i, hash] of [...hashes.entries()].toReversed()) if ((await versions.find(db, hash)) === read[i]) kept.push(hash)
  const chars = JSON.stringify({ query, rules: [] }).length
  expect(kept.length).toBeGreaterThan(10)
  expect(kept.length * chars).toBeLessThanOrEqual(4 * 1024 * 1024)
  expect(kept[0]).toBe('version-99')
})

describe('the cost of a list', () => {
  const remaining = (headers: Headers) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])

  test.each([
    ['', 1],
    ['?limit=25', 1],
    ['?limit=26', 2],
    ['?limit=100', 4],
    ['?%6cimit=%31%30%30', 4],
    ['?limit=101', 1],
    ['?limit=abc', 1],
  ])('GET /v1/verifications%s costs %d of the budget of its key', async (query, cost) => {
    const { app, key } = await startWithTenant({ rateLimitScale: 1 })
    expect(remaining((await list(app, key, query)).headers)).toBe(100 - cost)
  })

  test('25 lists of 100 are a whole budget, the next is 429 with the time until it is affordable, and one of 25 has less to wait', async () => {
    const { app, key } = await startWithTenant({ rateLimitScale: 1 })
    for (let i = 0; i < 25; i++) expect((await list(app, key, '?limit=100')).status).toBe(200)
    const refused = await list(app, key, '?limit=100')
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual([
      429,
      '1',
      '"key";r=0;t=1',
    ])
    app.clock.advance(60)
    const again = await list(app, key, '?limit=100')
    expect([again.status, again.headers.get('ratelimit')]).toEqual([429, '"key";r=3;t=1'])
    app.clock.advance(20)
    expect((await list(app, key, '?limit=100')).status).toBe(200)
    expect((await list(app, key, '?limit=1')).status).toBe(429)
  })

  test('the list of the dashboard costs the same, and an export twenty', async () => {
    const { app, ...tenant } = await startWithTenant({ rateLimitScale: 1 })
    const mia = await joinMember(app, tenant.id, 'mia')
    const page = `/tenants/${tenant.id}/verifications`
    await mia.get(`${page}?environment=test`)
    app.clock.advance(60_000)
    const { headers } = await mia.get(`${page}?environment=test&limit=100`)
    expect(remaining(headers)).toBe(96)
    expect(remaining((await mia.post(`${page}/export?environment=test`)).headers)).toBe(76)
  })

  test('the data of a page costs its address one more for each 16 KiB of the query', async () => {
    const { app, key } = await startWithTenant({ rateLimitScale: 1 })
    const cheap = await createVerification(app, key)
    const dear = await createVerification(app, key, withQuery)
    const units = 1 + Math.floor(JSON.stringify(LONG_QUERY).length / 16_384)
    expect(units).toBe(4)
    let used = 0
    // The budget of the session is tighter in the headers of the cheap one: that of the address is seen at its end.
    for (const [{ id }, cost] of [
      [dear, units],
      [cheap, 1],
    ] as const) {
      await app.call('GET', `/v/${id}/data`)
      used += cost
    }
    let left = 0
    while ((await app.call('GET', `/v1/verifications/vs_${left}/status`)).status === 404) left++
    expect(left).toBe(200 - used)
  })
})
