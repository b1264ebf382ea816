// Checks a data directory from outside: the invariants that hold after every restart and every fault. It shares no code with the
// service, only reads, and may run beside it. Sealed values are not opened: the service's own tests check that they can be read.
// Signatures of checkpoints are checked when the key from `vidimus audit export` is given.
import { Database } from 'bun:sqlite'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Ack, checkAcks } from './acks.ts'
import { checkChain } from './chain.ts'
import type { Checked } from './checked.ts'
import { checkCanaries, checkErasures } from './files.ts'
import {
  checkFile,
  checkIdempotency,
  checkOrder,
  checkOutbox,
  checkOutcomes,
  checkPairing,
  checkResponseCodes,
  checkStates,
  checkTokens,
  checkUsage,
} from './rows.ts'

const HELP = `usage: scripts/bun test/invariants/check.ts DATA_DIR [--json] [--acks FILE] [--canaries FILE] [--public-key KEY]

  --acks        JSON lines of what clients were told: {"fact":"created","id":…}, "ended" with "status", "redeemed", "erasing",
                "erased"; of devices
                {"fact":"enrolled","device":…}, "revoked"
  --canaries    lines of text that must be in no file
  --public-key  of the audit checkpoints, as \`vidimus audit export\` has it; without it their signatures are not checked
`

type InvariantOptions = { acks?: Iterable<Ack>; canaries?: readonly string[]; publicKey?: string }

type Invariants = { violations: string[]; counts: Record<string, number> }

export async function checkInvariants(dataDir: string, options: InvariantOptions = {}): Promise<Invariants> {
  const checks = runChecks(dataDir, options)
  return {
    violations: checks.flatMap(({ name, violations }) => violations.map(violation => `${name} ${violation}`)),
    counts: Object.assign({}, ...checks.map(({ counts }) => counts)),
  }
}

function runChecks(dataDir: string, { acks, canaries, publicKey }: InvariantOptions): Checked[] {
  const file = join(dataDir, 'vidimus.db')
  if (!existsSync(file)) throw new Error(`${file} is not there`)
  const sqlite = new Database(file, { readonly: true })
  try {
    sqlite.run('PRAGMA busy_timeout = 5000')
    // One state of the database for all of them, while a service goes on writing.
    sqlite.run('BEGIN')
    const whole = checkFile(sqlite)
    // In a damaged file the other checks would only report the damage again.
    if (whole.violations.some(violation => violation.startsWith('quick_check'))) return [whole]
    const { checked: chain, story } = checkChain(sqlite, publicKey)
    return [
      checkOrder(sqlite),
      ...(acks ? [checkAcks(sqlite, acks)] : []),
      checkUsage(sqlite, story),
      checkPairing(sqlite),
      checkOutbox(sqlite),
      chain,
      checkIdempotency(sqlite),
      checkTokens(sqlite),
      checkResponseCodes(sqlite),
      checkStates(sqlite),
      whole,
      checkErasures(sqlite, dataDir, story),
      checkOutcomes(sqlite, story),
      ...(canaries ? [checkCanaries(dataDir, canaries)] : []),
    ]
  } finally {
    sqlite.close()
  }
}

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean)

function main(): number {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      json: { type: 'boolean' },
      help: { type: 'boolean' },
      acks: { type: 'string' },
      canaries: { type: 'string' },
      'public-key': { type: 'string' },
    },
  })
  const [dataDir] = positionals
  if (values.help || dataDir === undefined) {
    console.log(HELP)
    return values.help ? 0 : 2
  }
  const acks = values.acks === undefined ? undefined : linesOf(values.acks).map((line): Ack => JSON.parse(line))
  const canaries = values.canaries === undefined ? undefined : linesOf(values.canaries)
  const checks = runChecks(dataDir, { acks, canaries, publicKey: values['public-key'] })
  const isSound = checks.every(({ violations }) => violations.length === 0)
  if (values.json) console.log(JSON.stringify({ ok: isSound, checks }))
  else for (const line of checks.flatMap(linesFor)) console.log(line)
  return isSound ? 0 : 1
}

function linesFor({ name, what, violations, counts }: Checked): string[] {
  const figures = Object.entries(counts).map(([of, n]) => `${of.replaceAll('_', ' ')} ${n}`)
  const heading = `${name.padEnd(4)}${violations.length === 0 ? 'ok      ' : 'VIOLATED'} ${what}${figures.length ? ` (${figures.join(', ')})` : ''}`
  return [heading, ...violations.map(violation => `      ${violation}`)]
}

if (import.meta.main) process.exit(main())
