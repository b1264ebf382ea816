import type { Engine } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'

/** One page shows a session; the others are pages left open, and onlookers. */
const FOLLOWERS_PER_SESSION_MAX = 8
const FOLLOWERS_MAX = 1000
const RETRY_SECONDS = 10

type Follower = { wake: () => void; end: () => void }

/**
 * Wakes the SSE subscribers of a session when it changes on any node. Changes by another process on
 * SQLite are found by polling (watch.ts).
 */
export type Changes = {
  /** Throws 429 beyond the limits; returns its end. `end` is called when the service stops. */
  follow(id: string, follower: Follower): () => void
  close(): void
}

export function createChanges({ subscribe }: Pick<Engine, 'subscribe'>): Changes {
  const followers = new Map<string, Set<Follower>>()
  let total = 0
  let isClosed = false

  const unsubscribe = subscribe('session', id => {
    for (const { wake } of followers.get(id) ?? []) wake()
  })

  return {
    follow(id, follower) {
      const own = followers.get(id) ?? new Set()
      if (isClosed || total >= FOLLOWERS_MAX || own.size >= FOLLOWERS_PER_SESSION_MAX)
        throw apiError('rate_limit_exceeded', { retryAfter: RETRY_SECONDS })
      followers.set(id, own.add(follower))
      total++
      return () => {
        if (!own.delete(follower)) return
        total--
        if (own.size === 0) followers.delete(id)
      }
    },
    close() {
      unsubscribe()
      isClosed = true
      for (const { end } of [...followers.values()].flatMap(own => [...own])) end()
    },
  }
}
