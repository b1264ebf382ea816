// Commands inside the test's own process, with settings and output of their own: many times faster
// than a process. One after the other on one directory: at the same time, one would block the thread
// while the other holds the write lock. Signals, pipes and exit codes need helpers/cli.ts.
import { expect } from 'bun:test'
import { run } from '../../src/cli/index.ts'
import { databaseOf } from './database.ts'
import type { Run } from './run.ts'

/** One call, which sees no settings but the given ones. */
export async function vidimus(dir: string, args: string[], env: Record<string, string> = {}): Promise<Run> {
  const output = { stdout: '', stderr: '' }
  const exitCode = await run(args, {
    env: { VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)), ...env },
    print: text => {
      output.stdout += `${text}\n`
    },
    complain: text => {
      output.stderr += `${text}\n`
    },
  })
  return { exitCode, ...output }
}

/** A call with --json that must succeed: exactly one JSON object, and nothing on standard error. */
export async function vidimusJson<Answer>(dir: string, ...args: string[]): Promise<Answer> {
  const { exitCode, stdout, stderr } = await vidimus(dir, [...args, '--json'], { VIDIMUS_PUBLIC_URL: 'http://localhost:3000' })
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' })
  expect(stdout).toMatch(/^\{.*\}\n$/)
  return JSON.parse(stdout)
}
