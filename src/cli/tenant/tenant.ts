import { ENVIRONMENTS, type Environment } from '../../access/scopes.ts'
import { findNameProblem } from '../../base/plain-text.ts'
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../http/errors.ts'
import { readAppSchemes } from '../../tenants/app-schemes.ts'
import { presentTenant } from '../../tenants/present.ts'
import {
  changeTenant,
  createTenant,
  DAILY_QUOTA_MAX,
  PLANS,
  type Plan,
  RETENTION_DAYS_MAX,
  readTenant,
  readTenants,
  type TenantRow,
} from '../../tenants/settings.ts'
import { readEndpoint } from '../../tenants/webhook-endpoint.ts'
import { setEndpoint } from '../../webhooks/endpoint.ts'
import { argument, defineCommand, listing } from '../command.ts'
import { checked, kind, numberFrom, oneOf, optional, orNull, required, shortText, text } from '../flags.ts'
import { ACTOR, CommandError, UsageError } from '../output.ts'
import { withDeps, withNewDeps, withTenant } from '../with-deps.ts'

const NAME_CHARS_MAX = 100

const tenantName = kind('NAME', (name, flag) => {
  if (name.trim() === '') throw new UsageError(`${flag} is missing`)
  return checked(shortText('NAME', NAME_CHARS_MAX), findNameProblem).read(name.trim(), flag)
})

const appSchemes = kind('NAME,…', (names, flag) => {
  try {
    return readAppSchemes(names.split(','))
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`)
  }
})

const PLAN_QUOTAS = Object.entries(PLANS).map(([plan, quota]) => `${quota} (${plan})`)

const SETTINGS = {
  plan: optional(oneOf(Object.keys(PLANS) as Plan[]), `allows ${PLAN_QUOTAS.join(', ')} creations a day`),
  'daily-quota': optional(
    orNull(numberFrom(0, DAILY_QUOTA_MAX), 'plan'),
    'creations a day in place of those of the plan; 0 refuses every creation',
  ),
  'retention-days': optional(orNull(numberFrom(0, RETENTION_DAYS_MAX), 'off'), 'erase sessions this many days after they end'),
}

export const command = defineCommand(
  {
    summary: 'create, list and change tenants',
    subcommands: {
      create: { flags: { name: required(tenantName), ...SETTINGS } },
      list: {},
      set: {
        argument: argument('id', 'ID', 'the tenant id'),
        flags: {
          name: optional(tenantName),
          ...SETTINGS,
          'app-scheme': optional(
            orNull(appSchemes, 'none'),
            `a redirect_url may lead into an app by a scheme of this list, or by one with a dot,
             such as com.example.shop`,
          ),
          'webhook-url': optional(
            orNull(text('URL'), 'none'),
            `with --env: the endpoint that gets the results of all sessions of that environment that
             were created without a webhook_url, those of tills included; commands show only its
             origin again, since the rest may hold a token`,
          ),
          env: optional(oneOf(ENVIRONMENTS)),
        },
      },
    },
    about: 'A tenant is a merchant: its keys, devices, templates and verifications are its own.',
    example: 'vidimus tenant create --name "Corner shop" --daily-quota 500',
  },
  {
    async create({ name, plan, dailyQuota, retentionDays }, shell) {
      const settings = { name, plan, dailyQuota, retentionDays }
      const { tenant, webhookSecret, webhookSecretLive } = await withNewDeps(shell, deps => createTenant(deps, settings, ACTOR))
      return {
        json: { ...presentTenant(tenant), webhook_secret: webhookSecret, webhook_secret_live: webhookSecretLive },
        text: `${describe(presentTenant(tenant))}.\nNext: vidimus key create --tenant ${tenant.id} --env test`,
      }
    },

    async list(_, shell) {
      const data = await withDeps(shell, async deps =>
        Promise.all((await readTenants(deps.db)).map(tenant => presentWithEndpoints(deps, tenant))),
      )
      return listing(data, {
        ID: tenant => tenant.id,
        NAME: tenant => tenant.name,
        'A DAY': tenant => String(tenant.daily_quota),
        KEPT: describeRetention,
      })
    },

    async set({ id, name, plan, dailyQuota, retentionDays, appScheme, webhookUrl, env }, shell) {
      const changes = { name, plan, dailyQuota, retentionDays, appSchemes: appScheme }
      const hasChanges = Object.values(changes).some(value => value !== undefined)
      const endpoint = endpointOf(webhookUrl, env)
      if (!hasChanges && !endpoint)
        throw new UsageError(
          'nothing to change: give --name, --plan, --daily-quota, --retention-days, --app-scheme or --webhook-url',
        )
      const tenant = await withTenant(shell, id, async deps => {
        if (endpoint) await changeEndpoint(deps, id, endpoint)
        const row = hasChanges ? await changeTenant(deps, id, changes, ACTOR) : await readTenant(deps.db, id)
        return await presentWithEndpoints(deps, row!)
      })
      const endpoints = Object.entries(tenant.webhook_endpoints).map(([name, origin]) => `${name} ${origin ?? 'none'}`)
      const schemes = tenant.app_schemes.length ? `, app schemes ${tenant.app_schemes.join(', ')}` : ''
      return {
        json: tenant,
        text: `${describe(tenant)}, kept ${describeRetention(tenant)}${schemes}.\nWebhook endpoints: ${endpoints.join(', ')}.`,
      }
    },
  },
)

type Endpoint = { environment: Environment; url: string | null }

function endpointOf(url: string | null | undefined, environment: Environment | undefined): Endpoint | undefined {
  if (url === undefined && environment === undefined) return undefined
  if (environment === undefined) throw new UsageError('--env is missing')
  if (url === undefined || url === '') throw new UsageError('--webhook-url is missing')
  return { environment, url }
}

async function changeEndpoint(deps: Deps, tenantId: string, { environment, url }: Endpoint): Promise<void> {
  try {
    await setEndpoint(deps, { tenantId, environment }, url, ACTOR)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CommandError(error.message.replace(/^webhook_url/, '--webhook-url').replace(/\.$/, ''))
  }
}

type Tenant = ReturnType<typeof presentTenant>

const describe = ({ id, name, daily_quota }: Tenant): string => `Tenant ${id} (${name}), ${daily_quota} verifications a day`

const describeRetention = ({ retention_days }: Tenant): string =>
  retention_days === null ? 'for ever' : `${retention_days} day${retention_days === 1 ? '' : 's'}`

const presentWithEndpoints = async (deps: Deps, tenant: TenantRow) => ({
  ...presentTenant(tenant),
  webhook_endpoints: { test: await originOf(deps, tenant.id, 'test'), live: await originOf(deps, tenant.id, 'live') },
})

async function originOf(deps: Deps, tenantId: string, environment: Environment): Promise<string | null> {
  const url = await readEndpoint(deps, deps.db, { tenantId, environment })
  return url === undefined ? null : new URL(url).origin
}
