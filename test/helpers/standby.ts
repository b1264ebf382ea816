import { join } from 'node:path'
import { asPostgres, type Cluster, clusterIn, postgresDir, program } from './cluster.ts'
import { freePort } from './free-port.ts'

export const REPLICATED = ["wal_level = 'replica'", 'max_wal_senders = 4', 'hot_standby = on']

/** A streaming standby of a cluster, which runs. */
export async function startStandby(primary: Cluster): Promise<Cluster> {
  const dir = join(postgresDir(), 'data')
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres']
  asPostgres(program('pg_basebackup'), ['-D', dir, ...from, '-R', '-c', 'fast'])
  const standby = clusterIn(dir, await freePort())
  await standby.start()
  return standby
}

export const promote = ({ dir }: Cluster): void => void asPostgres(program('pg_ctl'), ['-D', dir, '-w', 'promote'])

/** Waits until the standby has everything that the primary has now. */
export async function waitForStandby(primary: Cluster, standby: Cluster): Promise<void> {
  const [at] = await primary.query<{ lsn: string }>('SELECT pg_current_wal_flush_lsn()::text AS lsn')
  for (;;) {
    const [row] = await standby.query<{ done: boolean }>(`SELECT pg_last_wal_replay_lsn() >= '${at!.lsn}'::pg_lsn AS done`)
    if (row!.done) return
    await Bun.sleep(50)
  }
}
