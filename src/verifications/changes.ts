import { apiError } from '../http/errors.ts'

/** Whoever shows a session follows it once; a few more for the curious, and for pages that were left open. */
const FOLLOWERS_PER_SESSION_MAX = 8
const FOLLOWERS_MAX = 1000
const RETRY_SECONDS = 10

type Follower = { wake: () => void; end: () => void }

/** Tells the followers of a session that something happened to it. Of this process only: what another one did, they find out by looking now and then. */
export type Changes = {
  /** Throws 429 beyond the limits; the returned function ends it. `end` is called when the service stops. */
  follow(id: string, follower: Follower): () => void
  /** After the commit, never inside `write`. */
  announce(id: string): void
  close(): void
}

export function createChanges(): Changes {
  const followers = new Map<string, Set<Follower>>()
  let total = 0
  let isClosed = false

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
    announce(id) {
      for (const { wake } of followers.get(id) ?? []) wake()
    },
    close() {
      isClosed = true
      for (const { end } of [...followers.values()].flatMap(own => [...own])) end()
    },
  }
}
