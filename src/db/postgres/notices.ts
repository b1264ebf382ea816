// What nodes tell each other at once instead of finding it by looking. NOTIFY inside a transaction would make all
// commits wait for each other, so notices go out after the commit, gathered, on a connection of their own. A lost
// notice costs a delay, never a result: whoever waits also looks by himself.
import type { SQL } from 'bun'
import type { Engine, Topic } from '../engine.ts'
import { createTopics, TOPICS } from '../topics.ts'
import type { Session } from './session.ts'

const CHANNEL = 'vidimus'
const GATHER_MS = 20
/** PostgreSQL takes less than 8,000 bytes in one notice. */
const NOTICES_MAX = 100

type Notice = [topic: Topic, payload: string]

export type Notices = Pick<Engine, 'publish' | 'subscribe'> & { close(): Promise<void> }

export async function createNotices(listener: SQL | undefined, session: Session, node: string): Promise<Notices> {
  const topics = createTopics()
  let gathered: Notice[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const send = () => {
    timer = undefined
    const notices = gathered.splice(0, NOTICES_MAX)
    if (gathered.length) timer = setTimeout(send, GATHER_MS)
    session.rows('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify({ node, notices })]).catch(() => {})
  }

  const hear = (text: string) => {
    const { node: from, notices } = JSON.parse(text) as { node: string; notices: Notice[] }
    if (from === node) return
    for (const [topic, payload] of notices) topics.publish(topic, payload)
  }

  // Whatever was said while nobody listened is unknown: everybody looks.
  const lookAround = () => {
    for (const topic of TOPICS) topics.publish(topic, '')
  }
  const subscription = await listener?.listen(CHANNEL, hear, lookAround)

  return {
    publish(topic, payload) {
      topics.publish(topic, payload)
      gathered.push([topic, payload])
      timer ??= setTimeout(send, GATHER_MS)
    },
    subscribe: topics.subscribe,
    async close() {
      clearTimeout(timer)
      gathered = []
      await subscription?.unlisten().catch(() => {})
      await listener?.close({ timeout: 0 })
    },
  }
}
