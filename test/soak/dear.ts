// The dearest legal queries, answers, lists and pages, by one tenant and by strangers from many addresses: another tenant's small
// requests wait at most so long beyond the cryptography of one answer. On a machine with nothing else to do; the bare framework
// is measured beside it, and `--only` takes the cases whose name contains a text.
import { benchDear, DELAY_MS_MAX, type DearFigures, describeDear } from '../../scripts/bench/dear.ts'
import { parseSoakArguments, soakLine } from './output.ts'
import { progress } from './service.ts'

/** Refusals are no answers that a delay could hide behind: a query of too many values is one. */
const EXPECTED = ['200', '201', '400', '409', '410', '413', '429']
const REFUSED = 'creation, 10,100 values'

const { seed, minutes, only } = parseSoakArguments(process.argv.slice(2))
const endsAt = performance.now() + minutes * 60_000
const violations = new Set<string>()
const counts = { rounds: 0, requests: 0, refused: 0, limited: 0 }
const worst: Record<string, DearFigures['service']> = {}

while (counts.rounds === 0 || performance.now() < endsAt) {
  progress(`\n${describeDear(await benchDear(judge, only))}`)
  counts.rounds++
}
process.exit(soakLine({ script: 'soak/dear', seed, minutes, only, counts, percentiles: worst, violations: [...violations] }))

function judge({ name, statuses, service, crypto_ms, floor }: DearFigures): void {
  const delayMs = service.max - crypto_ms
  progress(`${name}: ${delayMs.toFixed(1)} ms beside ${floor.max.toFixed(1)} ms of the framework`)
  if (delayMs > DELAY_MS_MAX) violations.add(`${name}: another tenant waited ${Math.round(delayMs)} ms`)
  for (const [status, count] of Object.entries(statuses)) {
    counts.requests += count
    if (status === '429') counts.limited += count
    else if (status.startsWith('4')) counts.refused += count
    if (!EXPECTED.includes(status)) violations.add(`${name}: answered ${status}`)
  }
  if (name === REFUSED && statuses['201']) violations.add(`${name}: more values than a query may have were accepted`)
  const known = worst[name]
  if (!known || service.max > known.max) worst[name] = service
}
