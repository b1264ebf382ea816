import type { Database } from 'bun:sqlite'

export const versionOf = (sqlite: Database): string =>
  sqlite.query<{ version: string }, []>('SELECT sqlite_version() AS version').get()?.version ?? '0'
