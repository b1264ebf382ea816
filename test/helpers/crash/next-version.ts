// The program of a next version, which knows migrations that no release has. It runs from source, with this file loaded first.
import { join, resolve } from 'node:path'
import { MIGRATIONS } from '../../../src/db/sqlite/migrate.ts'

export const INVENTED = [
  [
    '9000_notes',
    [
      'CREATE TABLE notes (tenant_id text PRIMARY KEY NOT NULL, note text NOT NULL)',
      'INSERT INTO notes SELECT id, name FROM tenants',
    ].join(';--> statement-breakpoint\n'),
  ],
  [
    '9001_colours',
    ['ALTER TABLE tenants ADD COLUMN colour text', "UPDATE tenants SET colour = 'red'"].join(';--> statement-breakpoint\n'),
  ],
] as const

export const IDS_BEFORE: readonly string[] = MIGRATIONS.map(([id]) => id)
export const IDS_OF_NEXT: readonly string[] = [...IDS_BEFORE, ...INVENTED.map(([id]) => id)]

const MAIN = resolve(import.meta.dir, '../../../src/main.ts')

/** Goes before a call of the program (helpers/cli.ts), and runs this one instead. */
export const NEXT_VERSION = [
  'env',
  'BUN_RUNTIME_TRANSPILER_CACHE_PATH=0',
  'sh',
  '-c',
  `exec "${process.execPath}" --preload "${import.meta.path}" "${MAIN}" "$@"`,
]

/** The copy that an upgrade to the next version makes before. */
export const copyBefore = (dir: string, applied = 0): string => join(dir, 'backups', `before-${INVENTED[applied]![0]}.db`)

// Loaded first by the program above.
if (Bun.main === MAIN) (MIGRATIONS as (typeof MIGRATIONS)[number][]).push(...INVENTED)
