// One transaction on one session. Statements whose answer nobody needs are sent without waiting; their errors are
// heard before the commit. After the first error, or on another connection, nothing more is sent.
import { Unavailable } from '../../base/unavailable.ts'
import type { Db } from '../engine.ts'
import type { Begin } from './connect.ts'
import { refuseOldEpoch } from './key-epoch.ts'
import { drizzleOver, type Runner } from './pool.ts'
import { ConnectionLost, constraintOf, isConnectionLost, isPassing, type Session, sqlStateOf } from './session.ts'

/** The key of audit entries: their ids were given to two nodes, before and after a failover. */
const ENTRY_KEY = 'audit_entries_pkey'

/** COMMIT was sent and its answer never arrived: whether it took place is unknown. */
export class CommitUnknown extends Unavailable {}

/** The server ended the transaction because its node stood still: it never read the COMMIT. */
const ENDED_WHILE_IDLE = '25P03'

export type Transactions = {
  tx: Db
  /** `epoch`: that of the keys that its rows are sealed with. */
  run<Result>(begin: Begin, epoch: number, work: (tx: Db) => Promise<Result>): Promise<Result>
}

/** One per session: drizzle's prepared statements stay with it. */
export function transactionsOn(session: Session): Transactions {
  let generation = -1
  let failure: unknown
  let underWay: Promise<unknown>[] = []

  const guard = () => {
    if (failure !== undefined) throw failure
    if (session.generation() !== generation) throw new ConnectionLost('the connection was lost inside a transaction')
  }
  const follow = <Result>(answer: Promise<Result>): Promise<Result> => {
    underWay.push(
      answer.catch(error => {
        failure ??= error
      }),
    )
    return answer
  }
  const guarded = async <Result>(start: () => Promise<Result>): Promise<Result> => {
    guard()
    return await follow(start())
  }
  const runner: Runner & Pick<Session, 'values'> = {
    rows: <Found>(text: string, params: unknown[]) => guarded(() => session.rows<Found>(text, params)),
    values: (text, params) => guarded(() => session.values(text, params)),
    send(text, params) {
      guard()
      follow(session.rows(text, params)).catch(() => {})
    },
    generation: () => session.generation(),
  }
  const tx = drizzleOver(runner)

  const rollBack = async () => {
    // Bun opens another connection for a lost one, where there is nothing to undo.
    if (session.generation() === generation) await session.rows('ROLLBACK').catch(() => session.drop())
  }

  return {
    tx,
    async run(begin, epoch, work) {
      failure = undefined
      underWay = []
      // Without a connection nobody knows yet on which one the transaction will be.
      if (!session.isOpen()) await session.rows('SELECT 1')
      generation = session.generation()
      try {
        for (const text of begin.statements) runner.send!(text, [])
        if (begin.isAwaited) await Promise.all(underWay)
        guard()
        follow(refuseOldEpoch(session, epoch)).catch(() => {})
        const result = await work(tx)
        await Promise.all(underWay)
        guard()
        await commit(session)
        return result
      } catch (error) {
        // `failure` refuses later statements of `work`: the session is given to others soon.
        failure ??= error
        const thrown = failure
        await Promise.all(underWay)
        if (isEntryTaken(thrown)) session.drop()
        if (!(error instanceof CommitUnknown)) await rollBack()
        throw thrown
      }
    },
  }
}

async function commit(session: Session): Promise<void> {
  try {
    await session.rows('COMMIT')
  } catch (error) {
    if (isConnectionLost(error) && sqlStateOf(error) !== ENDED_WHILE_IDLE)
      throw new CommitUnknown('the connection was lost while the commit was under way', { cause: error })
    throw error
  }
}

/** True when nothing of the transaction can have taken place and another try may succeed. */
export const mayRepeat = (error: unknown): boolean =>
  !(error instanceof CommitUnknown) && (isPassing(error) || isEntryTaken(error))

/** The block of ids goes with the connection, so another one takes a new block. */
const isEntryTaken = (error: unknown): boolean => constraintOf(error) === ENTRY_KEY
