import type { Engine } from '../db/engine.ts'
import { noticeName } from '../db/topics.ts'
import { apiError } from '../http/errors.ts'

/** One page shows a session; other subscribers are pages left open, and onlookers. */
const FOLLOWERS_PER_SESSION_MAX = 8
const FOLLOWERS_MAX = 1000
const RETRY_SECONDS = 10

/** `isNews`: the session changed; otherwise it may have. */
type Follower = { wake: (isNews: boolean) => void; end: () => void }

/** Wakes the SSE subscribers of a session when it changes on any node. */
export type Changes = {
  /** Throws 429 beyond the limits; returns its end. `end` is called when the service stops. */
  follow(id: string, follower: Follower): () => void
  close(): void
}

export function createChanges({ subscribe }: Pick<Engine, 'subscribe'>): Changes {
  const followers = new Map<string, Set<Follower>>()
  let total = 0
  let isClosed = false

  const all = () => [...followers.values()].flatMap(own => [...own])

  const unsubscribe = subscribe('session', name => {
    // Another process changed something; which session is unknown.
    if (name === '') for (const { wake } of all()) wake(false)
    else for (const { wake } of followers.get(name) ?? []) wake(true)
  })

  return {
    follow(id, follower) {
      const name = noticeName(id)
      const own = followers.get(name) ?? new Set()
      if (isClosed || total >= FOLLOWERS_MAX || own.size >= FOLLOWERS_PER_SESSION_MAX)
        throw apiError('rate_limit_exceeded', { retryAfter: RETRY_SECONDS })
      followers.set(name, own.add(follower))
      total++
      return () => {
        if (!own.delete(follower)) return
        total--
        if (own.size === 0) followers.delete(name)
      }
    },
    close() {
      unsubscribe()
      isClosed = true
      for (const { end } of all()) end()
    },
  }
}
