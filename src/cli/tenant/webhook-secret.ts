import { ENVIRONMENTS, type Environment } from '../../access/scopes.ts'
import { isoUtc } from '../../base/time.ts'
import type { Deps } from '../../deps.ts'
import { dropPreviousSecret, readWebhookSecrets, rotateWebhookSecret } from '../../tenants/webhook-secret.ts'
import { type Answer, defineCommand } from '../command.ts'
import { oneOf, optional, TENANT } from '../flags.ts'
import { ACTOR, CommandError } from '../output.ts'
import { withTenant } from '../with-deps.ts'

const FLAGS = { tenant: TENANT, env: optional(oneOf(ENVIRONMENTS), 'test by default') }

export const command = defineCommand(
  {
    summary: 'show and rotate the secret that signs webhooks',
    subcommands: { show: { flags: FLAGS }, rotate: { flags: FLAGS }, 'drop-previous': { flags: FLAGS } },
    about: `The secret that signs a tenant's webhooks. Results of test and of live sessions have a secret each.
After a rotation the old and the new secret sign for 24 hours: give the new one to your receiver in
that time. drop-previous ends the old one at once, for a secret that leaked.`,
    example: 'vidimus webhook-secret rotate --tenant ten_… --env live',
  },
  {
    show: ({ tenant, env = 'test' }, shell) =>
      withTenant(shell, tenant, deps => showCurrent(deps, { tenantId: tenant, environment: env })),

    rotate: ({ tenant, env = 'test' }, shell) =>
      withTenant(shell, tenant, async deps => {
        const owner = { tenantId: tenant, environment: env }
        const { webhookSecret, previousValidUntil } = await rotateWebhookSecret(deps, owner, ACTOR)
        return shown(webhookSecret, previousValidUntil)
      }),

    'drop-previous': ({ tenant, env = 'test' }, shell) =>
      withTenant(shell, tenant, async deps => {
        const owner = { tenantId: tenant, environment: env }
        if (!(await dropPreviousSecret(deps, owner, ACTOR)))
          throw new CommandError('there is no previous secret; only the current one signs')
        return await showCurrent(deps, owner)
      }),
  },
)

async function showCurrent(deps: Deps, owner: { tenantId: string; environment: Environment }): Promise<Answer> {
  const known = await readWebhookSecrets(deps, owner)
  if (!known)
    throw new CommandError(
      `tenant ${owner.tenantId} has no ${owner.environment} webhook secret; "vidimus webhook-secret rotate" makes one`,
    )
  return shown(known.current, known.previous?.validUntil)
}

function shown(secret: string, previousValidUntil: number | undefined): Answer {
  const until = previousValidUntil === undefined ? null : isoUtc(previousValidUntil)
  return {
    json: { webhook_secret: secret, previous_valid_until: until },
    text: until === null ? secret : `${secret}\n\nThe secret before it also signs, until ${until}.`,
  }
}
