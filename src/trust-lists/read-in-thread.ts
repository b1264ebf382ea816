import { startThread } from '../base/threads.ts'
import { within } from '../base/time.ts'
import type { IdentifierToken } from '../openid4vp/status/identifier-list.ts'
import { StatusFault } from '../openid4vp/status/token.ts'
import type { ListKind, ReadList } from './list.ts'
import type { Order, ReadIdentifiers } from './read-thread.ts'
import { refuse } from './refuse.ts'

const READING_MS_MAX = 10_000

type Options = { hire?: () => Worker; msMax?: number }

/** One thread for each list. It ends with the list, or when it took too long. */
export const readInThread = (kind: ListKind, bytes: Uint8Array, options?: Options): Promise<ReadList> =>
  ask<ReadList>({ kind, bytes }, detail => refuse('malformed', detail), options)

/** Throws a `StatusFault`. */
export async function readIdentifiersInThread(bytes: Uint8Array, options?: Options): Promise<IdentifierToken> {
  const unreadable = (detail: string) => ({ ok: false, detail: `The issuer's status list: ${detail}.` }) as const
  const read = await ask<ReadIdentifiers>({ kind: 'identifiers', bytes }, unreadable, options)
  if (!read.ok) throw new StatusFault(read.detail)
  return read.token
}

async function ask<Answer>(
  order: Order,
  unreadable: (detail: string) => Answer,
  { hire = startReader, msMax = READING_MS_MAX }: Options = {},
): Promise<Answer> {
  const worker = hire()
  try {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const failed = () => resolve(unreadable('it could not be read'))
    worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => resolve(data))
    worker.addEventListener('error', event => {
      // The runtime would otherwise end this process too.
      event.preventDefault()
      failed()
    })
    worker.addEventListener('close', failed)
    worker.postMessage(order)
    return await within<Answer>(msMax, promise, () => unreadable('it took too long to read'))
  } finally {
    worker.terminate()
  }
}

const startReader = (): Worker => startThread('trust-lists/read-thread')
