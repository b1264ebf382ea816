// Finds what a thief could read with an old copy of the database and the keys of today.
import { Database } from 'bun:sqlite'
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createSealer, type Place } from '../../src/base/seal.ts'
import { loadMasterKey, openRootKey } from '../../src/db/root-key.ts'
import { SEALED } from '../../src/db/sealed-columns.ts'
import { findRootKey } from '../../src/db/sqlite/installation.ts'
import { listFiles } from '../../src/session-keys/files.ts'
import { createSessionKeys } from '../../src/session-keys/keys.ts'
import type { WrappedKey } from '../../src/session-keys/store.ts'
import { turnWrappingKey } from '../../src/session-keys/turn.ts'
import { type TestApp, temporaryDir } from './app.ts'

const DAY_MS = 86_400_000
const SETTLE_MS = 11 * 60_000

/** A day passes, and the wrapping key turns. */
export async function passDay({ deps, clock }: TestApp): Promise<void> {
  clock.advance(DAY_MS - SETTLE_MS)
  await turnWrappingKey(deps)
  clock.advance(SETTLE_MS)
  await turnWrappingKey(deps)
}

/** Deps whose writes are timed. `pauses`: how many were followed by a pause at least as long, or of nearly a second. */
export function timeWrites({ deps }: TestApp): { deps: TestApp['deps']; pauses: () => number } {
  const spans: { from: number; to: number }[] = []
  const write: typeof deps.write = async work => {
    const from = performance.now()
    const value = await deps.write(work)
    spans.push({ from, to: performance.now() })
    return value
  }
  const isPaused = (before: (typeof spans)[number], next: number) => next - before.to >= Math.min(before.to - before.from, 900)
  const pauses = () => spans.filter((span, i) => i + 1 < spans.length && isPaused(span, spans[i + 1]!.from)).length
  return { deps: { ...deps, write }, pauses }
}

/** Everything but the keys, as it is at this moment: database, log, backups. */
export function keepCopy(dir: string): string {
  const copy = join(temporaryDir(), 'copy')
  mkdirSync(copy)
  for (const name of readdirSync(dir)) {
    if (!/\.key$|\.lock$|-shm$|^ballast$/.test(name)) cpSync(join(dir, name), join(copy, name), { recursive: true })
  }
  return copy
}

/** Database files of a copy: its own, and each of its backups. */
export function databasesOf(copy: string): string[] {
  const folder = join(copy, 'backups')
  const backups = existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.db')) : []
  return [join(copy, 'vidimus.db'), ...backups.map(name => join(folder, name))].filter(file => existsSync(file))
}

type Row = Record<string, unknown> & { salt: Uint8Array; sealed: Uint8Array; tenant_id: string }

/** All that a database has about a verification at one moment, still sealed. */
export type SealedRows = {
  rootKey: Uint8Array
  session: Row | undefined
  wrapped: WrappedKey[]
  results: Row[]
  events: Row[]
  attempts: Row[]
  replays: Row[]
  records: Row[]
}

/** `read`: the rows of a statement in which `?` stands for the verification. */
export async function sealedRows(rootKey: Uint8Array, read: (sql: string) => Row[] | Promise<Row[]>): Promise<SealedRows> {
  const [session] = await read('SELECT * FROM verification_sessions WHERE id = ?')
  const wrapped = await read('SELECT * FROM session_keys WHERE verification_id = ?')
  return {
    rootKey,
    session,
    wrapped: wrapped.map(row => ({ wrappingKey: Number(row.wrapping_key), wrapped: row.wrapped as Buffer })),
    results: await read('SELECT * FROM verification_results WHERE verification_id = ?'),
    events: await read('SELECT * FROM verification_events WHERE verification_id = ?'),
    attempts: await read(
      'SELECT a.* FROM webhook_attempts AS a JOIN webhook_deliveries AS d ON d.id = a.delivery_id WHERE d.verification_id = ? AND length(a.sealed) > 0',
    ),
    replays: await read(
      'SELECT k.* FROM idempotency_keys AS k JOIN verification_sessions AS s ON s.idempotency_hash = k.hash WHERE s.id = ? AND k.sealed IS NOT NULL',
    ),
    records: await read('SELECT * FROM audit_records WHERE session_id = ?'),
  }
}

/** The texts that sealed rows and the keys give away; an old master key may be named. */
export function openedTexts(rows: SealedRows, keyDir: string, keyFile = join(keyDir, 'master.key')): string[] {
  const { session } = rows
  if (!session) return []
  const random = (count: number) => randomBytes(count)
  const wrapper = createSealer(loadMasterKey({ file: keyFile, isGiven: false }), random)
  const sealer = createSealer(openRootKey(wrapper, rows.rootKey), random)
  const keys = createSessionKeys({ keyDir, sealer, random })
  const id = String(session.id)
  const unwrapped = rows.wrapped.map(wrapped => keys.from({ id, wrappingKey: 0 }, wrapped))
  const derivedFrom = (name: string) => listFiles(keyDir).flatMap(number => opened(() => keys.derive(name, number)))
  // Text that was sealed without a key by mistake would open without one.
  const keyless = undefined as unknown as Uint8Array
  const candidates = [keyless, ...unwrapped.filter(key => key !== undefined), ...derivedFrom(id)]
  const tried = (row: Row, place: (key: Uint8Array) => Place, own = candidates) =>
    own.flatMap(key => opened(() => sealer.open(place(key), row.sealed))).slice(0, 1)
  const tenant = { id, tenantId: session.tenant_id }
  const hash = String(session.idempotency_hash)
  return [
    ...(session.sealed ? tried(session, key => SEALED.secrets(tenant, session.salt, key)) : []),
    ...(session.sealed_query
      ? tried({ ...session, sealed: session.sealed_query as Uint8Array }, key => SEALED.query(tenant, session.salt, key))
      : []),
    ...(session.sealed_fetches
      ? tried({ ...session, sealed: session.sealed_fetches as Uint8Array }, key => SEALED.fetches(tenant, session.salt, key))
      : []),
    ...rows.results.flatMap(row => tried(row, key => SEALED.result(tenant, row.salt, key))),
    ...rows.events.flatMap(row => tried(row, key => SEALED.event(tenant, row.salt, key))),
    ...rows.attempts.flatMap(row =>
      tried(row, key => SEALED.attempt({ id: String(row.delivery_id), tenantId: tenant.tenantId }, row.salt, key)),
    ),
    ...rows.replays.flatMap(row =>
      tried(row, key => SEALED.replay({ id: hash, tenantId: tenant.tenantId }, row.salt, key), [keyless, ...derivedFrom(hash)]),
    ),
    ...rows.records.flatMap(row =>
      tried(row, key => SEALED.auditDetails({ tenantId: tenant.tenantId, id: String(row.entry_id ?? row.seq) }, row.salt, key)),
    ),
  ]
}

/** The sealed texts about a verification that a database file and the keys give away. */
export async function textsAbout(file: string, keyDir: string, id: string, keyFile?: string): Promise<string[]> {
  const sqlite = new Database(file)
  try {
    const rows = await sealedRows(findRootKey(sqlite)!, sql => sqlite.query<Row, [string]>(sql).all(id))
    return openedTexts(rows, keyDir, keyFile)
  } finally {
    sqlite.close()
  }
}

function opened<Result>(open: () => Result): Result[] {
  try {
    return [open()]
  } catch {
    return []
  }
}
