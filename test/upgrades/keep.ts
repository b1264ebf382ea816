#!/usr/bin/env bun
// ./scripts/bun test/upgrades/keep.ts VERSION: makes a new installation on each engine with the program as it is, and keeps it in
// test/upgrades/VERSION for upgrades.test.ts. Run when a version is released, once. Needs the programs of PostgreSQL.
import { Database } from 'bun:sqlite'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { loadConfig } from '../../src/config.ts'
import { databaseFile } from '../../src/db/database-file.ts'
import { cleanUp, NOON, temporaryDir } from '../helpers/app.ts'
import { asPostgres, newDatabase, program, startCluster, stopClusters, whyNoCluster } from '../helpers/cluster.ts'
import { makeInstallation, ROWS } from './installation.ts'

const FILE_BYTES_MAX = 64 * 1024
const TIGHT = { level: 9, memLevel: 9 }

const [version = '', engine] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('usage: test/upgrades/keep.ts VERSION')
const folder = join(import.meta.dir, version)

if (engine === undefined) await keepBoth()
else await keep(engine, engine === 'sqlite' ? undefined : process.env.VIDIMUS_DATABASE_URL)
process.exit()

async function keepBoth(): Promise<void> {
  const missing = whyNoCluster()
  if (missing) throw new Error(missing)
  rmSync(folder, { recursive: true, force: true })
  const cluster = await startCluster()
  await inProcess('sqlite', '')
  await inProcess('postgres', await newDatabase(cluster, 'kept'))
  await expectAll('postgres', async sql => (await cluster.query(sql, 'kept')).length)
  // Without the name of this machine.
  await cluster.query("UPDATE job_runs SET node = 'kept'", 'kept')
  const where = ['-h', '127.0.0.1', '-p', String(cluster.port), '-U', 'postgres']
  const dump = asPostgres(program('pg_dump'), [...where, '--no-owner', '--no-acl', 'kept'])
  write('postgres.sql.gz', gzipSync(portable(dump), TIGHT))
  await stopClusters()
  Bun.spawnSync([process.execPath, 'node_modules/.bin/biome', 'format', '--write', folder], { cwd: resolve(folder, '../../..') })
}

/** A process works with one kind of database. */
async function inProcess(engine: string, url: string): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, version, engine], {
    env: { ...process.env, VIDIMUS_DATABASE_URL: url },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  if ((await child.exited) !== 0) throw new Error(`${engine}: not kept`)
}

async function keep(engine: string, url: string | undefined): Promise<void> {
  const dir = temporaryDir()
  const config = url === undefined ? {} : { database: loadConfig({ VIDIMUS_DATABASE_URL: url }).database }
  const facts = await makeInstallation({ dir, now: NOON, config })
  const keys = join(folder, 'keys', engine)
  mkdirSync(keys, { recursive: true })
  for (const name of readdirSync(dir).filter(each => each.endsWith('.key'))) cpSync(join(dir, name), join(keys, name))
  write(`${engine}.json`, `${JSON.stringify(facts, null, 2)}\n`)
  if (url === undefined) await keepFile(databaseFile(dir))
  await cleanUp()
}

async function keepFile(file: string): Promise<void> {
  const sqlite = new Database(file)
  await expectAll('sqlite', sql => sqlite.query(sql).all().length)
  // A copy without free pages and without a log beside it.
  const copy = join(temporaryDir(), 'copy.db')
  sqlite.run('VACUUM INTO ?', [copy])
  sqlite.close()
  write('sqlite.db.gz', gzipSync(readFileSync(copy), TIGHT))
}

/** Throws unless there is a row of every kind. */
async function expectAll(engine: string, count: (sql: string) => number | Promise<number>): Promise<void> {
  for (const [kind, rows] of Object.entries(ROWS))
    if ((await count(`SELECT 1 FROM ${rows}`)) === 0) throw new Error(`${engine}: no row of the kind ${kind}`)
}

/** Without the lines that a server of another version refuses, and without comments. */
function portable(dump: string): string {
  const lines = dump.split('\n').filter(line => !/^(\\(un)?restrict |SET transaction_timeout|--)/.test(line))
  return lines.join('\n').replaceAll(/\n{3,}/g, '\n\n')
}

function write(name: string, content: string | Uint8Array): void {
  const file = join(folder, name)
  writeFileSync(file, content)
  const { size } = statSync(file)
  process.stdout.write(`${name}: ${size} bytes\n`)
  if (size > FILE_BYTES_MAX) throw new Error(`${name} is larger than ${FILE_BYTES_MAX} bytes`)
}
