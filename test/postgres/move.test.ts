// From the database file to PostgreSQL: killed in the middle, called again, compared, and then served by other nodes.
import { Database } from 'bun:sqlite'
import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { type Served, serve as serveOn, vidimus as vidimusOn } from '../helpers/cli.ts'
import { hasPostgres, newDatabase, unlessMissing } from '../helpers/cluster.ts'
import { contentOf, copyOf } from '../helpers/directories.ts'
import { PROGRAM } from '../helpers/program.ts'
import { QUERIES } from '../helpers/queries.ts'
import { shareCluster, stop } from '../helpers/shared-cluster.ts'
import { makeIssuers, pidList } from '../helpers/trusted-lists.ts'
import { makeSigner } from '../trust-lists/make.ts'

/** Everything is on the file, unless a test names a database. */
const ON_FILE = { VIDIMUS_DATABASE_URL: '' }
const serve = (dir: string, flags: string[] = [], env = ON_FILE) => serveOn(dir, flags, env)
const vidimus = (dir: string, args: string[], env = ON_FILE) => vidimusOn(dir, args, env)

const cluster = shareCluster()
/** A stopped installation with some sessions, and rows enough that a move takes a while. */
let origin: string
let key: string
let sessions: string[]

beforeAll(async () => {
  if (!hasPostgres) return
  origin = temporaryDir()
  const service = await serve(origin, ['--dev'])
  key = service.first.test_key!
  sessions = []
  for (let i = 0; i < 3; i++) sessions.push(await create(service, `order-${i}`))
  await call(service, 'POST', `/v1/verifications/${sessions[1]}/cancel`)
  await call(service, 'DELETE', `/v1/verifications/${sessions[2]}`)
  await stop(service)
  await addSource(origin)
  const file = new Database(join(origin, 'vidimus.db'))
  // A certificate that was replaced: its key is erased, and its row stays.
  file.run(`INSERT INTO signing_keys (id, role, chain, client_id, salt, sealed, created_at, not_after, retired_at)
    SELECT 'sig_erased', role, chain, client_id, x'', x'', 1, 1, 2 FROM signing_keys WHERE role = 'leaf'`)
  // Their primary key begins with bytes.
  file.run('DELETE FROM verification_terms')
  file.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO verification_terms (term, created_at, verification_id, tenant_id)
    SELECT randomblob(16), i, 'vs_' || i, 'ten_1' FROM n`)
  file.close()
})

/** A trust list of one issuer, which must be there on the other side. */
async function addSource(dir: string): Promise<void> {
  const signer = await makeSigner({ notBefore: Date.now() - DAY_MS, notAfter: Date.now() + 30 * DAY_MS })
  const list = join(temporaryDir(), 'list.jwt')
  writeFileSync(list, pidList(signer, await makeIssuers(1), { issuedAt: Date.now() - DAY_MS, nextUpdate: Date.now() + DAY_MS }))
  const source = ['--kind', 'lote', '--env', 'live', '--signer', signer.fingerprint]
  const { exitCode, stderr } = await vidimus(dir, ['trust', 'source', 'add', list, ...source])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
}

const call = ({ url }: Served, method: string, path: string, body?: object) =>
  fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': JSON.stringify(body ?? path),
    },
    body: body && JSON.stringify(body),
  })

async function create(service: Served, order: string): Promise<string> {
  const answer = await call(service, 'POST', '/v1/verifications', { ...QUERIES['dc+sd-jwt'], metadata: { order } })
  return ((await answer.json()) as { id: string }).id
}

const move = (dir: string, url: string, ...flags: string[]) => vidimus(dir, ['move', '--to', url, '--json', ...flags])

async function rowsIn(name: string, table: string): Promise<number> {
  const [row] = await cluster.query<{ count: string }>(`SELECT count(*) FROM ${table}`, name)
  return Number(row!.count)
}

/** Ends the move with SIGKILL once some of the rows are there, and not all. */
async function killInTheMiddle(dir: string, name: string): Promise<number> {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([PROGRAM, 'move', '--to', cluster.url(name), '--json'], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: dir },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  for (;;) {
    const [begun] = await cluster.query<{ name: string | null }>("SELECT to_regclass('move_progress')::text AS name", name)
    const [row] = begun!.name
      ? await cluster.query<{ copied: string }>("SELECT copied FROM move_progress WHERE table_name = 'verification_terms'", name)
      : []
    if (Number(row?.copied ?? 0) > 0) break
  }
  child.kill('SIGKILL')
  await child.exited
  return await rowsIn(name, 'verification_terms')
}

describe.skipIf(!hasPostgres)(unlessMissing('vidimus move'), () => {
  test('a move that was killed goes on where it was, and the sessions open on the other side', async () => {
    const dir = copyOf(origin)
    const url = await newDatabase(cluster, 'moved')
    const copied = await killInTheMiddle(dir, 'moved')
    expect(copied).toBeGreaterThan(0)
    expect(copied).toBeLessThan(60_000)
    const early = await vidimus(dir, ['serve'], { VIDIMUS_DATABASE_URL: url })
    expect(early).toMatchObject({ exitCode: 29, stderr: expect.stringContaining('the move into this database is not finished') })

    const first = await cluster.query<{ ctid: string }>('SELECT min(ctid::text) AS ctid FROM verification_terms', 'moved')
    const moved = await move(dir, url)
    expect(moved).toMatchObject({ exitCode: 0, stderr: '' })
    const { tables, audit_head } = JSON.parse(moved.stdout) as { tables: { name: string; rows: number }[]; audit_head: string }
    expect(tables).toContainEqual({
      name: 'verification_terms',
      rows: 60_000,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    } as never)
    expect(tables).toContainEqual(expect.objectContaining({ name: 'verification_sessions', rows: 2 }))
    // Rows of before the kill were not written again.
    expect(await cluster.query<{ ctid: string }>('SELECT min(ctid::text) AS ctid FROM verification_terms', 'moved')).toEqual(
      first,
    )
    expect(await rowsIn('moved', 'verification_terms')).toBe(60_000)

    const refused = await vidimus(dir, ['serve'])
    expect(refused).toMatchObject({
      exitCode: 29,
      stderr: expect.stringContaining(
        `this database was moved to postgres://127.0.0.1:${cluster.port}/moved; set VIDIMUS_DATABASE_URL`,
      ),
    })
    expect((await vidimus(dir, ['tenant', 'list'])).exitCode).toBe(29)

    const node = temporaryDir()
    const env = { VIDIMUS_DATABASE_URL: url, VIDIMUS_KEY_DIR: dir }
    const sources = await vidimus(node, ['trust', 'source', 'list', '--json'], env)
    expect(JSON.parse(sources.stdout).data).toMatchObject([{ state: 'fresh', entries: 1, pins: [{}] }])
    expect(await rowsIn('moved', 'trust_lists')).toBe(1)
    const verified = await vidimus(node, ['audit', 'verify', '--json'], env)
    expect(verified.exitCode).toBe(0)
    expect(JSON.parse(verified.stdout)).toMatchObject({ head: audit_head })
    const service = await serve(node, [], env)
    const answers = await Promise.all(sessions.map(id => call(service, 'GET', `/v1/verifications/${id}`)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404])
    expect(await answers[0]!.json()).toMatchObject({ id: sessions[0], status: 'pending', metadata: { order: 'order-0' } })
    const page = await call(service, 'GET', `/v/${sessions[0]}/data`)
    expect(await page.json()).toMatchObject({ shares: [{ alternatives: [{ claims: ['family_name', 'given_name'] }] }] })
    // The same key of the same shop gives the same session, and a new one is charged and recorded.
    expect(await create(service, 'order-0')).toBe(sessions[0]!)
    expect(await create(service, 'order-9')).not.toBe(sessions[0]!)
    await call(service, 'POST', `/v1/verifications/${sessions[0]}/cancel`)
    expect((await vidimus(node, ['audit', 'verify'], env)).exitCode).toBe(0)
  })

  test('a file that changed after the kill is copied anew', async () => {
    const dir = copyOf(origin)
    const url = await newDatabase(cluster, 'changed')
    await killInTheMiddle(dir, 'changed')
    const file = new Database(join(dir, 'vidimus.db'))
    file.run('DELETE FROM verification_terms WHERE created_at > 1')
    file.close()
    expect((await move(dir, url)).exitCode).toBe(0)
    expect(await rowsIn('changed', 'verification_terms')).toBe(1)
  })

  test('a dry run counts, and changes nothing on either side', async () => {
    const dir = copyOf(origin)
    const url = await newDatabase(cluster, 'dry')
    await vidimus(dir, ['tenant', 'list'])
    const before = contentOf(dir)
    const run = await move(dir, url, '--dry-run')
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(run.stdout).tables).toContainEqual({ name: 'verification_terms', rows: 60_000 })
    expect(contentOf(dir)).toEqual(before)
    expect(await rowsIn('dry', "pg_tables WHERE schemaname = 'public'")).toBe(0)
  })

  test('a move shows the progress of large tables only, and counts those that have rows', async () => {
    const dir = copyOf(origin)
    const url = await newDatabase(cluster, 'shown')
    const counted = JSON.parse((await move(dir, url, '--dry-run')).stdout) as { tables: { rows: number }[] }
    const full = counted.tables.filter(({ rows }) => rows > 0)
    const total = full.reduce((sum, { rows }) => sum + rows, 0)
    const { exitCode, stdout, stderr } = await vidimus(dir, ['move', '--to', url])
    expect(exitCode).toBe(0)
    expect(stderr.trim().split('\n')).toEqual([
      ...[10_000, 20_000, 30_000, 40_000, 50_000, 60_000].map(rows => `verification_terms: ${rows} rows copied`),
      'verification_terms: 60000 rows compared',
    ])
    expect(stdout).toStartWith(`${total} rows of ${full.length} tables are in the new database`)
  })

  test('a difference between the two sides keeps both as they were', async () => {
    const dir = copyOf(origin)
    const url = await newDatabase(cluster, 'different')
    await killInTheMiddle(dir, 'different')
    const first = 'SELECT term FROM verification_terms ORDER BY term LIMIT 1'
    await cluster.query(`UPDATE verification_terms SET tenant_id = 'ten_2' WHERE term = (${first})`, 'different')
    const run = await move(dir, url)
    expect(run.exitCode).toBe(1)
    expect(run.stderr).toContain('verification_terms differs: 60000 rows in the file, 60000 in the new database')
    expect((await vidimus(dir, ['tenant', 'list'])).exitCode).toBe(0)
    expect((await vidimus(dir, ['serve'], { VIDIMUS_DATABASE_URL: url })).exitCode).toBe(29)
  })

  test('a running server, a database that is in use and a wrong call are refused', async () => {
    const dir = copyOf(origin)
    const url = await newDatabase(cluster, 'taken')
    const service = await serve(dir)
    expect((await move(dir, url)).exitCode).toBe(11)
    await stop(service)
    await vidimus(temporaryDir(), ['tenant', 'create', '--name', 'Another shop'], { VIDIMUS_DATABASE_URL: url })
    const taken = await move(dir, url)
    expect(taken).toMatchObject({
      exitCode: 29,
      stderr: expect.stringContaining('has an installation already; name an empty database'),
    })
    expect(await rowsIn('taken', 'tenants')).toBe(1)
    const both = await vidimus(dir, ['move', '--to', url], { VIDIMUS_DATABASE_URL: url })
    expect(both).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('VIDIMUS_DATABASE_URL is set') })
    const empty = await move(temporaryDir(), url)
    expect(empty).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('there is no database in') })
    expect((await vidimus(dir, ['tenant', 'list'])).exitCode).toBe(0)
  })

  test('a database into which a move has begun is not called empty, before the keys are in it either', async () => {
    const url = await newDatabase(cluster, 'barely_begun')
    await cluster.query('CREATE TABLE move_progress (table_name text)', 'barely_begun')
    for (const args of [['tenant', 'list'], ['doctor']]) {
      const { stdout, stderr } = await vidimus(temporaryDir(), args, { VIDIMUS_DATABASE_URL: url })
      expect([args, stdout + stderr]).toEqual([
        args,
        expect.stringMatching(/move into this database is not finished.*call "vidimus move" again/is),
      ])
    }
  })

  test('a target that cannot be used is refused in a dry run too, and names --to', async () => {
    const dir = copyOf(origin)
    const url = await newDatabase(cluster, 'rights')
    const poor = url.replace(/\/\/[^@/]+@/, '//move_poor@')
    await newDatabase(cluster, 'rights_other')
    await cluster.query('CREATE ROLE move_poor LOGIN')
    const dryRun = (to: string, env = {}) => vidimus(dir, ['move', '--to', to, '--dry-run'], { ...ON_FILE, ...env })
    expect(await dryRun(poor)).toMatchObject({
      exitCode: 27,
      stderr: expect.stringContaining('the user of --to may not make tables; set VIDIMUS_DATABASE_OWNER_URL'),
    })
    expect((await dryRun(poor, { VIDIMUS_DATABASE_OWNER_URL: url })).exitCode).toBe(0)
    expect(await dryRun(poor, { VIDIMUS_DATABASE_OWNER_URL: cluster.url('rights_other') })).toMatchObject({
      exitCode: 21,
      stderr: expect.stringContaining('VIDIMUS_DATABASE_OWNER_URL leads to another database than --to;'),
    })
    expect(await dryRun(cluster.url('nowhere'))).toMatchObject({
      exitCode: 21,
      stderr: expect.stringContaining('there is no such database; create it, or mend --to ('),
    })
    expect(await dryRun('postgres://db.example')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('vidimus: --to: the name of the database is missing'),
    })
  })
})
