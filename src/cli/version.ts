import { Database } from 'bun:sqlite'
import { version } from '../../package.json' with { type: 'json' }
import { defineCommand } from './command.ts'

export const command = defineCommand({ summary: 'print versions', example: 'vidimus version --json' }, async () => {
  const sqlite = new Database(':memory:').query<{ version: string }, []>('SELECT sqlite_version() AS version').get()?.version
  return { json: { version, bun: Bun.version, sqlite }, text: `vidimus ${version} (bun ${Bun.version}, sqlite ${sqlite})` }
})
