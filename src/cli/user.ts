import { USER_NAME } from '../people/schema.ts'
import { findUserId, inviteUser, readUsers, resetUser, type UserWithLink } from '../people/users.ts'
import { type Answer, argument, defineCommand, listing } from './command.ts'
import { checked, optional, required, text } from './flags.ts'
import { ACTOR, CommandError, noteAssumedAddress } from './output.ts'
import { withDeps, withNewDeps } from './with-deps.ts'

const userName = checked(text('NAME'), name =>
  new RegExp(USER_NAME).test(name)
    ? undefined
    : '2 to 64 characters out of a-z, 0-9 and . _ @ + -, like alex or alex@shop.example',
)

export const command = defineCommand(
  {
    summary: 'list, invite and reset users of the dashboard',
    subcommands: {
      list: {},
      invite: {
        flags: {
          name: required(userName),
          tenant: optional(
            text('ID'),
            'the user sees this tenant and nothing else; without it the user is an owner, who sees all',
          ),
        },
      },
      reset: { argument: argument('name', 'NAME', 'the name of the user') },
    },
    about: `The users of the dashboard. Both invite and reset print a link, once, with which the user chooses a
password: an invitation works for three days, a reset for an hour. Until a reset is used, the old
password keeps working; then every session of that user ends.`,
    example: 'vidimus user invite --name alex --tenant ten_…',
  },
  {
    list: async (_, shell) =>
      listing(
        await withDeps(shell, readUsers),
        {
          NAME: user => user.name,
          SEES: user => (user.tenant === null ? 'everything' : `${user.tenant.id} (${user.tenant.name})`),
          STATUS: user => user.status,
          'LAST LOG-IN': user => user.last_login_at ?? 'never',
        },
        'The dashboard has no users yet: each start of the service prints a link that sets it up.',
      ),

    invite: ({ name, tenant = null }, shell) =>
      withNewDeps(shell, async deps => {
        const invited = await inviteUser(deps, { name, memberOf: tenant }, ACTOR)
        noteAssumedAddress(shell, deps.config)
        return showOnce(invited)
      }),

    reset: ({ name }, shell) =>
      withDeps(shell, async deps => {
        const id = await findUserId(deps, name.toLowerCase())
        if (id === undefined) throw new CommandError(`there is no user ${name}; "vidimus user list" shows all`)
        const reset = await resetUser(deps, id, ACTOR)
        noteAssumedAddress(shell, deps.config)
        return showOnce(reset)
      }),
  },
)

const showOnce = ({ user, url, expires_at }: UserWithLink): Answer => ({
  json: { user, url, expires_at },
  text: `${url}

This is the only time the link is shown. ${user.name} chooses a password with it, once, until ${expires_at}.`,
})
