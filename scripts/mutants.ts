// Does the suite notice? Puts one slip at a time into a copy of the checkout and runs the tests that must go red. Not part of a change's
// checks: it takes minutes.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { MUTANTS, type Mutant } from './mutant-list.ts'

const ROOT = join(import.meta.dir, '..')
const TEST_MS_MAX = 180_000

type Verdict = 'killed' | 'survived' | 'unclear'

const HELP = `usage: scripts/bun scripts/mutants.ts [--list] [--only NAME]

Puts one-line slips, one at a time, into a copy of the checkout and runs the tests that must notice. Ends with one JSON line; the exit code is 1 when a
slip went unnoticed, or when a test run ended without a failing test.

--list       names all of them
--only NAME  only those whose name has NAME in it

example: scripts/bun scripts/mutants.ts --only tenant`

const { values } = parseArgs({ options: { list: { type: 'boolean' }, only: { type: 'string' }, help: { type: 'boolean' } } })
const chosen = MUTANTS.filter(({ name }) => name.includes(values.only ?? ''))

if (values.help) console.log(HELP)
else if (values.list) console.log(chosen.map(({ name, file }) => `${name}  ${file}`).join('\n'))
else process.exit(await runAll(chosen))

async function runAll(mutants: Mutant[]): Promise<number> {
  const startedAt = performance.now()
  const copy = copyCheckout()
  try {
    for (const mutant of mutants) mutated(copy, mutant)
    await requireGreen(copy, [...new Set(mutants.flatMap(({ tests }) => tests))])
    const verdicts: [string, Verdict][] = []
    for (const mutant of mutants) {
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

/** What git knows, and what is new and not ignored; dependencies are only linked to. */
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

/** The file with the slip in it. A mutant that no longer fits its file is an error: it would be counted for nothing. */
function mutated(root: string, { name, file, from, to }: Mutant): string {
  const text = readFileSync(join(root, file), 'utf8')
  const found = text.split(from).length - 1
  if (found !== 1) throw new Error(`"${name}": its line occurs ${found} times in ${file}`)
  return text.replace(from, () => to)
}

async function requireGreen(root: string, tests: string[]): Promise<void> {
  for (const test of tests) {
    const { failed, exitCode } = await runTests(root, [test])
    if (failed !== 0 || exitCode !== 0) throw new Error(`${test} is not green without any mutant`)
  }
}

async function tryMutant(root: string, mutant: Mutant): Promise<Verdict> {
  const file = join(root, mutant.file)
  const whole = readFileSync(file, 'utf8')
  writeFileSync(file, mutated(root, mutant))
  try {
    const { failed, exitCode } = await runTests(root, mutant.tests)
    if (failed !== undefined && failed > 0) return 'killed'
    return failed === 0 && exitCode === 0 ? 'survived' : 'unclear'
  } finally {
    writeFileSync(file, whole)
  }
}

/** `failed` is what the runner counted; undefined when it never came to count, as after a crash. */
async function runTests(root: string, tests: string[]): Promise<{ failed: number | undefined; exitCode: number | null }> {
  const child = Bun.spawn([process.execPath, 'test', ...tests, '--timeout', '60000'], {
    cwd: root,
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: TEST_MS_MAX,
  })
  const report = await new Response(child.stderr).text()
  await child.exited
  const failed = /^ *(\d+) fail$/m.exec(report)?.[1]
  const ran = /^Ran \d+ tests? across/m.test(report)
  return { failed: ran && failed !== undefined ? Number(failed) : undefined, exitCode: child.signalCode ? null : child.exitCode }
}

function commitOf(root: string): string {
  return Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: root }).stdout.toString().trim()
}
