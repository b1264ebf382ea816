import { version } from '../../package.json' with { type: 'json' }
import { engineVersions } from '../db/version.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({ summary: 'print versions', example: 'vidimus version --json' }, async () => {
  const parts = { bun: Bun.version, ...engineVersions() }
  const named = Object.entries(parts).map(([name, value]) => `${name} ${value}`)
  return { json: { version, ...parts }, text: `vidimus ${version} (${named.join(', ')})` }
})
