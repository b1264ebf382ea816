// `bun run migration` writes the one migration of each engine, drizzle/*/0000_ground.sql, from src/db/schema/: until 0.1.0
// is released it is edited in place. What stands below the mark is written by hand, and kept. Development databases of before
// are refused afterwards, with exit code 30.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')
const SCHEMA = 'src/db/schema'
const NAME = 'ground'
const FILE = `0000_${NAME}.sql`
const BREAK = '--> statement-breakpoint\n'
const MARK = '-- By hand from here on.\n'

type Engine = {
  folder: string
  dialect: string
  url: string /** Tables that are written by hand, or have another name here. */
  apart: string[]
  mend: (sql: string) => string
}

const ENGINES: Engine[] = [
  {
    folder: 'sqlite',
    dialect: 'sqlite',
    url: '',
    apart: ['audit-entries.ts'],
    // The primary key is the table: drizzle-kit has no word for it.
    mend: sql => replaced(sql, /(CREATE TABLE `verification_terms` \([^;]*\));/, '$1 WITHOUT ROWID;'),
  },
  {
    folder: 'postgres',
    dialect: 'postgresql',
    url: 'postgres:',
    apart: ['audit-entries.ts', 'portraits.ts'],
    // There it is a view of two tables, which are written by hand.
    mend: sql => replaced(sql, /CREATE TABLE "audit_records" \([^;]*\);\n--> statement-breakpoint\n/, ''),
  },
]

for (const engine of ENGINES) await write(engine)
// As "bun run check" wants the snapshots.
await run(['node_modules/.bin/biome', 'format', '--write', 'drizzle'], ROOT)

async function write(engine: Engine): Promise<void> {
  const { folder, mend } = engine
  const place = join(ROOT, 'drizzle', folder)
  const [, byHand] = existsSync(join(place, FILE)) ? readFileSync(join(place, FILE), 'utf8').split(MARK) : []
  const made = mkdtempSync(join(tmpdir(), 'vidimus-migration-'))
  try {
    const sql = mend(await generated(made, engine))
    rmSync(place, { recursive: true, force: true })
    mkdirSync(place, { recursive: true })
    cpSync(join(made, 'out/meta'), join(place, 'meta'), { recursive: true })
    writeFileSync(join(place, FILE), byHand === undefined ? sql : `${sql}${BREAK}${MARK}${byHand}`)
    process.stdout.write(`drizzle/${folder}/${FILE}: written\n`)
  } finally {
    rmSync(made, { recursive: true })
  }
}

/** In a folder without earlier ones, so that it is the whole schema. */
async function generated(dir: string, { dialect, url, apart }: Engine): Promise<string> {
  const schema = readdirSync(join(ROOT, SCHEMA)).filter(name => !apart.includes(name))
  const config = { dialect, schema: schema.map(name => join(ROOT, SCHEMA, name)), out: './out' }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config))
  const kit = join(ROOT, 'node_modules/.bin/drizzle-kit')
  const said = await run([kit, 'generate', '--config', join(dir, 'config.json'), '--name', NAME], dir, url)
  if (!existsSync(join(dir, 'out', FILE))) throw new Error(said)
  return `${readFileSync(join(dir, 'out', FILE), 'utf8')}\n`
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

function replaced(sql: string, pattern: RegExp, by: string): string {
  if (!pattern.test(sql)) throw new Error(`the generated file has no ${pattern}`)
  return sql.replace(pattern, by)
}
