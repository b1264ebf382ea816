import { afterAll, expect, test } from 'bun:test'
import { createTurns, inTurns, longList, SLICE_MS, waitToList } from '../../src/http/turns.ts'
import { cleanUp, startWithTenant } from '../helpers/app.ts'

afterAll(cleanUp)

/** A clock that only work moves, and the ends of the loop's turns. */
function loop() {
  const clock = { ms: 0 }
  const ends: (() => void)[] = []
  const turns = createTurns(
    () => clock.ms,
    act => void ends.push(act),
  )
  const endTurn = async () => {
    ends.shift()?.()
    await settled()
  }
  return { clock, turns, endTurn }
}

/** After all promises that nothing outside holds back. */
const settled = () => new Promise<void>(resolve => setImmediate(resolve))

test('work goes on within the slice of a turn, waits once it is used up, and goes on in the next turn', async () => {
  const { clock, turns, endTurn } = loop()
  const done: number[] = []
  void inTurns(turns, [1, 2, 3, 4, 5, 6], one => {
    clock.ms += 2
    done.push(one)
  })
  await settled()
  expect(done).toEqual([1, 2, 3, 4])
  await endTurn()
  expect(done).toEqual([1, 2, 3, 4, 5, 6])
})

test('two long works share one slice of each turn, in the order of their arrival', async () => {
  const { clock, turns, endTurn } = loop()
  const done: string[] = []
  for (const name of ['a', 'b']) {
    void inTurns(turns, [1, 2, 3], one => {
      clock.ms += 10
      done.push(`${name}${one}`)
    })
    await settled()
  }
  // The first piece of each runs at once.
  expect(done).toEqual(['a1', 'a2', 'b1'])
  for (const expected of ['a3', 'b2', 'b3']) {
    await endTurn()
    expect(done.at(-1)).toBe(expected)
  }
})

test('one of several long pieces that arrive together passes, and each other waits for a turn of its own', async () => {
  const { clock, turns, endTurn } = loop()
  const done: string[] = []
  const work = async (name: string) => {
    await turns.next(SLICE_MS)
    // It begins only after all three have asked.
    await Promise.resolve()
    clock.ms += 7
    done.push(name)
  }
  void Promise.all(['a', 'b', 'c'].map(work))
  await settled()
  expect(done).toEqual(['a'])
  for (const expected of ['b', 'c']) {
    await endTurn()
    expect(done.at(-1)).toBe(expected)
  }
})

test('one of several long lists that arrive together is begun in each turn, and a short one waits for none of them', async () => {
  const { clock, turns, endTurn } = loop()
  const begun: string[] = []
  const list = async (name: string, limit: number) => {
    await waitToList(turns, limit)
    // It begins only after all have asked.
    await Promise.resolve()
    clock.ms += 7
    begun.push(name)
  }
  void Promise.all([list('a', 100), list('b', 21), list('short', 20)])
  await settled()
  expect(begun.toSorted()).toEqual(['a', 'short'])
  await endTurn()
  expect(begun.at(-1)).toBe('b')
})

test('work that is short does not wait behind the long work of others', async () => {
  const { clock, turns } = loop()
  const done: string[] = []
  void inTurns(turns, [1, 2, 3], () => {
    clock.ms += 10
  })
  await settled()
  void inTurns(turns, [1, 2, 3], one => {
    clock.ms += 0.5
    done.push(`${one}`)
  })
  await settled()
  expect(done).toEqual(['1', '2', '3'])
})

test('a long list has the same text as the list in one piece, other members after it', async () => {
  const data = [{ a: 1 }, { b: '"' }]
  const answer = longList(
    (async function* () {
      yield* data
    })(),
    { next_before: null, more: 'x' },
  ) as unknown as Response
  expect(await answer.text()).toBe(JSON.stringify({ data, next_before: null, more: 'x' }))
  expect(answer.headers.get('content-type')).toBe('application/json')
})

test('a body of 16 KiB is parsed at once, and a larger one in a turn of its own', async () => {
  const { app, key } = await startWithTenant()
  const waited: (number | undefined)[] = []
  const { next } = app.deps.turns
  app.deps.turns.next = expectedMs => {
    if (expectedMs) waited.push(expectedMs)
    return next(expectedMs)
  }
  const statusOf = async (bytes: number) => {
    const start = '{"template":"age_over_18","x":"'
    const raw = `${start}${'x'.repeat(bytes - start.length - 2)}"}`
    return (await app.call('POST', '/v1/verifications', { key, raw, headers: { 'content-type': 'application/json' } })).status
  }
  expect(await statusOf(16 * 1024)).toBe(400)
  expect(waited).toEqual([])
  expect(await statusOf(16 * 1024 + 1)).toBe(400)
  expect(waited).toEqual([SLICE_MS])
})
