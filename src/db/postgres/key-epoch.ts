// A node that stood still while the keys were replaced ("rekey") must not seal rows under the old row key when it wakes
// up. Every write shares a lock that the replacing takes alone, and compares the epoch of its keys under it: a write of
// the old epoch is committed before the replacing, or never.
import { Unavailable } from '../../base/unavailable.ts'
import type { Session } from './session.ts'

/** Any number. */
const ROOT_KEY_LOCK = 7_634_021_003
/** A node that stands still holds its share until the server ends its transaction. */
const WAIT = '10s'

export class KeysReplaced extends Unavailable {}

/** Keys cannot be replaced until the end of the transaction. */
export async function shareKeys(session: Session): Promise<void> {
  await session.rows(`SELECT pg_advisory_xact_lock_shared(${ROOT_KEY_LOCK})`)
}

/** No other connection can read the keys or write until the end of the transaction. */
export async function holdKeys(session: Session): Promise<void> {
  await session.rows(`SET LOCAL lock_timeout = '${WAIT}'`)
  await session.rows(`SELECT pg_advisory_xact_lock(${ROOT_KEY_LOCK})`)
}

/** Both are sent at once; the second one reads after the first has its lock. */
export async function refuseOldEpoch(session: Session, epoch: number): Promise<void> {
  const [, [row]] = await Promise.all([
    shareKeys(session),
    session.rows<{ epoch: string }>("SELECT convert_from(value, 'UTF8') AS epoch FROM installation WHERE name = 'key_epoch'"),
  ])
  if (row && row.epoch !== String(epoch)) throw new KeysReplaced('the keys were replaced; restart this node')
}

/** A new database has none, nor has one that was moved here. */
export const keepEpoch = (session: Session, epoch: number): Promise<unknown> =>
  session.rows(
    "INSERT INTO installation (name, value) VALUES ('key_epoch', convert_to($1, 'UTF8')) ON CONFLICT (name) DO NOTHING",
    [String(epoch)],
  )

export const replaceEpoch = (session: Session, epoch: number): Promise<unknown> =>
  session.rows(
    `INSERT INTO installation (name, value) VALUES ('key_epoch', convert_to($1, 'UTF8'))
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [String(epoch)],
  )
