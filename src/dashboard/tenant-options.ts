import { errorResponses } from '../http/schema.ts'
import { TenantItemPath, TenantPath } from './schema.ts'

/** Options of a route under /tenants/:tenant, for its members and for owners. */
export const TENANT = { member: { who: 'anyone' as const }, params: TenantPath }
/** The same with an `:id` in the path. */
export const TENANT_ITEM = { member: { who: 'anyone' as const }, params: TenantItemPath }
/** Goes after either: the user proved their identity in the last hour. The handler may want it fresher. */
export const FRESH_HOUR = { member: { who: 'anyone' as const, fresh: 'hour' as const } }
/** In the last five minutes for the live environment, which is in the address, and in the last hour for Test. */
export const FRESH = { member: { who: 'anyone' as const, fresh: 'live' as const } }

export const READ = errorResponses(400, 401, 403, 404, 429, 500)
export const CHANGED = errorResponses(400, 401, 403, 404, 409, 413, 422, 429, 500)

/** For routes that name no tenant. */
export const READ_ALL = errorResponses(401, 403, 429, 500)
export const CHANGED_ALL = errorResponses(400, 401, 403, 404, 409, 413, 429, 500)
