import { USER_NAME } from '../dashboard/schema.ts'
import { ApiError } from '../http/errors.ts'
import { findUserId, inviteUser, readUsers, resetUser, type UserWithLink } from '../people/users.ts'
import {
  ACTOR,
  actOf,
  CommandError,
  noteAssumedAddress,
  parseCall,
  print,
  required,
  table,
  UsageError,
  withDeps,
  withNewDeps,
} from './output.ts'

const HELP = `usage: vidimus user list [--json]
       vidimus user invite --name NAME [--tenant ID] [--json]
       vidimus user reset NAME [--json]

Who may use the dashboard. A user of a tenant sees that tenant and nothing else; without --tenant it is an owner, who sees all. Both invite and
reset print a link, once, by which the user chooses a password: an invitation works for three days, a reset for an hour. Until a reset is used
the old password goes on working; then every session of that user ends.

example: vidimus user invite --name alex --tenant ten_…`

const ACTS = {
  list: { flags: [] },
  invite: { flags: ['name', 'tenant'] },
  reset: { flags: [], word: 'the name of the user' },
} as const

export async function runUser(args: string[]): Promise<number> {
  const call = parseCall(args, { name: { type: 'string' }, tenant: { type: 'string' } })
  const { values } = call
  if (values.help) return print(HELP)
  const { act, word } = actOf('user', call, ACTS)
  switch (act) {
    case 'list':
      return await list(values.json)
    case 'invite':
      return await invite(required(values.name, '--name'), values.tenant ?? null, values.json)
    case 'reset':
      return await reset(word.toLowerCase(), values.json)
  }
}

async function list(json = false): Promise<number> {
  const users = await withDeps(readUsers)
  if (json) return print(JSON.stringify({ data: users }))
  if (users.length === 0) return print('Nobody uses the dashboard yet: each start of the service prints a link that sets it up.')
  const rows = users.map(user => [
    user.name,
    user.tenant === null ? 'everything' : `${user.tenant.id} (${user.tenant.name})`,
    user.status,
    user.last_login_at ?? 'never',
  ])
  return print(table(['NAME', 'SEES', 'STATUS', 'LAST LOG-IN'], rows))
}

async function invite(name: string, memberOf: string | null, json = false): Promise<number> {
  if (!new RegExp(USER_NAME).test(name))
    throw new UsageError(`--name: 2 to 64 characters out of a-z, 0-9 and . _ @ + -, like alex or alex@shop.example`)
  const made = await withNewDeps(async deps => {
    const invited = await inviteUser(deps, { name, memberOf }, ACTOR).catch(inWords)
    noteAssumedAddress(deps.config)
    return invited
  })
  return show(made, json)
}

async function reset(name: string, json = false): Promise<number> {
  const made = await withDeps(async deps => {
    const id = await findUserId(deps, name)
    if (id === undefined) throw new CommandError(`there is no user ${name}; "vidimus user list" shows all`)
    const reset = await resetUser(deps, id, ACTOR).catch(inWords)
    noteAssumedAddress(deps.config)
    return reset
  })
  return show(made, json)
}

/** A refusal of the verb, for somebody at the command line. */
function inWords(error: unknown): never {
  throw error instanceof ApiError ? new CommandError(error.message) : error
}

function show({ user, url, expires_at }: UserWithLink, json = false): number {
  if (json) return print(JSON.stringify({ user, url, expires_at }))
  return print(
    `${url}\n\nThis is the only time the link is shown. ${user.name} chooses a password with it, once, until ${expires_at}.`,
  )
}
