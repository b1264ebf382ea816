import { afterAll, expect, test } from 'bun:test'
import type { EuProfile, Health } from '../../src/dashboard/settings/health/schema.ts'
import { CHECKS } from '../../src/doctor/check.ts'
import { CLAUSES } from '../../src/doctor/eu/clauses.ts'
import { cleanUp, startApp } from '../helpers/app.ts'
import { joinMember, setUpOwner } from '../helpers/dashboard.ts'
import { isOnPostgres } from '../helpers/database.ts'

afterAll(cleanUp)

test('simultaneous requests share one examination, and a request too soon after gets the same', async () => {
  let visits = 0
  const app = await startApp({
    resolve: async () => {
      visits++
      return ['127.0.0.1']
    },
  })
  const { id } = await app.tenant()
  const boss = await setUpOwner(app)
  const look = async () => (await boss.post<Health>('/health', {})).body
  const answers = await Promise.all(Array.from({ length: 20 }, look))
  expect(visits).toBe(1)
  expect(new Set(answers.map(answer => JSON.stringify(answer))).size).toBe(1)
  expect(answers[0]?.checks.map(({ name }) => name)).toEqual(isOnPostgres ? CHECKS.filter(name => name !== 'disk') : [...CHECKS])
  app.clock.advance(9_999)
  expect(await look()).toEqual(answers[0]!)
  expect(visits).toBe(1)
  app.clock.advance(1)
  expect((await look()).checked_at).not.toBe(answers[0]!.checked_at)
  expect(visits).toBe(2)
  const mia = await joinMember(app, id, 'mia')
  expect((await mia.post('/health', {})).status).toBe(403)
  expect(visits).toBe(2)
})

test('the EU profile of a shop is judged for its members, and a request too soon gets the same', async () => {
  const app = await startApp({ resolve: async () => ['127.0.0.1'] })
  const { id } = await app.tenant()
  await setUpOwner(app)
  const mia = await joinMember(app, id, 'mia', 'viewer')
  const look = async () => (await mia.get<EuProfile>(`/tenants/${id}/eu-profile`)).body
  const first = await look()
  expect(first.clauses.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(CLAUSES)))
  expect(first.clauses.find(({ id }) => id === 'eu.access-certificate')).toEqual({
    id: 'eu.access-certificate',
    level: 'must',
    status: 'fail',
    subject: null,
    found: ['self_made'],
    sure: 'read',
  })
  app.clock.advance(9_999)
  expect((await look()).checked_at).toBe(first.checked_at)
  app.clock.advance(1)
  expect((await look()).checked_at).not.toBe(first.checked_at)
})
