// The measured service is a process of its own, on a temporary directory beside the source: on a disk kept in memory, commits
// would be free.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DAILY_QUOTA_MAX } from '../../src/tenants/settings.ts'
import type { Endpoint } from './load.ts'

const ROOT = join(import.meta.dir, '../..')
const MAIN = join(ROOT, 'src/main.ts')
const FLOOR = join(import.meta.dir, 'floor.ts')

/** Linux counts processor time in hundredths of a second for every program, whatever the kernel's own tick is. */
const MS_PER_TICK = 10

const running = new Set<Bun.Subprocess>()
const directories = new Set<string>()

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const dir of directories) rmSync(dir, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

export function temporaryDir(): string {
  const parent = join(ROOT, 'node_modules/.cache')
  mkdirSync(parent, { recursive: true })
  const dir = mkdtempSync(join(parent, 'vidimus-bench-'))
  directories.add(dir)
  return dir
}

export function environmentFor(dataDir: string): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VIDIMUS_'))
  return {
    ...(Object.fromEntries(inherited) as Record<string, string>),
    PORT: '0',
    HOST: '127.0.0.1',
    VIDIMUS_DATA_DIR: dataDir,
    VIDIMUS_RATE_LIMIT_SCALE: '0',
    VIDIMUS_LOG: 'warn',
  }
}

export type Server = Endpoint & {
  pid: number
  /** Sets the dashboard up, once. */
  setupUrl: string | null
  stop(): Promise<void>
}

export const startService = (dataDir: string, env: Record<string, string> = {}): Promise<Server> =>
  startServer([MAIN, 'serve', '--json'], dataDir, env)

/** Writes a CPU profile into a directory when it stops. */
export const startProfiled = (dataDir: string, profileDir: string): Promise<Server> =>
  startServer(['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${profileDir}`, MAIN, 'serve', '--json'], dataDir)

export const startFloor = (dataDir: string): Promise<Server> => startServer([FLOOR], dataDir)

async function startServer(args: string[], dataDir: string, env: Record<string, string> = {}): Promise<Server> {
  const environment = { ...environmentFor(dataDir), ...env }
  const child = Bun.spawn([process.execPath, ...args], { env: environment, stdout: 'pipe', stderr: 'inherit' })
  running.add(child)
  const { listening, setup_url: setupUrl = null } = JSON.parse(await firstLine(child.stdout)) as {
    listening: string
    setup_url?: string | null
  }
  return {
    setupUrl,
    hostname: '127.0.0.1',
    port: Number(new URL(listening).port),
    pid: child.pid,
    async stop() {
      child.kill('SIGTERM')
      await child.exited
      running.delete(child)
    },
  }
}

async function firstLine(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'))
  }
  throw new Error('the server ended before it listened')
}

export type Tenant = { id: string; key: string }

/**
 * Through the command line, as an operator would, after a first start. On a database that a command made, the service seals all
 * that it finds again after a minute: in the middle of a measurement.
 */
export async function makeTenant(dataDir: string, env: Record<string, string> = {}): Promise<Tenant> {
  if (readdirSync(dataDir).length === 0) await (await startService(dataDir, env)).stop()
  const quota = String(DAILY_QUOTA_MAX)
  const { id } = await command<{ id: string }>(dataDir, ['tenant', 'create', '--name', 'Bench', '--daily-quota', quota], env)
  const { key } = await command<{ key: string }>(dataDir, ['key', 'create', '--tenant', id, '--env', 'test'], env)
  return { id, key }
}

export async function command<Answer>(dataDir: string, args: string[], env: Record<string, string> = {}): Promise<Answer> {
  const child = Bun.spawn([process.execPath, MAIN, ...args, '--json'], {
    env: { ...environmentFor(dataDir), ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const answer = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`vidimus ${args.join(' ')} failed`)
  return JSON.parse(answer)
}

/** Processor time a process has used, in all its threads; unknown where there is no /proc. */
export function cpuMs(pid: number): number | undefined {
  const stat = readProc(pid, 'stat')
  if (stat === undefined) return undefined
  // The name in the second field may hold spaces and brackets; the fields after it do not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

/** The threads that compile JavaScript, as `threadsUs` names them. */
export const COMPILER = 'JITWorker'

/** Processor time of each thread in microseconds; threads of one name are added up. Empty where there is no /proc. */
export function threadsUs(pid: number): Map<string, number> {
  const used = new Map<string, number>()
  for (const thread of existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : []) {
    const ns = Number(readProc(pid, `task/${thread}/schedstat`)?.split(' ', 1)[0] ?? 0)
    const name = Number(thread) === pid ? 'main' : (readProc(pid, `task/${thread}/comm`)?.trim().replace(/ \d+$/, '') ?? 'ended')
    used.set(name, (used.get(name) ?? 0) + ns / 1000)
  }
  return used
}

export function residentMb(pid: number): number | undefined {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, 'status') ?? '')?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}
