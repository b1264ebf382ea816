// The real service as a process of its own, for the soaks: started, killed, called, and looked at from outside.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { firstLine } from '../../scripts/bench/service.ts'
import { PROGRAM } from '../helpers/program.ts'

/** Ten thousand clients, and some for itself. */
const OPEN_FILES = 65_536

const running = new Set<Bun.Subprocess>()

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

export type Soaked = { url: string; pid: number; stderr: () => string; kill(): Promise<void>; stop(): Promise<void> }

export async function serviceOn(dir: string, env: Record<string, string> = {}): Promise<Soaked> {
  const child = Bun.spawn(limited([PROGRAM, 'serve', '--json']), {
    env: { ...inherited(), PORT: '0', VIDIMUS_DATA_DIR: dir, VIDIMUS_LOG: 'warn', VIDIMUS_RATE_LIMIT_SCALE: '0', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running.add(child)
  let stderr = ''
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) stderr = (stderr + decoder.decode(chunk, { stream: true })).slice(-100_000)
  })()
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal)
    await child.exited
    running.delete(child)
  }
  const line = await firstLine(child.stdout).catch(() => {
    throw new Error(`the service did not start: ${stderr}`)
  })
  const url: string = JSON.parse(line).listening
  return { url, pid: child.pid, stderr: () => stderr, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') }
}

/** With as many open files as the system lets it have. */
export const limited = (command: string[]): string[] => [
  'sh',
  '-c',
  `ulimit -n ${OPEN_FILES} 2>/dev/null || ulimit -n $(ulimit -Hn); exec "$@"`,
  'sh',
  ...command,
]

const inherited = (): Record<string, string> => {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME }
}

/** One call of the command line, as an operator would make it. */
export async function command<Answer>(dir: string, ...args: string[]): Promise<Answer> {
  const child = Bun.spawn([PROGRAM, ...args, '--json'], {
    env: { ...inherited(), VIDIMUS_DATA_DIR: dir },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [answer, told] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`vidimus ${args.join(' ')}: ${told}`)
  return JSON.parse(answer)
}

export type Shop = { id: string; key: string }

const SCOPES = 'verifications:create,verifications:read,verifications:delete,devices:manage'

export async function shopIn(dir: string, environment: 'test' | 'live' = 'test'): Promise<Shop> {
  const { id } = await command<{ id: string }>(dir, 'tenant', 'create', '--name', 'Soak', '--daily-quota', '10000000')
  const { key } = await command<{ key: string }>(dir, 'key', 'create', '--tenant', id, '--env', environment, '--scopes', SCOPES)
  return { id, key }
}

const procOf = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

export const residentMb = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB/m.exec(procOf(pid, 'status'))?.[1] ?? 0) / 1024

export function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

export function logBytes(dir: string): number {
  try {
    return statSync(join(dir, 'vidimus.db-wal')).size
  } catch {
    return 0
  }
}

export const progress = (text: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
