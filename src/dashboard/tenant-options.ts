import { errorResponses } from '../http/schema.ts'
import { TenantItemPath, TenantPath } from './schema.ts'

/** Options of a route under /tenants/:tenant, for its members and for owners. */
export const TENANT = { member: { who: 'anyone' as const }, params: TenantPath }
/** The same with an `:id` in the path. */
export const TENANT_ITEM = { member: { who: 'anyone' as const }, params: TenantItemPath }
/** Goes after either: the password was given just now. */
export const FRESH = { member: { who: 'anyone' as const, fresh: true as const } }

export const READ = errorResponses(400, 401, 403, 404, 429, 500)
export const CHANGED = errorResponses(400, 401, 403, 404, 409, 413, 422, 429, 500)
