// The released program: its size, the time to its first answer, its idle memory; beside a program of this runtime that only
// answers `ok`.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { compileReleases } from '../build/release.ts'
import { atMost, fixed, type Spread, shown, spreadOf, table } from './output.ts'
import { cpuMs, environmentFor, residentMb, temporaryDir } from './service.ts'

const STARTS = 9
const SETTLE_MS = 2000
const LOOK_EVERY_MS = 1
const START_TIMEOUT_MS = 10_000

const AIMS = { start_ms_maximum: 60, idle_mb_maximum: 60 }

type Figures = { size_mb: number; start_ms: Spread | null; start_cpu_ms: Spread | null; idle_mb: Spread | null }

export type StartReport = { aims: typeof AIMS; floor: Figures; service: Figures; first_start_ms: number }

export async function benchStart(): Promise<StartReport> {
  const dir = temporaryDir()
  const program = join(dir, 'vidimus')
  await compileReleases([{ outfile: program }])
  return await compareStarts(program, join(dir, 'data'))
}

/** Medians of several starts of a built program on its data directory, which the first start makes. */
export async function compareStarts(program: string, dataDir: string): Promise<StartReport> {
  const floor = join(temporaryDir(), 'floor')
  const files = { [`${floor}.ts`]: FLOOR }
  await Bun.build({ entrypoints: [`${floor}.ts`], files, compile: { outfile: floor }, minify: true, bytecode: true })
  const port = freePort()
  const first = await startOnce(program, dataDir, port)
  const starts = { floor: [] as Start[], service: [] as Start[] }
  for (let i = 0; i < STARTS; i++) {
    starts.floor.push(await startOnce(floor, dataDir, port))
    starts.service.push(await startOnce(program, dataDir, port))
  }
  return {
    aims: AIMS,
    floor: await figures(floor, dataDir, port, starts.floor),
    service: await figures(program, dataDir, port, starts.service),
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

async function figures(program: string, dataDir: string, port: number, starts: Start[]): Promise<Figures> {
  return {
    size_mb: statSync(program).size / 1e6,
    start_ms: spreadOf(starts.map(({ ms }) => ms)),
    start_cpu_ms: spreadOf(starts.map(({ cpuMs }) => cpuMs ?? null)),
    idle_mb: spreadOf([await idleMb(program, dataDir, port)]),
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

type Start = { ms: number; cpuMs: number | undefined }

async function startOnce(program: string, dataDir: string, port: number): Promise<Start> {
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
  const row = (name: string, of: (figures: Figures) => Spread | null, aim = '') => [
    name,
    shown(of(floor), 0),
    shown(of(service), 0),
    aim,
  ]
  return [
    `The compiled program beside one that only answers: medians (and ranges) of ${STARTS} starts by turns. The very first start took ${fixed(first_start_ms, 0)} ms.`,
    '',
    table(
      ['', 'bare', 'vidimus', 'aim'],
      [
        row('start to first 200, ms', ({ start_ms }) => start_ms, atMost(service.start_ms, aims.start_ms_maximum, 'ms')),
        row('processor time until then, ms', ({ start_cpu_ms }) => start_cpu_ms),
        row('idle memory, MB', ({ idle_mb }) => idle_mb, atMost(service.idle_mb, aims.idle_mb_maximum, 'MB')),
        ['size, MB', fixed(floor.size_mb, 0), fixed(service.size_mb, 0), ''],
      ],
    ),
  ].join('\n')
}
