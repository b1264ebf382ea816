// What the files about PostgreSQL have in common: a server of their own, its programs, and a service on it.
import { afterAll, beforeAll } from 'bun:test'
import { type Answer, call } from './app.ts'
import { type Served, stopServing } from './cli.ts'
import { asPostgres, type Cluster, hasPostgres, program, startCluster, stopClusters } from './cluster.ts'

/** Called at the top of a file: one server for all its tests. `end` comes before the end of the server. */
export function shareCluster(options?: Parameters<typeof startCluster>[0], end = stopServing): Cluster {
  const shared = {} as Cluster
  beforeAll(async () => {
    if (hasPostgres) Object.assign(shared, await startCluster(options))
  })
  afterAll(async () => {
    await end()
    await stopClusters()
  })
  return shared
}

/** A program such as pg_dump, for the superuser. */
export const runOn = ({ port }: Cluster, name: string, args: string[]): string =>
  asPostgres(program(name), ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', ...args])

export const createOn = ({ url, first }: Served, key = first.test_key): Promise<Answer<{ id: string }>> =>
  call(url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })

export async function stop({ process: child }: Served): Promise<void> {
  child.kill('SIGTERM')
  await child.exited
}
