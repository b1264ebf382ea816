import { resolve } from 'node:path'

const MAIN = resolve(import.meta.dir, '../../src/main.ts')

export type RunningService = { url: string; process: Bun.Subprocess<'ignore', 'pipe', 'pipe'>; kill: () => Promise<void> }

/** The program itself, as a process of its own. Resolves once it listens. */
export async function spawnService(dir: string, env: Record<string, string> = {}): Promise<RunningService> {
  const child = Bun.spawn([process.execPath, MAIN, 'serve', '--json'], {
    cwd: dir,
    env: {
      ...process.env,
      PORT: '0',
      VIDIMUS_DATA_DIR: dir,
      VIDIMUS_PUBLIC_URL: 'https://verify.example',
      VIDIMUS_LOG: 'warn',
      VIDIMUS_RATE_LIMIT_SCALE: '0',
      ...env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const reader = child.stdout.getReader()
  let text = ''
  while (!text.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the service did not start: ${await new Response(child.stderr).text()}`)
    text += new TextDecoder().decode(value)
  }
  reader.releaseLock()
  return {
    url: JSON.parse(text.split('\n', 1)[0] ?? '').listening,
    process: child,
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
