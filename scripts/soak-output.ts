// What every soak shares: its arguments, and the one line that a release note quotes.
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const MINUTES_DEFAULT = 10

export type SoakArguments = { seed: number; minutes: number }

export type SoakResult = SoakArguments & {
  script: string
  counts: Record<string, number>
  /** In milliseconds, by what was measured. */
  percentiles: Record<string, { p50: number; p99: number; max: number }>
  violations: string[]
}

/** `--seed N --minutes M`; without a seed one is drawn, and told. */
export function parseSoakArguments(argv: readonly string[]): SoakArguments {
  const { values } = parseArgs({ args: [...argv], options: { seed: { type: 'string' }, minutes: { type: 'string' } } })
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  const minutes = Number(values.minutes ?? MINUTES_DEFAULT)
  if (!Number.isSafeInteger(seed) || !(minutes > 0))
    throw new Error('use --seed with a whole number, --minutes with a positive one')
  return { seed, minutes }
}

/** Exactly one line on standard output; gives the exit code. */
export function soakLine({ script, seed, minutes, ...rest }: SoakResult): number {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir, encoding: 'utf8' }).trim()
  process.stdout.write(`${JSON.stringify({ script, commit, seed, minutes, ...rest })}\n`)
  return rest.violations.length === 0 ? 0 : 1
}

export function percentilesOf(samples: readonly number[]): { p50: number; p99: number; max: number } {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}
