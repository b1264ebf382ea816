// `bun run migration NAME` adds a migration to the chain of each engine, drizzle/*/000N_NAME.sql, with what the schema says and
// the chain does not yet. Files of the chain are never written again. Prints what is left to do by hand.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')

/** Tables of PostgreSQL that are written by hand. */
const BY_HAND = ['audit-entries.ts', 'portraits.ts']
const PAGES = readdirSync(join(ROOT, 'src/db/schema')).filter(page => !BY_HAND.includes(page))

type Engine = {
  folder: string
  dialect: string
  url: string
  /** Pages of src/db/schema. */
  schema: string[]
  /** Adds to the text what drizzle-kit cannot express. */
  mend?: (sql: string) => string
  /** Text of a statement that somebody must write anew. */
  byHand?: { pattern: RegExp; reason: string }
}

export const ENGINES: Engine[] = [
  {
    folder: 'sqlite',
    dialect: 'sqlite',
    url: '',
    schema: [...PAGES, 'portraits.ts'],
    // The primary key is the table. A table that SQLite cannot alter is made anew under another name.
    mend: sql => sql.replace(/(CREATE TABLE `(?:__new_)?verification_terms` \([^;]*\));/, '$1 WITHOUT ROWID;'),
    byHand: { pattern: /__new_/, reason: 'foreign keys cannot be switched off inside a migration' },
  },
  {
    folder: 'postgres',
    dialect: 'postgresql',
    url: 'postgres:',
    schema: PAGES,
    byHand: { pattern: /"audit_records"/, reason: 'audit_records is a view of audit_links and audit_entries' },
  },
]

type Generated = {
  /** With copies of the chain's files and the new ones. */
  dir: string
  /** Name of the new migration, or undefined when the schema says nothing new. */
  id: string | undefined
}

/** Runs drizzle-kit on a copy of the chain, in a directory of its own. */
export async function generate({ folder, dialect, url, schema }: Engine, name: string, dir: string): Promise<Generated> {
  cpSync(join(ROOT, 'drizzle', folder), join(dir, 'out'), { recursive: true })
  const before = readdirSync(join(dir, 'out'))
  const config = { dialect, schema: schema.map(page => join(ROOT, 'src/db/schema', page)), out: './out' }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config))
  const kit = join(ROOT, 'node_modules/.bin/drizzle-kit')
  const said = await run([kit, 'generate', '--config', join(dir, 'config.json'), '--name', name], dir, url)
  const [file] = readdirSync(join(dir, 'out')).filter(each => !before.includes(each))
  // It ends with 0 after a question, whether a column is new or has another name, as nobody answers here.
  if (!file && !said.includes('No schema changes'))
    throw new Error(`${said}\nAdd the new column in one migration, and drop the old one in a later one.`)
  return { dir: join(dir, 'out'), id: file?.replace(/\.sql$/, '') }
}

function add({ folder, byHand, mend = sql => sql }: Engine, { dir, id }: Generated): void {
  if (!id) return void process.stdout.write(`drizzle/${folder}: no change\n`)
  const chain = join(ROOT, 'drizzle', folder)
  const sql = `${mend(readFileSync(join(dir, `${id}.sql`), 'utf8'))}\n`
  writeFileSync(join(chain, `${id}.sql`), sql, { flag: 'wx' })
  // Only the newest snapshot is kept.
  rmSync(join(chain, 'meta'), { recursive: true })
  for (const kept of ['_journal.json', `${id.slice(0, 4)}_snapshot.json`])
    cpSync(join(dir, 'meta', kept), join(chain, 'meta', kept))
  process.stdout.write(`drizzle/${folder}/${id}.sql: written; add it to MIGRATIONS in src/db/${folder}/migrate.ts\n`)
  if (byHand?.pattern.test(sql)) process.stdout.write(`  write its statement by hand: ${byHand.reason}\n`)
}

/** The output of one of our tools. */
async function run(command: string[], cwd: string, url = ''): Promise<string> {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd,
    env: { ...process.env, VIDIMUS_DATABASE_URL: url },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const said = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(said)
  return said
}

if (import.meta.main) {
  const [name = ''] = process.argv.slice(2)
  if (!/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name)) throw new Error('usage: bun run migration NAME, such as add_a_note')
  const made = mkdtempSync(join(tmpdir(), 'vidimus-migration-'))
  try {
    // Both, before anything is written.
    const both: [Engine, Generated][] = []
    for (const engine of ENGINES) both.push([engine, await generate(engine, name, join(made, engine.folder))])
    for (const [engine, generated] of both) add(engine, generated)
  } finally {
    rmSync(made, { recursive: true })
  }
  // As "bun run check" wants the snapshots.
  await run(['node_modules/.bin/biome', 'format', '--write', 'drizzle'], ROOT)
}
