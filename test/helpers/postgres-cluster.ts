// A PostgreSQL server of its own for a run of the tests, in a temporary directory that is removed with it.
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

const DEBIAN = '/usr/lib/postgresql'
/** Less than this may be used up by the databases of one run. */
const MEMORY_MIN_BYTES = 6 * 2 ** 30
/** PostgreSQL refuses to run as root. */
const USER = 'postgres'

export type Cluster = {
  url: string
  stop(): Promise<void>
}

/** The reason why there can be none here, or undefined. */
export function whyNoCluster(): string | undefined {
  if (!binaries()) return `initdb is neither in ${DEBIAN}/*/bin nor in PATH; install Debian's postgresql`
  if (isRoot() && !userIds()) return `PostgreSQL does not run as root, and there is no user ${USER}`
  return undefined
}

export async function startCluster(): Promise<Cluster> {
  const bin = binaries()!
  const dir = mkdtempSync(join(hasMemory() ? '/dev/shm' : tmpdir(), 'vidimus-postgres-'))
  const ids = isRoot() ? userIds() : undefined
  if (ids) chownSync(dir, ids.uid, ids.gid)
  const data = join(dir, 'data')
  const remove = () => rmSync(dir, { recursive: true, force: true })
  try {
    await succeeded([...asUser(), join(bin, 'initdb'), '-D', data, '-U', USER, '--auth=trust', '-E', 'UTF8', '--data-checksums'])
    const port = await freePort()
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: dir,
      max_connections: 800,
      shared_buffers: '128MB',
      // The tests make and drop hundreds of databases.
      autovacuum: 'off',
    }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = Bun.spawn([...asUser(), join(bin, 'postgres'), '-D', data, ...options], { cwd: '/', stderr: 'pipe' })
    await ready(server.stderr)
    return {
      url: `postgres://${USER}@127.0.0.1:${port}/postgres`,
      async stop() {
        server.kill('SIGQUIT')
        await server.exited
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Also ends the server when this process is killed. */
function asUser(): string[] {
  if (!Bun.which('setpriv')) return []
  const user = isRoot() ? [`--reuid=${USER}`, `--regid=${USER}`, '--init-groups'] : []
  return ['setpriv', '--pdeathsig=QUIT', ...user]
}

const isRoot = (): boolean => process.getuid?.() === 0

function userIds(): { uid: number; gid: number } | undefined {
  const of = (flag: string) => Number(Bun.spawnSync(['id', flag, USER]).stdout.toString() || Number.NaN)
  const [uid, gid] = [of('-u'), of('-g')]
  return Number.isInteger(uid) ? { uid, gid } : undefined
}

/** The newest version that Debian has installed, or the one in PATH. */
function binaries(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions.map(version => join(DEBIAN, version, 'bin')).find(folder => existsSync(join(folder, 'initdb')))
  return found ?? Bun.which('initdb')?.replace(/\/initdb$/, '')
}

/** fsync is on, as the service demands; in memory it costs nothing. */
function hasMemory(): boolean {
  if (!existsSync('/dev/shm')) return false
  const { bavail, bsize } = statfsSync('/dev/shm')
  return bavail * bsize > MEMORY_MIN_BYTES
}

async function succeeded(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { cwd: '/', stdout: 'ignore', stderr: 'pipe' })
  const [code, complaint] = await Promise.all([child.exited, new Response(child.stderr).text()])
  if (code !== 0) throw new Error(`${command.join(' ')} failed: ${complaint}`)
}

async function ready(output: ReadableStream<Uint8Array>): Promise<void> {
  const reader = output.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader()
  let text = ''
  while (!text.includes('ready to accept connections')) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`PostgreSQL did not start: ${text}`)
    text += value
  }
  // A pipe that nobody reads would stop the server.
  void (async () => {
    while (!(await reader.read()).done);
  })()
}
