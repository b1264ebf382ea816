// Shared by all soaks: the arguments, and the one JSON line of the result.
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'

const MINUTES_DEFAULT = 10

/** `only` names the one fault of a soak with several. */
type SoakArguments = { seed: number; minutes: number; only?: string }

type SoakResult = SoakArguments & {
  script: string
  counts: Record<string, number>
  /** In milliseconds, by what was measured; in microseconds where its name says so. */
  percentiles: Record<string, { p50: number; p99: number; max: number }>
  violations: string[]
}

const HELP = `usage: scripts/bun test/soak/NAME.ts [--seed N] [--minutes M] [--only FAULT]

Puts the service under stress for some minutes (default ${MINUTES_DEFAULT}). Progress goes to standard error. The result is one
JSON line on standard output: commit, seed, counts, percentiles in milliseconds, violations. The exit code is 1
after any violation. Without --seed a random one is used and printed. --only is for nodes.ts.

example: scripts/bun test/soak/kill.ts --seed 7 --minutes 30`

/** Ends the process after --help or a wrong argument. */
export function parseSoakArguments(argv: readonly string[]): SoakArguments {
  try {
    const text = { type: 'string' } as const
    const options = { seed: text, minutes: text, only: text, help: { type: 'boolean' } } as const
    const { values } = parseArgs({ args: [...argv], options })
    if (values.help) end(0, HELP)
    const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
    const minutes = Number(values.minutes ?? MINUTES_DEFAULT)
    if (Number.isSafeInteger(seed) && minutes > 0) return { seed, minutes, only: values.only }
    return end(2, 'soak: --seed takes a whole number, --minutes a positive one\nhint: --help shows how to call it')
  } catch (error) {
    return end(2, `soak: ${(error as Error).message}\nhint: --help shows how to call it`)
  }
}

function end(code: number, text: string): never {
  if (code === 0) console.log(text)
  else console.error(text)
  process.exit(code)
}

/** Prints exactly one line on standard output; returns the exit code. */
export function soakLine({ script, seed, minutes, only, ...rest }: SoakResult): number {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dir, encoding: 'utf8' }).trim()
  process.stdout.write(`${JSON.stringify({ script, commit, seed, minutes, only, ...rest })}\n`)
  return rest.violations.length === 0 ? 0 : 1
}

export function percentilesOf(samples: readonly number[]): { p50: number; p99: number; max: number } {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}
