import { join } from 'node:path'
import { type Config, loadConfig } from '../config.ts'
import { backupsFolder } from '../db/files.ts'
import { inspect } from '../db/sqlite/data-dir.ts'
import { databaseFile } from '../db/sqlite/files.ts'
import { countApplied, MIGRATIONS } from '../db/sqlite/migrate.ts'
import { refusalFrom } from '../db/sqlite/refusal.ts'
import { createDeps } from '../deps.ts'
import { realWorld } from '../ground.ts'
import { ensureTestSecrets } from '../tenants/webhook-secret.ts'
import { defineCommand } from './command.ts'
import { toggle } from './flags.ts'
import { requireDatabase } from './require-database.ts'

export const command = defineCommand(
  {
    summary: 'bring the database up to date, or show what that would do',
    flags: {
      'dry-run': toggle('change nothing and list what would be applied; this works beside a running server'),
    },
    about: `Brings the database up to date with this program, as the next start of the service does by itself.
All other commands refuse an older database.

Before that, the database is copied to backups/before-MIGRATION.db, which the program that was used
so far can restore. That copy is the only way back. An upgrade that was killed in the middle goes
on at the next start.`,
    example: 'vidimus upgrade --dry-run',
  },
  async ({ dryRun }, { env }) => {
    const config = loadConfig(env)
    requireDatabase(config.dataDir)
    const migrations = dryRun ? pendingIn(config.dataDir) : await upgrade(config)
    const copy = migrations.length ? join(backupsFolder(config.dataDir), `before-${migrations[0]}.db`) : null
    return { json: { dry_run: dryRun, migrations, copy }, text: describe(migrations, copy, dryRun) }
  },
)

function describe(migrations: readonly string[], copy: string | null, isDryRun: boolean): string {
  if (!copy) return 'The database is up to date.'
  const list = migrations.join(', ')
  return isDryRun
    ? `To be applied: ${list}.\nBefore that, the database will be copied to ${copy}`
    : `Applied: ${list}.\nThe database from before is ${copy}`
}

/** The migrations that the next start would apply. */
export function pendingIn(dir: string): string[] {
  try {
    const applied = inspect(databaseFile(dir), reader => countApplied(reader))
    return MIGRATIONS.slice(applied).map(([id]) => id)
  } catch (error) {
    throw refusalFrom(error, dir, databaseFile(dir))
  }
}

async function upgrade(config: Config): Promise<readonly string[]> {
  const deps = await createDeps(config, realWorld(), 'upgrade')
  try {
    await ensureTestSecrets(deps)
    return deps.upgraded
  } finally {
    await deps.close()
  }
}
