import type { Database } from 'bun:sqlite'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChainStory } from './chain.ts'
import { type Checked, named } from './checked.ts'
import { checkRemains } from './rows.ts'

/** Shorter ones occur by chance. */
const CANARY_CHARS_MIN = 8

/** Nothing is left of what was erased, and whoever restores a backup is told of it: the line is there before the erasure is done. */
export function checkErasures(sqlite: Database, dataDir: string, { erasures }: ChainStory): Checked {
  const file = join(dataDir, 'backups/erasures.log')
  const [heading = '', ...lines] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const since = Number(/^vidimus erasures since (\d+) of [0-9a-f]{64}$/.exec(heading)?.[1] ?? Number.POSITIVE_INFINITY)
  const noted = new Set(lines.map(line => line.slice(0, 64)))
  const unnoted = erasures.filter(({ subject, at }) => at >= since && !noted.has(subject))
  const missing = erasures.length > 0 && heading === '' ? ['erasures on the chain, and no log of them beside the backups'] : []
  const forgotten = named(
    'an erasure is not in the log beside the backups',
    unnoted.map(({ at }) => new Date(at).toISOString()),
  )
  const violations = [...checkRemains(sqlite), ...missing, ...forgotten]
  return { name: 'I11', what: 'nothing is left of what was erased', violations, counts: { erasures: erasures.length } }
}

/** Text that must be in no file, in clear. */
export function checkCanaries(dataDir: string, canaries: readonly string[]): Checked {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const long = canaries.filter(canary => canary.length >= CANARY_CHARS_MIN)
  const found = files.flatMap(({ parentPath, name }) => {
    const content = readFileSync(join(parentPath, name))
    return long.flatMap((canary, i) => (content.includes(canary) ? [`canary ${i + 1} is in ${name}`] : []))
  })
  return {
    name: 'I11',
    what: 'no canary is in any file',
    violations: found,
    counts: { canaries: long.length, files: files.length },
  }
}
