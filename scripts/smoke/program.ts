// The built program, run where nothing of its source is near.
import { join } from 'node:path'

export type Run = { exitCode: number; stdout: string; stderr: string }
export type Running = { url: string; first: Record<string, unknown>; pid: number; stop(): Promise<void> }
export type Program = ReturnType<typeof programIn>

const PATIENCE_MS = 30_000

/** `folder` holds the program and nothing else; it is the current one of every call. */
export function programIn(folder: string) {
  const path = join(folder, 'vidimus')
  const running = new Set<Bun.Subprocess>()
  process.once('exit', () => {
    for (const child of running) child.kill('SIGKILL')
  })

  function spawn(args: string[], env: Record<string, string>) {
    const child = Bun.spawn([path, ...args], {
      cwd: folder,
      // Nothing of this machine's settings: a path to the source might be among them.
      env: { PATH: '/usr/bin:/bin', VIDIMUS_DATA_DIR: join(folder, 'data'), PORT: '0', VIDIMUS_LOG: 'warn', ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    running.add(child)
    child.exited.then(() => running.delete(child))
    return child
  }

  async function run(args: string[], env: Record<string, string> = {}): Promise<Run> {
    const child = spawn(args, env)
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    const [exitCode, stdout, stderr] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    clearTimeout(timer)
    return { exitCode, stdout, stderr }
  }

  return {
    path,
    folder,
    spawn,
    run,
    /** A call that must go well. */
    async text(...args: string[]): Promise<string> {
      const { exitCode, stdout, stderr } = await run(args)
      must(exitCode === 0, `${args.join(' ')} ended with ${exitCode}: ${stderr}`)
      return stdout
    },
    /** A call with --json that must go well and say nothing else. */
    async json<Answer>(...args: string[]): Promise<Answer> {
      const { exitCode, stdout, stderr } = await run([...args, '--json'])
      must(exitCode === 0 && stderr === '', `${args.join(' ')} ended with ${exitCode}: ${stderr}`)
      must(/^\{.*\}\n$/s.test(stdout), `${args.join(' ')} printed no single JSON object`)
      return JSON.parse(stdout) as Answer
    },
    /** A verb that stays, once it has said where it listens. */
    async start(args: string[], env: Record<string, string> = {}): Promise<Running> {
      const child = spawn([...args, '--json'], env)
      const complaints = new Response(child.stderr).text()
      const line = await firstLine(child.stdout)
      must(line !== undefined, `${args.join(' ')} did not start: ${line === undefined ? await complaints : ''}`)
      const first = JSON.parse(line ?? '{}') as Record<string, unknown>
      return {
        url: String(first.listening ?? first.local_url).replace(/\/demo$/, ''),
        first,
        pid: child.pid,
        async stop() {
          child.kill('SIGTERM')
          const exitCode = await child.exited
          must(exitCode === 0 && child.signalCode === null, `${args.join(' ')} ended with ${exitCode} after SIGTERM`)
          must((await complaints) === '', `${args.join(' ')} complained: ${await complaints}`)
        },
      }
    },
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'))
  }
  return undefined
}

export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise)
}
