import { describe, expect, test } from 'bun:test'
import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { serve, vidimus } from '../helpers/cli.ts'
import { hasPostgres, newDatabase, startCluster, unlessMissing } from '../helpers/cluster.ts'
import { shareCluster, stop } from '../helpers/shared-cluster.ts'

/** Magic number of statfs(2). */
const TMPFS = 0x01021994

const cluster = shareCluster()

type Check = { name: string; status: string; code: string; detail: string }

async function doctor(url: string, dir: string): Promise<Record<string, Check>> {
  const { stdout } = await vidimus(dir, ['doctor', '--json'], { VIDIMUS_DATABASE_URL: url })
  const { checks } = JSON.parse(stdout) as { checks: Check[] }
  return Object.fromEntries(checks.map(check => [check.name, check]))
}

describe.skipIf(!hasPostgres)(unlessMissing('doctor on PostgreSQL'), () => {
  test('doctor names nodes, server, key and archive; neither doctor nor the metrics name a disk', async () => {
    const url = await newDatabase(cluster, 'examined')
    const dir = temporaryDir()
    const empty = await doctor(url, dir)
    expect(empty).toEqual({
      database: expect.objectContaining({ status: 'problem', detail: expect.stringContaining('is empty') }),
    })
    const node = await serve(dir, [], { VIDIMUS_DATABASE_URL: url })
    const running = await doctor(url, dir)
    expect(running.server).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^1 node is running: \S+ \(\d+\.\d+\.\d+/),
    })
    expect(running.database).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^PostgreSQL \d+.* answers\. No standby is seen/),
    })
    expect(running.master_key?.status).toBe('ok')
    expect(running.disk).toBeUndefined()
    const metrics = await (await fetch(`${node.url}/metrics`)).text()
    expect(metrics).toContain('vidimus_build_info')
    expect(metrics).not.toMatch(/vidimus_(?:database|wal|disk_free)_bytes|vidimus_ballast_held|vidimus_backup_age/)
    expect(running.backups).toMatchObject({ status: 'warning', detail: expect.stringContaining('archives no log') })
    await stop(node)
    expect((await doctor(url, dir)).server).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('No service is running'),
    })
  })

  test('an archive that fails is a problem, and one that works is told', async () => {
    const archiving = await startCluster({ settings: ['archive_mode = on', "archive_command = 'false'"] })
    const url = await newDatabase(archiving, 'vidimus')
    const dir = temporaryDir()
    await vidimus(dir, ['tenant', 'create', '--name', 'Shop'], { VIDIMUS_DATABASE_URL: url })
    const archived = async (column: string) => {
      for (;;) {
        const [row] = await archiving.query<{ count: string }>(`SELECT ${column} AS count FROM pg_stat_archiver`)
        if (Number(row!.count) > 0) return
        await Bun.sleep(50)
      }
    }
    await archiving.query('SELECT pg_switch_wal()')
    await archived('failed_count')
    expect((await doctor(url, dir)).backups).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('cannot archive its log since'),
    })
    archiving.configure(["archive_command = 'true'"])
    await archiving.query('SELECT pg_reload_conf()')
    await archived('archived_count')
    // The folder of this test may be in memory.
    const isPassing = statfsSync(dir).type === TMPFS
    expect((await doctor(url, dir)).backups).toMatchObject({
      status: isPassing ? 'warning' : 'ok',
      detail: expect.stringMatching(
        isPassing ? /archived its log last at .* does not outlive this container/ : /archived its log last at/,
      ),
    })
  })

  test('the check of the database warns while synchronous_commit is off, and when deleted rows pile up', async () => {
    const name = 'careless'
    const url = await newDatabase(cluster, name)
    const dir = temporaryDir()
    await vidimus(dir, ['tenant', 'create', '--name', 'Shop'], { VIDIMUS_DATABASE_URL: url })
    await cluster.query(`ALTER DATABASE ${name} SET synchronous_commit = off`)
    expect((await doctor(url, dir)).database).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('synchronous_commit is off'),
    })
    await cluster.query(`ALTER DATABASE ${name} RESET synchronous_commit`)
    // Nobody tidies up, as when a transaction is open for hours.
    await cluster.query('ALTER TABLE idempotency_keys SET (autovacuum_enabled = off)', name)
    await cluster.query(
      `INSERT INTO idempotency_keys (hash, tenant_id, fingerprint, expires_at)
       SELECT n, (SELECT id FROM tenants), '', 0 FROM generate_series(1, 100001) AS n`,
      name,
    )
    await cluster.query('DELETE FROM idempotency_keys', name)
    const isCounted = async () => {
      const [row] = await cluster.query<{ dead: string }>(
        "SELECT n_dead_tup AS dead FROM pg_stat_user_tables WHERE relname = 'idempotency_keys'",
        name,
      )
      return Number(row!.dead) > 100_000
    }
    while (!(await isCounted())) await Bun.sleep(20)
    expect((await doctor(url, dir)).database).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('Deleted rows pile up in idempotency_keys.'),
    })
  })

  test('rights that the user of the service lacks are named, with the command that grants them', async () => {
    const name = 'lacking'
    const owner = await newDatabase(cluster, name)
    const dir = temporaryDir()
    await cluster.query('CREATE ROLE doctor_poor LOGIN')
    const url = owner.replace('postgres@', 'doctor_poor@')
    const upgrade = () => vidimus(dir, ['upgrade'], { VIDIMUS_DATABASE_URL: url, VIDIMUS_DATABASE_OWNER_URL: owner })
    await upgrade()
    await vidimus(dir, ['tenant', 'create', '--name', 'Shop'], { VIDIMUS_DATABASE_URL: url })
    expect((await doctor(url, dir)).database?.status).toBe('ok')
    const lacking = (names: string) => ({
      status: 'problem',
      detail:
        `The user of VIDIMUS_DATABASE_URL lacks rights to ${names}: requests fail. ` +
        'Run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL, which grants them.',
    })
    await cluster.query('REVOKE INSERT ON verification_sessions FROM doctor_poor', name)
    await cluster.query('REVOKE UPDATE (salt) ON audit_entries FROM doctor_poor', name)
    await cluster.query('REVOKE ALL ON SEQUENCE webhook_attempts_id_seq FROM doctor_poor', name)
    await cluster.query('REVOKE SELECT ON webhook_deliveries FROM doctor_poor', name)
    const { database, ...others } = await doctor(url, dir)
    expect(database).toMatchObject(lacking('audit_entries, verification_sessions, webhook_attempts_id_seq, webhook_deliveries'))
    // Another check that needs the table says the same, instead of the server's error.
    expect(others.webhooks).toEqual({
      name: 'webhooks',
      status: 'problem',
      code: 'right_lacking',
      detail:
        'The user of VIDIMUS_DATABASE_URL lacks a right that this check needs. ' +
        'Run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL, which grants it.',
    })
    expect(Object.values(others).filter(({ detail }) => detail.includes('failed ('))).toEqual([])
    await cluster.query('REVOKE USAGE ON SCHEMA public FROM doctor_poor, PUBLIC', name)
    expect((await doctor(url, dir)).database).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('The user of VIDIMUS_DATABASE_URL lacks a right.'),
    })
    await upgrade()
    expect((await doctor(url, dir)).database?.status).toBe('ok')
  })

  test('doctor makes no data directory where there is none, and its trial of the disk writes less than a MiB', async () => {
    const name = 'untouched'
    const url = await newDatabase(cluster, name)
    const dir = temporaryDir()
    const keys = temporaryDir()
    const settings = { VIDIMUS_DATABASE_URL: url, VIDIMUS_KEY_DIR: keys }
    await vidimus(dir, ['tenant', 'create', '--name', 'Shop'], settings)
    const missing = join(dir, 'missing')
    const { stdout } = await vidimus(missing, ['doctor', '--json'], settings)
    const { checks } = JSON.parse(stdout) as { checks: Check[] }
    expect(checks.find(check => check.name === 'database')?.status).toBe('ok')
    expect(checks.filter(({ detail }) => detail.includes('ENOENT'))).toEqual([])
    expect((await vidimus(missing, ['doctor'], { VIDIMUS_DATABASE_URL: url })).stdout).toContain('master.key')
    expect(existsSync(missing)).toBe(false)
    const [written] = await cluster.query<{ bytes: string }>(
      `SELECT temp_bytes AS bytes FROM pg_stat_database WHERE datname = '${name}'`,
    )
    expect(Number(written!.bytes)).toBeWithin(1, 2 ** 20)
  })

  test('a full disk of the server is a problem, although small changes of rows still succeed', async () => {
    const name = 'filled'
    const url = await newDatabase(cluster, name)
    const dir = temporaryDir()
    await vidimus(dir, ['tenant', 'create', '--name', 'Shop'], { VIDIMUS_DATABASE_URL: url })
    await cluster.query('CREATE SCHEMA deceit', name)
    // In place of the function whose rows the server puts into a file for a moment.
    await cluster.query(
      `CREATE FUNCTION deceit.generate_series(integer, integer) RETURNS SETOF integer LANGUAGE plpgsql AS
       $$ BEGIN RAISE 'No space left on device' USING ERRCODE = '53100'; END $$`,
      name,
    )
    await cluster.query(`ALTER DATABASE ${name} SET search_path = deceit, pg_catalog, public`)
    expect((await doctor(url, dir)).database).toMatchObject({
      status: 'problem',
      detail: expect.stringContaining('The disk of the database server is full'),
    })
  })
})
