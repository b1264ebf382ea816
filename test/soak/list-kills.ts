// F44: a list of issuers that is taken while the process is killed, 200 times or until the time is over, at other steps in each round.
import { rmSync } from 'node:fs'
import { cleanUp } from '../helpers/app.ts'
import { killPoints } from '../helpers/crash/kill-at.ts'
import { killTaking, listToTake } from '../helpers/crash/killed-list.ts'
import { copyOf } from '../helpers/directories.ts'
import { seeded } from '../helpers/seeded.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress } from './service.ts'

const KILLS = 200
const POINTS_PER_KIND = 8
const VIOLATIONS_MAX = 20

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts = { tries: 0, kills: 0, old_lists: 0, new_lists: 0 }
const tookMs: number[] = []
const endsAt = performance.now() + minutes * 60_000
const isOver = () => counts.kills >= KILLS || performance.now() > endsAt || violations.length >= VIOLATIONS_MAX

const list = await listToTake()
while (!isOver()) {
  for (const point of await killPoints(copyOf(list.dir), list.take, POINTS_PER_KIND, { phase: (1 + random.below(98)) / 100 })) {
    if (isOver()) break
    const beganAt = performance.now()
    const { isKilled, state, problems, own } = await killTaking(list, point)
    tookMs.push(performance.now() - beganAt)
    rmSync(own, { recursive: true })
    counts.tries++
    if (isKilled) counts.kills++
    if (state.startsWith('number 5')) counts.old_lists++
    else counts.new_lists++
    violations.push(...problems.map(problem => `F44 ${problem}`))
  }
  progress(`${JSON.stringify(counts)}, ${violations.length} violations`)
}
await cleanUp()
process.exit(
  soakLine({ script: 'soak/list-kills', seed, minutes, counts, percentiles: { try: percentilesOf(tookMs) }, violations }),
)
