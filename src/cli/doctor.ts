import { loadConfig } from '../config.ts'
import type { Status } from '../db/check.ts'
import { StartRefusal } from '../db/refusal.ts'
import { listPending } from '../db/storage/upgrade.ts'
import { findings } from '../web/shared/findings/en.ts'
import { say } from '../web/shared/findings/say.ts'
import { defineCommand } from './command.ts'
import { CommandError, type Shell } from './output.ts'
import { requireDatabase } from './require-database.ts'
import { withDeps } from './with-deps.ts'

type NamedCheck = { name: string; status: Status; code: string; detail: string; remedy?: string | undefined }

export const command = defineCommand(
  {
    summary: 'find what would stop a real wallet or webhook',
    about: `Lists what would stop a real wallet or webhook, and what endangers the data, each with what to do.
It changes nothing, sends nobody a message, and works with and without a running service. Give it
the same variables as the service, or it examines another one. The exit code is 1 when there is a
problem, and 0 otherwise; warnings, and what is not set up yet, are no problems. The dashboard shows
the same under Settings, Health.`,
    example: 'VIDIMUS_DATA_DIR=/var/lib/vidimus VIDIMUS_PUBLIC_URL=https://verify.shop.example vidimus doctor',
  },
  async (_, shell) => {
    const checks = await examineHere(shell)
    const count = checks.filter(({ status }) => status === 'problem').length
    return {
      json: { checks: checks.map(presentCheck) },
      text: checks.map(linesOf).join('\n'),
      note:
        count > 0 ? `\n${count === 1 ? '1 problem' : `${count} problems`}; "vidimus help doctor" explains each check` : undefined,
      exitCode: count > 0 ? 1 : 0,
    }
  },
)

/** A directory that cannot be opened is a finding. One that does not exist is not created. */
async function examineHere(shell: Shell): Promise<NamedCheck[]> {
  const config = loadConfig(shell.env)
  try {
    await requireDatabase(config)
    const pending = await listPending(config)
    if (pending.length) return [olderVersion(pending, config.database ? 'database' : 'data_directory')]
    const { examine } = await import('../doctor/examine.ts')
    const checks = await withDeps(shell, deps => examine(deps, false))
    return checks.map(check => ({ ...check, ...say(findings, check) }))
  } catch (error) {
    if (!(error instanceof StartRefusal || error instanceof CommandError)) throw error
    // Nothing there can be mended.
    if (error instanceof StartRefusal && error.reason === 'before_first_release') throw error
    const [, detail = error.message, remedy] = /^(.*?); (.*)$/s.exec(error.message) ?? []
    const name = config.database ? 'database' : 'data_directory'
    const code = error instanceof StartRefusal ? error.reason : 'not_opened'
    const said = { detail: `${capitalised(detail)}.`, remedy: remedy && capitalised(remedy) }
    return [{ name, status: 'problem', code, ...said }]
  }
}

/** Refusals follow "vidimus: " elsewhere. Names of files and settings stay as they are. */
const capitalised = (text: string): string => text.replace(/^[a-z]+(?=[ ,])/, word => word[0]!.toUpperCase() + word.slice(1))

/** Opening the database would bring it up to date, which nobody asked for. */
const olderVersion = (pending: string[], name: string): NamedCheck => ({
  name,
  status: 'problem',
  code: 'older_version',
  detail: `The database is of an earlier version than this program (${pending.join(', ')} to be applied).`,
  remedy: 'Stop the service and run "vidimus upgrade", or ask the program that is running.',
})

const presentCheck = ({ name, status, code, detail, remedy }: NamedCheck) => ({
  name,
  status,
  code,
  detail: remedy ? `${detail} ${remedy}` : detail,
})

const LABELS: Record<Status, string> = { ok: 'ok', not_set_up: 'not set', warning: 'warning', problem: 'problem' }

const linesOf = ({ name, status, detail, remedy }: NamedCheck): string => {
  const first = `${LABELS[status].padEnd(8)} ${name.padEnd(20)} ${detail}`
  return [first, ...(remedy?.split('\n') ?? [])].join(`\n${' '.repeat(30)}`)
}
