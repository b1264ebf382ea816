import type { Reading } from '../ground.ts'
import { ROLES } from '../people/role.ts'
import { USER_NAME } from '../people/schema.ts'
import { assignRole, findUserId, inviteUser, readUsers, resetUser, type UserWithLink } from '../people/users/users.ts'
import { type Answer, argument, defineCommand, listing } from './command.ts'
import { checked, oneOf, optional, required, text } from './flags.ts'
import { ACTOR, CommandError, noteAssumedAddress, UsageError } from './output.ts'
import { withDeps, withNewDeps } from './with-deps.ts'

const userName = checked(text('NAME'), name =>
  new RegExp(USER_NAME).test(name)
    ? undefined
    : '2 to 64 characters out of a-z, 0-9 and . _ @ + -, like alex or alex@shop.example',
)

export const command = defineCommand(
  {
    summary: 'list, invite and reset users of the dashboard, and give them roles',
    subcommands: {
      list: {},
      invite: {
        flags: {
          name: required(userName),
          tenant: optional(
            text('ID'),
            'the user sees this tenant and nothing else; without it the user is an owner, who sees all',
          ),
          role: optional(
            oneOf(['member', 'viewer']),
            'of a tenant; a viewer changes nothing and sees no claims; default: member',
          ),
        },
      },
      role: {
        argument: argument('name', 'NAME', 'the name of the user'),
        flags: {
          role: required(oneOf(ROLES)),
          tenant: optional(text('ID'), 'for an owner who becomes a member or viewer of this tenant'),
        },
      },
      reset: { argument: argument('name', 'NAME', 'the name of the user') },
    },
    about: `The users of the dashboard. Both invite and reset print a link, once, with which the user chooses a
password: an invitation works for three days, a reset for an hour. A reset ends the old password,
every session, the second factors and the recovery codes of that user at once: from then on only
the link works. When it has expired, reset the user again.`,
    example: 'vidimus user invite --name alex --tenant ten_…',
  },
  {
    list: async (_, shell) =>
      listing(
        await withDeps(shell, readUsers),
        {
          NAME: user => user.name,
          ROLE: user => user.role,
          SEES: user => (user.tenant === null ? 'everything' : `${user.tenant.id} (${user.tenant.name})`),
          STATUS: user => user.status,
          'LAST LOG-IN': user => user.last_login_at ?? 'never',
        },
        'The dashboard has no users yet: each start of the service prints a link that sets it up.',
      ),

    invite: ({ name, tenant = null, role }, shell) => {
      if (role && tenant === null) throw new UsageError('--role is for a user of a tenant; give --tenant too')
      return withNewDeps(shell, async deps => {
        const invited = await inviteUser(deps, { name, memberOf: tenant, role }, ACTOR)
        noteAssumedAddress(shell, deps.config)
        return showOnce(invited)
      })
    },

    role: ({ name, role, tenant }, shell) =>
      withDeps(shell, async deps => {
        const user = await assignRole(deps, await idOf(deps, name), { role, memberOf: tenant }, ACTOR)
        return { json: user, text: `${user.name} is now ${user.role}${user.tenant ? ` of ${user.tenant.name}` : ''}.` }
      }),

    reset: ({ name }, shell) =>
      withDeps(shell, async deps => {
        const reset = await resetUser(deps, await idOf(deps, name), ACTOR, { takesFactors: true })
        noteAssumedAddress(shell, deps.config)
        return showOnce(reset)
      }),
  },
)

async function idOf(deps: Reading, name: string): Promise<string> {
  const id = await findUserId(deps, name.toLowerCase())
  if (id === undefined) throw new CommandError(`there is no user ${name}; "vidimus user list" shows all`)
  return id
}

const showOnce = ({ user, url, expires_at }: UserWithLink): Answer => ({
  json: { user, url, expires_at },
  text: `${url}

This is the only time the link is shown. ${user.name} chooses a password with it, once, until ${expires_at}.`,
})
