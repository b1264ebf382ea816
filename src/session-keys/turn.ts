// The wrapping key turns once a day, and after "rekey --data". The next key is announced first, and becomes active once every process had time to say that it
// cannot read the file. Then the keys of all living verifications are wrapped under it, in small transactions. A key that none of
// them needs is retired, and destroyed when the window has passed: backups made while it was in use can be restored until then.
// Each step may be cut off by a kill; the next run continues.
import { describeFailure } from '../base/log.ts'
import { pauseBetweenSteps } from '../base/time.ts'
import { type KeyDeps, makeKey } from './ensure.ts'
import { destroyKeyFile, listFiles, readKeyFile } from './files.ts'
import { currentOf } from './keys.ts'
import {
  deleteWrappingKey,
  findWrapped,
  insertWrappingKey,
  keepWrapped,
  listWrappingKeys,
  lockKeyedSessions,
  retireBefore,
  updateWrappingKey,
  type WrappingKeyRow,
} from './store.ts'

const DAY_MS = 86_400_000
/** Two full hours before the day is over: the next key is active after a day at the latest. */
const TURN_EVERY_MS = DAY_MS - 2 * 3_600_000
/** Every process looks once a minute (lookAtKeys). */
const SETTLE_MS = 10 * 60_000
const BATCH = 50
/** A second pass finds nothing, unless a process still used the key before. */
const PASSES_MAX = 3

export async function turnWrappingKey(deps: KeyDeps): Promise<void> {
  await adoptFiles(deps)
  await makeNextActive(deps).catch(error => deps.log.warn('keys.not_turned', { failure: describeFailure(error) }))
  await wrapUnderCurrent(deps)
  await destroyRetired(deps)
}

/**
 * Files without a row: a kill came between, or an older database was restored. They are in no use,
 * but a newer backup may need them until the window has passed.
 */
async function adoptFiles({ config, db, write, now, sessionKeys }: KeyDeps): Promise<void> {
  const known = new Set((await listWrappingKeys(db)).map(({ id }) => id))
  for (const id of listFiles(config.keyDir)) {
    const file = known.has(id) ? undefined : readKeyFile(config.keyDir, id, sessionKeys.names)
    const fingerprint = file && sessionKeys.fingerprintOf(id)
    if (!file || !fingerprint) continue
    const { createdAt } = file
    await write(tx =>
      insertWrappingKey(tx, { id, fingerprint, createdAt, activeAt: createdAt, unreadableAt: null, retiredAt: now() }),
    )
  }
}

async function makeNextActive(deps: KeyDeps): Promise<void> {
  const { db, write, now, sessionKeys, log } = deps
  const rows = await listWrappingKeys(db)
  const current = currentOf(rows)
  const announced = rows.findLast(({ activeAt }) => activeAt === null)
  if (!announced) {
    if (current && sessionKeys.isOfNewestName(current.id) && !isDue(current, now())) return
    const made = makeKey(deps, rows)
    await write(tx => insertWrappingKey(tx, made))
    return
  }
  if (announced.unreadableAt !== null || !sessionKeys.isReadable(announced)) {
    log.warn('keys.not_shared', { detail: `wrapping key ${announced.id}` })
    // Tried again with another key, a day later.
    if (now() - announced.createdAt >= TURN_EVERY_MS) await destroy(deps, announced)
    return
  }
  if (now() - announced.createdAt < SETTLE_MS) return
  await write(tx => updateWrappingKey(tx, announced.id, { activeAt: now() }))
  await sessionKeys.look(db)
  log.info('keys.turned', { detail: `wrapping key ${announced.id}` })
}

/** A time far ahead is of a clock that was wrong for a while. */
const isDue = ({ activeAt }: WrappingKeyRow, now: number): boolean => Math.abs(now - (activeAt ?? 0)) >= TURN_EVERY_MS

async function wrapUnderCurrent(deps: KeyDeps): Promise<void> {
  const { db, write, now, sessionKeys, log } = deps
  const rows = await sessionKeys.look(db)
  const current = sessionKeys.current()
  if (!rows.some(({ id, activeAt, retiredAt }) => id < current && activeAt !== null && retiredAt === null)) return
  for (let pass = 1; pass <= PASSES_MAX; pass++) {
    const { moved, lost } = await wrapAll(deps, current)
    // Doctor finds them too. Their wrapping keys are kept: the files may come back.
    if (lost > 0) return log.error('keys.lost', { count: lost })
    if (moved === 0) return await write(tx => retireBefore(tx, current, now()))
  }
}

type Pass = { moved: number; lost: number }

async function wrapAll(deps: KeyDeps, current: number): Promise<Pass> {
  const pause = pauseBetweenSteps()
  const all: Pass = { moved: 0, lost: 0 }
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    const { moved, lost, last } = await deps.write(tx => wrapBatch(deps, tx, current, from))
    all.moved += moved
    all.lost += lost
    after = last
    if (after !== undefined) await pause()
  }
  return all
}

async function wrapBatch(
  { sessionKeys }: KeyDeps,
  tx: KeyDeps['db'],
  current: number,
  after: string,
): Promise<Pass & { last: string | undefined }> {
  const batch = await lockKeyedSessions(tx, after, BATCH)
  const candidates = batch.filter(({ wrappingKey }) => wrappingKey !== current)
  const kept = await findWrapped(
    tx,
    candidates.map(({ id }) => id),
  )
  const due = candidates.filter(({ id }) => kept.get(id)?.wrappingKey !== current)
  const rows = []
  for (const { id: verificationId, tenantId, wrappingKey } of due) {
    const sessionKey = sessionKeys.from({ id: verificationId, wrappingKey }, kept.get(verificationId))
    if (sessionKey)
      rows.push({
        verificationId,
        tenantId,
        wrappingKey: current,
        wrapped: sessionKeys.wrap(verificationId, sessionKey, current),
      })
  }
  await keepWrapped(tx, rows)
  return { moved: rows.length, lost: due.length - rows.length, last: batch.length === BATCH ? batch.at(-1)?.id : undefined }
}

async function destroyRetired(deps: KeyDeps): Promise<void> {
  const { config, db, now, sessionKeys, log } = deps
  const isOver = ({ retiredAt }: WrappingKeyRow) => retiredAt !== null && now() - retiredAt >= config.keyWindowDays * DAY_MS
  const due = (await listWrappingKeys(db)).filter(isOver)
  if (due.length === 0) return
  // A process that had not looked yet may have used one of them after it was retired.
  await wrapAll(deps, sessionKeys.current())
  for (const row of due) {
    await destroy(deps, row)
    log.info('keys.destroyed', { detail: `wrapping key ${row.id}` })
  }
}

/** The row goes last: after a kill the next run destroys what is left. */
async function destroy({ config, db, write, random, sessionKeys }: KeyDeps, { id }: WrappingKeyRow): Promise<void> {
  destroyKeyFile(config.keyDir, id, random)
  await write(tx => deleteWrappingKey(tx, id))
  await sessionKeys.look(db)
}

/** Runs in every process: follows the turn, and says when a file that was announced cannot be read here. */
export async function lookAtKeys({ db, write, now, sessionKeys }: KeyDeps): Promise<void> {
  for (const row of await sessionKeys.look(db)) {
    if (row.activeAt === null && row.unreadableAt === null && !sessionKeys.isReadable(row))
      await write(tx => updateWrappingKey(tx, row.id, { unreadableAt: now() }))
  }
}
