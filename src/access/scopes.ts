import type { Way } from '../devices/schema.ts'

export const SCOPES = ['verifications:create', 'verifications:read', 'verifications:delete', 'devices:manage'] as const
export type Scope = (typeof SCOPES)[number]

export const isScope = (text: string): text is Scope => SCOPES.some(scope => scope === text)

/** Deleting must be asked for explicitly (interface 5.7). */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter(scope => scope !== 'verifications:delete')

export const ENVIRONMENTS = ['test', 'live'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

/** Tills neither erase sessions nor manage devices. */
export const DEVICE_SCOPES: readonly Scope[] = ['verifications:create', 'verifications:read']

/** The authenticated caller. */
export type Caller = KeyCaller | DeviceCaller

type Identity = {
  tenantId: string
  environment: Environment
  scopes: readonly Scope[]
  /** The actor in audit records: a key's prefix, a device's name. */
  name: string
  /** Verifications the tenant may create a day. */
  dailyQuota: number
}

export type KeyCaller = Identity & {
  kind: 'key'
  keyId: string
  /** App schemes that a `redirect_url` of this tenant may have. */
  appSchemes: readonly string[]
}

/** May use these templates only, and sees its own sessions only. */
export type DeviceCaller = Identity & { kind: 'device'; deviceId: string; allowedTemplates: readonly string[]; ways: Way[] }
