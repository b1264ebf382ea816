// Reads as of one moment. An erasure removes details of audit records in its own transaction, and is linked to the chain
// later: a reader that signs the chain and then reads it as of one moment prevents erasures in between.
import type { Engine } from '../engine.ts'
import type { Connect } from './connect.ts'
import { ERASURE_LOCK } from './erasure-lock.ts'
import { drizzleOver, type Runner } from './pool.ts'
import { ConnectionLost, createSession, type Session } from './session.ts'

/** A node that stands still holds its share until the server ends its transaction. */
const WAIT = '10s'

export async function openSnapshot(connect: Connect, first = async () => {}): ReturnType<Engine['openSnapshot']> {
  const gate = createSession(onClose => connect.open('job', onClose))
  // A reader may pause longer between two statements than `read` allows.
  const session = createSession(onClose => connect.open('job', onClose))
  try {
    await gate.rows('BEGIN')
    await gate.rows(`SET LOCAL lock_timeout = '${WAIT}'`)
    await gate.rows(`SELECT pg_advisory_xact_lock(${ERASURE_LOCK})`)
    await first()
    await session.rows('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    // The first read fixes the moment, not BEGIN.
    await session.rows('SELECT version FROM settings_version')
    return { db: drizzleOver(ofOneMoment(session)), close: () => session.close() }
  } catch (error) {
    await session.close()
    throw error
  } finally {
    await gate.close()
  }
}

/** Another connection would read as of another moment. */
function ofOneMoment(session: Session): Runner & Pick<Session, 'values'> {
  const generation = session.generation()
  const guarded = async <Result>(read: () => Promise<Result>): Promise<Result> => {
    if (session.generation() !== generation) throw new ConnectionLost('the connection was lost, and its moment with it')
    return await read()
  }
  return {
    rows: <Found>(text: string, params: unknown[]) => guarded(() => session.rows<Found>(text, params)),
    values: (text, params) => guarded(() => session.values(text, params)),
  }
}
