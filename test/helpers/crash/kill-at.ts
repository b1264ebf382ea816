// Kills a call of the program just before its nth system call that changes a file. Without strace it is killed after some time
// instead, and the titles of the tests say so.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../app.ts'
import { PROGRAM } from '../program.ts'

const CHANGES = ['rename', 'unlink', 'link', 'fsync', 'fdatasync', 'ftruncate', 'pwrite64', 'write'] as const
const TIMED_KILLS = 12

export const canTrace = Bun.which('strace') !== null && Bun.spawnSync(['strace', '-f', '-o', '/dev/null', 'true']).success

export const HOW = canTrace ? 'at every kind of step' : 'at several moments (strace is not here: not at every step)'

export type KillPoint = { name: string; run: (dir: string, args: string[]) => Promise<{ isKilled: boolean }> }

/**
 * Points of one call, found by letting it run once on a directory of its own: at most `perKind` of each kind, spread over the
 * call. Another `phase`, from 0 to 1, gives points between those. `under` is a program that runs the program.
 */
export async function killPoints(
  dir: string,
  args: string[],
  perKind: number,
  { phase = 0, under = [] }: { phase?: number; under?: string[] } = {},
): Promise<KillPoint[]> {
  if (!canTrace) return timedPoints(dir, args, under)
  const trace = join(temporaryDir(), 'trace')
  const child = spawn(['strace', '-f', '-o', trace, '-e', `trace=${known(CHANGES)}`, ...under], dir, args)
  if ((await child.exited) !== 0) throw new Error(`it must go well first: ${await new Response(child.stderr).text()}`)
  const lines = readFileSync(trace, 'utf8').split('\n')
  return CHANGES.flatMap(change => {
    const count = lines.filter(line => new RegExp(`^\\d+ +${change}(at2?)?\\(`).test(line)).length
    return spread(count, perKind, phase).map(nth => ({
      name: `${change} ${nth} of ${count}`,
      run: (own: string, call: string[]) => killed(own, call, { change, nth, under }),
    }))
  })
}

async function timedPoints(dir: string, args: string[], under: string[]): Promise<KillPoint[]> {
  const startedAt = performance.now()
  if ((await spawn(under, dir, args).exited) !== 0) throw new Error('it must go well first')
  const tookMs = performance.now() - startedAt
  return Array.from({ length: TIMED_KILLS }, (_, i) => ({
    name: `${i} of ${TIMED_KILLS}`,
    async run(own: string, call: string[]) {
      const child = spawn(under, own, call)
      await Bun.sleep((tookMs * i) / TIMED_KILLS)
      child.kill('SIGKILL')
      await child.exited
      return { isKilled: child.signalCode === 'SIGKILL' }
    },
  }))
}

type Kill = { change: string; nth: number; under: string[] }

async function killed(dir: string, args: string[], { change, nth, under }: Kill): Promise<{ isKilled: boolean }> {
  const set = known([change])
  // Without the first -e it would decode all other calls, too.
  const strace = ['strace', '-f', '-o', '/dev/null', '-e', `trace=${set}`, '-e', `inject=${set}:signal=SIGKILL:when=${nth}`]
  const child = spawn([...strace, ...under], dir, args)
  await child.exited
  return { isKilled: child.signalCode === 'SIGKILL' || child.exitCode === 137 }
}

/** The question mark lets strace ignore calls that this machine does not have. */
const known = (changes: readonly string[]): string =>
  changes
    .flatMap(change => [`?${change}`, ...(/^(rename|unlink|link)$/.test(change) ? [`?${change}at`, `?${change}at2`] : [])])
    .join(',')

function spread(count: number, most: number, phase: number): number[] {
  const shown = Math.min(count, most)
  const last = phase === 0 ? Math.max(1, shown - 1) : shown
  return Array.from({ length: shown }, (_, i) => 1 + Math.floor(((i + phase) * (count - 1)) / last))
}

function spawn(before: string[], dir: string, args: string[]) {
  const { PATH = '', HOME = '' } = process.env
  return Bun.spawn([...before, PROGRAM, ...args], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: dir },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
}
