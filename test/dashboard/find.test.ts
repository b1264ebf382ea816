// Finding verifications: the search box, the filters and the export of the list.
import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { ApiKey } from '../../src/dashboard/developers/keys/schema.ts'
import type { TemplateUse } from '../../src/dashboard/templates/schema.ts'
import type { VerificationDetail, VerificationPage } from '../../src/dashboard/verifications/schema.ts'
import type { Db } from '../../src/db/engine.ts'
import { createPhone } from '../../src/sandbox/phone/phone.ts'
import { removeTemplate, saveTemplate } from '../../src/templates/save.ts'
import { type By, findReach, listOutlines } from '../../src/verifications/browse/browse-store.ts'
import { cleanUp, createVerification } from '../helpers/app.ts'
import { joinMember, outcome, setUpOwner } from '../helpers/dashboard.ts'
import { rowsOf } from '../helpers/database.ts'
import { ask, listOrigin } from '../helpers/dc.ts'
import { pair } from '../helpers/devices.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { scan } from '../helpers/in-person.ts'
import { declined, receive, startAppFor, stopReceiving } from '../helpers/receiver.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const receiver = receive()
const app = await startAppFor([receiver])
const shop = await app.tenant({ name: 'Shop' })
const boss = await setUpOwner(app)
const at = `/tenants/${shop.id}`

type Query = Record<string, string>

const pathOf = (query: Query, place = '') =>
  `${at}/verifications${place}?${new URLSearchParams({ environment: 'test', ...query })}`
const listed = async (query: Query) => (await boss.get<VerificationPage>(pathOf(query))).body.data
const idsOf = async (query: Query) => (await listed(query)).map(({ id }) => id)

test('a search finds a session by its id, by a metadata value and by a delivery, in its own environment and shop', async () => {
  const other = await app.tenant({ name: 'Other' })
  const metadata = { order: 'A-1001', till: ' north ', again: 'A-1001' }
  const first = await createVerification(app, shop.key, { metadata })
  const second = await createVerification(app, shop.key, { metadata: { order: 'A-1002', till: 'north' } })
  const live = await createVerification(app, shop.liveKey, { metadata })
  await createVerification(app, other.key, { metadata })
  const messaged = await declined({ app, key: shop.key }, receiver.url())
  const [delivery] = rowsOf<{ id: string }>(app, 'SELECT id FROM webhook_deliveries WHERE verification_id = ?', messaged)

  expect(await idsOf({ search: 'A-1001' })).toEqual([first.id])
  expect(await idsOf({ search: ' north' })).toEqual([second.id, first.id])
  expect(await idsOf({ search: 'A-1001', environment: 'live' })).toEqual([live.id])
  expect(await idsOf({ search: first.id })).toEqual([first.id])
  expect(await idsOf({ search: ` ${delivery!.id} ` })).toEqual([messaged])
  for (const search of ['A-1003', 'A-10', 'orth', live.id, 'south A-1001']) expect(await idsOf({ search })).toEqual([])
  expect(await idsOf({ search: 'A-100' })).toEqual([second.id, first.id])
  for (const search of ['a-1001', 'north A-1001', '1001 nor']) expect(await idsOf({ search })).toEqual([first.id])
  expect(await idsOf({ search: 'north', status: 'failed' })).toEqual([])
  expect((await listed({ search: first.id }))[0]).toMatchObject({ metadata })

  const rows = rowsOf<{ term: Uint8Array }>(app, 'SELECT term FROM verification_terms')
  const terms = rows.map(({ term }) => Buffer.from(term).toString('latin1'))
  // Two values of the first, two of the second, two in live, two of the other shop; none in clear text, none the same elsewhere.
  expect(terms.length).toBe(8)
  expect(new Set(terms).size).toBe(7)
  expect(terms.join()).not.toMatch(/A-100|north/)
  const kept = (id: string) =>
    rowsOf<{ beginnings: Uint8Array }>(app, 'SELECT beginnings FROM verification_sessions WHERE id = ?', id).flatMap(row =>
      Buffer.from(row.beginnings).toString('hex').match(/.{8}/g),
    )
  // 100, 1001, nor, nort, north: all but one are those of the second, and none those of live or of the other shop.
  expect(kept(first.id)).toEqual([kept(second.id)[0]!, expect.any(String), ...kept(second.id).slice(2)])
  expect(kept(first.id)[1]).not.toBe(kept(second.id)[1])
  expect(kept(live.id).filter(each => kept(first.id).includes(each))).toEqual([])
})

test('a search finds the first letters of the first three words of a value, without case and accents', async () => {
  const { id, key } = await app.tenant({ name: 'Cellar' })
  const path = (search: string) => `/tenants/${id}/verifications?${new URLSearchParams({ environment: 'test', search })}`
  const found = async (search: string) => (await boss.get<VerificationPage>(path(search))).body.data.map(row => row.id)
  const made = async (metadata: Record<string, string>) => (await createVerification(app, key, { metadata })).id
  const cellar = await made({ customer: 'Weinhandlung Käsemüller-Straßenfest Extra' })
  const long = await made({ name: 'Donaudampfschifffahrt' })
  const many = await made({ a: 'Abcdefghijklmnop Bcdefghijklmnopq Cdefghijklmnopqr', late: 'Zinfandel' })
  for (const search of ['wei', 'käs', 'Kasemu', 'KÄSEMÜLLER', 'strasse', 'straß', 'käse wein', 'Weinhandlung'])
    expect([search, await found(search)]).toEqual([search, [cellar]])
  // The fourth word, a part that begins no word, two letters, and one word of two.
  for (const search of ['extra', 'müller', 'wei xyz', 'kä']) expect([search, await found(search)]).toEqual([search, []])
  // Twelve letters of a word count.
  for (const search of ['donau', 'Donaudampfsc', 'Donaudampfschiff']) expect(await found(search)).toEqual([long])
  // 24 terms: two whole values, ten of each of the first two words, and two of the third.
  expect(await found('abcdefghijkl bcdefghijklm cdef')).toEqual([many])
  for (const search of ['cdefg', 'zinf']) expect(await found(search)).toEqual([])
  expect(await found('Zinfandel')).toEqual([many])
  const kept = () => rowsOf<{ n: number }>(app, 'SELECT length(beginnings) AS n FROM verification_sessions WHERE id = ?', many)
  expect(Number(kept()[0]!.n)).toBe(22 * 4)
  expect((await app.call('DELETE', `/v1/verifications/${many}`, { key })).status).toBe(200)
  expect([await found('abc'), kept()]).toEqual([[], []])
})

test('an erased session is found no more, and its terms are gone; one with the same values stays', async () => {
  const metadata = { order: 'B-1', till: 'south' }
  const { id } = await createVerification(app, shop.key, { metadata })
  const other = await createVerification(app, shop.key, { metadata })
  const left = () => rowsOf(app, 'SELECT 1 FROM verification_terms WHERE verification_id = ?', id).length
  expect([await idsOf({ search: 'B-1' }), left()]).toEqual([[other.id, id], 2])
  expect((await app.call('DELETE', `/v1/verifications/${id}`, { key: shop.key })).status).toBe(200)
  expect([await idsOf({ search: 'B-1' }), left()]).toEqual([[other.id], 0])
  expect(await idsOf({ search: 'south' })).toEqual([other.id])
})

test('a list is filtered by the channel that asked, alone and with other filters', async () => {
  await listOrigin(app, shop.id)
  const [asked, other] = [await createVerification(app, shop.key), await createVerification(app, shop.key)]
  for (const { id } of [asked, other]) expect(await idsOf({ channel: 'dc_api' })).not.toContain(id)
  expect((await ask(app, asked.id)).status).toBe(200)
  expect(await idsOf({ channel: 'dc_api' })).toEqual([asked.id])
  expect(await idsOf({ channel: 'dc_api', status: 'pending' })).toEqual([asked.id])
  expect(await idsOf({ channel: 'dc_api', status: 'completed' })).toEqual([])
  expect(await idsOf({ channel: 'dc_api', search: other.id })).toEqual([])
  expect(await idsOf({ channel: 'in_person' })).toEqual([])
  expect((await scan({ app, key: shop.key }, other.id, (await createPhone()).code)).status).toBe(200)
  expect(await idsOf({ channel: 'in_person' })).toEqual([other.id])
  expect((await boss.get(pathOf({ channel: 'radio' }))).status).toBe(400)
})

test('a list is filtered by till, key and time of creation, names both, and filters count together', async () => {
  const { device, access_token } = await pair(app, shop.key, { name: 'Bar', allowed_templates: ['age_over_18'] })
  const made = await boss.post<{ key: string; api_key: ApiKey }>(`${at}/keys`, {
    environment: 'test',
    scopes: ['verifications:create'],
    label: 'Web shop',
    expires_days: null,
  })
  const key = made.body.api_key.id
  const metadata = { order: 'C-1' }
  const earlier = await createVerification(app, shop.key, { template: 'country', metadata })
  app.clock.advance(600_000)
  const from = new Date(app.clock.now()).toISOString()
  const tilled = await createVerification(app, access_token)
  const keyed = await createVerification(app, made.body.key, { ttl_seconds: 60, metadata })
  app.clock.advance(61_000)
  const until = new Date(app.clock.now()).toISOString()
  const later = await createVerification(app, made.body.key, { metadata })

  expect(await listed({ device: device.id })).toMatchObject([{ id: tilled.id, device: { id: device.id, name: 'Bar' } }])
  expect(await listed({ key })).toMatchObject([
    { id: later.id, key: { id: key, label: 'Web shop' } },
    { id: keyed.id, status: 'expired' },
  ])
  expect(await idsOf({ from, until })).toEqual([keyed.id, tilled.id])
  expect(await idsOf({ from, until, key, status: 'expired' })).toEqual([keyed.id])
  expect(await idsOf({ key, device: device.id })).toEqual([])
  expect(await idsOf({ from: until, template: 'age_over_18' })).toEqual([later.id])
  expect(await idsOf({ search: 'C-1', from, until })).toEqual([keyed.id])
  expect(await idsOf({ search: 'C-1', template: 'country', limit: '1' })).toEqual([earlier.id])
  for (const query of [{ from: 'yesterday' }, { search: '' }, { search: 'x'.repeat(501) }])
    expect(outcome(await boss.get(pathOf(query as unknown as Query)))).toBe('400 invalid_request')
})

test('a filter by template finds the sessions under every name of it, and one by a name those of the name', async () => {
  const metadata = { order: 'D-1' }
  const made: string[] = []
  for (const template of ['identity_basic', 'identity_basic_mdoc', 'country', 'identity_basic_sd_jwt']) {
    app.clock.advance(1)
    made.push((await createVerification(app, shop.key, { template, metadata })).id)
  }
  const [whole, mdoc, , sdJwt] = made as [string, string, string, string]
  const { access_token: till } = await pair(app, shop.key, { allowed_templates: ['identity_basic_mdoc'] })
  app.clock.advance(1)
  const { id: tilled, ...session } = await createVerification(app, till, { template: 'identity_basic_mdoc' })
  const [{ device } = {}] = await listed({ search: tilled })
  expect(session.status).toBe('pending')
  expect(await idsOf({ template: 'identity_basic' })).toEqual([tilled, sdJwt, mdoc, whole])
  expect(await idsOf({ template: 'identity_basic', search: 'D-1' })).toEqual([sdJwt, mdoc, whole])
  expect(await idsOf({ template: 'identity_basic', device: device!.id })).toEqual([tilled])
  expect(await idsOf({ template: 'identity_basic_sd_jwt' })).toEqual([sdJwt])
  const use = await boss.get<TemplateUse>(`${at}/templates/identity_basic/use`)
  expect(use.body).toMatchObject({ devices: [{ id: device!.id }], last_used_at: { test: session.created_at, live: null } })
})

sqliteOnly("the plan is SQLite's")('every filter reads by its own index, whatever others are beside it', async () => {
  const client = new Database(join(app.dir, 'vidimus.db'), { readonly: true })
  const asked: string[] = []
  const { prepare } = client
  client.prepare = ((text: string) => {
    asked.push(text)
    return prepare.call(client, text)
  }) as typeof prepare
  const db = drizzle({ client }) as unknown as Db
  const owner = { tenantId: shop.id, environment: 'test' as const }
  const range = { from: 1, before: 2 }
  const term = [Buffer.alloc(16)]
  const sought = { whole: term, words: [[Buffer.alloc(4)]] }
  const plansOf = async (by: By) => {
    asked.length = 0
    for (const wanted of [
      { ...(by.name === 'beginning' && { sought }) },
      { sought, device: 'x', key: 'x', template: ['x'], status: 'expired' as const },
    ])
      await listOutlines(db, owner, by, { ...wanted, at: 1 }, { ...range, limit: 20 })
    if (by.name !== 'all' && by.name !== 'id')
      for (const lookedAt of ['few', 'most'] as const) await findReach(db, owner, by, lookedAt, range)
    return asked.map(text =>
      (prepare.call(client, `EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]).map(({ detail }) => detail),
    )
  }
  const byTerm = 'verification_terms USING PRIMARY KEY'
  const indexes = { all: 'newest', status: 'status', template: 'template', key: 'key', device: 'device' }
  for (const [name, index] of Object.entries(indexes)) {
    const [alone, beside, ...lasts] = await plansOf({ name, value: 'x' } as By)
    const read = expect.stringMatching(new RegExp(`INDEX verification_sessions_${index} \\(.*created_at>\\? AND created_at<\\?`))
    expect(alone).toEqual([read])
    expect(beside).toEqual([
      read,
      expect.stringContaining('SCALAR SUBQUERY'),
      expect.stringContaining(`SEARCH ${byTerm} (term=? AND created_at=?`),
    ])
    expect(lasts).toEqual(name === 'all' ? [] : [[read], [read]])
  }
  const read = expect.stringMatching(new RegExp(`^SEARCH ${byTerm} .*term=\\? AND created_at>\\? AND created_at<\\?`))
  const joined = [read, expect.stringMatching(/^SEARCH verification_sessions USING .*id=\?/)]
  expect(await plansOf({ name: 'term', value: term })).toEqual([joined, joined, [read], [read]])
  const scan = expect.stringContaining('INDEX verification_sessions_beginnings (tenant_id=? AND environment=? AND created_at>?')
  for (const [first] of await plansOf({ name: 'beginning' })) expect(first).toEqual(scan)
  client.close()
})

test('a session is judged by the rules of its creation, also when its template is changed or gone', async () => {
  const claims = [{ path: ['org.iso.18013.5.1', 'age_over_18'] }]
  const meta = { doctype_value: 'org.iso.18013.5.1.mDL' }
  const query = { credentials: [{ id: 'mdl', format: 'mso_mdoc' as const, meta, claims }] }
  const own = { tenantId: shop.id, key: 'club', title: 'Club', query }
  const created: string[] = []
  const create = async (body: object) => void created.push((await createVerification(app, shop.key, body)).id)
  await saveTemplate(app.deps, { ...own, rules: undefined }, 'olivia')
  await create({ template: 'club' })
  await saveTemplate(app.deps, { ...own, rules: [] }, 'olivia')
  await create({ template: 'club' })
  await removeTemplate(app.deps, { tenantId: shop.id, key: 'club' }, 'olivia')
  await create({ template: 'age_over_18' })
  await create({ template: undefined, query })
  const found = await Promise.all(created.map(search => listed({ search })))
  expect(found.flat().map(row => row.is_judged)).toEqual([true, false, true, false])
  const details = await Promise.all(created.map(id => boss.get<VerificationDetail>(pathOf({}, `/${id}`))))
  expect(details.map(({ body }) => body.is_judged)).toEqual([true, false, true, false])
})

test('an export has no formula where a spreadsheet ends cells at semicolons and takes quotes for text', async () => {
  const { id, key } = await app.tenant({ name: 'Semicolons' })
  const clerk = await joinMember(app, id, 'semicolon-clerk')
  for (const order of ['a;=1+1', 'a\n=1+1', 'a\t@x', 'a;"=1+1"', 'a;b-c=d'])
    await createVerification(app, key, { metadata: { order } })
  const { text } = await clerk.post(`/tenants/${id}/verifications/export?environment=test`)
  expect(text.split(/[;\t\r\n]/).filter(cell => /^"*[=+\-@]/.test(cell))).toEqual([])
  for (const cell of [`"a;'=1+1"`, `"a\n'=1+1"`, `"a\t'@x"`, `"a;""'=1+1"""`, 'a;b-c=d']) expect(text).toContain(`,${cell},`)
})

test('the list is exported as shown, without claims; a cell that begins like a formula is no formula', async () => {
  const { id, key } = await app.tenant({ name: 'Exporter' })
  const clerk = await joinMember(app, id, 'clerk')
  const metadata = { order: '=1+1', note: 'a "b", c' }
  const made = await createVerification(app, key, { metadata })
  const risky = ['+1', '-1', '@x', '\tx', '\rx', '\nx', '＝1']
  for (const order of [...risky, 'plain']) await createVerification(app, key, { metadata: { order } })
  const path = (query: Query) => `/tenants/${id}/verifications/export?${new URLSearchParams({ environment: 'test', ...query })}`
  const { status, text, headers } = await clerk.post(path({ template: 'age_over_18' }))
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  const [heading, ...lines] = text
    .replace(/^\ufeff/, '')
    .split('\r\n')
    .filter(Boolean)
  expect(heading).toBe('id,created_at,status,reason,template,device,key,responded_at,reference,metadata')
  expect(lines.length).toBe(9)
  expect(lines.at(-1)).toBe(
    `${made.id},${made.created_at},pending,,age_over_18,,${key.slice(0, 12)},,"'=1+1","${JSON.stringify(metadata).replaceAll('"', '""')}"`,
  )
  for (const order of risky) expect(text).toContain(`,"'${order}",`)
  expect((await clerk.post(path({ search: 'plain' }))).text.trimEnd().split('\r\n').length).toBe(2)
  const audit = await clerk.get<{ data: { action: string; actor: string }[] }>(`/tenants/${id}/audit`)
  expect(audit.body.data[0]).toMatchObject({ action: 'verification.exported', actor: 'dashboard:clerk' })
  for (let i = 0; i < 2; i++) {
    expect((await clerk.get('/session')).status).toBe(200)
    app.clock.advance(29 * 60_000)
  }
  expect((await clerk.post(path({}))).status).toBe(200)
  app.clock.advance(3 * 60_000)
  expect(outcome(await clerk.post(path({})))).toBe('403 reauthentication_required')
})
