// A PostgreSQL server of its own, for tests that configure, stop or restore one. PostgreSQL refuses to run as root, so root
// starts it as the user postgres.
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from './free-port.ts'

/** Debian keeps the programs of each version in a folder of its own. */
const FOLDERS = existsSync('/usr/lib/postgresql')
  ? readdirSync('/usr/lib/postgresql')
      .sort((a, b) => Number(b) - Number(a))
      .map(version => `/usr/lib/postgresql/${version}/bin`)
  : []
const PROGRAMS = FOLDERS.find(folder => existsSync(join(folder, 'initdb')))

export const hasPostgres = PROGRAMS !== undefined

/** For titles: a test that cannot run says so. */
export const unlessMissing = (title: string): string =>
  hasPostgres ? title : `SKIPPED, as there is no PostgreSQL server here: ${title}`

const isRoot = process.getuid?.() === 0
const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']).toString())

export function asPostgres(command: string, args: string[], env: Record<string, string> = {}): string {
  const call = isRoot ? ['runuser', '-u', 'postgres', '--', command, ...args] : [command, ...args]
  return execFileSync(call[0]!, call.slice(1), {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString()
}

export const program = (name: string): string => join(PROGRAMS!, name)

/** A folder that PostgreSQL can read and write. */
export function postgresDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'vidimus-cluster-'))
  folders.add(dir)
  giveToPostgres(dir)
  return dir
}

export function giveToPostgres(path: string, mode = 0o700): void {
  chmodSync(path, mode)
  if (isRoot) chownSync(path, idOf('-u'), idOf('-g'))
}

const folders = new Set<string>()
const running = new Set<Cluster>()

export type Cluster = {
  dir: string
  port: number
  /** For the superuser, who needs no password. */
  url(database?: string): string
  configure(lines: string[]): void
  start(): void
  stop(mode?: 'fast' | 'immediate'): void
  /** Rows of one statement, as the superuser. */
  query<Row = Record<string, unknown>>(text: string, database?: string): Promise<Row[]>
}

type Options = { settings?: string[]; access?: string[]; initdb?: string[] }

/** Listens on 127.0.0.1 and on a socket in its folder. */
export async function startCluster({ settings = [], access, initdb = [] }: Options = {}): Promise<Cluster> {
  const dir = join(postgresDir(), 'data')
  asPostgres(program('initdb'), ['-D', dir, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '-k', ...initdb])
  const cluster = clusterIn(dir, await freePort())
  cluster.configure(settings)
  if (access) {
    rmSync(join(dir, 'pg_hba.conf'))
    appendFileSync(join(dir, 'pg_hba.conf'), `${access.join('\n')}\n`)
    giveToPostgres(join(dir, 'pg_hba.conf'))
  }
  cluster.start()
  return cluster
}

/** A cluster in a folder that is there already, such as a standby or a restored one. */
export function clusterIn(dir: string, port: number): Cluster {
  const socketDir = join(dir, '..')
  const cluster: Cluster = {
    dir,
    port,
    url: (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`,
    configure: lines => appendFileSync(join(dir, 'postgresql.conf'), `${lines.join('\n')}\n`),
    start() {
      const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${socketDir} -c max_connections=100`
      asPostgres(program('pg_ctl'), ['-D', dir, '-w', '-o', options, '-l', join(socketDir, 'log'), 'start'])
      running.add(cluster)
    },
    stop(mode = 'fast') {
      asPostgres(program('pg_ctl'), ['-D', dir, '-w', '-m', mode, 'stop'])
      running.delete(cluster)
    },
    async query(text, database = 'postgres') {
      const client = new SQL({
        adapter: 'postgres',
        path: join(socketDir, `.s.PGSQL.${port}`),
        username: 'postgres',
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

process.on('exit', () => {
  for (const cluster of running) cluster.stop('immediate')
})

export async function stopClusters(): Promise<void> {
  for (const cluster of running) cluster.stop('immediate')
  for (const dir of folders) if (statSync(dir, { throwIfNoEntry: false })) rmSync(dir, { recursive: true, force: true })
}

/** A new database, by its URL for the superuser. */
export async function newDatabase(cluster: Cluster, name: string, how = "ENCODING 'UTF8' TEMPLATE template0"): Promise<string> {
  await cluster.query(`CREATE DATABASE "${name}" ${how}`)
  return cluster.url(name)
}
