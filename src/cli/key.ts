import { createKey, EXPIRY_DAYS, type MintedKey, ROLL_GRACE_MS, type RollGrace, revokeKey, rollKey } from '../access/keys.ts'
import { DEFAULT_SCOPES, SCOPES } from '../access/scopes.ts'
import { type ApiKeyRow, findKey, listKeys } from '../access/store.ts'
import type { Deps } from '../deps.ts'
import { ApiError } from '../http/errors.ts'
import { findTenant } from '../tenants/store.ts'
import { isoUtc } from '../time.ts'
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
  withDeps,
} from './output.ts'

const HELP = `usage: vidimus key create --tenant ID --env test|live [--scopes A,B] [--expires-days ${EXPIRY_DAYS.join('|')}] [--label TEXT] [--json]
       vidimus key list --tenant ID [--json]
       vidimus key revoke ID [--json]
       vidimus key roll ID [--old-expires ${Object.keys(ROLL_GRACE_MS).join('|')}] [--json]

Scopes: ${SCOPES.join(', ')}.
Without --scopes a key gets all but verifications:delete. The key is printed once; only its hash is kept. Rolling makes a successor with the
same rights, and the old key goes on working for a while (24h, unless you say otherwise).

example: vidimus key create --tenant ten_… --env test --label "web shop"`

const FLAGS = {
  tenant: { type: 'string' },
  env: { type: 'string' },
  scopes: { type: 'string' },
  'expires-days': { type: 'string' },
  label: { type: 'string' },
  'old-expires': { type: 'string' },
} as const

const ACTS = {
  create: { flags: ['tenant', 'env', 'scopes', 'expires-days', 'label'] },
  list: { flags: ['tenant'] },
  revoke: { flags: [], word: 'the key id' },
  roll: { flags: ['old-expires'], word: 'the key id' },
} as const

const LABEL_CHARS_MAX = 100

export async function runKey(args: string[]): Promise<number> {
  const call = parseCall(args, FLAGS)
  const { values } = call
  if (values.help) return print(HELP)
  const { act, word: id } = actOf('key', call, ACTS)
  switch (act) {
    case 'create':
      return await create(values)
    case 'list':
      return await list(required(values.tenant, '--tenant'), values.json)
    case 'revoke':
      return await revoke(id, values.json)
    case 'roll':
      return await roll(id, choice(values['old-expires'] ?? '24h', graces, '--old-expires'), values.json)
  }
}

const graces = Object.keys(ROLL_GRACE_MS) as RollGrace[]

type CreateFlags = { tenant?: string; env?: string; scopes?: string; 'expires-days'?: string; label?: string; json?: boolean }

async function create(flags: CreateFlags): Promise<number> {
  const tenantId = required(flags.tenant, '--tenant')
  const environment = choice(required(flags.env, '--env'), ['test', 'live'], '--env')
  const scopes =
    flags.scopes === undefined
      ? DEFAULT_SCOPES
      : [...new Set(flags.scopes.split(','))].map(scope => choice(scope.trim(), SCOPES, '--scopes'))
  const days = flags['expires-days']
  const expiresDays = days === undefined ? undefined : EXPIRY_DAYS.find(each => String(each) === days)
  if (days !== undefined && !expiresDays)
    throw new UsageError(`--expires-days: "${days}" is not one of ${EXPIRY_DAYS.join(', ')}`)
  const label = shortText(flags.label ?? '', '--label', LABEL_CHARS_MAX)
  const minted = await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    return await createKey(deps, { tenantId, environment, scopes, expiresDays, label, actor: ACTOR })
  })
  return showOnce(minted, flags.json)
}

export async function requireTenant({ db }: Pick<Deps, 'db'>, id: string): Promise<void> {
  if (!(await findTenant(db, id))) throw new CommandError(`there is no tenant ${id}; "vidimus tenant list" shows all`)
}

function showOnce({ row, key }: MintedKey, json = false): number {
  if (json) print(JSON.stringify({ ...wire(row), key }))
  else
    print(
      `${key}\n\nThis is the only time the key ${row.id} is shown. Scopes: ${row.scopes.join(', ')}. Expires: ${expiry(row)}.`,
    )
  return 0
}

async function list(tenantId: string, json = false): Promise<number> {
  const keys = await withDeps(async deps => {
    await requireTenant(deps, tenantId)
    return await listKeys(deps.db, tenantId)
  })
  if (json) print(JSON.stringify({ data: keys.map(wire) }))
  else {
    const rows = keys.map(key => [
      key.id,
      `${key.prefix}…`,
      key.label,
      key.revokedAt === null ? expiry(key) : 'revoked',
      key.scopes.join(','),
    ])
    print(table(['ID', 'PREFIX', 'LABEL', 'EXPIRES', 'SCOPES'], rows))
  }
  return 0
}

async function revoke(id: string, json = false): Promise<number> {
  const row = await withDeps(async deps => {
    await revokeKey(deps, id, ACTOR)
    return await findKey(deps.db, id)
  })
  if (!row) throw unknownKey(id)
  print(json ? JSON.stringify(wire(row)) : `Key ${id} (${row.prefix}…) is revoked.`)
  return 0
}

async function roll(id: string, grace: RollGrace, json = false): Promise<number> {
  const minted = await withDeps(deps => rollKey(deps, id, grace, ACTOR)).catch(inWords)
  if (!minted) throw unknownKey(id)
  return showOnce(minted, json)
}

/** A refusal of the verb, for somebody at the command line. */
function inWords(error: unknown): never {
  throw error instanceof ApiError ? new CommandError(error.message) : error
}

const unknownKey = (id: string) =>
  new CommandError(`there is no valid key ${id}; "vidimus key list --tenant ID" shows a tenant's keys`)

const expiry = ({ expiresAt }: ApiKeyRow): string => (expiresAt === null ? 'never' : isoUtc(expiresAt))

const wire = (row: ApiKeyRow) => ({
  id: row.id,
  prefix: row.prefix,
  environment: row.environment,
  scopes: row.scopes,
  label: row.label,
  created_at: isoUtc(row.createdAt),
  expires_at: row.expiresAt === null ? null : isoUtc(row.expiresAt),
  revoked_at: row.revokedAt === null ? null : isoUtc(row.revokedAt),
})
