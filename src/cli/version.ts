import { Database } from 'bun:sqlite'
import { version } from '../../package.json' with { type: 'json' }
import { parseCall, print, UsageError } from './output.ts'

export async function runVersion(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, {})
  if (values.help) return print('usage: vidimus version [--json]\n\nexample: vidimus version --json')
  if (words.length) throw new UsageError(`version takes no "${words[0]}"`)
  const sqlite = new Database(':memory:').query<{ version: string }, []>('SELECT sqlite_version() AS version').get()?.version
  print(
    values.json
      ? JSON.stringify({ version, bun: Bun.version, sqlite })
      : `vidimus ${version} (bun ${Bun.version}, sqlite ${sqlite})`,
  )
  return 0
}
