import { loadConfig } from '../config.ts'
import { StartRefusal } from '../db/sqlite/refusal.ts'
import type { Found } from '../doctor/check.ts'
import { CommandError, complain, parseCall, print, UsageError, withDeps } from './output.ts'
import { requireDatabase } from './require-database.ts'
import { pendingIn } from './upgrade.ts'

const HELP = `usage: vidimus doctor [--json]

Tells what would stop a real wallet or webhook, and what endangers the data: each with what to do. It changes nothing, sends nobody a message, and
works with and without a running service. Give it the same variables as the service, or it looks at another one. It ends with 1 when there is a
problem, and with 0 otherwise; warnings are no problems. The dashboard shows the same under Settings, Health.

example: VIDIMUS_DATA_DIR=/var/lib/vidimus VIDIMUS_PUBLIC_URL=https://verify.shop.example vidimus doctor`

type Named = { name: string } & Found

export async function runDoctor(args: string[]): Promise<number> {
  const { values, words } = parseCall(args, {})
  if (values.help) return print(HELP)
  if (words.length) throw new UsageError(`doctor takes no "${words[0]}"`)
  const checks = await examineHere()
  print(values.json ? JSON.stringify({ checks: checks.map(wire) }) : checks.map(lines).join('\n'))
  const count = checks.filter(({ status }) => status === 'problem').length
  if (count > 0 && !values.json) complain(`\n${count === 1 ? '1 problem' : `${count} problems`}`)
  return count > 0 ? 1 : 0
}

/** A directory that cannot be opened is what there is to tell. One that does not exist yet must not be made by asking after it. */
async function examineHere(): Promise<Named[]> {
  const { dataDir } = loadConfig(process.env)
  try {
    requireDatabase(dataDir)
    const pending = pendingIn(dataDir)
    if (pending.length) return [olderVersion(pending)]
    const { examine } = await import('../doctor/examine.ts')
    return await withDeps(deps => examine(deps, false))
  } catch (error) {
    if (!(error instanceof StartRefusal || error instanceof CommandError)) throw error
    const [, detail = error.message, remedy] = /^(.*?); (.*)$/s.exec(error.message) ?? []
    return [{ name: 'data_directory', status: 'problem', detail: `${detail}.`, remedy }]
  }
}

/** Opening it would bring it up to date, and whoever asks after its health does not ask for that. */
const olderVersion = (pending: string[]): Named => ({
  name: 'data_directory',
  status: 'problem',
  detail: `The database is of an earlier version than this program (${pending.join(', ')} to be applied).`,
  remedy: 'Stop the service and run "vidimus upgrade", or ask the program that is running.',
})

const wire = ({ name, status, detail, remedy }: Named) => ({ name, status, detail: remedy ? `${detail} ${remedy}` : detail })

const lines = ({ name, status, detail, remedy }: Named): string => {
  const first = `${status.padEnd(8)} ${name.padEnd(20)} ${detail}`
  return remedy ? `${first}\n${' '.repeat(30)}${remedy}` : first
}
