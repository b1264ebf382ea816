import { ENVIRONMENTS, type Environment } from '../access/scopes.ts'
import type { Deps } from '../deps.ts'
import { ApiError } from '../http/errors.ts'
import { readAppSchemes } from '../tenants/app-schemes.ts'
import {
  changeTenant,
  createTenant,
  DAILY_QUOTA_MAX,
  dailyQuotaOf,
  PLANS,
  type Plan,
  RETENTION_DAYS_MAX,
} from '../tenants/settings.ts'
import { findTenant, listTenants, type TenantRow } from '../tenants/store.ts'
import { readEndpoint } from '../tenants/webhook-endpoint.ts'
import { setEndpoint } from '../webhooks/endpoint.ts'
import { requireTenant } from './key.ts'
import {
  ACTOR,
  actOf,
  CommandError,
  choice,
  parseCall,
  print,
  required,
  shortText,
  table,
  UsageError,
  wholeNumber,
  withDeps,
  withNewDeps,
} from './output.ts'

const NAME_CHARS_MAX = 100

const HELP = `usage: vidimus tenant create --name NAME [--plan trial|standard|large] [--daily-quota N] [--retention-days N] [--json]
       vidimus tenant list [--json]
       vidimus tenant set ID [--name NAME] [--plan PLAN] [--daily-quota N|plan] [--retention-days N|off]
                             [--app-scheme NAME[,NAME]|none] [--json]
       vidimus tenant set ID --webhook-url URL|none --env test|live [--json]

A tenant is a merchant: its keys, devices, templates and verifications are its own. Plans allow ${Object.entries(PLANS)
  .map(([plan, quota]) => `${quota} (${plan})`)
  .join(', ')} creations
a day; --daily-quota overrides the plan, 0 refuses every creation. With --retention-days sessions are erased that many days after they end.
--webhook-url is the endpoint that gets the results of all sessions of that environment that were created without a webhook_url, those of tills
included. Commands show only its origin again, since the rest may hold a token.
A redirect_url may lead into an app: by a scheme with a dot, such as com.example.shop, or by one that --app-scheme lists.

example: vidimus tenant create --name "Corner shop" --daily-quota 500`

const FLAGS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  'daily-quota': { type: 'string' },
  'retention-days': { type: 'string' },
  'webhook-url': { type: 'string' },
  env: { type: 'string' },
  'app-scheme': { type: 'string' },
} as const

const SETTINGS = ['name', 'plan', 'daily-quota', 'retention-days'] as const

const ACTS = {
  create: { flags: SETTINGS },
  list: { flags: [] },
  set: { flags: [...SETTINGS, 'app-scheme', 'webhook-url', 'env'], word: 'the tenant id' },
} as const

export async function runTenant(args: string[]): Promise<number> {
  const call = parseCall(args, FLAGS)
  const { values } = call
  if (values.help) return print(HELP)
  const { act, word: id } = actOf('tenant', call, ACTS)
  const plan = values.plan === undefined ? undefined : choice(values.plan, Object.keys(PLANS) as Plan[], '--plan')
  const settings = {
    ...(plan && { plan }),
    ...setting('dailyQuota', values['daily-quota'], 'plan', '--daily-quota', DAILY_QUOTA_MAX),
    ...setting('retentionDays', values['retention-days'], 'off', '--retention-days', RETENTION_DAYS_MAX),
  }
  switch (act) {
    case 'create':
      return await create({ name: checkedName(values.name), ...settings }, values.json)
    case 'list':
      return await list(values.json)
    case 'set':
      return await set(
        id,
        {
          ...(values.name !== undefined && { name: checkedName(values.name) }),
          ...settings,
          ...appSchemes(values['app-scheme']),
        },
        endpointOf(values['webhook-url'], values.env),
        values.json,
      )
  }
}

type Endpoint = { environment: Environment; url: string | null }

function endpointOf(url: string | undefined, env: string | undefined): Endpoint | undefined {
  if (url === undefined && env === undefined) return undefined
  const environment = choice(required(env, '--env'), ENVIRONMENTS, '--env')
  const given = required(url, '--webhook-url')
  return { environment, url: given === 'none' ? null : given }
}

/** A number, or the word that puts the default back. */
function setting(name: 'dailyQuota' | 'retentionDays', value: string | undefined, none: string, flag: string, maximum: number) {
  if (value === undefined) return {}
  return { [name]: value === none ? null : wholeNumber(value, flag, maximum) }
}

function appSchemes(text: string | undefined): { appSchemes?: string[] | null } {
  if (text === undefined) return {}
  if (text === 'none') return { appSchemes: null }
  try {
    return { appSchemes: readAppSchemes(text.split(',')) }
  } catch (error) {
    throw new UsageError(`--app-scheme: ${(error as Error).message}`)
  }
}

const checkedName = (name: string | undefined): string => shortText(required(name?.trim(), '--name'), '--name', NAME_CHARS_MAX)

async function create(settings: Parameters<typeof createTenant>[1], json = false): Promise<number> {
  const { tenant, webhookSecret, webhookSecretLive } = await withNewDeps(deps => createTenant(deps, settings, ACTOR))
  if (json) print(JSON.stringify({ ...wire(tenant), webhook_secret: webhookSecret, webhook_secret_live: webhookSecretLive }))
  else
    print(
      `Tenant ${tenant.id} (${tenant.name}), ${dailyQuotaOf(tenant)} verifications a day.\nNext: vidimus key create --tenant ${tenant.id} --env test`,
    )
  return 0
}

async function list(json = false): Promise<number> {
  const [tenants, data] = await withDeps(async deps => {
    const tenants = await listTenants(deps.db)
    return [tenants, await Promise.all(tenants.map(each => wireWhole(deps, each)))]
  })
  if (json) print(JSON.stringify({ data }))
  else
    print(
      table(
        ['ID', 'NAME', 'A DAY', 'KEPT'],
        tenants.map(each => [each.id, each.name, String(dailyQuotaOf(each)), kept(each)]),
      ),
    )
  return 0
}

type Changes = Parameters<typeof changeTenant>[2]

async function set(id: string, changes: Changes, endpoint: Endpoint | undefined, json = false): Promise<number> {
  const hasChanges = Object.keys(changes).length > 0
  if (!hasChanges && !endpoint)
    throw new UsageError('nothing to change: give --name, --plan, --daily-quota, --retention-days, --app-scheme or --webhook-url')
  const [tenant, data] = await withDeps(async deps => {
    await requireTenant(deps, id)
    if (endpoint) await changeEndpoint(deps, id, endpoint)
    const tenant = hasChanges ? await changeTenant(deps, id, changes, ACTOR) : await findTenant(deps.db, id)
    return [tenant!, await wireWhole(deps, tenant!)]
  })
  if (json) return print(JSON.stringify(data))
  const told = Object.entries(data.webhook_endpoints).map(([environment, origin]) => `${environment} ${origin ?? 'none'}`)
  return print(`Tenant ${tenant.id} (${tenant.name}), ${dailyQuotaOf(tenant)} verifications a day, kept ${kept(tenant)}${apps(tenant)}.
Webhook endpoints: ${told.join(', ')}.`)
}

async function changeEndpoint(deps: Deps, tenantId: string, { environment, url }: Endpoint): Promise<void> {
  try {
    await setEndpoint(deps, { tenantId, environment }, url, ACTOR)
  } catch (error) {
    if (error instanceof ApiError)
      throw new CommandError(error.message.replace(/^webhook_url/, '--webhook-url').replace(/\.$/, ''))
    throw error
  }
}

const apps = ({ appSchemes }: TenantRow): string => (appSchemes === null ? '' : `, app schemes ${appSchemes.join(', ')}`)

const kept = ({ retentionDays }: TenantRow): string => (retentionDays === null ? 'for ever' : `${retentionDays} days`)

const wire = (tenant: TenantRow) => ({
  id: tenant.id,
  name: tenant.name,
  plan: tenant.plan,
  daily_quota: dailyQuotaOf(tenant),
  retention_days: tenant.retentionDays,
  app_schemes: tenant.appSchemes ?? [],
})

const wireWhole = async (deps: Deps, tenant: TenantRow) => ({
  ...wire(tenant),
  webhook_endpoints: { test: await originOf(deps, tenant.id, 'test'), live: await originOf(deps, tenant.id, 'live') },
})

async function originOf(deps: Deps, tenantId: string, environment: Environment): Promise<string | null> {
  const url = await readEndpoint(deps, deps.db, { tenantId, environment })
  return url === undefined ? null : new URL(url).origin
}
