// Notices that nodes send each other, so that changes are known before the next look. NOTIFY inside a transaction would make all
// commits wait for each other, so notices go out after the commit, gathered, on a connection of their own. A lost
// notice costs a delay, never a result: every subscriber also looks at intervals.
import type { SQL } from 'bun'
import type { Engine, Topic } from '../engine.ts'
import { createTopics, TOPICS } from '../topics.ts'
import type { Session } from './session.ts'

const CHANNEL = 'vidimus'
const GATHER_MS = 20
/** PostgreSQL takes less than 8,000 bytes in one notice. */
const NOTICE_BYTES_MAX = 7000
const LOOK_EVERY_MS = 1000
/** Every look sends a notice, which its sender receives too. A node that receives none for this long looks for every change. */
const DEAF_AFTER_MS = 2500
/** A connection that stays silent is replaced; the driver itself replaces one that was closed. */
const LISTEN_AGAIN_AFTER_MS = 10_000

type Notice = [topic: Topic, payload: string]

type Notices = Pick<Engine, 'publish' | 'subscribe'> & { close(): Promise<void> }

type Options = {
  /** Opens the connection that listens; undefined behind a pooler, where nodes only look. */
  listen: (() => SQL) | undefined
  session: Session
  node: string
}

export async function createNotices({ listen, session, node }: Options): Promise<Notices> {
  const topics = createTopics()
  let gathered: Notice[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let listener: SQL | undefined
  let heardAt = performance.now()
  let isClosed = false

  const tell = (notices: Notice[]) =>
    void session.rows('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify({ node, notices })]).catch(() => {})

  const send = () => {
    timer = undefined
    let bytes = 0
    let count = 0
    for (const notice of gathered) {
      bytes += JSON.stringify(notice).length + 1
      if (bytes > NOTICE_BYTES_MAX && count > 0) break
      count++
    }
    tell(gathered.splice(0, count))
    if (gathered.length) timer = setTimeout(send, GATHER_MS)
  }

  const hear = (text: string) => {
    const { node: from, notices } = JSON.parse(text) as { node: string; notices: Notice[] }
    if (from === node) heardAt = performance.now()
    else for (const [topic, payload] of notices) topics.publish(topic, payload)
  }

  // Notices sent while this node did not listen are lost: every subscriber looks.
  const lookAround = () => {
    for (const topic of TOPICS) topics.publish(topic, '')
  }

  const startListening = async () => {
    const mine = listen?.()
    listener = mine
    await mine?.listen(
      CHANNEL,
      text => mine === listener && hear(text),
      () => mine === listener && lookAround(),
    )
  }

  const listenAgain = () => {
    heardAt = performance.now()
    listener?.close({ timeout: 0 }).catch(() => {})
    startListening().catch(() => {})
  }

  const look = () => {
    const silentMs = performance.now() - heardAt
    // A node may have ended between its commit and its notice, or with leases.
    if (listen && silentMs < DEAF_AFTER_MS) topics.publish('owed', '')
    else lookAround()
    if (!listen) return
    if (silentMs > LISTEN_AGAIN_AFTER_MS) listenAgain()
    tell([])
  }

  await startListening()
  const looking = setInterval(look, LOOK_EVERY_MS).unref()

  return {
    publish(topic, payload) {
      topics.publish(topic, payload)
      if (isClosed) return
      gathered.push([topic, payload])
      timer ??= setTimeout(send, GATHER_MS)
    },
    subscribe: topics.subscribe,
    async close() {
      isClosed = true
      clearInterval(looking)
      clearTimeout(timer)
      gathered = []
      const closing = listener
      listener = undefined
      await closing?.close({ timeout: 0 })
    },
  }
}
