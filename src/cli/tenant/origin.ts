import { addOrigin, OriginProblem, presentOrigin, readOrigins, removeOrigin } from '../../tenants/origins.ts'
import { argument, defineCommand, listing } from '../command.ts'
import { ENV, TENANT } from '../flags.ts'
import { ACTOR, CommandError } from '../output.ts'
import { withTenant } from '../with-deps.ts'

const ORIGIN = argument('origin', 'ORIGIN', 'the origin, such as https://shop.example')
const FLAGS = { tenant: TENANT, env: ENV }

export const command = defineCommand(
  {
    summary: 'list the origins that may ask wallets through the browser',
    subcommands: {
      add: { argument: ORIGIN, flags: FLAGS },
      list: { flags: FLAGS },
      remove: { argument: ORIGIN, flags: FLAGS },
    },
    about: `The pages of a shop that ask wallets through the browser's own wallet call. Wallets show the origin,
and your certificate vouches for it. The pages of this service need no entry. Apps are written
android:apk-key-hash:…`,
    example: 'vidimus origin add https://shop.example --tenant ten_… --env live',
  },
  {
    add: ({ origin, tenant, env }, shell) =>
      withTenant(shell, tenant, async deps => {
        const row = await addOrigin(deps, { tenantId: tenant, environment: env }, origin, ACTOR).catch(explain)
        return { json: presentOrigin(row), text: `Pages of ${origin} may ask in ${env} sessions.` }
      }),

    list: ({ tenant, env }, shell) =>
      withTenant(shell, tenant, async deps => {
        const origins = (await readOrigins(deps, { tenantId: tenant, environment: env })).map(presentOrigin)
        return listing(origins, { ORIGIN: row => row.origin, ADDED: row => row.created_at })
      }),

    remove: ({ origin, tenant, env }, shell) =>
      withTenant(shell, tenant, async deps => {
        const owner = { tenantId: tenant, environment: env }
        if (!(await removeOrigin(deps, owner, origin, ACTOR)))
          throw new CommandError(`${origin} is not listed for ${env} sessions; "vidimus origin list" shows those that are`)
        return { json: { origin, environment: env, removed: true }, text: `Pages of ${origin} may not ask any more.` }
      }),
  },
)

function explain(error: unknown): never {
  throw error instanceof OriginProblem ? new CommandError(error.message) : error
}
