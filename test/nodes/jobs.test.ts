import { expect } from 'bun:test'
import { loadConfig } from '../../src/config.ts'
import { createGround, realWorld } from '../../src/ground.ts'
import { temporaryDir } from '../helpers/app.ts'
import { databaseOf } from '../helpers/database.ts'
import { nodesTest, rowsIn, startNodes } from '../helpers/nodes.ts'

nodesTest('a shared job runs once in its period, whichever of two nodes begins it', async () => {
  const nodes = await startNodes()
  const ran: number[] = []
  const jobs = nodes.map(({ deps }, i) => deps.whenLeader({ name: 'try', everyMs: 3_600_000, run: async () => void ran.push(i) }))
  await Promise.all(Array.from({ length: 10 }, (_, i) => jobs[i % 2]!.run(undefined)))
  expect(ran).toHaveLength(1)
  await rowsIn(nodes[0], "UPDATE job_runs SET begun_at = begun_at - interval '1 hour' WHERE name = 'try'")
  await Promise.all(jobs.map(job => job.run(undefined)))
  expect(ran).toHaveLength(2)
})

nodesTest('a job that a living node has is left to it, and that of a dead node is taken over', async () => {
  const [one, other] = await startNodes()
  const ran: string[] = []
  const job = other.deps.whenLeader({ name: 'try', everyMs: 1000, run: async () => void ran.push('other') })
  const hold = (node: string) =>
    rowsIn(
      one,
      `INSERT INTO job_runs AS run VALUES ('try', $1, clock_timestamp() - interval '1 hour', clock_timestamp() + interval '1 hour')
       ON CONFLICT (name) DO UPDATE SET node = excluded.node, begun_at = excluded.begun_at, leased_until = excluded.leased_until`,
      [node],
    )
  await hold(one.deps.leases.holder)
  await job.run(undefined)
  expect(ran).toEqual([])
  await hold('node-without-beats')
  await job.run(undefined)
  expect(ran).toEqual(['other'])
})

nodesTest('metrics show the number of nodes, the pool, statements and the clock', async () => {
  const [one] = await startNodes()
  expect((await one.call('GET', '/readyz')).status).toBe(200)
  const text = await one.deps.metrics.render()
  expect(text).toContain('\nvidimus_nodes 2\n')
  for (const name of ['db_pool_busy', 'db_pool_waiting', 'clock_offset_seconds'])
    expect(text).toMatch(new RegExp(`\nvidimus_${name} 0\n`))
  expect(text).toContain('vidimus_db_statement_seconds_count ')
})

nodesTest('a node whose clock is ten seconds behind, or is set while it runs, shows the time of the database', async () => {
  const dir = temporaryDir()
  const config = loadConfig({ PORT: '0', VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)) })
  let off = -10_000
  const wall = () => Date.now() + off
  const ground = await createGround(config, { ...realWorld(), now: wall, wall, writeLog: () => {} }, 'server')
  const isRight = () => Math.abs(ground.now() - Date.now()) < 5000
  try {
    expect(isRight()).toBe(true)
    expect(ground.wall()).toBeLessThan(Date.now() - 9000)
    // No session, token or code ends early, and none lives longer.
    for (const set of [3_600_000, -3_600_000, 2000]) {
      off = set
      expect([set, isRight()]).toEqual([set, true])
    }
  } finally {
    await ground.close()
  }
})
