// Puts one slip at a time into a copy of the checkout and runs the tests that must fail. CI tries a few, others with each commit.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'
import { applyTo } from './fit.ts'
import { MUTANTS, type Mutant } from './list.ts'

const ROOT = join(import.meta.dir, '../..')
const TEST_MS_MAX = 180_000

type Verdict = 'killed' | 'survived' | 'unclear'

const HELP = `usage: scripts/bun test/mutants/run.ts [--list] [--only NAME]

Puts one-line slips, one at a time, into a copy of the checkout and runs the tests that must fail.
Ends with one JSON line. The exit code is 1 when the tests pass in spite of a slip, or crash.

--list       lists the slips
--only TEXT  runs the slips whose name contains TEXT
--room ROOM  runs the slips of one folder of src/
--minutes N  begins somewhere else with each commit, and begins no slip after N minutes

example: scripts/bun test/mutants/run.ts --room webhooks`

const { values } = parseArgs({
  options: {
    list: { type: 'boolean' },
    only: { type: 'string' },
    room: { type: 'string' },
    minutes: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const { only = '', room: roomOnly, minutes } = values
const chosen = MUTANTS.filter(({ name, room }) => name.includes(only) && (roomOnly ?? room) === room)

if (values.help) console.log(HELP)
else if (values.list) console.log(chosen.map(({ name, room, within }) => `${room}: ${name} (${within})`).join('\n'))
else process.exit(minutes ? await runAll(turned(chosen), Number(minutes) * 60_000) : await runAll(chosen))

function turned<Value>(values: Value[]): Value[] {
  const start = FRESH_SEED % values.length
  return [...values.slice(start), ...values.slice(0, start)]
}

async function runAll(mutants: Mutant[], msMax = Number.POSITIVE_INFINITY): Promise<number> {
  const startedAt = performance.now()
  const copy = copyCheckout()
  try {
    for (const mutant of mutants) applyTo(copy, mutant)
    const green = new Set<string>()
    const verdicts: [string, Verdict][] = []
    for (const mutant of mutants) {
      if (performance.now() - startedAt >= msMax) break
      await requireGreen(copy, mutant.tests, green)
      const verdict = await tryMutant(copy, mutant)
      verdicts.push([mutant.name, verdict])
      console.error(`${verdict.padEnd(9)} ${mutant.name}`)
    }
    const named = (wanted: Verdict) => verdicts.filter(([, verdict]) => verdict === wanted).map(([name]) => name)
    const [survived, unclear] = [named('survived'), named('unclear')]
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    console.log(JSON.stringify({ commit: commitOf(ROOT), killed: named('killed').length, survived, unclear, seconds }))
    return survived.length + unclear.length > 0 ? 1 : 0
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Tracked files and new ones that git does not ignore; node_modules is only linked. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'vidimus-mutants-'))
  const listed = Bun.spawnSync(['git', 'ls-files', '-co', '--exclude-standard'], { cwd: ROOT }).stdout.toString()
  for (const file of listed.split('\n').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

async function requireGreen(root: string, tests: string[], green: Set<string>): Promise<void> {
  for (const test of tests.filter(name => !green.has(name))) {
    const { failed, exitCode } = await runTests(root, [test])
    if (failed !== 0 || exitCode !== 0) throw new Error(`${test} is not green without any mutant`)
    green.add(test)
  }
}

async function tryMutant(root: string, mutant: Mutant): Promise<Verdict> {
  const { file: name, text } = applyTo(root, mutant)
  const file = join(root, name)
  const whole = readFileSync(file, 'utf8')
  writeFileSync(file, text)
  try {
    const { failed, exitCode } = await runTests(root, mutant.tests)
    if (failed !== undefined && failed > 0) return 'killed'
    return failed === 0 && exitCode === 0 ? 'survived' : 'unclear'
  } finally {
    writeFileSync(file, whole)
  }
}

/** `failed` is undefined when the runner crashed before it printed its count. */
async function runTests(root: string, tests: string[]): Promise<{ failed: number | undefined; exitCode: number | null }> {
  const child = Bun.spawn([process.execPath, 'test', ...tests, '--bail', '--timeout', '60000'], {
    cwd: root,
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: TEST_MS_MAX,
  })
  const report = await new Response(child.stderr).text()
  await child.exited
  if (/^Bailed out after 1 failure$/m.test(report)) return { failed: 1, exitCode: child.exitCode }
  const failed = /^ *(\d+) fail$/m.exec(report)?.[1]
  const ran = /^Ran \d+ tests? across/m.test(report)
  return { failed: ran && failed !== undefined ? Number(failed) : undefined, exitCode: child.signalCode ? null : child.exitCode }
}

function commitOf(root: string): string {
  return Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: root }).stdout.toString().trim()
}
