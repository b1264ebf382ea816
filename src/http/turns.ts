// Long work of all requests together gets one slice of each turn of the event loop: whatever else has arrived is served in
// between, so that nobody's long list delays the short requests of others.
import type { Clock } from '../base/time.ts'

/** Beside it, a turn holds the piece that was under way when it ended. */
export const SLICE_MS = 5

/** Work that has taken less is not long: it does not wait behind that of others. */
const SHORT_MS = 2

/** Lists of more rows are long. */
const ROWS_MAX = 20

export type Turn = {
  /** Awaited before each piece. Passes at once while the slice of this turn lasts, else in the order of arrival. */
  next(): Promise<void>
}

export type Turns = {
  /** `expectedMs`: what a long piece will take. Of several that arrive together, each is counted before any of them has begun. */
  next(expectedMs?: number): Promise<void>
  /** For work that may turn out to be short: it waits only once it was long. */
  start(): Turn
}

export function createTurns(clock: Clock, afterThisTurn: (act: () => void) => void): Turns {
  const waiting: { expectedMs: number; pass: () => void }[] = []
  let begunAt: number | undefined
  let expected = 0

  function begin(): number {
    afterThisTurn(renew)
    begunAt = clock()
    expected = 0
    return begunAt
  }

  function renew(): void {
    begunAt = undefined
    const first = waiting.shift()
    if (!first) return
    begin()
    expected = first.expectedMs
    first.pass()
  }

  async function next(expectedMs = 0): Promise<void> {
    const begun = begunAt ?? begin()
    if (Math.max(clock() - begun, expected) >= SLICE_MS) await new Promise<void>(pass => waiting.push({ expectedMs, pass }))
    else expected += expectedMs
  }

  return {
    next,
    start() {
      let since = clock()
      return {
        async next() {
          if (clock() - since < SHORT_MS) return
          await next()
          since = clock()
        },
      }
    },
  }
}

/** Awaited before a list is read: of long ones that arrive together, one is begun in each turn. */
export async function waitToList(turns: Turns, limit: number): Promise<void> {
  if (limit > ROWS_MAX) await turns.next(SLICE_MS)
}

/** Makes one of each in turn, some at once where the database is far away. */
export async function inTurns<From, To>(
  turns: Turns,
  all: readonly From[],
  make: (one: From) => Promise<To> | To,
  atOnce = 1,
): Promise<To[]> {
  const made: To[] = []
  const turn = turns.start()
  for (let i = 0; i < all.length; i += atOnce) {
    await turn.next()
    made.push(...(await Promise.all(all.slice(i, i + atOnce).map(make))))
  }
  return made
}

/** Characters of a list that are written in one go. */
export const LIST_CHARS_MAX = 512 * 1024

/**
 * A longer list, never empty: each of its elements is made and written when the client has room for it. It is typed as what its
 * text says, because a route has one type of answer; the framework passes the response on as it is.
 */
export function longList<List extends { data: unknown[] }>(
  elements: AsyncIterator<List['data'][number]>,
  others: Omit<List, 'data'>,
): List {
  const end = Object.entries(others)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join('')
  let before = '{"data":['
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await elements.next()
      controller.enqueue(Buffer.from(done ? `]${end}}` : before + JSON.stringify(value)))
      before = ','
      if (done) controller.close()
    },
    async cancel() {
      await elements.return?.()
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/json' } }) as unknown as List
}
