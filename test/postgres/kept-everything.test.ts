// Somebody keeps every file that PostgreSQL and the service ever wrote, but the keys. PostgreSQL leaves deleted rows in its
// files, its log and its dumps; after the window nothing of an erased person opens from any of it.
import { expect } from 'bun:test'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, type TestApp, temporaryDir, until } from '../helpers/app.ts'
import { newDatabase, postgresDir } from '../helpers/cluster.ts'
import { postgresOnly } from '../helpers/engines.ts'
import { onlyFilesContaining } from '../helpers/files.ts'
import { keepCopy, openedTexts, passDay, type SealedRows, sealedRows } from '../helpers/keys.ts'
import { QUERIES } from '../helpers/queries.ts'
import { type Receiver, receive, startAppFor } from '../helpers/receiver.ts'
import { runOn, shareCluster } from '../helpers/shared-cluster.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const WINDOW_DAYS = 14

// All of the log is kept, in small files.
const cluster = shareCluster({ initdb: ['--wal-segsize=1'], settings: ['wal_keep_size = 1GB'] }, cleanUp)

/** Answered, with everything that a session can have: secrets, query, result, moments, an attempt, a kept 201, audit details. */
async function answered(app: TestApp, key: string, shop: Receiver, name: string): Promise<string> {
  app.clock.advance(1000)
  const headers = { 'idempotency-key': `order-${name}-0001` }
  const body = { ...QUERIES['dc+sd-jwt'], webhook_url: shop.url(), purpose: `for ${name}`, metadata: { name } }
  const { id, wallet_uri } = (await app.call<Verification>('POST', '/v1/verifications', { key, body, headers })).body
  await answerWith(app, await holderOf(app), wallet_uri ?? '')
  await until(async () => {
    const { attempts, records } = await rowsAbout(id)
    return attempts.length > 0 && records.length > 0
  })
  return id
}

async function rowsAbout(id: string, database = 'vidimus'): Promise<SealedRows> {
  const [root] = await cluster.query<{ value: Buffer }>("SELECT value FROM installation WHERE name = 'root_key'", database)
  return await sealedRows(root!.value, sql => cluster.query(sql.replaceAll('?', `'${id}'`), database))
}

/** The files of the database and of the log, as they are on the disk. */
async function keepFiles(): Promise<string> {
  await cluster.query('SELECT pg_switch_wal()')
  await cluster.query('CHECKPOINT')
  const [found] = await cluster.query<{ oid: number }>("SELECT oid FROM pg_database WHERE datname = 'vidimus'")
  const copy = temporaryDir()
  for (const folder of [`base/${found!.oid}`, 'pg_wal'])
    cpSync(join(cluster.dir, folder), join(copy, folder), { recursive: true })
  return copy
}

function keepDump(): string {
  const file = join(postgresDir(), 'dump.sql')
  runOn(cluster, 'pg_dump', ['-f', file, 'vidimus'])
  return file
}

const allSealed = ({ session, results, events, attempts, replays, records }: SealedRows): Buffer[] =>
  [session!, { sealed: session!.sealed_query }, ...results, ...events, ...attempts, ...replays, ...records].flatMap(
    ({ sealed }) => Buffer.from((sealed as Uint8Array) ?? []),
  )

postgresOnly('these are its files')(
  'after the window nothing about an erased person opens from any file of PostgreSQL, and the living still open',
  async () => {
    const shop = receive()
    const url = await newDatabase(cluster, 'vidimus')
    const { database } = loadConfig({ VIDIMUS_DATABASE_URL: url })
    const app = await startAppFor([shop], { config: { database, keyWindowDays: WINDOW_DAYS } })
    const { key } = await app.tenant()
    const files: string[] = []
    const keep = async () => void files.push(await keepFiles(), keepCopy(app.dir))
    const erase = async (id: string) => expect((await app.call('DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)

    await keep()
    const soon = await answered(app, key, shop, 'Erika')
    const erased = [await rowsAbout(soon)]
    const later = await answered(app, key, shop, 'Max')
    const living = await answered(app, key, shop, 'Kim')
    await keep()
    const dump = keepDump()
    await erase(soon)
    await keep()
    // Each day the key of the session is wrapped under another one.
    for (let day = 0; day < 3; day++) {
      erased.push(await rowsAbout(later))
      await passDay(app)
    }
    erased.push(await rowsAbout(later))
    await keep()
    await erase(later)
    await keep()

    // Whatever was read beside the service is still there after the erasure, for whoever has the disk.
    const lastFiles = files.at(-2)!
    for (const sealed of new Set(erased.flatMap(allSealed)))
      expect([sealed.length > 0, onlyFilesContaining(lastFiles, sealed).length > 0]).toEqual([true, true])
    for (const { wrapped } of erased.flatMap(rows => rows.wrapped))
      expect(onlyFilesContaining(lastFiles, wrapped)).not.toEqual([])
    const dumped = readFileSync(dump, 'utf8')
    for (const sealed of allSealed(erased[0]!)) expect(dumped).toContain(`\\\\x${sealed.toString('hex')}`)
    await newDatabase(cluster, 'restored')
    runOn(cluster, 'psql', ['-q', '-f', dump, 'restored'])
    erased.push(await rowsAbout(soon, 'restored'), await rowsAbout(later, 'restored'))
    for (const name of ['Erika', 'Max']) expect(files.flatMap(kept => onlyFilesContaining(kept, `for ${name}`))).toEqual([])

    const everyWrapped = erased.flatMap(({ wrapped }) => wrapped)
    const readable = (id: string) =>
      erased.filter(({ session }) => session?.id === id).map(rows => openedTexts({ ...rows, wrapped: everyWrapped }, app.dir))
    for (const id of [soon, later]) {
      for (const texts of readable(id)) {
        for (const part of [
          '"purpose":"for ',
          '"vct_values"',
          '"family_name":"',
          '"findings"',
          '"address"',
          '"wallet_uri"',
          '"environment"',
        ])
          expect([part, texts.some(text => text.includes(part))]).toEqual([part, true])
      }
    }

    // The day of the erasure, then the window, each with a turn.
    for (let day = 0; day < WINDOW_DAYS + 1; day++) await passDay(app)
    expect([...readable(soon), ...readable(later)].flat()).toEqual([])
    expect(onlyFilesContaining(await keepFiles(), erased[0]!.session!.sealed)).not.toEqual([])

    expect(openedTexts(await rowsAbout(living), app.dir)).not.toEqual([])
    const { body } = await app.call<Verification>('GET', `/v1/verifications/${living}`, { key })
    expect(body).toMatchObject({ status: 'completed', metadata: { name: 'Kim' }, claims: { family_name: expect.any(String) } })
  },
)
