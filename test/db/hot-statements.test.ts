import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { installation } from '../../src/db/schema/installation.ts'
import { drizzleOn } from '../../src/db/sqlite/storage.ts'
import { column, hot } from '../../src/db/statements.ts'
import { isOnPostgres } from '../helpers/database.ts'

test.skipIf(isOnPostgres)('the text of a hot statement is built once, and each connection reads its own rows', () => {
  let builds = 0
  const valuesOf = hot<{ value: Uint8Array }>(db => {
    builds++
    return db
      .select({ value: installation.value })
      .from(installation)
      .where(eq(installation.name, column('name')))
  })
  const read = (value: string): string[] => {
    const file = new Database(':memory:')
    file.run('CREATE TABLE installation (name TEXT PRIMARY KEY, value BLOB)')
    file.query('INSERT INTO installation VALUES (?, ?)').run('name', Buffer.from(value))
    return (valuesOf(drizzleOn(file), { name: 'name' }) as { value: Uint8Array }[]).map(row => Buffer.from(row.value).toString())
  }
  expect([read('one'), read('two')]).toEqual([['one'], ['two']])
  expect(builds).toBe(1)
})
