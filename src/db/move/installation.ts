// An installation, moved from its database file to PostgreSQL. The server is stopped, the master key stays the same.
import type { Random } from '../../base/ids.ts'
import { createSealer, type Sealer } from '../../base/seal.ts'
import { databaseFile } from '../database-file.ts'
import type { DatabaseSettings } from '../database-url.ts'
import type { Db } from '../engine.ts'
import { damaged } from '../file-refusal.ts'
import { withOwner } from '../postgres/open.ts'
import { grantTo } from '../postgres/roles.ts'
import { OlderDatabase } from '../refusal.ts'
import { findWrapper, type MasterKey, openRootKey } from '../root-key.ts'
import { withDatabaseAlone } from '../sqlite/alone.ts'
import { findRootKey, refuseMoved } from '../sqlite/installation.ts'
import { countApplied, MIGRATIONS } from '../sqlite/migrate.ts'
import { drizzleOn, openReader, openWriter } from '../sqlite/storage.ts'
import { finishMove, inspectTarget, type Moved, moveRows, type OnProgress, refuseWithoutRights, type Source } from './move.ts'
import { tablesOf } from './rows.ts'

export type Move = { tables: { name: string; rows: number }[]; isDone: boolean; auditHead: string }

type MoveOptions = {
  dir: string
  masterKey: MasterKey
  settings: DatabaseSettings
  now: number
  random: Random
  isDryRun: boolean
  onProgress: OnProgress
}

/** Returns the head of the audit chain of the file, or refuses it. */
type Verify = (db: Db, sealer: Sealer) => Promise<string>

export function moveInstallation(wanted: MoveOptions, verify: Verify): Promise<Move> {
  return withDatabaseAlone(wanted.dir, file => moveFile(wanted, file, verify))
}

async function moveFile(wanted: MoveOptions, path: string, verify: Verify): Promise<Move> {
  const { settings, now, isDryRun, onProgress } = wanted
  const source = await readSource(path)
  try {
    const auditHead = await verify(drizzleOn(source.file), sealerOf(source, wanted))
    return await withOwner(settings, async session => {
      const state = await inspectTarget(session, source)
      if (state === 'empty') await refuseWithoutRights(session)
      if (isDryRun) return { tables: countsOf(source), isDone: false, auditHead }
      let moved: Moved = { tables: countsOf(source).map(table => ({ ...table, digest: '' })) }
      if (state !== 'finished') {
        moved = await moveRows(session, source, now, onProgress)
        if (settings.owner && settings.owner.user !== settings.user) await grantTo(session, settings.user)
        await finishMove(session, source.fingerprint)
      }
      source.file.close()
      markMoved(path, nameOf(settings))
      return { ...moved, isDone: true, auditHead }
    })
  } finally {
    source.file.close()
  }
}

/** With an empty log the file alone is the database, and its bytes tell whether it changed. */
async function readSource(path: string): Promise<Source> {
  const writer = openWriter(path)
  writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  writer.close()
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk)
  return { file: openReader(path), fingerprint: hash.digest('hex') }
}

function sealerOf({ file }: Source, { dir, masterKey, random }: MoveOptions): Sealer {
  if (countApplied(file) < MIGRATIONS.length) throw new OlderDatabase()
  refuseMoved(file)
  const wrapped = findRootKey(file)
  if (!wrapped) throw damaged(databaseFile(dir))
  return createSealer(openRootKey(findWrapper(masterKey, wrapped, random), wrapped), random)
}

const countsOf = ({ file }: Source): { name: string; rows: number }[] =>
  tablesOf(file).map(({ name }) => ({
    name,
    rows: file.query<{ count: number }, []>(`SELECT count(*) AS count FROM "${name}"`).get()!.count,
  }))

/** Without user and password. */
const nameOf = ({ host, port, database }: DatabaseSettings): string => `postgres://${host}:${port}/${database}`

function markMoved(path: string, name: string): void {
  const writer = openWriter(path)
  try {
    writer.query("INSERT INTO installation (name, value) VALUES ('moved_to', ?)").run(Buffer.from(name))
    writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    writer.close()
  }
}
