// Run by kill.test.ts as a process of its own, which is killed in the middle: `run-alone.ts DIR SEED`. It tells more stories than
// it has time for, and writes down what its clients are told, each line before the next step begins.
import { existsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { databaseOf, rowsOf } from '../helpers/database.ts'
import { plotsOf, tell } from './simulate.ts'
import { openWorld } from './world.ts'

const [dir = '', seed = ''] = process.argv.slice(2)
await databaseOf(dir)
const hasRun = existsSync(join(dir, 'master.key'))
// Time goes on from run to run.
const lastTime = hasRun
  ? (rowsOf<{ at: number | null }>(dir, 'SELECT max(at) AS at FROM audit_records')[0]?.at ?? undefined)
  : undefined
const world = await openWorld({ dir, now: lastTime })
for (const plot of plotsOf(Number(seed), 60, 100)) {
  // Else sessions of earlier stories would be erased in time, whose clients are told nothing any more.
  const setting = { ...plot.setting, retentionDays: undefined, keepsLogins: true }
  await tell(world, { ...plot, setting, isAlone: false }, fact => void writeSync(1, `${JSON.stringify(fact)}\n`))
}
