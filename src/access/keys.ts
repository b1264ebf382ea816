import type { Setting } from '../audit/deps.ts'
import { sha256Hex } from '../base/hash.ts'
import { newKeyId, newSecret } from '../base/ids.ts'
import type { Making, Reading } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import type { Environment, Scope } from './scopes.ts'
import { type ApiKeyRow, findKey, insertKey, listKeys, lockKey, markKeyRevoked, markKeyRolled } from './store.ts'

export type { ApiKeyRow } from './store.ts'

const DAY_MS = 86_400_000
const DISPLAY_PREFIX_LENGTH = 12

export const EXPIRY_DAYS = [30, 90, 365] as const
export type ExpiryDays = (typeof EXPIRY_DAYS)[number]

/** How long a rolled key keeps working beside its successor. */
export const ROLL_GRACE_MS = { now: 0, '1h': 3_600_000, '24h': DAY_MS, '7d': 7 * DAY_MS } as const
export type RollGrace = keyof typeof ROLL_GRACE_MS

/** Of the key that a first start makes for developers. */
export const FIRST_KEY_LABEL = 'first test key'

type NewKey = {
  tenantId: string
  environment: Environment
  scopes: readonly Scope[]
  expiresDays?: ExpiryDays
  label?: string
  actor: string
}

/** `key` is shown once: only its hash and first characters are stored. */
export type MintedKey = { row: ApiKeyRow; key: string }

type KeyDeps = Making & Setting

export async function createKey(deps: KeyDeps, { actor, expiresDays, ...wanted }: NewKey): Promise<MintedKey> {
  const at = deps.now()
  const minted = mint(deps, at, { ...wanted, expiresAt: expiresDays === undefined ? null : at + expiresDays * DAY_MS })
  await deps.writeSettings(async tx => {
    await insertKey(tx, minted.row)
    await deps.audit.append(tx, {
      at,
      tenantId: minted.row.tenantId,
      actor,
      action: 'key.created',
      subjectId: minted.row.id,
      details: describe(minted.row),
    })
  })
  return minted
}

/** Newest first. */
export const readKeys = async ({ db }: Reading, tenantId: string): Promise<ApiKeyRow[]> => await listKeys(db, tenantId)

export async function readKey({ db }: Reading, tenantId: string, id: string): Promise<ApiKeyRow | undefined> {
  const row = await findKey(db, id)
  return row?.tenantId === tenantId ? row : undefined
}

/** Undefined when there is no such key. A repeat changes nothing and leaves no audit record. */
export async function revokeKey(deps: KeyDeps, id: string, actor: string): Promise<ApiKeyRow | undefined> {
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    const row = await markKeyRevoked(tx, id, at)
    if (!row) return await findKey(tx, id)
    await deps.audit.append(tx, { at, tenantId: row.tenantId, actor, action: 'key.revoked', subjectId: id })
    return row
  })
}

/**
 * Makes a successor with the same rights and lifetime. The old key ends after the grace, or at its
 * own deadline if that is sooner.
 */
export async function rollKey(deps: KeyDeps, id: string, grace: RollGrace, actor: string): Promise<MintedKey | undefined> {
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    const old = await lockKey(tx, id)
    if (!old || old.revokedAt !== null || isExpired(old, at)) return undefined
    // A key is rolled once: its deadline is now the end of its grace, not the lifetime of a successor.
    if (old.successorId !== null)
      throw apiError('key_rolled', { message: `${id} was rolled already; roll its successor ${old.successorId}.` })
    const lifetime = old.expiresAt === null ? null : old.expiresAt - old.createdAt
    const minted = mint(deps, at, { ...old, scopes: old.scopes as Scope[], expiresAt: lifetime === null ? null : at + lifetime })
    const oldExpiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, at + ROLL_GRACE_MS[grace])
    await insertKey(tx, minted.row)
    await markKeyRolled(tx, id, { expiresAt: oldExpiresAt, successorId: minted.row.id })
    const details = { ...describe(minted.row), successor: minted.row.id, old_expires_at: oldExpiresAt }
    await deps.audit.append(tx, { at, tenantId: old.tenantId, actor, action: 'key.rolled', subjectId: id, details })
    return minted
  })
}

export const isExpired = (row: ApiKeyRow, at: number): boolean => row.expiresAt !== null && row.expiresAt <= at

type KeyToCreate = {
  tenantId: string
  environment: Environment
  scopes: readonly Scope[]
  label?: string
  expiresAt: number | null
}

function mint({ random }: Making, at: number, { tenantId, environment, scopes, label = '', expiresAt }: KeyToCreate): MintedKey {
  const key = newSecret(random, `vk_${environment}_`)
  const row = {
    id: newKeyId(random),
    tenantId,
    environment,
    hash: sha256Hex(key),
    prefix: key.slice(0, DISPLAY_PREFIX_LENGTH),
    label,
    scopes: [...scopes],
    createdAt: at,
    expiresAt,
    revokedAt: null,
    successorId: null,
    lastUsedAt: null,
  }
  return { row, key }
}

const describe = ({ prefix, environment, scopes, label }: ApiKeyRow) => ({ prefix, environment, scopes, label })
