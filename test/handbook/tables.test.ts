import { expect, test } from 'bun:test'
import { stalePages } from '../../scripts/build/handbook.ts'

test('no page has a stale table; ./scripts/bun scripts/build/handbook.ts writes them', async () => {
  expect((await stalePages()).map(({ path }) => path)).toEqual([])
})
