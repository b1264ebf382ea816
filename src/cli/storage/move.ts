import { type Config, ConfigError, loadConfig } from '../../config.ts'
import { Differs, type OnProgress } from '../../db/move/move.ts'
import { StartRefusal } from '../../db/refusal.ts'
import { realWorld } from '../../ground.ts'
import { moveToPostgres } from '../../upkeep/move.ts'
import { defineCommand } from '../command.ts'
import { required, text, toggle } from '../flags.ts'
import { CommandError, type Shell } from '../output.ts'
import { requireDatabase } from '../require-database.ts'

const SHOWN_EVERY_ROWS = 10_000

export const command = defineCommand(
  {
    summary: 'move the installation from its database file to PostgreSQL',
    flags: {
      to: required(text('URL'), 'an empty database, written as in VIDIMUS_DATABASE_URL; its other variables count too'),
      'dry-run': toggle('check both sides and count the rows, but copy nothing'),
    },
    about: `Copies the database file of VIDIMUS_DATA_DIR to PostgreSQL; the server must be stopped.
Every table is compared afterwards, the audit chain is verified, and only then the new database
serves and the file refuses to. A move that was killed goes on where it was when you call it
again.

The file stays where it is, with everybody's data in it: delete it, and its backups, when you are
sure. Every node needs the same master.key, and the other files of VIDIMUS_KEY_DIR.`,
    example: 'vidimus move --to "postgres://vidimus@db.example/vidimus?sslmode=verify-full" --dry-run',
  },
  async ({ to, dryRun, json }, { env, complain }) => {
    if (env.VIDIMUS_DATABASE_URL?.trim())
      throw new CommandError(
        'VIDIMUS_DATABASE_URL is set, but the file of VIDIMUS_DATA_DIR is moved; unset it, and name the new database with --to',
      )
    const config = configFor(env, to)
    await requireDatabase({ ...config, database: undefined })
    const { now, random } = realWorld()
    const onProgress: OnProgress = (table, rows, act) => {
      // Small tables take no time that anybody would notice.
      const isShown = act === 'copied' ? rows % SHOWN_EVERY_ROWS === 0 : rows >= SHOWN_EVERY_ROWS
      if (!json && isShown) complain(`${table}: ${rows} rows ${act}`)
    }
    const { dataDir: dir, masterKey, keyDir, database: settings } = config
    const wanted = { dir, masterKey, keyDir, settings: settings!, now: now(), random, isDryRun: dryRun, onProgress }
    const { tables, isDone, auditHead } = await moveToPostgres(wanted).catch(error => {
      if (!(error instanceof Differs)) throw namingTarget(error)
      throw new CommandError(`${error.message}; the file serves as before: make the new database anew, and move again`)
    })
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    const total = `${rows} rows of ${tables.filter(table => table.rows > 0).length} tables`
    return {
      json: { dry_run: dryRun, tables, audit_head: auditHead },
      text: isDone
        ? `${total} are in the new database, and were compared; the audit chain ends in ${auditHead} there too.
Set VIDIMUS_DATABASE_URL on every node, and give each of them the keys in ${keyDir}. The file in ${dir} serves no more.`
        : `${total} would be copied. Both sides can be used.`,
    }
  },
)

function configFor(env: Shell['env'], to: string): Config {
  try {
    return loadConfig({ ...env, VIDIMUS_DATABASE_URL: to, VIDIMUS_BACKUPS: 'off' })
  } catch (error) {
    throw namingTarget(error)
  }
}

/** The variable, which other commands read, is not set here. A file that was moved before names it as the next step. */
function namingTarget(error: unknown): unknown {
  if (error instanceof ConfigError) return new ConfigError(named(error.message))
  if (!(error instanceof StartRefusal) || error.reason === 'database_moved') return error
  return new StartRefusal(error.reason, named(error.message), error)
}

const named = (message: string): string => message.replaceAll('VIDIMUS_DATABASE_URL', '--to')
