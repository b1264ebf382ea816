// F34, F40 and F32: an audit chain of ten thousand records, tampered with at every one of them; good presentations with some of
// their bytes changed or mixed with those of another; and bombs. A third of the time for the chain, a tenth for the bombs, the
// rest for presentations.
import { cleanUp } from '../helpers/app.ts'
import { seeded } from '../helpers/seeded.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress } from './service.ts'
import { throwBombs } from './tamper/bombs.ts'
import { tamperWithChain } from './tamper/chain.ts'
import { mutatePresentations } from './tamper/presentations.ts'

/** Violations shown per part: one fault can show in thousands of records. */
const VIOLATIONS_MAX = 10

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const startedAt = performance.now()
const until = (share: number) => {
  const endsAt = startedAt + minutes * 60_000 * share
  const most = violations.length + VIOLATIONS_MAX
  return () => performance.now() >= endsAt || violations.length >= most
}

const chain = await tamperWithChain({ random, violations, isOver: until(0.35) })
progress(`${JSON.stringify(chain)}, ${violations.length} violations`)
const presentations = await mutatePresentations({ random, violations, isOver: until(0.9) })
progress(`${JSON.stringify(presentations)}, ${violations.length} violations`)
const bombs = await throwBombs({ violations, isOver: until(1) })
await cleanUp()
const counts = { ...chain, ...presentations, ...bombs.counts }
process.exit(
  soakLine({ script: 'soak/tamper', seed, minutes, counts, percentiles: { bomb: percentilesOf(bombs.tookMs) }, violations }),
)
