// How long the program takes from its start to the first answer. The empty program of the same run tells how busy the machine is.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { must, type Program } from './program.ts'

const STARTS = 7
const TRIES_MAX = 20_000
const FLOOR = "Bun.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', fetch: () => new Response('ok') })"

export type Starts = { count: number; ms: number; cpuMs: number; firstMs: number; floorMs: number }

/** On the data directory of the program, which the first of them makes. */
export async function measureStarts(program: Program): Promise<Starts> {
  const floor = join(program.folder, 'floor')
  await Bun.build({
    entrypoints: [`${floor}.ts`],
    files: { [`${floor}.ts`]: FLOOR },
    compile: { outfile: floor },
    bytecode: true,
  })
  const first = await measureStart(program, program.path)
  const starts: { ms: number; cpuMs: number }[] = []
  const floors: { ms: number }[] = []
  for (let i = 0; i < STARTS; i++) {
    starts.push(await measureStart(program, program.path))
    floors.push(await measureStart(program, floor))
  }
  return {
    count: STARTS,
    ms: median(starts.map(({ ms }) => ms)),
    cpuMs: median(starts.map(({ cpuMs }) => cpuMs)),
    firstMs: first.ms,
    floorMs: median(floors.map(({ ms }) => ms)),
  }
}

async function measureStart({ folder }: Program, path: string): Promise<{ ms: number; cpuMs: number }> {
  const port = freePort()
  const startedAt = performance.now()
  const env = { PORT: String(port), VIDIMUS_DATA_DIR: join(folder, 'data'), VIDIMUS_LOG: 'warn' }
  const child = Bun.spawn([path], { cwd: folder, env, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  try {
    for (let i = 0; i < TRIES_MAX && child.exitCode === null; i++) {
      const status = await fetch(`http://127.0.0.1:${port}/healthz`, { keepalive: false }).then(
        answer => answer.status,
        () => undefined,
      )
      if (status === 200) return { ms: performance.now() - startedAt, cpuMs: cpuMs(child.pid) }
      await Bun.sleep(1)
    }
    must(false, `${path} does not answer`)
  } finally {
    child.kill('SIGTERM')
    await child.exited
  }
}

function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  probe.stop(true)
  return probe.port
}

/** Of all threads, in user and system mode; the first field counts nanoseconds on a processor. */
const cpuMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map(task => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
    .reduce((sum, ms) => sum + ms, 0)

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
