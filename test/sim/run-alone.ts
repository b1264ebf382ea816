// Run by kill.test.ts as a process of its own, which is killed in the middle: `run-alone.ts DIR SEED`. It tells stories without end, and writes
// down what its clients are told, each line before the next step begins.
import { Database } from 'bun:sqlite'
import { existsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { plotsOf, tell } from './simulate.ts'
import { openWorld } from './world.ts'

const [dir = '', seed = ''] = process.argv.slice(2)
const world = await openWorld({ dir, now: lastTimeIn(join(dir, 'vidimus.db')) })
for (const plot of plotsOf(Number(seed), 60, 1000)) {
  // Retention would erase sessions of earlier stories, whose clients are told nothing any more.
  const setting = { ...plot.setting, retentionDays: undefined }
  await tell(world, { ...plot, setting, isAlone: false }, fact => void writeSync(1, `${JSON.stringify(fact)}\n`))
}

/** Time goes on from run to run. */
function lastTimeIn(file: string): number | undefined {
  if (!existsSync(file)) return undefined
  const sqlite = new Database(file)
  const row = sqlite.query<{ at: number | null }, []>('SELECT max(at) AS at FROM audit_records').get()
  sqlite.close()
  return row?.at ?? undefined
}
