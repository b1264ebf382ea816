import { isoUtc } from '../../base/time.ts'
import { roleOf } from '../role.ts'
import type { User } from '../schema.ts'
import type { UserRow } from '../store.ts'

/** `tenantNames` by id. */
export const presentUser = (user: UserRow, tenantNames: ReadonlyMap<string, string>, hasSecondFactor: boolean): User => {
  const { id, name, memberOf, password, createdAt, lastLoginAt } = user
  return {
    id,
    name,
    tenant: memberOf === null ? null : { id: memberOf, name: tenantNames.get(memberOf) ?? '' },
    role: roleOf(user),
    has_second_factor: hasSecondFactor,
    status: password === null ? 'invited' : 'active',
    created_at: isoUtc(createdAt),
    ...(lastLoginAt !== null && { last_login_at: isoUtc(lastLoginAt) }),
  }
}
