// Sessions that cannot be opened, because the database is damaged. A read of one, alone or in a
// list, gets 500: a list without it would hide it, and without its claims it would show a verdict
// that nobody gave. The log names it for the operator.
import { describeFailure } from '../log.ts'
import type { Deps } from './deps.ts'
import { present } from './present.ts'
import type { Verification } from './schema.ts'
import { listVerifications, type VerificationWithResult } from './store.ts'

const BATCH = 100
const NAME_DIGITS = 8

type LogDeps = Pick<Deps, 'config' | 'db' | 'now' | 'sealer' | 'sessionKeys' | 'portraits' | 'audit' | 'log'>

export async function presentOrLog(deps: LogDeps, found: VerificationWithResult): Promise<Verification> {
  try {
    return await present(deps, found)
  } catch (error) {
    const { id, tenantId } = found.verification
    const session = deps.audit.subjectOf(id).slice(0, NAME_DIGITS)
    deps.log.error('verification.unreadable', { tenant: tenantId, session, failure: describeFailure(error) })
    throw error
  }
}

export type Reading = { looked: number; unreadable: string[]; isComplete: boolean }

/** Newest first, until all are read or the time is up. Other requests run between batches. */
export async function findUnreadable(
  deps: Pick<Deps, 'config' | 'db' | 'now' | 'sealer' | 'sessionKeys' | 'portraits'>,
  tenantIds: readonly string[],
  signal: AbortSignal,
): Promise<Reading> {
  const reading: Reading = { looked: 0, unreadable: [], isComplete: true }
  for (const tenantId of tenantIds) {
    for (const environment of ['live', 'test'] as const) {
      for (let before = Number.MAX_SAFE_INTEGER; ; ) {
        if (signal.aborted) return { ...reading, isComplete: false }
        const page = await listVerifications(deps.db, { tenantId, environment }, { before, limit: BATCH })
        for (const found of page) if (!(await isReadable(deps, found))) reading.unreadable.push(found.verification.id)
        reading.looked += page.length
        if (page.length < BATCH) break
        before = page.at(-1)?.verification.createdAt ?? 0
        await new Promise<void>(resolve => setImmediate(resolve))
      }
    }
  }
  return reading
}

const isReadable = (deps: Parameters<typeof present>[0], found: VerificationWithResult): Promise<boolean> =>
  present(deps, found).then(
    () => true,
    () => false,
  )
