// P5 and P6: the primary is lost, and its standby takes over while clients repeat what was not answered.
import { afterAll, describe, expect, test } from 'bun:test'
import { decline, type Fetch, fetchRequest, post } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, stopServing, vidimus } from '../helpers/cli.ts'
import { type Cluster, hasPostgres, newDatabase, startCluster, stopClusters, unlessMissing } from '../helpers/cluster.ts'
import { promote, REPLICATED, startStandby, waitForStandby } from '../helpers/standby.ts'

afterAll(async () => {
  await stopServing()
  await stopClusters()
})

const REPEATED = [409, 500]

async function startService() {
  const primary = await startCluster({ settings: REPLICATED })
  await newDatabase(primary, 'vidimus')
  const standby = await startStandby(primary)
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`
  const env = { VIDIMUS_DATABASE_URL: `postgres://postgres@${hosts}/vidimus` }
  const dir = temporaryDir()
  return { primary, standby, env, dir, service: await serve(dir, ['--dev'], env) }
}

/** As a careful client does: with one Idempotency-Key until there is an answer. */
async function create({ url, first }: Served, idempotencyKey: string): Promise<string> {
  for (;;) {
    const { status, body } = await call<{ id: string }>(url, 'POST', '/v1/verifications', {
      key: first.test_key,
      body: { template: 'age_over_18' },
      headers: { 'idempotency-key': idempotencyKey },
    })
    if (status === 201) return body.id
    expect(REPEATED).toContain(status)
    await Bun.sleep(50)
  }
}

const createAll = (service: Served, prefix: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => create(service, `${prefix}-${i}`)))

const statusesOf = async ({ url, first }: Served, ids: readonly string[]) => {
  const answers = await Promise.all(ids.map(id => call(url, 'GET', `/v1/verifications/${id}`, { key: first.test_key })))
  return [...new Set(answers.map(({ status }) => status))]
}

/** A session that a wallet declined; each call redeems its code. */
async function declined({ url, first: { test_key: key } }: Served): Promise<() => Promise<number>> {
  const body = { template: 'age_over_18', redirect_url: 'https://shop.example/done' }
  const created = await call<Verification>(url, 'POST', '/v1/verifications', { key, body })
  const { id, wallet_uri } = created.body
  const toService: Fetch = (address, init) => fetch(address.replace(/^http:\/\/localhost:\d+/, url), init)
  const request = await fetchRequest(wallet_uri ?? '', toService, { now: Date.now() })
  const { redirectUri = '' } = await post(await decline(request), toService)
  const [, response_code] = redirectUri.split('#response_code=')
  return async () => (await call(url, 'POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code } })).status
}

/** What doctor says about the database. */
async function databaseCheck(dir: string, env: Record<string, string>) {
  const { checks } = JSON.parse((await vidimus(dir, ['doctor', '--json'], env)).stdout) as { checks: { name: string }[] }
  return checks.find(({ name }) => name === 'database')
}

async function untilSynchronous(primary: Cluster): Promise<void> {
  const isSynchronous = async () =>
    (await primary.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length > 0
  while (!(await isSynchronous())) await Bun.sleep(20)
}

async function untilLogged({ process: { stderr } }: Served, line: RegExp): Promise<void> {
  let text = ''
  for await (const part of stderr.pipeThrough(new TextDecoderStream())) {
    text += part
    if (line.test(text)) return
  }
  throw new Error(`the service ended without logging ${line}: ${text}`)
}

async function expectCounted(cluster: Cluster, count: number): Promise<void> {
  const [row] = await cluster.query(
    `SELECT (SELECT count(*) FROM verification_sessions)::int AS sessions, (SELECT sum(verifications_created) FROM usage_days)::int AS charged`,
    'vidimus',
  )
  expect(row).toEqual({ sessions: count, charged: count })
}

describe.skipIf(!hasPostgres)(unlessMissing('a failover'), () => {
  test('a synchronous standby takes over without losing or doubling an acknowledged creation', async () => {
    const { primary, standby, env, dir, service } = await startService()
    expect(await databaseCheck(dir, env)).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/No standby is synchronous.*The nearest is \d+ MiB behind/),
    })
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
    await primary.query('SELECT pg_reload_conf()')
    await untilSynchronous(primary)
    expect(await databaseCheck(dir, env)).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('1 of 1 standbys are synchronous'),
    })
    const before = await createAll(service, 'before', 20)
    const during = createAll(service, 'during', 20)
    // Some are acknowledged and some are not: nobody waits for the standby any more.
    await create(service, 'one-more')
    await primary.stop('immediate')
    promote(standby)
    const ids = [...before, ...(await during), ...(await createAll(service, 'after', 20))]
    expect(await statusesOf(service, ids)).toEqual([200])
    expect(new Set(ids).size).toBe(60)
    await expectCounted(standby, 61)
    expect((await vidimus(dir, ['audit', 'verify'], env)).exitCode).toBe(0)
  })

  test('a standby that lags loses the tail alone: it is 404, can be made again, no code is redeemed twice, the log names the failover, and the chain verifies', async () => {
    const { primary, standby, env, dir, service } = await startService()
    const before = await createAll(service, 'before', 10)
    const redeem = await declined(service)
    expect(await redeem()).toBe(200)
    await waitForStandby(primary, standby)
    await standby.stop()
    const tail = await createAll(service, 'tail', 10)
    expect(await statusesOf(service, tail)).toEqual([200])
    await primary.stop('immediate')
    await standby.start()
    promote(standby)
    const again = await createAll(service, 'tail', 10)
    expect(await statusesOf(service, before)).toEqual([200])
    expect(await statusesOf(service, tail)).toEqual([404])
    expect(await statusesOf(service, again)).toEqual([200])
    expect(await redeem()).toBe(404)
    await untilLogged(service, /"database\.taken_over".*timeline 2/)
    await expectCounted(standby, 21)
    expect((await vidimus(dir, ['audit', 'verify'], env)).exitCode).toBe(0)
  })
})
