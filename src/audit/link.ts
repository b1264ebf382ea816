// Entries become records of the chain here, where acts commit side by side: an act inserts its entry without any lock,
// and whoever holds the chain's lock gives all entries that are committed by then their place. Every process does so each
// quarter of a second, and everybody who reads, signs, verifies or exports the chain does so first.

import { describeFailure, type Log } from '../base/log.ts'
import type { Db, Engine } from '../db/engine.ts'
import { GENESIS, isErasure, recordHash } from './chain.ts'
import {
  countUnlinked,
  findOldestRunning,
  insertLinks,
  type Link,
  listUnlinked,
  lockChain,
  raiseLow,
  tryLockChain,
  type UnlinkedEntry,
} from './link-store.ts'
import { findHead } from './store.ts'

const LINK_EVERY_MS = 250

/** Puts entries on the chain. */
export type Linking = Pick<Engine, 'db' | 'write' | 'looseEntries'>

/** Everything that was committed before the call is on the chain afterwards. */
export async function linkEntries(deps: Linking): Promise<void> {
  if (await hasUnlinked(deps)) await deps.write(linkIn)
}

/** The transaction holds the chain's lock afterwards. */
export async function linkIn(tx: Db): Promise<void> {
  await lockChain(tx)
  await linkLocked(tx)
}

/** Links whenever there is something to link and nobody else is at it. */
export function startLinking(deps: Linking & { log: Log }): () => Promise<void> {
  if (!deps.looseEntries) return async () => {}
  let linking: Promise<void> | undefined
  let hasFailed = false
  const link = async () => {
    try {
      if (await hasUnlinked(deps)) await deps.write(linkWhenFree)
      hasFailed = false
    } catch (error) {
      // Said once: while the database is away, every turn fails.
      if (!hasFailed) deps.log.warn('audit.not_linked', { failure: describeFailure(error) })
      hasFailed = true
    } finally {
      linking = undefined
    }
  }
  const timer = setInterval(() => {
    linking ??= link()
  }, LINK_EVERY_MS).unref()
  return async () => {
    clearInterval(timer)
    await linking
  }
}

/** Records that wait for their place, of all processes; a metric. */
export const readUnlinked = (db: Db): ReturnType<typeof countUnlinked> => countUnlinked(db)

async function hasUnlinked({ db, looseEntries }: Linking): Promise<boolean> {
  return looseEntries !== undefined && (await countUnlinked(db)).count > 0
}

async function linkWhenFree(tx: Db): Promise<void> {
  if (await tryLockChain(tx)) await linkLocked(tx)
}

async function linkLocked(tx: Db): Promise<void> {
  // Asked before the entries are: a transaction that ends in between must not be taken for an older one.
  const low = await findOldestRunning(tx)
  const entries = await listUnlinked(tx)
  if (entries.length === 0) return
  let { seq, hash } = (await findHead(tx)) ?? { seq: 0, hash: GENESIS }
  const links: Link[] = []
  for (const { id, ...entry } of inOrder(entries)) {
    const previous = hash
    hash = recordHash({ ...entry, seq: ++seq, previous })
    links.push({ seq, entry_id: id, previous, hash })
  }
  await insertLinks(tx, links)
  await raiseLow(tx, low)
}

/**
 * Entries in the order of their transactions, and an erasure after all others of its subject: it
 * explains the missing details of the records before it.
 */
function inOrder(entries: readonly UnlinkedEntry[]): UnlinkedEntry[] {
  const last = new Map(entries.map(({ subject }, place) => [subject, place]))
  const placed = entries.map((entry, place) => ({ entry, place: isErasure(entry) ? last.get(entry.subject)! : place }))
  return placed
    .toSorted((a, b) => a.place - b.place || Number(isErasure(a.entry)) - Number(isErasure(b.entry)))
    .map(({ entry }) => entry)
}
