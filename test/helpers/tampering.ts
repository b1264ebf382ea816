// Changes that somebody with access to the file can make to its audit chain.
import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import type { ChainRecord } from './chain.ts'

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

/** Puts these in the place of all records, as they are. */
export function replaceAll(sqlite: Database, rows: readonly Row[]): void {
  sqlite.run('DELETE FROM audit_records')
  const columns = [
    'seq',
    'at',
    'tenantId',
    'actor',
    'action',
    'subject',
    'commitment',
    'previous',
    'hash',
    'salt',
    'sealed',
    'sessionId',
    'wrappingKey',
  ] as const
  const insert = sqlite.query(`INSERT INTO audit_records VALUES (${columns.map(() => '?').join(', ')})`)
  for (const row of rows) insert.run(...columns.map(column => row[column]))
}

export const isDisclosed = ({ salt }: Row): boolean => salt !== null
