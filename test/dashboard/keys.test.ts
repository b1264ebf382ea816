import { afterAll, expect, test } from 'bun:test'
import { createKeyUses } from '../../src/access/key-uses.ts'
import type { ApiKey } from '../../src/dashboard/developers/keys/schema.ts'
import type { AuditRecord } from '../../src/dashboard/settings/audit/schema.ts'
import type { VerificationDetail } from '../../src/dashboard/verifications/schema.ts'
import type { Write } from '../../src/db/engine.ts'
import { cleanUp, createVerification, NOON, until } from '../helpers/app.ts'
import { startOwned } from '../helpers/dashboard.ts'
import { editRows } from '../helpers/database.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000

const { app, boss, id } = await startOwned()
const at = `/tenants/${id}`

async function makeKey(label: string) {
  const body = { environment: 'test', scopes: ['verifications:create', 'verifications:read'], label, expires_days: null }
  return (await boss.post<{ key: string; api_key: ApiKey }>(`${at}/keys`, body)).body
}

test('a key shows the hour of its last use', async () => {
  const { key, api_key } = await makeKey('Web shop')
  const lastUsed = async () =>
    (await boss.get<{ data: ApiKey[] }>(`${at}/keys`)).body.data.find(each => each.id === api_key.id)?.last_used_at
  expect([api_key.last_used_at, await lastUsed()]).toEqual([null, null])
  const use = () => app.call('GET', '/v1/usage', { key })
  app.clock.advance(61_000)
  await Promise.all([use(), use(), use()])
  await until(async () => (await lastUsed()) === '2026-03-04T12:00:00.000Z')
  app.clock.set(NOON + HOUR_MS)
  await boss.logIn('olivia')
  await use()
  await until(async () => (await lastUsed()) === '2026-03-04T13:00:00.000Z')
})

test('uses of keys cost one write an hour for each, and those that wait go together', async () => {
  let [at, writes] = [NOON, 0]
  const write: Write = (work, lane) => {
    writes++
    return app.deps.write(work, lane)
  }
  const uses = createKeyUses({ ...app.deps, write, now: () => at })
  for (let i = 0; i < 3; i++) for (const id of ['key_a', 'key_b', 'key_c']) uses.note(id)
  // The first goes at once, the others after it.
  await until(async () => writes === 2)
  at += HOUR_MS
  uses.note('key_a')
  await until(async () => writes === 3)
})

test('a key is named by its label on timeline and audit; of two that begin alike, and without one, by its beginning', async () => {
  const [shop, plain, twin] = [await makeKey('Till software'), await makeKey(''), await makeKey('Twin')]
  const made = async (key: string) => (await createVerification(app, key)).id
  const ids = [await made(shop.key), await made(plain.key), await made(twin.key)]
  const { prefix } = twin.api_key
  editRows(app, 'UPDATE api_keys SET prefix = ? WHERE id = (SELECT id FROM api_keys WHERE label = ?)', prefix, 'Web shop')
  await app.call('POST', `/v1/verifications/${ids[0]}/cancel`, { key: shop.key, body: {} })
  const timelines = await Promise.all(
    ids.map(each => boss.get<VerificationDetail>(`${at}/verifications/${each}?environment=test`)),
  )
  expect(timelines.map(({ body }) => body.timeline.map(moment => 'actor' in moment && moment.actor_label))).toEqual([
    ['Till software', 'Till software'],
    [undefined],
    [undefined],
  ])
  const { body } = await boss.get<{ data: AuditRecord[] }>(`${at}/audit?limit=5`)
  const created = body.data.filter(({ action }) => action.startsWith('verification.'))
  expect(created.map(({ actor, actor_label }) => [actor, actor_label])).toEqual([
    [shop.api_key.prefix, 'Till software'],
    [prefix, undefined],
    [plain.api_key.prefix, undefined],
    [shop.api_key.prefix, 'Till software'],
  ])
})
