// The released program: its size, the time to its first answer, its idle memory; beside a program of this runtime that only
// answers `ok`.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../build/compile.ts'
import { median } from './load.ts'
import { atMost, fixed, table } from './output.ts'
import { cpuMs, environmentFor, residentMb, temporaryDir } from './service.ts'

const STARTS = 9
const SETTLE_MS = 2000
const LOOK_EVERY_MS = 1
const START_TIMEOUT_MS = 10_000

const AIMS = { start_ms_maximum: 60, idle_mb_maximum: 80 }

type Figures = { size_mb: number; start_ms: number; starts_ms: number[]; start_cpu_ms: number | null; idle_mb: number | null }

export type StartReport = { aims: typeof AIMS; floor: Figures; service: Figures; first_start_ms: number }

export async function benchStart(): Promise<StartReport> {
  const dir = temporaryDir()
  const program = join(dir, 'vidimus')
  await compile(program)
  return await compareStarts(program, join(dir, 'data'))
}

/** Medians of several starts of a built program on its data directory, which the first start makes. */
export async function compareStarts(program: string, dataDir: string): Promise<StartReport> {
  const floor = join(temporaryDir(), 'floor')
  const files = { [`${floor}.ts`]: FLOOR }
  await Bun.build({ entrypoints: [`${floor}.ts`], files, compile: { outfile: floor }, minify: true, bytecode: true })
  const port = freePort()
  const first = await startOnce(program, dataDir, port)
  return {
    aims: AIMS,
    floor: await figures(floor, dataDir, port),
    service: await figures(program, dataDir, port),
    first_start_ms: first.ms,
  }
}

const FLOOR = `Bun.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', fetch: () => new Response('ok') })
process.once('SIGTERM', () => process.exit(0))
`

/** Chosen beforehand: a program that had to tell its port would be measured with its telling. */
function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  server.stop(true)
  if (port === undefined) throw new Error('a listening server has a port')
  return port
}

async function figures(program: string, dataDir: string, port: number): Promise<Figures> {
  const starts: { ms: number; cpuMs: number | undefined }[] = []
  for (let i = 0; i < STARTS; i++) starts.push(await startOnce(program, dataDir, port))
  const used = starts.flatMap(start => start.cpuMs ?? [])
  return {
    size_mb: statSync(program).size / 1e6,
    start_ms: median(starts.map(({ ms }) => ms)),
    starts_ms: starts.map(({ ms }) => Math.round(ms)),
    start_cpu_ms: used.length ? median(used) : null,
    idle_mb: await idleMb(program, dataDir, port),
  }
}

type Started = { child: Bun.Subprocess; ms: number }

async function start(program: string, dataDir: string, port: number): Promise<Started> {
  const env = { ...environmentFor(dataDir), PORT: String(port), VIDIMUS_LOG: 'silent' }
  const startedAt = performance.now()
  const child = Bun.spawn([program], { env, stdout: 'ignore', stderr: 'ignore' })
  while (performance.now() - startedAt < START_TIMEOUT_MS) {
    const status = await fetch(`http://127.0.0.1:${port}/healthz`, { keepalive: false }).then(
      ({ status }) => status,
      () => undefined,
    )
    if (status === 200) return { child, ms: performance.now() - startedAt }
    await Bun.sleep(LOOK_EVERY_MS)
  }
  child.kill('SIGKILL')
  throw new Error(`${program} did not answer`)
}

async function startOnce(program: string, dataDir: string, port: number): Promise<{ ms: number; cpuMs: number | undefined }> {
  const { child, ms } = await start(program, dataDir, port)
  const used = cpuMs(child.pid)
  await stop(child)
  return { ms, cpuMs: used }
}

async function idleMb(program: string, dataDir: string, port: number): Promise<number | null> {
  const { child } = await start(program, dataDir, port)
  await Bun.sleep(SETTLE_MS)
  const resident = residentMb(child.pid)
  await stop(child)
  return resident ?? null
}

async function stop(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGTERM')
  await child.exited
}

export function describeStart({ aims, floor, service, first_start_ms }: StartReport): string {
  const row = (name: string, of: (figures: Figures) => number | null, digits: number, aim = '') => [
    name,
    fixed(of(floor), digits),
    fixed(of(service), digits),
    aim,
  ]
  return [
    `The compiled program beside one that only answers: medians of ${STARTS} starts. The very first start took ${fixed(first_start_ms, 0)} ms.`,
    '',
    table(
      ['', 'bare', 'vidimus', 'aim'],
      [
        row('start to first 200, ms', ({ start_ms }) => start_ms, 0, atMost(service.start_ms, aims.start_ms_maximum, 'ms')),
        row('processor time until then, ms', ({ start_cpu_ms }) => start_cpu_ms, 0),
        row('idle memory, MB', ({ idle_mb }) => idle_mb, 0, atMost(service.idle_mb, aims.idle_mb_maximum, 'MB')),
        row('size, MB', ({ size_mb }) => size_mb, 0),
      ],
    ),
  ].join('\n')
}
