import { PROGRAM } from './program.ts'

type DemoLine = { url: string; data_dir: string; key: string; commands: string[]; setup_url: string }

export type RunningDemo = DemoLine & { process: ReturnType<typeof spawnDemo> }

const running = new Set<ReturnType<typeof spawnDemo>>()

/** The real program on a port the system chooses, once it listens; `temporary` is where it may leave things. */
export async function startDemo(temporary: string): Promise<RunningDemo> {
  const process = spawnDemo(temporary, ['--json', '--port', '0'])
  const reader = process.stdout.getReader()
  const { value } = await reader.read()
  reader.releaseLock()
  if (!value) throw new Error(`the demo did not start: ${await new Response(process.stderr).text()}`)
  return { ...(JSON.parse(new TextDecoder().decode(value)) as DemoLine), process }
}

export function spawnDemo(temporary: string, flags: string[], env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([PROGRAM, 'demo', '--no-open', ...flags], {
    // How busy the machine of the tests is must not decide them: a lagging service refuses polls.
    env: { PATH, HOME, TMPDIR: temporary, VIDIMUS_RATE_LIMIT_SCALE: '0', ...env },
    cwd: temporary,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running.add(child)
  return child
}

/** For the afterAll of every file that starts one. */
export async function stopDemos(): Promise<void> {
  for (const child of running) child.kill('SIGKILL')
  await Promise.all([...running].map(child => child.exited))
}
