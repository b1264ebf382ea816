// Ids of audit entries, in blocks of 1,000: an act knows its entry's id without asking. A block belongs to the connection
// it was taken on and is dropped with it, since a failover may hand out a block again that its last moment lost.
import type { Db, LooseEntries } from '../engine.ts'
import { shareErasures } from './erasure-lock.ts'
import type { Runner } from './pool.ts'

/** The increment of the sequence. */
const BLOCK_SIZE = 1000

type Block = { next: number; end: number; generation: number | undefined }

export function looseEntries(): LooseEntries {
  const blocks = new WeakMap<Runner, Block>()
  return {
    beginErasure: shareErasures,
    async nextId(tx) {
      const runner = (tx as Db & { $client: Runner }).$client
      const block = blocks.get(runner)
      const generation = runner.generation?.()
      if (block && block.generation === generation && block.next < block.end) return block.next++
      const [row] = await runner.rows<{ first: number }>("SELECT nextval('audit_entry_blocks') AS first", [])
      const { first } = row!
      blocks.set(runner, { next: first + 1, end: first + BLOCK_SIZE, generation })
      return first
    },
  }
}
