// A directory as the version before left it: it recorded what it owed, and sent nothing.
import { afterAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS, migrate } from '../../src/db/migrate.ts'
import { openWriter } from '../../src/db/sqlite.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { cleanUp, NOON, until } from '../helpers/app.ts'
import { declined, logOf, receive, startAppFor, stopReceiving, verified } from '../helpers/receiver.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const HOUR_MS = 3_600_000

test('what the version before owed is sent after the upgrade, each message once and signed', async () => {
  const receivers = [receive(), receive()]
  const before = await startAppFor(receivers, { config: { webhookDelaysMs: [HOUR_MS] } })
  const shops = [
    await createTenant(before.deps, { name: 'Shop' }, 'test'),
    await createTenant(before.deps, { name: 'Bar' }, 'test'),
  ]
  const owed = new Map<string, string>()
  for (const { tenant, webhookSecret } of shops) {
    const key = await before.key(tenant.id)
    for (let i = 0; i < 10; i++) owed.set(await declined({ app: before, key }, receivers[i % 2]!.url()), webhookSecret)
  }
  await before.stop()
  downgrade(before.dir, 1)

  const now = NOON + 30 * HOUR_MS
  const app = await startAppFor(receivers, { dir: before.dir, now })
  await until(async () => [...owed.keys()].every(id => logOf(app, id).delivery?.status === 'delivered'))
  const received = receivers.flatMap(receiver => receiver.received)
  expect(received).toHaveLength(owed.size)
  for (const message of received) {
    const { id } = JSON.parse(message.body).verification
    expect((await verified(message, owed.get(id) ?? '', now)).verification.id).toBe(id)
  }
})

/** The same rows, in a file that knows only the first migrations. */
function downgrade(dir: string, migrations: number): void {
  const file = join(dir, 'vidimus.db')
  const later = join(dir, 'later.db')
  const current = openWriter(file)
  const ours = current.query<{ application_id: number }, []>('PRAGMA application_id').get()?.application_id
  current.run(`VACUUM INTO '${later}'`)
  current.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  const sqlite = openWriter(file)
  migrate(sqlite, NOON, MIGRATIONS.slice(0, migrations))
  sqlite.run(`PRAGMA application_id = ${ours}`)
  sqlite.run('PRAGMA foreign_keys = OFF')
  sqlite.run(`ATTACH '${later}' AS later`)
  const names = (sql: string) =>
    sqlite
      .query<{ name: string }, []>(sql)
      .all()
      .map(({ name }) => name)
  const tables = names("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
  for (const table of tables.filter(name => name !== 'schema_migrations')) {
    const columns = names(`SELECT name FROM pragma_table_info('${table}', 'main')`).join(', ')
    sqlite.run(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM later.${table}`)
  }
  expect(sqlite.query("SELECT name FROM pragma_table_info('webhook_deliveries', 'main') WHERE name = 'lane'").all()).toEqual([])
  sqlite.run('DETACH later')
  sqlite.close()
  rmSync(later)
}
