import type { Audited } from '../../audit/deps.ts'
import { countEnds, type End } from '../../usage/outcomes.ts'
import { listKeys } from '../store.ts'
import type { Deps } from './deps.ts'
import { eraseIn } from './erase.ts'

const BATCH = 500

type Again = { subjects: ReadonlyMap<string, unknown>; actor: string; at: number }

/**
 * Repeats the erasures made since the backup after a restore, with their audit records. Subjects
 * are named as on the audit chain.
 */
export async function eraseAgain(deps: Audited & Pick<Deps, 'db' | 'write'>, { subjects, actor, at }: Again): Promise<number> {
  let erased = 0
  for (let after = ''; ; ) {
    const batch = await listKeys(deps.db, after, BATCH)
    const due = batch.filter(({ id }) => deps.audit.namesOf(id).some(name => subjects.has(name)))
    await deps.write(async tx => {
      const ends: End[] = []
      for (const { id, ...owner } of due) ends.push(...((await eraseIn(deps, tx, { owner, actor, id, at }))?.ends ?? []))
      await countEnds(tx, ends)
    })
    erased += due.length
    if (batch.length < BATCH) return erased
    after = batch.at(-1)!.id
  }
}
