// Opens a PostgreSQL database, or refuses it: a refusal changes nothing and says in one line what to do.

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Random } from '../../ids.ts'
import { createSealer, type Sealer } from '../../seal.ts'
import { StartRefusal } from '../refusal.ts'
import {
  adoptNewKey,
  findRootKey,
  findWrapper,
  insertRootKey,
  loadMasterKey,
  type MasterKey,
  newRootKey,
  openRootKey,
  writeNewKey,
} from '../root-key.ts'
import type { DatabaseSettings } from './address.ts'
import { type Connect, createConnect } from './connect.ts'
import { migrate } from './migrate.ts'
import { drizzleOver } from './pool.ts'
import { createSession, isConnectionLost, type Session, sqlStateOf } from './session.ts'

const VERSION_MINIMUM = 140_000
const REACHABLE_WITHIN_MS = 60_000
const RETRY_MS = 500
const CLOCK_OFF_MAX_MS = 60_000

export type OpenedDatabase = {
  connect: Connect
  /** Names this process among the nodes. */
  node: string
  sealer: Sealer
  isNew: boolean
  upgraded: string[]
  version: string
}

type Opening = {
  settings: DatabaseSettings
  masterKey: MasterKey
  now: number
  random: Random
  mayMigrate: boolean
  /** A command does not wait for a database that is down. */
  patienceMs?: number
  /** Undefined when time is injected. */
  wall?: () => number
}

export async function openDatabase({
  settings,
  masterKey,
  now,
  random,
  mayMigrate,
  wall,
  patienceMs = REACHABLE_WITHIN_MS,
}: Opening): Promise<OpenedDatabase> {
  const node = `${hostname().slice(0, 40)}-${Buffer.from(random(6)).toString('hex')}`
  const connect = createConnect(settings, node)
  const session = createSession(() => connect.open('job'))
  try {
    await reach(session, patienceMs)
    const version = await refuseUnfit(session)
    if (wall) await refuseWrongClock(session, wall)
    const { isNew, upgraded } = await migrate(session, { now, mayMigrate })
    const sealer = await openSealer(session, masterKey, random)
    return { connect, node, sealer, isNew, upgraded, version }
  } catch (error) {
    throw refusalFrom(error)
  } finally {
    await session.close()
  }
}

async function reach(session: Session, patienceMs: number): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      await session.rows('SELECT 1')
      return
    } catch (error) {
      if (!isConnectionLost(error) || performance.now() > until) throw error
      await Bun.sleep(RETRY_MS)
    }
  }
}

type Facts = Record<'number' | 'version' | 'encoding' | 'fsync' | 'full_page_writes' | 'read_only', string>

async function refuseUnfit(session: Session): Promise<string> {
  const [facts] = await session.rows<Facts>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
       pg_encoding_to_char(encoding) AS encoding, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes,
       CASE WHEN pg_is_in_recovery() THEN 'on' ELSE current_setting('default_transaction_read_only') END AS read_only
     FROM pg_database WHERE datname = current_database()`,
  )
  const { number, version, encoding, fsync, full_page_writes, read_only } = facts!
  if (Number(number) < VERSION_MINIMUM) throw unfit(`PostgreSQL ${version} is too old; use 14 or newer`)
  if (encoding !== 'UTF8') throw unfit(`the database has the encoding ${encoding}; create one with ENCODING 'UTF8'`)
  for (const [name, value] of Object.entries({ fsync, full_page_writes })) {
    if (value !== 'on') throw unfit(`${name} is off, so a crash can lose or damage data; switch it on in postgresql.conf`)
  }
  if (read_only !== 'off') throw unfit('the server is read-only, probably a standby; name the primary in VIDIMUS_DATABASE_URL')
  return version
}

const unfit = (message: string) => new StartRefusal('database_unfit', message)

/** Nodes with clocks far apart would disagree on what is expired. */
async function refuseWrongClock(session: Session, wall: () => number): Promise<void> {
  const sentAt = wall()
  const [row] = await session.rows<{ at: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at')
  const off = row!.at - (sentAt + wall()) / 2
  if (Math.abs(off) > CLOCK_OFF_MAX_MS) {
    throw new StartRefusal(
      'clock_apart',
      `this machine's clock is ${Math.round(Math.abs(off) / 1000)} seconds ${off > 0 ? 'behind' : 'ahead of'} the database's; set both by NTP`,
    )
  }
}

/** The first node of an empty database makes the keys; a database with a key needs its master key. */
async function openSealer(session: Session, masterKey: MasterKey, random: Random): Promise<Sealer> {
  const db = drizzleOver(session)
  const found = await findRootKey(db)
  if (found) return createSealer(openRootKey(findWrapper(masterKey, found, random), found), random)
  if (!existsSync(masterKey.file) && !masterKey.isGiven) {
    writeNewKey(masterKey.file, random)
    adoptNewKey(masterKey.file)
  }
  const wrapper = createSealer(loadMasterKey(masterKey), random)
  await insertRootKey(db, newRootKey(wrapper, random))
  // Another node may have been faster; then its key counts, and this one needs the same master key.
  const stored = (await findRootKey(db))!
  return createSealer(openRootKey(findWrapper(masterKey, stored, random), stored), random)
}

function refusalFrom(error: unknown): unknown {
  if (error instanceof StartRefusal) return error
  const state = sqlStateOf(error)
  const because = (error as Error).message
  if (state === '28P01' || state === '28000')
    return new StartRefusal(
      'database_unreachable',
      `the database refuses the user or password of VIDIMUS_DATABASE_URL (${because})`,
      error,
    )
  if (state === '3D000')
    return new StartRefusal('database_unreachable', `${because}; create it, or mend VIDIMUS_DATABASE_URL`, error)
  if (state === '42501')
    return new StartRefusal(
      'database_unfit',
      `${because}; grant it to the user of VIDIMUS_DATABASE_URL, or run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL`,
      error,
    )
  if (isConnectionLost(error))
    return new StartRefusal(
      'database_unreachable',
      `cannot reach the database of VIDIMUS_DATABASE_URL (${because}); is it running, and may this machine reach it?`,
      error,
    )
  return error
}
