import { expect, test } from 'bun:test'
import { createGathering } from '../../src/webhooks/delivery/gather.ts'

/** So many under way, and a log of those that went on. */
function begun(count: number) {
  const gathering = createGathering()
  const wentOn: string[] = []
  for (let i = 0; i < count; i++) gathering.begin()
  const end = (name: string) => gathering.end().then(() => wentOn.push(name))
  return { gathering, wentOn, end }
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

test('attempts continue together once half of those not recorded yet have ended', async () => {
  const { wentOn, end } = begun(4)
  void end('a')
  await soon()
  expect(wentOn).toEqual([])
  void end('b')
  await soon()
  expect(wentOn).toEqual(['a', 'b'])
})

test('the second half continues together while the first is being recorded', async () => {
  const { wentOn, end } = begun(8)
  for (const name of ['a', 'b', 'c', 'd']) void end(name)
  await soon()
  expect(wentOn).toEqual(['a', 'b', 'c', 'd'])
  for (const name of ['e', 'f', 'g']) void end(name)
  await soon()
  expect(wentOn).toEqual(['a', 'b', 'c', 'd'])
  void end('h')
  await soon()
  expect(wentOn.slice(4)).toEqual(['e', 'f', 'g', 'h'])
})

test('ended attempts continue when a record makes them half of the rest', async () => {
  const { gathering, wentOn, end } = begun(4)
  for (const name of ['a', 'b', 'c']) void end(name)
  await soon()
  expect(wentOn).toEqual(['a', 'b'])
  gathering.recorded()
  await soon()
  expect(wentOn).toEqual(['a', 'b'])
  gathering.recorded()
  await soon()
  expect(wentOn).toEqual(['a', 'b', 'c'])
})

test('an attempt does not wait for others that never end', async () => {
  const { wentOn, end } = begun(8)
  await Promise.all([end('a'), end('b')])
  expect(wentOn).toEqual(['a', 'b'])
  await end('c')
  expect(wentOn).toEqual(['a', 'b', 'c'])
})
