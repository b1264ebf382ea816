import { apiError } from '../http/errors.ts'
import { parseUtcInstant } from '../time.ts'
import type { Deps } from './deps.ts'
import { statusAt } from './expire.ts'
import type { Status, Verification } from './schema.ts'
import { findStatus, findVerification, listVerifications, type Owner } from './store.ts'
import { presentOrTell } from './unreadable.ts'

const LIMIT_DEFAULT = 20

export async function readOne(deps: Deps, owner: Owner, id: string): Promise<Verification> {
  const found = await findVerification(deps.db, owner, id)
  // Another tenant's id, another environment's or device's and an erased one look alike: nobody learns that they exist.
  if (!found) throw apiError('session_not_found')
  return await presentOrTell(deps, found)
}

type Page = { limit?: number; before?: string }

export async function readList(
  deps: Deps,
  owner: Owner,
  { limit = LIMIT_DEFAULT, before }: Page,
): Promise<{ data: Verification[] }> {
  const bound = before === undefined ? Number.MAX_SAFE_INTEGER : (parseUtcInstant(before) ?? 0)
  const rows = await listVerifications(deps.db, owner, { before: bound, limit })
  return { data: await Promise.all(rows.map(row => presentOrTell(deps, row))) }
}

export async function readStatus({ db, now }: Pick<Deps, 'db' | 'now'>, id: string): Promise<{ id: string; status: Status }> {
  const found = await findStatus(db, id)
  if (!found) throw apiError('session_not_found')
  return { id, status: statusAt(found, now()) }
}
