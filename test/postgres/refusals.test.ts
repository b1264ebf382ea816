// What the program refuses to start on: each refusal has its own exit code and one line that says what to do, and changes
// nothing. Versions and clocks that are not at hand are played by functions that hide those of the server.
import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { serve, vidimus } from '../helpers/cli.ts'
import { hasPostgres, newDatabase, startCluster, unlessMissing } from '../helpers/cluster.ts'
import { freePort } from '../helpers/free-port.ts'
import { PROGRAM } from '../helpers/program.ts'
import type { Run } from '../helpers/run.ts'
import { shareCluster } from '../helpers/shared-cluster.ts'

const cluster = shareCluster()
let names = 0

const newName = (): string => `refused_${++names}`
const start = (url: string, dir = temporaryDir()): Promise<Run> =>
  vidimus(dir, ['serve'], { VIDIMUS_DATABASE_URL: url, PORT: '0', VIDIMUS_LOG: 'warn' })
let shops = 0
const command = (url: string, dir = temporaryDir(), args = ['tenant', 'create', '--name', `Shop ${++shops}`]): Promise<Run> =>
  vidimus(dir, args, { VIDIMUS_DATABASE_URL: url })

const tablesIn = async (name: string): Promise<number> => {
  const [row] = await cluster.query<{ count: string }>("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", name)
  return Number(row!.count)
}

/** A user who sees `instead` in place of a function of the server. */
async function deceivedBy(name: string, instead: string): Promise<string> {
  await cluster.query('CREATE SCHEMA deceit', name)
  await cluster.query(`CREATE FUNCTION deceit.${instead}`, name)
  await cluster.query(`ALTER DATABASE ${name} SET search_path = deceit, pg_catalog, public`)
  return cluster.url(name)
}

function expectRefusal({ exitCode, stdout, stderr }: Run, code: number, text: string | RegExp): void {
  expect(stderr).toMatch(text)
  expect(stderr).toMatch(/^vidimus: [^\n]+; [^\n]+\n$/)
  expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' })
}

/** A pooler takes the connection, and holds statements back while its server is away. */
function silentPooler() {
  const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])
  const known = new Set<unknown>()
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        if (!known.has(socket)) socket.write(welcome)
        known.add(socket)
      },
    },
  })
  return { port: listener.port, [Symbol.dispose]: () => listener.stop(true) }
}

/** A service that may not listen yet, and the lines it writes. */
function serving(url: string) {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([PROGRAM, 'serve', '--json'], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: temporaryDir(), VIDIMUS_DATABASE_URL: url, PORT: '0', VIDIMUS_LOG: 'warn' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return { child, output: linesOf(child.stdout), log: linesOf(child.stderr) }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

const nextOf = async (lines: AsyncGenerator<string, void>) => JSON.parse((await lines.next()).value!)

describe.skipIf(!hasPostgres)(unlessMissing('a start on PostgreSQL'), () => {
  test('a command gives up on a server that does not answer', async () => {
    const url = `postgres://postgres:hunter2@127.0.0.1:${await freePort()}/vidimus`
    const run = await command(url)
    expectRefusal(run, 20, 'cannot reach the database of VIDIMUS_DATABASE_URL')
    expect(run.stderr).not.toContain('hunter2')
  })

  test('a command gives up on a pooler whose server does not answer', async () => {
    using pooler = silentPooler()
    const run = await command(`postgres://postgres@127.0.0.1:${pooler.port}/vidimus`)
    expectRefusal(run, 20, 'cannot reach the database of VIDIMUS_DATABASE_URL (it does not answer)')
  })

  test('the service logs once that it waits for a server, with its address, and goes on when that starts', async () => {
    const late = await startCluster()
    await newDatabase(late, 'vidimus')
    await late.stop()
    const { child, output, log } = serving(late.url('vidimus'))
    expect(await nextOf(log)).toMatchObject({
      level: 'warn',
      event: 'database.awaited',
      address: expect.stringContaining(String(late.port)),
    })
    await late.start()
    const { listening } = await nextOf(output)
    expect((await fetch(`${listening}/readyz`)).status).toBe(200)
    child.kill('SIGKILL')
    expect((await Array.fromAsync(log)).filter(line => line.includes('database.awaited'))).toEqual([])
  })

  test('the service logs that it waits for a server that takes its connection and is silent, and can be stopped meanwhile', async () => {
    using pooler = silentPooler()
    const { child, log } = serving(`postgres://postgres@127.0.0.1:${pooler.port}/vidimus`)
    expect(await nextOf(log)).toMatchObject({
      event: 'database.awaited',
      address: `127.0.0.1:${pooler.port}`,
      failure: 'it does not answer',
    })
    child.kill('SIGTERM')
    expect([await child.exited, await Array.fromAsync(log)]).toEqual([0, []])
  })

  test('a command ends, and a waiting service can be stopped, when two servers take connections and are silent', async () => {
    using one = silentPooler()
    using other = silentPooler()
    const url = `postgres://postgres@127.0.0.1:${one.port},127.0.0.1:${other.port}/vidimus`
    expectRefusal(await command(url), 20, 'cannot reach the database of VIDIMUS_DATABASE_URL (it does not answer)')
    const { child, log } = serving(url)
    expect(await nextOf(log)).toMatchObject({ event: 'database.awaited' })
    child.kill('SIGTERM')
    expect([await child.exited, await Array.fromAsync(log)]).toEqual([0, []])
  })

  test('a server that is silent does not keep the next one from being asked', async () => {
    using silent = silentPooler()
    const name = newName()
    const { host, pathname } = new URL(await newDatabase(cluster, name))
    const { child, output } = serving(`postgres://postgres@127.0.0.1:${silent.port},${host}${pathname}`)
    const { listening } = await nextOf(output)
    expect((await fetch(`${listening}/readyz`)).status).toBe(200)
    child.kill('SIGKILL')
  })

  test('a missing database and a missing user are refused', async () => {
    expectRefusal(await start(cluster.url('nowhere')), 21, 'there is no such database; create it')
    const nobody = cluster.url('postgres').replace('postgres@', 'nobody@')
    expectRefusal(await start(nobody), 21, 'refuses this user from here; mend VIDIMUS_DATABASE_URL or pg_hba.conf')
  })

  test('PostgreSQL 13 is refused', async () => {
    const name = newName()
    await newDatabase(cluster, name)
    const url = await deceivedBy(
      name,
      `current_setting(name text) RETURNS text LANGUAGE sql AS $$ SELECT CASE name WHEN 'server_version_num' THEN '130014'
        WHEN 'server_version' THEN '13.14' ELSE pg_catalog.current_setting(name) END $$`,
    )
    expectRefusal(await start(url), 23, 'PostgreSQL 13.14 is too old; use 14 or newer')
    expect(await tablesIn(name)).toBe(0)
  })

  test('an encoding other than UTF-8 is refused', async () => {
    const name = newName()
    const url = await newDatabase(cluster, name, "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    expectRefusal(await start(url), 24, "the encoding LATIN1; create one with ENCODING 'UTF8'")
    expect(await tablesIn(name)).toBe(0)
  })

  test('fsync and full_page_writes must be on', async () => {
    for (const setting of ['fsync', 'full_page_writes']) {
      const unsafe = await startCluster({ settings: [`${setting} = off`] })
      expectRefusal(await start(unsafe.url()), 25, `${setting} is off, so a crash can lose or damage data; switch it on`)
      await unsafe.stop()
    }
  })

  test('a read-only database is refused', async () => {
    const name = newName()
    const url = await newDatabase(cluster, name)
    await cluster.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    expectRefusal(await start(url), 26, 'default_transaction_read_only is on for this user or database; switch it off')
  })

  test('a database that takes no connections, or whose disk is full, is refused with what to do', async () => {
    const closed = newName()
    const url = await newDatabase(cluster, closed)
    await cluster.query(`ALTER DATABASE ${closed} ALLOW_CONNECTIONS false`)
    for (const run of [await start(url), await command(url)])
      expectRefusal(run, 21, 'the database takes no connections at present; let it, or mend VIDIMUS_DATABASE_URL')
    const filled = newName()
    const full = await newDatabase(cluster, filled)
    const dir = temporaryDir()
    await command(full, dir)
    await cluster.query(
      "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'No space left' USING ERRCODE = '53100'; END $$",
      filled,
    )
    await cluster.query('CREATE TRIGGER filled BEFORE INSERT ON tenants EXECUTE FUNCTION fill()', filled)
    expectRefusal(await command(full, dir), 20, 'the disk of the database server is full; make room there')
  })

  test('a statement that is cancelled while a command or the service opens the database is refused with what to do', async () => {
    const name = newName()
    await newDatabase(cluster, name)
    const cancelled = 'clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE query_canceled; END $$'
    const url = await deceivedBy(name, cancelled)
    for (const run of [await start(url), await command(url)])
      expectRefusal(run, 20, 'the database cancelled a statement, after its time limit or by an administrator; try again')
  })

  test('a clock more than 60 seconds from that of the database is refused, and one of 50 seconds is not', async () => {
    const clock = (seconds: number) =>
      `clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '${seconds} s' $$`
    for (const [seconds, words] of [
      [70, 'seconds behind'],
      [-70, 'seconds ahead of'],
    ] as const) {
      const name = newName()
      await newDatabase(cluster, name)
      expectRefusal(
        await start(await deceivedBy(name, clock(seconds))),
        22,
        new RegExp(`clock is \\d+ ${words} the database's; set both by NTP`),
      )
      expect(await tablesIn(name)).toBe(0)
    }
    const name = newName()
    const dir = temporaryDir()
    await command(await newDatabase(cluster, name), dir)
    await serve(dir, [], { VIDIMUS_DATABASE_URL: await deceivedBy(name, clock(50)) })
  })

  test('a database that has its keys is refused without master.key and with another one', async () => {
    const url = await newDatabase(cluster, newName())
    const dir = temporaryDir()
    expect((await command(url, dir)).exitCode).toBe(0)
    const empty = temporaryDir()
    expectRefusal(await start(url, empty), 13, 'master.key is missing')
    expect(existsSync(join(empty, 'master.key'))).toBe(false)
    const other = temporaryDir()
    writeFileSync(join(other, 'master.key'), new Uint8Array(32), { mode: 0o600 })
    expectRefusal(await start(url, other), 15, 'master.key does not belong to this database')
    const same = temporaryDir()
    cpSync(join(dir, 'master.key'), join(same, 'master.key'))
    expect((await command(url, same, ['tenant', 'list'])).stdout).toContain('Shop')
  })

  test('a key directory that cannot be made is refused with its setting', async () => {
    const above = join(temporaryDir(), 'file')
    writeFileSync(above, '')
    const env = { VIDIMUS_DATABASE_URL: await newDatabase(cluster, newName()), VIDIMUS_KEY_DIR: join(above, 'keys') }
    const run = await vidimus(temporaryDir(), ['serve'], { ...env, PORT: '0' })
    expect([run.exitCode, run.stderr]).toEqual([18, expect.stringMatching(/^vidimus: cannot use .* with VIDIMUS_KEY_DIR\n$/)])
  })

  test('two nodes that start at once on an empty database make one key, and the other one is refused', async () => {
    const url = await newDatabase(cluster, newName())
    const dirs = [temporaryDir(), temporaryDir()]
    const runs = await Promise.all(dirs.map(dir => command(url, dir)))
    expect(runs.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 13])
    const loser = dirs[runs.findIndex(({ exitCode }) => exitCode === 13)]!
    expect(existsSync(join(loser, 'master.key'))).toBe(false)
  })

  test('a schema from which a newer version took something away is refused, and additions are not', async () => {
    const name = newName()
    const url = await newDatabase(cluster, name)
    const dir = temporaryDir()
    await command(url, dir)
    const add = (id: string, kind: string) =>
      cluster.query(`INSERT INTO schema_migrations VALUES ('${id}', 'unknown', '${kind}', 1)`, name)
    await add('9000_more', 'expand')
    expect((await command(url, dir, ['tenant', 'list'])).exitCode).toBe(0)
    await add('9001_less', 'contract')
    expectRefusal(await start(url, dir), 16, 'changed by a newer version (migration 9001_less); start that version')
  })

  test('a database from before 0.1.0 is refused by every call, with or without --json, and left as it is', async () => {
    const name = newName()
    const url = await newDatabase(cluster, name)
    const dir = temporaryDir()
    await command(url, dir)
    const applied = () => cluster.query('SELECT * FROM schema_migrations ORDER BY id', name)
    await cluster.query("UPDATE schema_migrations SET sha256 = 'of an older file' WHERE id = '0000_ground'", name)
    const before = await applied()
    const stderr =
      'vidimus: This database was made before 0.1.0, which cannot read it. Keep the old program for it, or start with an empty database in VIDIMUS_DATABASE_URL.\n'
    const calls = [['tenant', 'list'], ['tenant', 'create', '--name', 'Bar'], ['doctor'], ['rekey'], ['upgrade', '--finish']]
    for (const args of [['serve'], ['serve', '--json'], ...calls, ...calls.map(call => [...call, '--json'])])
      expect({ args, ...(await command(url, dir, args)) }).toEqual({ args, exitCode: 30, stdout: '', stderr })
    expect(await applied()).toEqual(before)
  })

  test('commands that need an installation do not make one of an empty database', async () => {
    const name = newName()
    const url = await newDatabase(cluster, name)
    const run = await command(url, temporaryDir(), ['tenant', 'list'])
    expectRefusal(run, 1, 'the database of VIDIMUS_DATABASE_URL is empty; start the service once')
    expect(await tablesIn(name)).toBe(0)
  })

  test('backup, restore and scheduled backups name the tools of PostgreSQL', async () => {
    const url = await newDatabase(cluster, newName())
    const dir = temporaryDir()
    await command(url, dir)
    const tools = 'back up PostgreSQL with its own tools, such as pgBackRest, a WAL archive or pg_dump'
    for (const verb of ['backup', 'restore'])
      expectRefusal(await command(url, dir, [verb, 'x.db']), 1, `${verb} is for a database file; ${tools}`)
    const planned = await vidimus(dir, ['serve'], { VIDIMUS_DATABASE_URL: url, VIDIMUS_BACKUPS: '1h,1d' })
    expectRefusal(planned, 1, `VIDIMUS_BACKUPS: the service makes no backups of PostgreSQL; ${tools}`)
  })
})
