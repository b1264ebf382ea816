// Sessions that cannot be opened, because the database is damaged. A read of one, alone or in a
// list, gets 500: a list without it would hide it, and without its claims it would show a verdict
// that nobody gave. The log names it for the operator.
import type { Audited } from '../audit/deps.ts'
import { describeFailure } from '../base/log.ts'
import type { Reporting, Yielding } from '../ground.ts'
import { type PresentDeps, type Presented, present, questionOf } from './present.ts'
import type { Verification } from './schema.ts'
import { findWhole, listVerifications, type VerificationRow, type VerificationWithResult } from './store.ts'

const BATCH = 100
const NAME_DIGITS = 8

type LogDeps = PresentDeps & Reporting & Audited

export async function presentOrLog(deps: LogDeps, found: VerificationWithResult, how?: Presented): Promise<Verification> {
  try {
    return await present(deps, found, how)
  } catch (error) {
    const { tenantId } = found.verification
    const session = nameInLog(deps.audit, found.verification)
    deps.log.error('verification.unreadable', { tenant: tenantId, session, failure: describeFailure(error) })
    throw error
  }
}

/** The first digits of its subject on the audit chain: the id is a capability, and no log has it. */
export const nameInLog = ({ subjectOf }: Pick<LogDeps['audit'], 'subjectOf'>, { id, auditSeq }: VerificationRow): string =>
  subjectOf(id, auditSeq).slice(0, NAME_DIGITS)

export type Legibility = { looked: number; unreadable: string[]; isComplete: boolean }

/** Newest first, until all are read or the time is up. */
export async function findUnreadable(
  deps: PresentDeps & Yielding,
  tenantIds: readonly string[],
  signal: AbortSignal,
): Promise<Legibility> {
  const reading: Legibility = { looked: 0, unreadable: [], isComplete: true }
  for (const tenantId of tenantIds) {
    for (const environment of ['live', 'test'] as const) {
      for (let before = Number.MAX_SAFE_INTEGER; ; ) {
        if (signal.aborted) return { ...reading, isComplete: false }
        const page = await listVerifications(deps.db, { tenantId, environment }, { before, limit: BATCH })
        for (const listed of page) {
          await deps.turns.next()
          const found = await findWhole(deps.db, listed)
          if (found && !(await isReadable(deps, found))) reading.unreadable.push(found.verification.id)
        }
        reading.looked += page.length
        if (page.length < BATCH) break
        before = page.at(-1)?.verification.createdAt ?? 0
      }
    }
  }
  return reading
}

/** Its query too, which only wallets and one page read. */
const isReadable = (deps: PresentDeps, found: VerificationWithResult): Promise<boolean> =>
  Promise.all([present(deps, found), questionOf(deps, deps.db, found.verification)]).then(
    () => true,
    () => false,
  )
