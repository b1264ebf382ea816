// The real service as a process, for the soaks: started, killed, called, and looked at from outside.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { serve, vidimusJson } from '../helpers/cli.ts'

/** Ten thousand clients, and some for itself. */
const OPEN_FILES = 65_536
const STDERR_CHARS_MAX = 100_000

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

export type Soaked = {
  url: string
  pid: number
  stderr: () => string
  /** Its exit code, when nobody killed or stopped it. */
  endedAlone: Promise<number>
  kill(): Promise<void>
  stop(): Promise<void>
}

export async function serviceOn(dir: string, env: Record<string, string> = {}, under: string[] = []): Promise<Soaked> {
  const { url, process: child } = await serve(dir, [], env, limited(under))
  let stderr = ''
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) stderr = (stderr + decoder.decode(chunk, { stream: true })).slice(-STDERR_CHARS_MAX)
  })()
  const alone = Promise.withResolvers<number>()
  let isWanted = false
  void child.exited.then(code => isWanted || alone.resolve(code))
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    isWanted = true
    child.kill(signal)
    await child.exited
  }
  return {
    url,
    pid: child.pid,
    stderr: () => stderr,
    endedAlone: alone.promise,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

/** With as many open files as the system allows. */
export const limited = (command: string[]): string[] => [
  'sh',
  '-c',
  `ulimit -n ${OPEN_FILES} 2>/dev/null || ulimit -n $(ulimit -Hn); exec "$@"`,
  'sh',
  ...command,
]

export type Shop = { id: string; key: string }

const SCOPES = 'verifications:create,verifications:read,verifications:delete,devices:manage'

export async function shopIn(dir: string, environment: 'test' | 'live' = 'test'): Promise<Shop> {
  const { id } = await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Soak', '--daily-quota', '10000000')
  const made = await vidimusJson<{ key: string }>(dir, 'key', 'create', '--tenant', id, '--env', environment, '--scopes', SCOPES)
  return { id, key: made.key }
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
