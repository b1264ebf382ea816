import type { UserRow } from './store.ts'

export const ROLES = ['owner', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** An owner sees all tenants. A viewer changes nothing, and sees neither claims nor secrets. */
export const roleOf = ({ memberOf, role }: UserRow): Role => (memberOf === null ? 'owner' : role)

export const maySeeClaims = (user: UserRow): boolean => roleOf(user) !== 'viewer'
