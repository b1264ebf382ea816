// The database server goes away and comes back, while two nodes run.
import { afterAll, describe, expect, test } from 'bun:test'
import { temporaryDir, until } from '../helpers/app.ts'
import { type Served, serve, stopServing } from '../helpers/cli.ts'
import { hasPostgres, newDatabase, startCluster, stopClusters, unlessMissing } from '../helpers/cluster.ts'

const POLLS = 40

afterAll(async () => {
  await stopServing()
  await stopClusters()
})

const statusOf = async (url: string, init?: RequestInit): Promise<number> => (await fetch(url, init)).status
const readiness = ({ url }: Served): Promise<number> => statusOf(`${url}/readyz`)

describe.skipIf(!hasPostgres)(unlessMissing('a database that goes away'), () => {
  test.each(['fast', 'immediate'] as const)(
    'nodes are not ready and answer 500 while the server is stopped (%s), every request ends, all is well afterwards, and the log is JSON',
    async mode => {
      const cluster = await startCluster()
      const env = {
        VIDIMUS_DATABASE_URL: await newDatabase(cluster, 'vidimus'),
        VIDIMUS_RATE_LIMIT_SCALE: '1000',
        VIDIMUS_LOG: 'warn',
      }
      const dir = temporaryDir()
      const one = await serve(dir, ['--dev'], env)
      const nodes = [one, await serve(temporaryDir(), [], { ...env, VIDIMUS_KEY_DIR: dir })]
      const headers = { authorization: `Bearer ${one.first.test_key}`, 'content-type': 'application/json' }
      const create = (node: Served) =>
        fetch(`${node.url}/v1/verifications`, { method: 'POST', headers, body: '{"template":"age_over_18"}' })
      const { id } = (await (await create(one)).json()) as { id: string }
      const poll = (node: Served) => statusOf(`${node.url}/v1/verifications/${id}/status`)
      const read = (node: Served) => statusOf(`${node.url}/v1/verifications/${id}`, { headers })
      expect(await Promise.all(nodes.flatMap(node => [readiness(node), poll(node)]))).toEqual([200, 200, 200, 200])

      // Under way while the server stops: each ends, with either answer.
      const underWay = Array.from({ length: POLLS }, (_, i) => [poll, read][i % 2]!(nodes[i % 4 < 2 ? 0 : 1]!))
      cluster.stop(mode)
      for (const status of await Promise.all(underWay)) expect([200, 500]).toContain(status)
      await Promise.all(nodes.map(node => until(async () => (await readiness(node)) === 503)))
      const meanwhile = await Promise.all(
        nodes.flatMap(node => Array.from({ length: POLLS }, () => [poll(node), read(node)]).flat()),
      )
      expect(new Set(meanwhile)).toEqual(new Set([500]))
      expect(await Promise.all(nodes.map(async node => (await create(node)).status))).toEqual([500, 500])
      expect(await Promise.all(nodes.map(({ url }) => statusOf(`${url}/healthz`)))).toEqual([200, 200])

      cluster.start()
      await Promise.all(nodes.map(node => until(async () => (await readiness(node)) === 200)))
      expect(await Promise.all(nodes.flatMap(node => [poll(node), read(node)]))).toEqual([200, 200, 200, 200])
      expect(await Promise.all(nodes.map(async node => (await create(node)).status))).toEqual([201, 201])
      for (const { process } of nodes) process.kill('SIGTERM')
      const logs = await Promise.all(nodes.map(({ process }) => new Response(process.stderr).text()))
      const lines = logs.flatMap(log => log.trimEnd().split('\n'))
      expect(lines.filter(line => !line.startsWith('{'))).toEqual([])
      expect(lines.map(line => JSON.parse(line).failure)).toContainEqual(expect.stringContaining('Unavailable ERR_POSTGRES_'))
    },
  )
})
