// The database of a data directory. With VIDIMUS_DATABASE_URL in the environment of the tests, each directory has one of
// its own on that PostgreSQL server, made from a template that is migrated once; otherwise it is the file in the directory.

import { basename } from 'node:path'
import { SQL } from 'bun'
import { parseDatabaseUrl } from '../../src/db/postgres/address.ts'

const SERVER = process.env.VIDIMUS_DATABASE_URL
export const isOnPostgres = SERVER !== undefined && SERVER !== ''

const made = new Map<string, string>()

const nameOf = (dir: string): string =>
  basename(dir)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '_')

const urlOf = (name: string): string => {
  const url = new URL(SERVER!)
  url.pathname = `/${name}`
  return url.href
}

let admin: SQL | undefined

/** The environment that leads a service to the database of this directory. */
export async function databaseOf(dir: string): Promise<{ VIDIMUS_DATABASE_URL?: string }> {
  if (!isOnPostgres) return {}
  const name = nameOf(dir)
  if (!made.has(name)) {
    admin ??= clientOf('postgres')
    const [found] = await admin.unsafe('SELECT 1 FROM pg_database WHERE datname = $1', [name])
    if (!found) await admin.unsafe(`CREATE DATABASE "${name}" ENCODING 'UTF8' TEMPLATE template0`)
    made.set(name, dir)
  }
  return { VIDIMUS_DATABASE_URL: urlOf(name) }
}

export async function dropDatabases(): Promise<void> {
  for (const name of made.keys()) await admin!.unsafe(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
  made.clear()
  await admin?.close()
  admin = undefined
}

function clientOf(database: string): SQL {
  const { host, port, user, password, socket } = parseDatabaseUrl(SERVER!)
  return new SQL({
    adapter: 'postgres',
    ...(socket ? { path: socket } : { hostname: host, port }),
    username: user,
    password,
    database,
    max: 1,
  })
}
