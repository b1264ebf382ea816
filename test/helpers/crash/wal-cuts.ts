// A log cut anywhere stands in for a power cut: of what the service did, some first part is there, and nothing else.
import { Database } from 'bun:sqlite'
import { cpSync, mkdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { Ack } from '../../invariants/acks.ts'
import { checkInvariants } from '../../invariants/check.ts'
import { startApp, temporaryDir } from '../app.ts'
import type { Seeded } from '../seeded.ts'
import { openTrade, trade } from '../trade.ts'

type Traded = { dir: string; logBytes: number; told: { ack: Ack; logBytes: number }[] }

/** A directory whose log holds all that was ever done: what was acknowledged is in it up to a known byte. */
export async function traded(random: Seeded, steps: number): Promise<Traded> {
  // Nothing is sent: attempts that come by themselves would end at no known byte.
  const app = await startApp({ config: { webhookDelaysMs: [3_600_000] } })
  const { key } = await app.tenant()
  // The tables themselves, and the shop, are in the database: that part cannot be cut.
  await app.deps.forgetDeleted()
  const log = join(app.dir, 'vidimus.db-wal')
  const writer = (app.deps.warm() as unknown as { $client: Database }).$client
  writer.run('PRAGMA wal_autocheckpoint = 0')
  // A reader that stays keeps erasures from emptying the log.
  const reader = new Database(join(app.dir, 'vidimus.db'), { readonly: true })
  reader.run('BEGIN')
  reader.query('SELECT count(*) FROM tenants').get()
  const told: Traded['told'] = []
  const shop = await openTrade(app, key, random, ack => void told.push({ ack, logBytes: statSync(log).size }))
  for (let i = 0; i < steps; i++) await trade(shop)
  const dir = temporaryDir()
  copyInto(app.dir, dir)
  reader.close()
  await app.stop()
  return { dir, logBytes: statSync(join(dir, 'vidimus.db-wal')).size, told }
}

/** Problems of the directory after its log was cut there, and the number of acknowledged facts it was checked against. */
export async function checkCut({ dir, told }: Traded, at: number): Promise<{ violations: string[]; acks: number }> {
  const copy = temporaryDir()
  try {
    copyInto(dir, copy)
    truncateSync(join(copy, 'vidimus.db-wal'), at)
    // Opening it for writing is what recovers it.
    const sqlite = new Database(join(copy, 'vidimus.db'))
    sqlite.query('SELECT count(*) FROM tenants').get()
    const acks = told.filter(({ logBytes }) => logBytes <= at).map(({ ack }) => ack)
    const { violations } = await checkInvariants(copy, { acks })
    sqlite.close()
    return { violations, acks: acks.length }
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/** Without the shared memory: it is only an index of the log, and does not outlive a power cut. */
function copyInto(from: string, to: string): void {
  for (const name of ['vidimus.db', 'vidimus.db-wal', 'master.key']) cpSync(join(from, name), join(to, name))
  mkdirSync(join(to, 'backups'), { recursive: true })
  cpSync(join(from, 'backups'), join(to, 'backups'), { recursive: true })
}
