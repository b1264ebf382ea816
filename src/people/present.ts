import { isoUtc } from '../time.ts'
import type { User } from './schema.ts'
import type { UserRow } from './store.ts'

/** `tenantNames` by id. */
export const presentUser = (
  { id, name, memberOf, password, createdAt, lastLoginAt }: UserRow,
  tenantNames: ReadonlyMap<string, string>,
): User => ({
  id,
  name,
  tenant: memberOf === null ? null : { id: memberOf, name: tenantNames.get(memberOf) ?? '' },
  status: password === null ? 'invited' : 'active',
  created_at: isoUtc(createdAt),
  ...(lastLoginAt !== null && { last_login_at: isoUtc(lastLoginAt) }),
})
