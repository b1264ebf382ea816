import type { Reading } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import type { Watching } from './deps.ts'
import { endsAt, statusAt } from './status.ts'
import { findStatus } from './store.ts'

/** Below the server's idle timeout. */
const KEEP_ALIVE_MS = 10_000
/** The time after which a browser reconnects. */
const RETRY_MS = 1000

/**
 * The status as server-sent events: at once, after every moment of the session, and when it is
 * final. An event may repeat the status: it is still `pending` after a wallet fetched the request.
 */
export async function watchVerification(deps: Reading & Watching, id: string, client: string): Promise<Response> {
  const found = await findStatus(deps.db, id)
  if (!found) throw apiError('session_not_found')
  let end = () => {}
  const stream = new ReadableStream<string>({
    start(controller) {
      end = follow(
        deps,
        { id, tenantId: found.tenantId, client },
        text => controller.enqueue(text),
        () => controller.close(),
      )
    },
    cancel: () => end(),
  })
  // nginx would hold events back until its buffer is full.
  return new Response(stream, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' } })
}

function follow(
  { db, now, changes }: Reading & Watching,
  { id, ...sharers }: { id: string; tenantId: string; client: string },
  send: (text: string) => void,
  close: () => void,
): () => void {
  let isOver = false
  let lastSent: string | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  const look = async (isNews: boolean) => {
    const found = await findStatus(db, id)
    if (isOver) return
    // Erased: the next request gets 404.
    if (!found) return finish()
    const status = statusAt(found, now())
    send(isNews || status !== lastSent ? event({ id, status }) : KEEP_ALIVE)
    lastSent = status
    if (status !== 'pending') return finish()
    clearTimeout(timer)
    timer = setTimeout(lookAgain, Math.min(KEEP_ALIVE_MS, Math.max(endsAt(found) - now(), 0)), false)
  }

  // An error ends the stream; the next request reports it.
  const lookAgain = (isNews: boolean) => void look(isNews).catch(finish)
  const leave = changes.follow(id, sharers, { wake: lookAgain, end: () => finish() })
  const stop = () => {
    isOver = true
    clearTimeout(timer)
    leave()
  }
  const finish = () => {
    if (isOver) return
    stop()
    close()
  }

  send(`retry: ${RETRY_MS}\n\n`)
  lookAgain(true)
  return stop
}

const KEEP_ALIVE = ': waiting\n\n'

const event = (data: { id: string; status: string }): string => `event: status\ndata: ${JSON.stringify(data)}\n\n`
