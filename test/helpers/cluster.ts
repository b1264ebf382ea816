// PostgreSQL servers of the tests' own: one for a whole run, and more for tests that configure, stop or restore one. Each ends
// with the process that started it, and its folder with it.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from './free-port.ts'

const DEBIAN = '/usr/lib/postgresql'
/** Less than this may be used up by the databases of one run. */
const MEMORY_MIN_BYTES = 6 * 2 ** 30
/** PostgreSQL refuses to run as root. */
const USER = 'postgres'

const isRoot = process.getuid?.() === 0
const PROGRAMS = programsDir()

/** The reason why there can be none here, or undefined. */
export function whyNoCluster(): string | undefined {
  if (!PROGRAMS) return `initdb is neither in ${DEBIAN}/*/bin nor in PATH; install Debian's postgresql`
  if (isRoot && !Bun.which('setpriv')) return 'PostgreSQL does not run as root, and there is no setpriv'
  if (isRoot && !userIds()) return `PostgreSQL does not run as root, and there is no user ${USER}`
  return undefined
}

/** Nothing of src is imported here: it would make its tables before somebody names the database. */
const isOnPostgres = Boolean(process.env.VIDIMUS_DATABASE_URL)

/** `bun run test:postgres` alone runs what needs a server of its own. */
export const hasPostgres = isOnPostgres && whyNoCluster() === undefined

/** For titles: a test that cannot run says so. */
export const unlessMissing = (title: string): string =>
  hasPostgres ? title : `SKIPPED, as ${isOnPostgres ? whyNoCluster() : '"bun run test:postgres" has it'}: ${title}`

/** Debian keeps the programs of each version in a folder of its own; the newest counts. */
function programsDir(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions.map(version => join(DEBIAN, version, 'bin')).find(folder => existsSync(join(folder, 'initdb')))
  return found ?? Bun.which('initdb')?.replace(/\/initdb$/, '')
}

export const program = (name: string): string => join(PROGRAMS!, name)

function userIds(): { uid: number; gid: number } | undefined {
  const of = (flag: string) => Number(Bun.spawnSync(['id', flag, USER]).stdout.toString() || Number.NaN)
  const [uid, gid] = [of('-u'), of('-g')]
  return Number.isInteger(uid) ? { uid, gid } : undefined
}

/** Also ends the command when this process is killed. */
function asUser(command: string[]): string[] {
  if (!Bun.which('setpriv')) return command
  const user = isRoot ? [`--reuid=${USER}`, `--regid=${USER}`, '--init-groups'] : []
  return ['setpriv', '--pdeathsig=QUIT', ...user, ...command]
}

const ENVIRONMENT = { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' }

export function asPostgres(command: string, args: string[]): string {
  const [first, ...rest] = asUser([command, ...args])
  return execFileSync(first!, rest, { cwd: '/', env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] }).toString()
}

const folders = new Set<string>()
const running = new Set<Cluster>()

/** A folder that PostgreSQL can read and write. */
export function postgresDir(): string {
  const dir = mkdtempSync(join(hasMemory() ? '/dev/shm' : tmpdir(), 'vidimus-cluster-'))
  folders.add(dir)
  giveToPostgres(dir)
  return dir
}

/** fsync is on, as the service demands; in memory it costs nothing. */
function hasMemory(): boolean {
  if (!existsSync('/dev/shm')) return false
  const { bavail, bsize } = statfsSync('/dev/shm')
  return bavail * bsize > MEMORY_MIN_BYTES
}

export function giveToPostgres(path: string, mode = 0o700): void {
  chmodSync(path, mode)
  const ids = isRoot ? userIds() : undefined
  if (ids) chownSync(path, ids.uid, ids.gid)
}

export type Cluster = {
  dir: string
  port: number
  /** For the superuser, who needs no password. */
  url(database?: string): string
  configure(lines: string[]): void
  start(): Promise<void>
  stop(mode?: keyof typeof SIGNALS): Promise<void>
  /** Rows of one statement, as the superuser. */
  query<Row = Record<string, unknown>>(text: string, database?: string): Promise<Row[]>
}

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

type Options = { settings?: string[]; access?: string[]; initdb?: string[] }

/** Listens on 127.0.0.1 and on a socket in its folder. */
export async function startCluster({ settings = [], access, initdb = [] }: Options = {}): Promise<Cluster> {
  const dir = join(postgresDir(), 'data')
  asPostgres(program('initdb'), ['-D', dir, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--no-sync', '--data-checksums', ...initdb])
  const cluster = clusterIn(dir, await freePort())
  cluster.configure(settings)
  if (access) writeFileSync(join(dir, 'pg_hba.conf'), `${access.join('\n')}\n`)
  await cluster.start()
  return cluster
}

/** A cluster in a folder that is there already, such as a standby or a restored one. */
export function clusterIn(dir: string, port: number): Cluster {
  const socketDir = join(dir, '..')
  let server: Server | undefined
  const cluster: Cluster = {
    dir,
    port,
    url: (database = 'postgres') => `postgres://${USER}@127.0.0.1:${port}/${database}`,
    configure: lines => appendFileSync(join(dir, 'postgresql.conf'), `${lines.join('\n')}\n`),
    async start() {
      const options = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${socketDir}`]
      server = startServer([program('postgres'), '-D', dir, ...options.flatMap(option => ['-c', option])])
      running.add(cluster)
      await ready(server.stderr)
    },
    async stop(mode = 'fast') {
      running.delete(cluster)
      server?.kill(SIGNALS[mode])
      await server?.exited
    },
    async query(text, database = 'postgres') {
      const client = new SQL({
        adapter: 'postgres',
        path: join(socketDir, `.s.PGSQL.${port}`),
        username: USER,
        database,
        max: 1,
      })
      try {
        return await client.unsafe(text)
      } finally {
        await client.close()
      }
    },
  }
  return cluster
}

type Server = ReturnType<typeof startServer>

const startServer = (command: string[]) =>
  Bun.spawn(asUser(command), { cwd: '/', env: ENVIRONMENT, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })

async function ready(output: ReadableStream<Uint8Array>): Promise<void> {
  const reader = output.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader()
  let text = ''
  while (!/ready to accept (read-only )?connections/.test(text)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`PostgreSQL did not start: ${text}`)
    text += value
  }
  // A pipe that nobody reads would stop the server.
  void (async () => {
    while (!(await reader.read()).done);
  })()
}

process.on('exit', () => {
  for (const cluster of running) void cluster.stop('immediate')
  removeFolders()
})

export async function stopClusters(): Promise<void> {
  await Promise.all([...running].map(cluster => cluster.stop('immediate')))
  removeFolders()
}

function removeFolders(): void {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true })
  folders.clear()
}

/** A new database, by its URL for the superuser. */
export async function newDatabase(cluster: Cluster, name: string, how = "ENCODING 'UTF8' TEMPLATE template0"): Promise<string> {
  await cluster.query(`CREATE DATABASE "${name}" ${how}`)
  return cluster.url(name)
}
