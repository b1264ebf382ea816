import type { Engine } from '../db/engine.ts'
import { noticeName } from '../db/topics.ts'
import { apiError } from '../http/errors.ts'

/** One page shows a session; other subscribers are pages left open, and onlookers. */
const FOLLOWERS_PER_SESSION_MAX = 8
const FOLLOWERS_MAX = 1000
/** While fewer places are taken, they are for whoever comes: one busy shop may need them all. */
const FREE_FOR_ALL = FOLLOWERS_MAX / 2
const FOLLOWERS_PER_TENANT = FOLLOWERS_MAX / 4
const FOLLOWERS_PER_CLIENT = 50
const RETRY_SECONDS = 10

/** `isNews`: the session changed; otherwise it may have. */
type Follower = { wake: (isNews: boolean) => void; end: () => void }

/** Sharers of the places: the tenant of the session, and the network of the client. */
type Sharers = { tenantId: string; client: string }

/** Wakes the SSE subscribers of a session when it changes in any process. */
export type Changes = {
  /** Throws 429 beyond the limits; returns its end. `end` is called when the service stops, never to make room for others. */
  follow(id: string, sharers: Sharers, follower: Follower): () => void
  close(): void
}

export function createChanges({ subscribe }: Pick<Engine, 'subscribe'>): Changes {
  const followers = new Map<string, Set<Follower>>()
  const byTenant = createCounts()
  const byClient = createCounts()
  let total = 0
  let isClosed = false

  const all = () => [...followers.values()].flatMap(own => [...own])

  const unsubscribe = subscribe('session', name => {
    // Another process changed something; which session is unknown.
    if (name === '') for (const { wake } of all()) wake(false)
    else for (const { wake } of followers.get(name) ?? []) wake(true)
  })

  const hasPlace = ({ tenantId, client }: Sharers) =>
    total <= FREE_FOR_ALL ||
    (total < FOLLOWERS_MAX && byTenant.of(tenantId) < FOLLOWERS_PER_TENANT && byClient.of(client) < FOLLOWERS_PER_CLIENT)

  return {
    follow(id, sharers, follower) {
      const name = noticeName(id)
      const own = followers.get(name) ?? new Set()
      if (isClosed || own.size >= FOLLOWERS_PER_SESSION_MAX || !hasPlace(sharers))
        throw apiError('rate_limit_exceeded', { retryAfter: RETRY_SECONDS })
      const count = (by: 1 | -1) => {
        total += by
        byTenant.add(sharers.tenantId, by)
        byClient.add(sharers.client, by)
      }
      followers.set(name, own.add(follower))
      count(1)
      return () => {
        if (!own.delete(follower)) return
        count(-1)
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

/** Names without a follower are forgotten. */
function createCounts() {
  const counts = new Map<string, number>()
  const of = (name: string): number => counts.get(name) ?? 0
  return {
    of,
    add(name: string, by: 1 | -1): void {
      const next = of(name) + by
      if (next === 0) counts.delete(name)
      else counts.set(name, next)
    },
  }
}
