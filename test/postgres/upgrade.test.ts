// Upgrades of a schema that several nodes share: first additions, beside nodes of the version before; then, when none of them
// runs any more, what only they used is taken away.
import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { version } from '../../package.json' with { type: 'json' }
import { loadConfig } from '../../src/config.ts'
import { MIGRATIONS, type Migration } from '../../src/db/postgres/migrate.ts'
import { upgradeServer } from '../../src/db/postgres/upgrade.ts'
import { call, NOON, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, vidimus } from '../helpers/cli.ts'
import { hasPostgres, newDatabase, postgresDir, unlessMissing } from '../helpers/cluster.ts'
import { createOn, runOn, shareCluster, stop } from '../helpers/shared-cluster.ts'

const cluster = shareCluster()

/** What a next release could bring. */
const NEXT: Migration[] = [
  ...MIGRATIONS,
  { id: '9000_note', sql: 'ALTER TABLE tenants ADD COLUMN note text', kind: 'expand' },
  { id: '9001_no_schemes', sql: 'ALTER TABLE tenants DROP COLUMN app_schemes', kind: 'contract' },
]

const INDEXING: Migration[] = [
  ...MIGRATIONS,
  {
    id: '9000_indexing',
    sql: 'CREATE INDEX "sessions_by_status" ON "verification_sessions" USING btree ("status")',
    kind: 'expand',
  },
]

const FILLING: Migration[] = [
  ...MIGRATIONS,
  {
    id: '9000_filling',
    sql: [
      'ALTER TABLE tenants ADD COLUMN note text',
      'SELECT 1 FROM settings_version FOR UPDATE',
      "UPDATE tenants SET note = coalesce(note, '') || name",
    ].join('--> statement-breakpoint'),
    kind: 'expand',
  },
]

const upgradeTo = (url: string, wanted: { isFinish: boolean; isDryRun?: boolean; migrations?: Migration[] }) =>
  upgradeServer(loadConfig({ VIDIMUS_DATABASE_URL: url }).database!, {
    now: NOON,
    version: '99.0.0',
    isDryRun: false,
    migrations: NEXT,
    ...wanted,
  })

const create = async (served: Served, key?: string): Promise<number> => (await createOn(served, key)).status

describe.skipIf(!hasPostgres)(unlessMissing('an upgrade of PostgreSQL'), () => {
  test('nodes of two releases share an expanded schema, and it is finished when the older ones are gone', async () => {
    const url = await newDatabase(cluster, 'rolling')
    const env = { VIDIMUS_DATABASE_URL: url }
    const dir = temporaryDir()
    const old = await serve(dir, ['--dev'], env)
    const key = old.first.test_key
    expect(await upgradeTo(url, { isFinish: false, isDryRun: true })).toEqual({
      applied: ['9000_note'],
      left: ['9001_no_schemes'],
      older: [],
    })
    expect(await upgradeTo(url, { isFinish: false })).toMatchObject({ applied: ['9000_note'], left: ['9001_no_schemes'] })
    // The release before runs on it, and starts on it.
    expect(await create(old)).toBe(201)
    const restarted = await serve(temporaryDir(), [], { ...env, VIDIMUS_KEY_DIR: dir })
    expect(await create(restarted, key)).toBe(201)
    const refused = await upgradeTo(url, { isFinish: true })
    expect(refused).toEqual({ applied: [], left: ['9001_no_schemes'], older: [expect.any(String), expect.any(String)] })
    expect(refused.older.every(node => node.endsWith(`(${version})`))).toBe(true)
    await stop(old)
    await stop(restarted)
    expect(await upgradeTo(url, { isFinish: true })).toEqual({ applied: ['9001_no_schemes'], left: [], older: [] })
    expect((await vidimus(dir, ['serve'], env)).exitCode).toBe(16)
  })

  test('a node that was killed stops counting, and upgrade --finish of this release finds nothing left', async () => {
    const url = await newDatabase(cluster, 'killed')
    const env = { VIDIMUS_DATABASE_URL: url }
    const dir = temporaryDir()
    const node = await serve(dir, [], env)
    await upgradeTo(url, { isFinish: false })
    node.process.kill('SIGKILL')
    await node.process.exited
    for (;;) {
      const { left } = await upgradeTo(url, { isFinish: true })
      if (left.length === 0) break
      await Bun.sleep(200)
    }
    const fresh = { VIDIMUS_DATABASE_URL: await newDatabase(cluster, 'fresh') }
    const { exitCode, stdout } = await vidimus(dir, ['upgrade', '--finish', '--json'], fresh)
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 0, left: [], copy: null })
  })

  test('a table that others hold is asked for again, and meanwhile everybody else passes', async () => {
    const url = await newDatabase(cluster, 'held')
    await vidimus(temporaryDir(), ['tenant', 'create', '--name', 'Shop'], { VIDIMUS_DATABASE_URL: url })
    const holder = new SQL({ url, max: 1 })
    const held = await holder.reserve()
    await held.unsafe('BEGIN')
    await held.unsafe('SELECT * FROM tenants')
    const upgrading = upgradeTo(url, { isFinish: false })
    const waits = async () => {
      const [row] = await cluster.query<{ count: string }>(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = 'held' AND wait_event_type = 'Lock'",
      )
      return Number(row!.count) > 0
    }
    for (const expected of [true, false, true]) while ((await waits()) !== expected) await Bun.sleep(20)
    await held.unsafe('COMMIT')
    expect(await upgrading).toMatchObject({ applied: ['9000_note'] })
    held.release()
    await holder.close()
  })

  test('an index is built while others write, and one whose build was cut off is built again', async () => {
    const url = await newDatabase(cluster, 'indexing')
    await vidimus(temporaryDir(), ['tenant', 'create', '--name', 'Shop'], { VIDIMUS_DATABASE_URL: url })
    const clients = new SQL({ url, max: 2 })
    const writer = await clients.reserve()
    const building = async () => {
      const found = await cluster.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_progress_create_index WHERE datname = 'indexing' AND index_relid = 'sessions_by_status'::regclass",
        'indexing',
      )
      return found[0]?.pid
    }
    const until = async (isBuilding: () => Promise<number | undefined>) => {
      for (;;) {
        const pid = await isBuilding().catch(() => undefined)
        if (pid) return pid
        await Bun.sleep(20)
      }
    }
    const validity = () =>
      clients.unsafe("SELECT indisvalid FROM pg_index WHERE indexrelid = 'sessions_by_status'::regclass").values()
    // A transaction that has written holds up the build, which must not hold up the next writer.
    await writer.unsafe('BEGIN')
    await writer.unsafe('DELETE FROM verification_sessions')
    const cut = upgradeTo(url, { isFinish: false, migrations: INDEXING }).then(
      () => 'done',
      () => 'cut off',
    )
    const pid = await until(building)
    await clients.unsafe('DELETE FROM verification_sessions')
    await cluster.query(`SELECT pg_terminate_backend(${pid})`)
    expect(await cut).toBe('cut off')
    expect(await validity()).toEqual([[false]])
    const again = upgradeTo(url, { isFinish: false, migrations: INDEXING })
    await until(building)
    await writer.unsafe('COMMIT')
    expect(await again).toMatchObject({ applied: [] })
    expect(await validity()).toEqual([[true]])
    writer.release()
    await clients.close()
  })

  test('rows that an upgrade owes are written by the next one, and its structure is there before', async () => {
    const url = await newDatabase(cluster, 'owed')
    await vidimus(temporaryDir(), ['tenant', 'create', '--name', 'Shop'], { VIDIMUS_DATABASE_URL: url })
    const clients = new SQL({ url, max: 2 })
    const held = await clients.reserve()
    await held.unsafe('BEGIN')
    await held.unsafe('SELECT FROM settings_version FOR UPDATE')
    const upgrading = upgradeTo(url, { isFinish: false, migrations: FILLING }).then(
      () => 'done',
      () => 'cut off',
    )
    const cutOff = async () => {
      for (;;) {
        await cluster.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'owed' AND wait_event_type = 'Lock'",
        )
        if (await Promise.race([upgrading, Bun.sleep(20)])) return await upgrading
      }
    }
    expect(await cutOff()).toBe('cut off')
    await held.unsafe('COMMIT')
    held.release()
    const owed = () => clients.unsafe("SELECT id FROM schema_migrations WHERE id LIKE '%(rows)'").values()
    const notes = () => clients.unsafe('SELECT note FROM tenants').values()
    expect([await owed(), await notes()]).toEqual([[['9000_filling (rows)']], [[null]]])
    await upgradeTo(url, { isFinish: false, migrations: FILLING })
    expect([await owed(), await notes()]).toEqual([[], [['Shop']]])
    await clients.close()
  })

  test('--finish is refused on a database file', async () => {
    const dir = temporaryDir()
    const { exitCode, stderr } = await vidimus(dir, ['upgrade', '--finish'], { VIDIMUS_DATABASE_URL: '' })
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--finish is for PostgreSQL') })
  })
})

describe.skipIf(!hasPostgres)(unlessMissing('two roles'), () => {
  test('the owner changes the schema, and the service works with no more rights than it needs', async () => {
    const recipe = readFileSync(join(import.meta.dir, '../../src/handbook/pages/recipes/postgres.md'), 'utf8')
    const [, roles = ''] = /```sql\n-- vidimus: recipe \(roles\)\n([\s\S]*?)```/.exec(recipe) ?? []
    const file = join(postgresDir(), 'roles.sql')
    writeFileSync(file, roles)
    runOn(cluster, 'psql', ['-v', 'ON_ERROR_STOP=1', '-q', '-f', file, 'postgres'])
    const urlOf = (user: string) => cluster.url('vidimus').replace('postgres@', `${user}@`)
    const env = { VIDIMUS_DATABASE_URL: urlOf('vidimus_app:x') }
    const dir = temporaryDir()
    const early = await vidimus(dir, ['serve'], env)
    expect(early.exitCode).toBe(28)
    expect(early.stderr).toContain(
      'the database is empty, and the user of VIDIMUS_DATABASE_URL may not change that; run "vidimus upgrade"',
    )
    const upgraded = await vidimus(dir, ['upgrade'], { ...env, VIDIMUS_DATABASE_OWNER_URL: urlOf('vidimus_owner:x') })
    expect(upgraded).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await vidimus(dir, ['tenant', 'list'], env)).stderr).toContain('is empty; start the service once')
    const service = await serve(dir, ['--dev'], env)
    // The first node of a database prints the set-up link, whoever made the schema.
    expect(service.first.setup_url).toContain('#setup=')
    const { id } = (await createOn(service)).body
    const erased = await call(service.url, 'DELETE', `/v1/verifications/${id}`, { key: service.first.test_key })
    expect(erased.status).toBe(200)
    expect((await vidimus(dir, ['audit', 'verify'], env)).exitCode).toBe(0)

    const app = new SQL({ url: urlOf('vidimus_app:x'), max: 1 })
    const denied = (statement: string) =>
      app.unsafe(statement).then(
        () => 'done',
        (error: { errno?: string }) => error.errno,
      )
    const statements = [
      'CREATE TABLE mine (id int)',
      'DROP TABLE tenants',
      'TRUNCATE audit_checkpoints',
      'DELETE FROM schema_migrations',
      "UPDATE schema_migrations SET kind = 'expand'",
    ]
    const [found] = await cluster.query<{ name: string | null }>("SELECT to_regclass('audit_links')::text AS name", 'vidimus')
    if (found!.name)
      statements.push(
        "UPDATE audit_links SET hash = ''",
        'DELETE FROM audit_links',
        "UPDATE audit_entries SET action = ''",
        'DELETE FROM audit_entries',
      )
    for (const statement of statements) expect([statement, await denied(statement)]).toEqual([statement, '42501'])
    await app.close()
  })
})
