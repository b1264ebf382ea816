import { join } from 'node:path'
import { version } from '../../../package.json' with { type: 'json' }
import { type Config, loadConfig } from '../../config.ts'
import type { DatabaseSettings } from '../../db/database-url.ts'
import { backupsFolder } from '../../db/files.ts'
import { listPending, upgradeServer } from '../../db/storage/upgrade.ts'
import { createDeps } from '../../deps.ts'
import { realWorld } from '../../ground.ts'
import { type Answer, defineCommand } from '../command.ts'
import { toggle } from '../flags.ts'
import { CommandError, UsageError } from '../output.ts'
import { requireDatabase } from '../require-database.ts'

export const command = defineCommand(
  {
    summary: 'bring the database up to date, or show what that would do',
    flags: {
      'dry-run': toggle('change nothing and list what would be applied; this works beside a running server'),
      finish: toggle('PostgreSQL: also take away what only nodes of the earlier version used; refused while one of them runs'),
    },
    about: `Brings the database up to date with this program, as the next start of the service does by itself.
All other commands refuse an older database.

Before that, the database is copied to backups/before-MIGRATION.db, which the program that was used
so far can restore. That copy is the only way back. An upgrade that was killed in the middle goes
on at the next start.

On PostgreSQL no copy is made, and nodes of the earlier version keep running: additions come first,
then you restart the nodes one by one, and --finish ends it. VIDIMUS_DATABASE_OWNER_URL names the
user that may change the schema; the user of VIDIMUS_DATABASE_URL is granted what the service needs.`,
    example: 'vidimus upgrade --dry-run',
  },
  async ({ dryRun, finish }, { env }) => {
    const config = loadConfig(env)
    if (config.database) return await upgradeOnServer(config.database, dryRun, finish)
    if (finish) throw new UsageError('--finish is for PostgreSQL: an upgrade of the database file is finished at once')
    await requireDatabase(config)
    const migrations = dryRun ? await listPending(config) : await upgrade(config)
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

async function upgradeOnServer(settings: DatabaseSettings, isDryRun: boolean, isFinish: boolean): Promise<Answer> {
  const now = realWorld().now()
  const { applied, left, older } = await upgradeServer(settings, { now, version, isFinish, isDryRun })
  if (older.length > 0)
    throw new CommandError(`nodes of an earlier version still run; restart them with this program first: ${older.join(', ')}`)
  const list =
    applied.length === 0 ? 'The database is up to date.' : `${isDryRun ? 'To be applied' : 'Applied'}: ${applied.join(', ')}.`
  const rest = `Left for "vidimus upgrade --finish", when no node of an earlier version runs any more: ${left.join(', ')}.`
  return {
    json: { dry_run: isDryRun, migrations: applied, copy: null, left },
    text: left.length === 0 ? list : `${list}\n${rest}`,
  }
}

async function upgrade(config: Config): Promise<readonly string[]> {
  const deps = await createDeps(config, realWorld(), 'upgrade')
  try {
    return deps.upgraded
  } finally {
    await deps.close()
  }
}
