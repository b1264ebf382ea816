// Changes that somebody with access to the file can make to its audit chain.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { ChainRecord } from './chain.ts'
import { editRows, isOnPostgres, rowsOf } from './database.ts'

export type Row = ChainRecord & {
  salt: Uint8Array | null
  sealed: Uint8Array | null
  sessionId: string | null
  wrappingKey: number | null
}

/** Changes of one record, each of which must be reported at that record; one moved to the front is the first problem. */
export const CHANGES: Record<string, (row: Row) => Partial<Row>> = {
  'seq, far away': ({ seq }) => ({ seq: seq + 1000 }),
  'seq, below all others': () => ({ seq: 0 }),
  at: ({ at }) => ({ at: at + 1 }),
  tenant: ({ tenantId }) => ({ tenantId: flippedHex(tenantId) }),
  actor: ({ actor }) => ({ actor: `${actor} ` }),
  action: ({ action }) => ({ action: action === 'key.revoked' ? 'key.created' : 'key.revoked' }),
  subject: ({ subject }) => ({ subject: flippedHex(subject) }),
  commitment: ({ commitment }) => ({ commitment: flippedHex(commitment) }),
  previous: ({ previous }) => ({ previous: flippedHex(previous) }),
  hash: ({ hash }) => ({ hash: flippedHex(hash) }),
  salt: ({ salt }) => ({ salt: flippedByte(salt, 7) }),
  'details, header': ({ sealed }) => ({ sealed: flippedByte(sealed, 0) }),
  'details, nonce': ({ sealed }) => ({ sealed: flippedByte(sealed, 2) }),
  'details, text': ({ sealed }) => ({ sealed: flippedByte(sealed, 16) }),
  'details, tag': ({ sealed }) => ({ sealed: flippedByte(sealed, -1) }),
  'details, cut to nothing': () => ({ sealed: new Uint8Array(0) }),
  'salt taken away': () => ({ salt: null }),
  'details taken away': () => ({ sealed: null }),
}

export const flippedHex = (text: string): string => (text.startsWith('0') ? '1' : '0') + text.slice(1)

const flippedByte = (bytes: Uint8Array | null, at: number): Uint8Array => {
  const copy = Uint8Array.from(bytes ?? [])
  const place = (at + copy.length) % copy.length
  copy[place] = (copy[place] ?? 0) ^ 1
  return copy
}

export function withFile<T>(directory: string, act: (sqlite: Database) => T): T {
  const sqlite = new Database(join(directory, 'vidimus.db'), { strict: true })
  try {
    return act(sqlite)
  } finally {
    sqlite.close()
  }
}

export const allRecords = (sqlite: Database): Row[] =>
  sqlite
    .query<Row, []>(
      'SELECT *, tenant_id AS tenantId, session_id AS sessionId, wrapping_key AS wrappingKey FROM audit_records ORDER BY seq',
    )
    .all()

type Value = string | number | Uint8Array | null

/** A database that is changed behind the service's back. */
export type Tampered = { run(sql: string, ...values: Value[][]): unknown }

/** The database of a directory, on either engine: `audit_records` is changed as if it were a table. */
export function tamperWith(dir: string, act: (db: Tampered) => void): void {
  if (!isOnPostgres) {
    withFile(dir, act)
    return
  }
  for (const statement of AS_A_TABLE) editRows(dir, statement)
  act({ run: (sql, values = []) => editRows(dir, sql, ...values) })
}

/** Records and their entries change together. A record that is inserted twice has an entry of its own. */
const AS_A_TABLE = [
  `CREATE OR REPLACE FUNCTION tamper() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    entry bigint;
  BEGIN
    IF TG_OP <> 'INSERT' THEN
      DELETE FROM audit_links WHERE seq = OLD.seq;
      DELETE FROM audit_entries WHERE id = OLD.entry_id;
    END IF;
    IF TG_OP = 'DELETE' THEN
      RETURN OLD;
    END IF;
    SELECT CASE WHEN bool_or(id = NEW.entry_id) THEN min(id) - 1 ELSE NEW.entry_id END INTO entry FROM audit_entries;
    INSERT INTO audit_entries (id, at, tenant_id, actor, action, subject, commitment, salt, sealed, session_id, wrapping_key)
      VALUES (entry, NEW.at, NEW.tenant_id, NEW.actor, NEW.action, NEW.subject, NEW.commitment, NEW.salt, NEW.sealed,
        NEW.session_id, NEW.wrapping_key);
    INSERT INTO audit_links VALUES (NEW.seq, entry, NEW.previous, NEW.hash);
    RETURN NEW;
  END
  $$`,
  `CREATE OR REPLACE TRIGGER tamper INSTEAD OF INSERT OR UPDATE OR DELETE ON audit_records
   FOR EACH ROW EXECUTE FUNCTION tamper()`,
]

export const recordsIn = (dir: string): Row[] =>
  rowsOf<Row>(
    dir,
    'SELECT *, tenant_id AS "tenantId", session_id AS "sessionId", wrapping_key AS "wrappingKey" FROM audit_records ORDER BY seq',
  )

const COLUMNS = {
  seq: 'seq',
  at: 'at',
  tenantId: 'tenant_id',
  actor: 'actor',
  action: 'action',
  subject: 'subject',
  commitment: 'commitment',
  previous: 'previous',
  hash: 'hash',
  salt: 'salt',
  sealed: 'sealed',
  sessionId: 'session_id',
  wrappingKey: 'wrapping_key',
  ...(isOnPostgres && { entry_id: 'entry_id' }),
}

/** Puts these in the place of all records, as they are. */
export function replaceAll(db: Tampered, rows: readonly Row[]): void {
  db.run('DELETE FROM audit_records')
  const names = Object.keys(COLUMNS) as (keyof Row)[]
  const insert = `INSERT INTO audit_records (${Object.values(COLUMNS)}) VALUES (${names.map(() => '?').join(', ')})`
  for (const row of rows)
    db.run(
      insert,
      names.map(name => row[name]),
    )
}

export const isDisclosed = ({ salt }: Row): boolean => salt !== null
