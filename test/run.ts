// `bun run test [FILE…]`: all tests, or those of some files.
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'

export const ROOT = resolve(import.meta.dir, '..')

/** Of one test. Longer ones say so themselves. */
export const TEST_MS_MAX = 60_000

/** Two more than there are cores: a test that waits for a timer, a lock or a child leaves its core to another. */
const WORKERS = availableParallelism() + 2

const RUNTIME = {
  // Code runs too seldom here for the last compiler to pay: it takes a tenth of the processor time and gives nothing back.
  BUN_JSC_useFTLJIT: '0',
  // Every server that starts asks for a collection of garbage, 8 ms each for a thousand servers. Full memory still asks for one.
  BUN_GC_TIMER_DISABLE: '1',
}

/** Returns the exit code. The longest files begin first. */
export async function runTests(args: string[], env: Record<string, string> = {}): Promise<number> {
  const options = [`--parallel=${WORKERS}`, '--no-isolate', '--timings=test/timings.json', `--timeout=${TEST_MS_MAX}`]
  const child = Bun.spawn([process.execPath, 'test', ...options, ...args], {
    cwd: ROOT,
    env: { ...RUNTIME, ...process.env, ...env },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return await child.exited
}

if (import.meta.main) process.exit(await runTests(process.argv.slice(2)))
