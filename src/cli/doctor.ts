import { ENVIRONMENTS } from '../access/scopes.ts'
import { loadConfig } from '../config.ts'
import type { Status } from '../db/check.ts'
import { StartRefusal } from '../db/refusal.ts'
import { listPending } from '../db/storage/upgrade.ts'
import type { ClauseRow } from '../doctor/eu/examine.ts'
import { SigningProblem } from '../signing/problem.ts'
import { readTenants } from '../tenants/settings.ts'
import { clauses } from '../web/shared/clauses/en.ts'
import { sayClause } from '../web/shared/clauses/say.ts'
import { findings } from '../web/shared/findings/en.ts'
import { say } from '../web/shared/findings/say.ts'
import { type Answer, defineCommand } from './command.ts'
import { oneOf, optional, repeated, text } from './flags.ts'
import { CommandError, type Shell, UsageError } from './output.ts'
import { requireDatabase } from './require-database.ts'
import { requireTenant, withDeps } from './with-deps.ts'

type NamedCheck = { name: string; status: Status; code: string; detail: string; remedy?: string | undefined }

export const command = defineCommand(
  {
    summary: 'find what would stop a real wallet or webhook',
    about: `Lists what would stop a real wallet or webhook, and what endangers the data, each with what to do.
It changes nothing, sends nobody a message, and works with and without a running service. Give it
the same variables as the service, or it examines another one. The exit code is 1 when there is a
problem, and 0 otherwise; warnings, and what is not set up yet, are no problems. The dashboard shows
the same under Settings, Health.

With --profile eu it builds the requests that sessions of a tenant's templates would get, and judges
them by what EU wallets want, clause by clause; then the exit code is 1 when a "must" fails.`,
    example: 'VIDIMUS_DATA_DIR=/var/lib/vidimus VIDIMUS_PUBLIC_URL=https://verify.shop.example vidimus doctor',
    flags: {
      profile: optional(oneOf(['eu'])),
      env: optional(oneOf(ENVIRONMENTS), 'live, if left out'),
      tenant: optional(text('ID'), 'needed where there are several'),
      template: repeated(text('KEY'), 'those in use, if left out'),
    },
  },
  async ({ profile, ...asked }, shell) => {
    if (profile) return await examineRequests(shell, asked)
    const [surplus] = Object.keys(asked).filter(name => name !== 'json' && asked[name as keyof typeof asked] !== undefined)
    if (surplus) throw new UsageError(`--${surplus} is for --profile eu`)
    const checks = await examineHere(shell)
    const count = checks.filter(({ status }) => status === 'problem').length
    return {
      json: { checks: checks.map(presentCheck) },
      text: checks.map(check => linesOf(`${LABELS[check.status].padEnd(8)} ${check.name}`, 30, check)).join('\n'),
      note:
        count > 0 ? `\n${count === 1 ? '1 problem' : `${count} problems`}; "vidimus help doctor" explains each check` : undefined,
      exitCode: count > 0 ? 1 : 0,
    }
  },
)

type Asked = { env: (typeof ENVIRONMENTS)[number] | undefined; tenant: string | undefined; template: string[] | undefined }

const BASIS = 'CIR (EU) 2026/1731, ETSI TS 119 472-2 V1.2.1, HAIP 1.0'

async function examineRequests(shell: Shell, { env: environment = 'live', tenant, template }: Asked): Promise<Answer> {
  const [{ examineProfile }, { statesOf }] = await Promise.all([
    import('../doctor/eu/examine.ts'),
    import('../doctor/signing-checks.ts'),
  ])
  return await withDeps(shell, async deps => {
    const [only, ...others] = (await readTenants(deps.db)).map(({ id }) => id)
    const tenantId = tenant ?? (others.length === 0 ? only : undefined)
    if (tenantId === undefined) throw new UsageError('there are several tenants; name one with --tenant ID')
    await requireTenant(deps, tenantId)
    if (!(await statesOf(deps))) throw new CommandError(new SigningProblem('no_signing_key').message)
    const rows = await examineProfile(deps, { tenantId, environment }, template)
    const failed = (level: ClauseRow['level']) =>
      new Set(rows.flatMap(row => (row.level === level && row.status === 'fail' ? [row.id] : []))).size
    const summary = { must_failed: failed('must'), should_failed: failed('should') }
    const said = rows.map(row => ({ ...row, ...sayClause(clauses, row) }))
    return {
      json: { profile: 'eu', basis: BASIS, tenant: tenantId, clauses: said.map(presentClause), summary },
      text: said.map(row => linesOf(`${row.status.padEnd(14)} ${row.level.padEnd(6)} ${row.id}`, 50, row)).join('\n'),
      exitCode: summary.must_failed > 0 ? 1 : 0,
    }
  })
}

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

const linesOf = (head: string, width: number, { detail, remedy }: Pick<NamedCheck, 'detail' | 'remedy'>): string =>
  [`${head.padEnd(width - 1)} ${detail}`, ...(remedy?.split('\n') ?? [])].join(`\n${' '.repeat(width)}`)

const presentClause = ({ id, level, status, subject, detail, remedy, sure }: ClauseRow & ReturnType<typeof sayClause>) => ({
  id,
  level,
  status,
  ...(subject !== null && { subject }),
  detail,
  ...(remedy !== undefined && { remedy }),
  sure,
})
