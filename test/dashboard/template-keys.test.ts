import { expect, test } from 'bun:test'
import { outcome, startOwned } from '../helpers/dashboard.ts'

const QUERY = {
  credentials: [
    { id: 'm', format: 'dc+sd-jwt', meta: { vct_values: ['https://club.example/m'] }, claims: [{ path: ['level'] }] },
  ],
} as const

test('a template key with other characters than a-z, 0-9 and _, or more than 64, is refused', async () => {
  const { boss, id } = await startOwned()
  const pathOf = (key: string) => `/tenants/${id}/templates/${encodeURIComponent(key)}`
  const save = async (key: string) => outcome(await boss.put(pathOf(key), { title: 'Member', query: QUERY }))
  for (const key of ['Bad Key!', 'a-b', 'Ab', 'ü', 'k'.repeat(65)])
    expect([key, await save(key)]).toEqual([key, '400 invalid_request'])
  expect(await save(`a_1${'k'.repeat(61)}`)).toBe('200')
})
