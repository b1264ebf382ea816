import { expect, test } from 'bun:test'
import { createGathering } from '../../src/webhooks/gather.ts'

/** So many under way, and a log of those that went on. */
function begun(count: number) {
  const gathering = createGathering()
  const wentOn: string[] = []
  for (let i = 0; i < count; i++) gathering.begin()
  const end = (name: string) => gathering.end().then(() => wentOn.push(name))
  return { wentOn, end }
}

/** Long enough for promises that are settled, and for no timer. */
const soon = async () => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
}

test('a single attempt does not wait, and neither does the first of two', async () => {
  for (const count of [1, 2]) {
    const { wentOn, end } = begun(count)
    void end('first')
    await soon()
    expect(wentOn).toEqual(['first'])
  }
})

test('many attempts continue together once half of them have ended, and the rest with those that begin meanwhile', async () => {
  const { wentOn, end } = begun(4)
  void end('a')
  await soon()
  expect(wentOn).toEqual([])
  void end('b')
  await soon()
  expect(wentOn).toEqual(['a', 'b'])
  void end('c')
  void end('d')
  await soon()
  expect(wentOn).toEqual(['a', 'b', 'c', 'd'])
})

test('an attempt does not wait for others that never end', async () => {
  const { wentOn, end } = begun(8)
  await Promise.all([end('a'), end('b')])
  expect(wentOn).toEqual(['a', 'b'])
  await end('c')
  expect(wentOn).toEqual(['a', 'b', 'c'])
})
