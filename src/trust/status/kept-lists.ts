// Lists that outlive the process, so that a restart without internet keeps what was known. A list that nobody named with
// "trust status add" is stored once two sessions have named it: one that an issuer makes for a single person leaves no trace.

import { describeFailure } from '../../base/log.ts'
import { Lru } from '../../base/lru.ts'
import type { Db } from '../../db/engine.ts'
import type { Configured, Making, Reading, Reporting, Writing } from '../../ground.ts'
import { type ListBytes, type Shelf, ttlOf } from '../../openid4vp/trust/list-cache.ts'
import { deleteList, findList, insertList, type ListRow, listRevocationLists, updateList } from './list-store.ts'

const ROWS_MAX = 200
const BYTES_MAX = 64 * 1024 * 1024
const NAMED_MAX = 1000
export const DAY_MS = 86_400_000
const PREFETCH_MS_MAX = 6 * 3_600_000

export function createShelf(deps: Reading & Writing & Making & Reporting & Configured): Shelf {
  /** The session that named a list first. */
  const named = new Lru<string>({ countMax: NAMED_MAX })
  /** When a list of the memory was last stored. */
  const stored = new WeakMap<ListBytes, number>()
  return {
    async find(uri, media) {
      const row = await findList(deps.db, uri, media)
      return row && listOf(row)
    },
    async use(list, session) {
      const now = deps.now()
      if (now - (stored.get(list) ?? Number.NEGATIVE_INFINITY) < DAY_MS || list.uri.startsWith(`${deps.config.publicUrl}/`))
        return
      const key = `${list.media} ${list.uri}`
      const first = named.get(key) ?? session
      named.set(key, first)
      try {
        const isStored = await deps.write(tx => store(tx, deps, list, { seenAt: dayOf(now), mayInsert: first !== session }))
        if (isStored) stored.set(list, now)
      } catch (error) {
        // The document was checked all the same.
        deps.log.warn('status.list_not_kept', { failure: describeFailure(error) })
      }
    },
  }
}

const listOf = ({ uri, media, bytes, issuedAt, endsAt, ttlMs, fetchedAt, from }: ListRow): ListBytes => ({
  ...{ uri, media, bytes, issuedAt, endsAt, ttlMs, fetchedAt, from },
})

export const dayOf = (ms: number): number => ms - (ms % DAY_MS)

type Storing = { mayInsert: boolean; seenAt?: number; wanted?: 1 }

/** False when it was not there, and may not be inserted. */
export async function store(tx: Db, deps: Making, list: ListBytes, { mayInsert, seenAt, wanted }: Storing): Promise<boolean> {
  const dueAt = nextFetch(deps, list)
  const changes = { dueAt, ...(seenAt !== undefined && { seenAt }), ...(wanted && { wanted }) }
  if (await updateList(tx, list, changes)) return true
  if (!mayInsert) return false
  await insertList(tx, list, { seenAt: seenAt ?? dayOf(deps.now()), dueAt, wanted: wanted ?? 0 })
  await makeRoom(tx)
  return true
}

/** A tenth earlier or later, so that the time of a fetch says nothing about a session. */
function nextFetch({ random }: Making, { fetchedAt, ttlMs }: ListBytes): number {
  const share = Buffer.from(random(4)).readUInt32BE() / 2 ** 32
  return Math.round(fetchedAt + Math.min(ttlOf(ttlMs), PREFETCH_MS_MAX) * (0.9 + 0.2 * share))
}

/** Those that no session has needed for the longest time go first. */
async function makeRoom(tx: Db): Promise<void> {
  let bytes = 0
  for (const [index, row] of (await listRevocationLists(tx)).entries()) {
    bytes += row.size
    if (index >= ROWS_MAX || bytes > BYTES_MAX) await deleteList(tx, row)
  }
}
