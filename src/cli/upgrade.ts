import { join } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { inspect } from '../db/sqlite/data-dir.ts'
import { backupsFolder, databaseFile } from '../db/sqlite/files.ts'
import { countApplied, MIGRATIONS } from '../db/sqlite/migrate.ts'
import { refusalFrom } from '../db/sqlite/refusal.ts'
import { createDeps } from '../deps.ts'
import { realWorld } from '../ground.ts'
import { ensureTestSecrets } from '../tenants/webhook-secret.ts'
import { parseCall, print, UsageError } from './output.ts'
import { requireDatabase } from './require-database.ts'

const HELP = `usage: vidimus upgrade [--dry-run] [--json]

Brings the database up to date with this program, as the next start of the service does by itself; all other commands refuse an older database.
Before that the database is copied to backups/before-MIGRATION.db, which the program that was used so far can restore. Killed in the middle, the
upgrade goes on at the next start. There is no way back but that copy. --dry-run touches nothing and lists what would be applied; it works beside
a running server.

example: vidimus upgrade --dry-run`

export async function runUpgrade(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, { 'dry-run': { type: 'boolean' } })
  if (values.help) return print(HELP)
  if (words.length) throw new UsageError(`upgrade takes no "${words[0]}"`)
  const config = loadConfig(process.env)
  const { dataDir: dir } = config
  requireDatabase(dir)
  const isDryRun = values['dry-run'] ?? false
  const steps = isDryRun ? pendingIn(dir) : await upgrade(config)
  const copy = steps.length ? join(backupsFolder(dir), `before-${steps[0]}.db`) : null
  if (values.json) return print(JSON.stringify({ dry_run: isDryRun, migrations: steps, copy }))
  if (!copy) return print('The database is up to date.')
  return print(
    isDryRun
      ? `To be applied: ${steps.join(', ')}.\nBefore that, the database will be copied to ${copy}`
      : `Applied: ${steps.join(', ')}.\nThe database from before is ${copy}`,
  )
}

/** What the next start would apply. */
export function pendingIn(dir: string): string[] {
  try {
    const applied = inspect(databaseFile(dir), reader => countApplied(reader))
    return MIGRATIONS.slice(applied).map(([id]) => id)
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  }
}

async function upgrade(config: Config): Promise<readonly string[]> {
  const deps = createDeps(config, realWorld(), 'upgrade')
  try {
    await ensureTestSecrets(deps)
    return deps.upgraded
  } finally {
    await deps.close()
  }
}
