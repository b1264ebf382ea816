import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, renameSync } from 'node:fs'
import { databaseFile } from '../../src/db/database-file.ts'
import { cleanUp, startWithTenant } from '../helpers/app.ts'
import { isOnPostgres } from '../helpers/database.ts'

afterAll(cleanUp)

const FILES: [string, string][] = [
  ['the database', ''],
  ['the write-ahead log', '-wal'],
]

test.skipIf(isOnPostgres).each(FILES)(
  'nothing is acknowledged while %s is not in its place, and all is there when it is back',
  async (_, suffix) => {
    const { app, key } = await startWithTenant()
    const file = `${databaseFile(app.dir)}${suffix}`
    const create = () => app.call<{ id: string }>('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
    const before = await create()
    expect(before.status).toBe(201)

    renameSync(file, `${file}.moved`)
    const refused = await create()
    expect([refused.status, refused.body as unknown]).toEqual([
      500,
      { error: { code: 'internal_error', message: expect.stringContaining('database') } },
    ])
    copyFileSync(`${file}.moved`, file)
    expect((await create()).status).toBe(500)
    app.clock.advance(10_000)
    expect((await app.call('GET', '/readyz')).status).toBe(503)
    const told = app.logs.filter(line => line.includes('"database.file_gone"'))
    expect(told).toHaveLength(1)
    expect(JSON.parse(told[0]!).detail).toBe(`${file} was moved, replaced or removed; bring the same file back`)

    renameSync(`${file}.moved`, file)
    app.clock.advance(10_000)
    expect((await app.call('GET', '/readyz')).status).toBe(200)
    const after = await create()
    expect(after.status).toBe(201)
    const list = await app.call<{ data: { id: string }[] }>('GET', '/v1/verifications', { key })
    expect(list.body.data.map(({ id }) => id)).toEqual([after.body.id, before.body.id])
  },
)
