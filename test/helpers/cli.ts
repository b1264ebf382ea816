import { expect } from 'bun:test'
import { databaseOf } from './database.ts'
import { PROGRAM } from './program.ts'
import { type Run, runOf } from './run.ts'

/** One call of the real program as a process, with only the given settings. */
export async function vidimus(dir: string, args: string[], env: Record<string, string> = {}, under: string[] = []): Promise<Run> {
  return await runOf(spawn(dir, args, await withDatabase(dir, env), under))
}

/** A call with --json that must succeed: exactly one JSON object on standard output, and nothing on standard error. */
export async function vidimusJson<Answer>(dir: string, ...args: string[]): Promise<Answer> {
  const run = await vidimus(dir, [...args, '--json'], { VIDIMUS_PUBLIC_URL: 'http://localhost:3000' })
  expect({ args, exitCode: run.exitCode, stderr: run.stderr }).toEqual({ args, exitCode: 0, stderr: '' })
  expect(run.stdout).toMatch(/^\{.*\}\n$/)
  return JSON.parse(run.stdout)
}

export type Served = { url: string; first: ServeLine; process: ReturnType<typeof spawn> }
type ServeLine = { listening: string; setup_url: string | null; test_key?: string }

const serving = new Set<ReturnType<typeof spawn>>()

process.on('exit', () => {
  for (const child of serving) child.kill('SIGKILL')
})

/** For the afterAll of every file that serves. A hook of this file's own would run once: it is loaded once for all of them. */
export async function stopServing(): Promise<void> {
  for (const child of serving) child.kill('SIGKILL')
  await Promise.all([...serving].map(child => child.exited))
}

/** The service on a port the system chooses, once it listens. */
export async function serve(
  dir: string,
  flags: string[] = [],
  env: Record<string, string> = {},
  under: string[] = [],
): Promise<Served> {
  const settings = { PORT: '0', VIDIMUS_LOG: 'warn', VIDIMUS_RATE_LIMIT_SCALE: '0', ...(await withDatabase(dir, env)) }
  const child = spawn(dir, ['serve', '--json', ...flags], settings, under)
  serving.add(child)
  child.exited.then(() => serving.delete(child))
  const first: ServeLine = JSON.parse(await firstLine(child))
  return { url: first.listening, first, process: child }
}

async function firstLine(child: ReturnType<typeof spawn>): Promise<string> {
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('\n')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the service did not start: ${await new Response(child.stderr).text()}`)
    text += decoder.decode(value, { stream: true })
  }
  reader.releaseLock()
  return text
}

/** The directory's own database, unless the caller names one; an empty name is the file. */
const withDatabase = async (dir: string, env: Record<string, string>): Promise<Record<string, string>> =>
  env.VIDIMUS_DATABASE_URL === undefined ? { ...(await databaseOf(dir)), ...env } : env

/** `under` is a program that runs the program. */
function spawn(dir: string, args: string[], env: Record<string, string>, under: string[] = []) {
  const { PATH = '', HOME = '' } = process.env
  return Bun.spawn([...under, PROGRAM, ...args], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: dir, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}
