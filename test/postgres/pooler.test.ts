// Behind PgBouncer in transaction mode nothing outlives a transaction: no prepared statement, no setting, no LISTEN.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { temporaryDir } from '../helpers/app.ts'
import { serve, stopServing, vidimus } from '../helpers/cli.ts'
import { type Cluster, hasPostgres, postgresDir, startCluster, stopClusters } from '../helpers/cluster.ts'
import { freePort } from '../helpers/free-port.ts'

const PGBOUNCER = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(existsSync)
const canRun = hasPostgres && PGBOUNCER !== undefined
const title = canRun ? 'PgBouncer' : 'SKIPPED, as there is no PgBouncer here: PgBouncer'

let cluster: Cluster
let pooler: { url: string; stop(): Promise<void> }

beforeAll(async () => {
  if (!canRun) return
  cluster = await startCluster()
  await cluster.query('CREATE DATABASE vidimus')
  pooler = await startPooler()
})

afterAll(async () => {
  await stopServing()
  await pooler?.stop()
  await stopClusters()
})

/** Four connections to the server for all nodes. */
async function startPooler(): Promise<typeof pooler> {
  const dir = postgresDir()
  chmodSync(dir, 0o755)
  const port = await freePort()
  const lines = [
    '[databases]',
    `vidimus = host=127.0.0.1 port=${cluster.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 4',
    'max_client_conn = 200',
  ]
  writeFileSync(join(dir, 'pgbouncer.ini'), `${lines.join('\n')}\n`.replaceAll('host=127.0.0.1', 'user=postgres host=127.0.0.1'))
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  const child = Bun.spawn([PGBOUNCER!, ...user, join(dir, 'pgbouncer.ini')], { stdout: 'ignore', stderr: 'pipe', cwd: '/' })
  const decoder = new TextDecoder()
  let log = ''
  for await (const chunk of child.stderr) {
    log += decoder.decode(chunk, { stream: true })
    if (log.includes('process up')) break
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/vidimus`,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

describe.skipIf(!canRun)(title, () => {
  test('a command is refused without VIDIMUS_DATABASE_PREPARE=off, and says to set it', async () => {
    const run = await vidimus(temporaryDir(), ['tenant', 'list'], { VIDIMUS_DATABASE_URL: pooler.url })
    expect(run).toMatchObject({ exitCode: 20, stderr: expect.stringContaining('set VIDIMUS_DATABASE_PREPARE=off') })
  })

  test('two nodes work through four connections with VIDIMUS_DATABASE_PREPARE=off, tell each other through LISTEN_URL and wait 2 seconds for a lock', async () => {
    const dir = temporaryDir()
    const env = {
      VIDIMUS_DATABASE_URL: pooler.url,
      VIDIMUS_DATABASE_PREPARE: 'off',
      VIDIMUS_DATABASE_LISTEN_URL: cluster.url('vidimus'),
    }
    const one = await serve(dir, ['--dev'], env)
    const two = await serve(dir, [], env)
    const headers = { authorization: `Bearer ${one.first.test_key}`, 'content-type': 'application/json' }
    const create = ({ url }: { url: string }) =>
      fetch(`${url}/v1/verifications`, { method: 'POST', headers, body: '{"template":"age_over_18"}' })
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => create(i % 2 ? one : two)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    const ids = await Promise.all(answers.map(async answer => ((await answer.json()) as { id: string }).id))
    expect(new Set(ids).size).toBe(60)

    const events = await fetch(`${two.url}/v1/verifications/${ids[0]}/events`)
    const reader = events.body!.getReader()
    const decoder = new TextDecoder()
    let heard = ''
    const hear = async (word: string) => {
      while (!heard.includes(word)) heard += decoder.decode((await reader.read()).value, { stream: true })
    }
    await hear('pending')
    await fetch(`${one.url}/v1/verifications/${ids[0]}/cancel`, { method: 'POST', headers })
    await hear('failed')
    await reader.cancel()

    // The server sets no limit. It is the second try that succeeds.
    const holder = new SQL({ url: cluster.url('vidimus'), max: 1 })
    const { waiting } = await holder.begin(async tx => {
      await tx.unsafe('LOCK TABLE usage_days')
      const waiting = create(one)
      const metrics = async () => await (await fetch(`${one.url}/metrics`)).text()
      while (!/vidimus_db_retries_total\{code="55P03"\} [1-9]/.test(await metrics())) await Bun.sleep(20)
      return { waiting }
    })
    expect((await waiting).status).toBe(201)
    await holder.close()

    const [listening] = await cluster.query<{ count: string }>(
      "SELECT count(*) FROM pg_stat_activity WHERE datname = 'vidimus' AND query ILIKE 'listen%'",
    )
    expect(Number(listening!.count)).toBe(2)
    const { stdout } = await vidimus(dir, ['doctor', '--json'], env)
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; detail: string }[] }
    const database = () => checks.find(({ name }) => name === 'database')!
    expect(database().detail).toContain('Through a pooler the service cannot limit its statements')
  })
})
