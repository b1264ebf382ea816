import {
  changeTenant,
  createTenant,
  DAILY_QUOTA_MAX,
  dailyQuotaOf,
  PLANS,
  type Plan,
  RETENTION_DAYS_MAX,
} from '../tenants/settings.ts'
import { listTenants, type TenantRow } from '../tenants/store.ts'
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
       vidimus tenant set ID [--name NAME] [--plan PLAN] [--daily-quota N|plan] [--retention-days N|off] [--json]

A tenant is a merchant: its keys, devices, templates and verifications are its own. Plans allow ${Object.entries(PLANS)
  .map(([plan, quota]) => `${quota} (${plan})`)
  .join(', ')} creations
a day; --daily-quota overrides the plan, 0 refuses every creation. With --retention-days sessions are erased that many days after they end.

example: vidimus tenant create --name "Corner shop" --daily-quota 500`

const FLAGS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  'daily-quota': { type: 'string' },
  'retention-days': { type: 'string' },
} as const

const SETTINGS = ['name', 'plan', 'daily-quota', 'retention-days'] as const

const ACTS = {
  create: { flags: SETTINGS },
  list: { flags: [] },
  set: { flags: SETTINGS, word: 'the tenant id' },
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
      return await set(id, { ...(values.name !== undefined && { name: checkedName(values.name) }), ...settings }, values.json)
  }
}

/** A number, or the word that puts the default back. */
function setting(name: 'dailyQuota' | 'retentionDays', value: string | undefined, none: string, flag: string, maximum: number) {
  if (value === undefined) return {}
  return { [name]: value === none ? null : wholeNumber(value, flag, maximum) }
}

const checkedName = (name: string | undefined): string => shortText(required(name?.trim(), '--name'), '--name', NAME_CHARS_MAX)

async function create(settings: Parameters<typeof createTenant>[1], json = false): Promise<number> {
  const { tenant, webhookSecret } = await withNewDeps(deps => createTenant(deps, settings, ACTOR))
  if (json) print(JSON.stringify({ ...wire(tenant), webhook_secret: webhookSecret }))
  else
    print(
      `Tenant ${tenant.id} (${tenant.name}), ${dailyQuotaOf(tenant)} verifications a day.\nNext: vidimus key create --tenant ${tenant.id} --env test`,
    )
  return 0
}

async function list(json = false): Promise<number> {
  const tenants = await withDeps(deps => listTenants(deps.db))
  if (json) print(JSON.stringify({ data: tenants.map(wire) }))
  else
    print(
      table(
        ['ID', 'NAME', 'A DAY', 'KEPT'],
        tenants.map(each => [each.id, each.name, String(dailyQuotaOf(each)), kept(each)]),
      ),
    )
  return 0
}

async function set(id: string, changes: Parameters<typeof changeTenant>[2], json = false): Promise<number> {
  if (Object.keys(changes).length === 0)
    throw new UsageError('nothing to change: give --name, --plan, --daily-quota or --retention-days')
  const tenant = await withDeps(deps => changeTenant(deps, id, changes, ACTOR))
  if (!tenant) throw new CommandError(`there is no tenant ${id}; "vidimus tenant list" shows all`)
  print(
    json
      ? JSON.stringify(wire(tenant))
      : `Tenant ${tenant.id} (${tenant.name}), ${dailyQuotaOf(tenant)} verifications a day, kept ${kept(tenant)}.`,
  )
  return 0
}

const kept = ({ retentionDays }: TenantRow): string => (retentionDays === null ? 'for ever' : `${retentionDays} days`)

const wire = (tenant: TenantRow) => ({
  id: tenant.id,
  name: tenant.name,
  plan: tenant.plan,
  daily_quota: dailyQuotaOf(tenant),
  retention_days: tenant.retentionDays,
})
