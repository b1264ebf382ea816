import { startThread } from '../base/threads.ts'
import { within } from '../base/time.ts'
import type { ListKind, ReadList } from './list.ts'
import type { Order } from './read-thread.ts'
import { refuse } from './refuse.ts'

const READING_MS_MAX = 10_000

/** One thread for each list. It ends with the list, or when it took too long. */
export async function readInThread(
  kind: ListKind,
  bytes: Uint8Array,
  { hire = startReader, msMax = READING_MS_MAX } = {},
): Promise<ReadList> {
  const worker = hire()
  try {
    const { promise, resolve } = Promise.withResolvers<ReadList>()
    const unreadable = () => resolve(refuse('malformed', 'it could not be read'))
    worker.addEventListener('message', ({ data }: MessageEvent<ReadList>) => resolve(data))
    worker.addEventListener('error', event => {
      // The runtime would otherwise end this process too.
      event.preventDefault()
      unreadable()
    })
    worker.addEventListener('close', unreadable)
    worker.postMessage({ kind, bytes } satisfies Order)
    return await within<ReadList>(msMax, promise, () => refuse('malformed', 'it took too long to read'))
  } finally {
    worker.terminate()
  }
}

const startReader = (): Worker => startThread('trust-lists/read-thread')
