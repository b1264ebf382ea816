import { Database } from 'bun:sqlite'
import { version } from '../../package.json' with { type: 'json' }
import { parseCall, print } from './output.ts'

export async function runVersion(args: string[]): Promise<number> {
  const { values } = parseCall(args, {})
  if (values.help) return print('usage: vidimus version [--json]\n\nexample: vidimus version --json')
  const sqlite = new Database(':memory:').query<{ version: string }, []>('SELECT sqlite_version() AS version').get()?.version
  print(
    values.json
      ? JSON.stringify({ version, bun: Bun.version, sqlite })
      : `vidimus ${version} (bun ${Bun.version}, sqlite ${sqlite})`,
  )
  return 0
}
