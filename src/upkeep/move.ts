// Moves an installation from its database file to PostgreSQL. The server is stopped, the master key stays the same.
import { createAudit } from '../audit/append.ts'
import { verifyChain } from '../audit/verify.ts'
import {
  finishMove,
  inspectTarget,
  type Moved,
  moveRows,
  type OnProgress,
  refuseWithoutRights,
  type Source,
} from '../db/move/move.ts'
import { tablesOf } from '../db/move/rows.ts'
import type { DatabaseSettings } from '../db/postgres/address.ts'
import { withOwner } from '../db/postgres/open.ts'
import { grantTo } from '../db/postgres/roles.ts'
import { OlderDatabase, StartRefusal } from '../db/refusal.ts'
import { findWrapper, type MasterKey, openRootKey } from '../db/root-key.ts'
import { withDatabaseAlone } from '../db/sqlite/alone.ts'
import { databaseFile } from '../db/sqlite/files.ts'
import { findRootKey, refuseMoved } from '../db/sqlite/installation.ts'
import { countApplied, MIGRATIONS } from '../db/sqlite/migrate.ts'
import { damaged } from '../db/sqlite/refusal.ts'
import { drizzleOn, openReader, openWriter } from '../db/sqlite/storage.ts'
import type { Random } from '../ids.ts'
import { createSealer } from '../seal.ts'
import { createSessionKeys } from '../session-keys/keys.ts'

type Wanted = {
  dir: string
  masterKey: MasterKey
  keyDir: string
  settings: DatabaseSettings
  now: number
  random: Random
  isDryRun: boolean
  onProgress: OnProgress
}

export type Move = { tables: { name: string; rows: number }[]; isDone: boolean; auditHead: string }

export function moveToPostgres(wanted: Wanted): Promise<Move> {
  return withDatabaseAlone(wanted.dir, file => moveFile(wanted, file))
}

async function moveFile(wanted: Wanted, path: string): Promise<Move> {
  const { settings, now, isDryRun, onProgress } = wanted
  const source = await readSource(path)
  try {
    const auditHead = await verifyFile(source, wanted)
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

/** Returns the head of its audit chain, which is sound. */
async function verifyFile({ file }: Source, { dir, masterKey, keyDir, random }: Wanted): Promise<string> {
  if (countApplied(file) < MIGRATIONS.length) throw new OlderDatabase()
  refuseMoved(file)
  const wrapped = findRootKey(file)
  if (!wrapped) throw damaged(databaseFile(dir))
  const sealer = createSealer(openRootKey(findWrapper(masterKey, wrapped, random), wrapped), random)
  const { problem, head } = await verifyChain({
    db: drizzleOn(file),
    sealer,
    sessionKeys: createSessionKeys({ keyDir, sealer, random }),
    audit: createAudit(sealer, random),
  })
  if (problem)
    throw new StartRefusal(
      'database_damaged',
      `record ${problem.seq} of the audit chain is not sound; see "vidimus audit verify", or restore a backup first`,
    )
  return head
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
