import { ENVIRONMENTS } from '../access/scopes.ts'
import { dropPreviousSecret, readWebhookSecrets, rotateWebhookSecret } from '../tenants/webhook-secret.ts'
import { isoUtc } from '../time.ts'
import { requireTenant } from './key.ts'
import { ACTOR, actOf, CommandError, choice, parseCall, print, required, withDeps } from './output.ts'

const HELP = `usage: vidimus webhook-secret show --tenant ID [--env test|live] [--json]
       vidimus webhook-secret rotate --tenant ID [--env test|live] [--json]
       vidimus webhook-secret drop-previous --tenant ID [--env test|live] [--json]

The secret that signs a tenant's webhooks. Results of test and of live sessions have a secret each; without --env it is the one for test. After a
rotation the old and the new secret sign for 24 hours: give the new one to your receiver in that time. drop-previous ends the old
one at once, for a secret that leaked.

example: vidimus webhook-secret rotate --tenant ten_… --env live`

const FLAGS = { flags: ['tenant', 'env'] } as const
const ACTS = { show: FLAGS, rotate: FLAGS, 'drop-previous': FLAGS } as const

export async function runWebhookSecret(args: string[]): Promise<number> {
  const call = parseCall(args, { tenant: { type: 'string' }, env: { type: 'string' } })
  const { help, json, tenant, env = 'test' } = call.values
  if (help) return print(HELP)
  const { act } = actOf('webhook-secret', call, ACTS)
  const tenantId = required(tenant, '--tenant')
  const owner = { tenantId, environment: choice(env, ENVIRONMENTS, '--env') }
  return await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    switch (act) {
      case 'show': {
        const known = await readWebhookSecrets(deps, owner)
        if (!known)
          throw new CommandError(`tenant ${tenantId} has no ${env} webhook secret; "vidimus webhook-secret rotate" makes one`)
        return show(known.current, known.previous?.validUntil, json)
      }
      case 'rotate': {
        const { webhookSecret, previousValidUntil } = await rotateWebhookSecret(deps, owner, ACTOR)
        return show(webhookSecret, previousValidUntil, json)
      }
      case 'drop-previous': {
        if (!(await dropPreviousSecret(deps, owner, ACTOR)))
          throw new CommandError('there is no previous secret; only the current one signs')
        const known = await readWebhookSecrets(deps, owner)
        return show(known?.current ?? '', undefined, json)
      }
    }
  })
}

function show(secret: string, previousValidUntil: number | undefined, json = false): number {
  const until = previousValidUntil === undefined ? null : isoUtc(previousValidUntil)
  if (json) return print(JSON.stringify({ webhook_secret: secret, previous_valid_until: until }))
  return print(until === null ? secret : `${secret}\n\nThe secret before it also signs, until ${until}.`)
}
