export const SCOPES = ['verifications:create', 'verifications:read', 'verifications:delete', 'devices:manage'] as const
export type Scope = (typeof SCOPES)[number]

export const isScope = (text: string): text is Scope => SCOPES.some(scope => scope === text)

/** Erasure is asked for, never given by default (interface 5.7). */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter(scope => scope !== 'verifications:delete')

export const ENVIRONMENTS = ['test', 'live'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

/** What a till is for; it never erases, and never lets others in. */
export const DEVICE_SCOPES: readonly Scope[] = ['verifications:create', 'verifications:read']

/** Who is calling, once authenticated. */
export type Caller = KeyCaller | DeviceCaller

type Identity = {
  tenantId: string
  environment: Environment
  scopes: readonly Scope[]
  /** How the audit trail names the caller: a key's prefix, a device's name. */
  name: string
  /** Creations a day that the tenant has. */
  dailyQuota: number
}

export type KeyCaller = Identity & {
  kind: 'key'
  keyId: string
  /** Schemes of the tenant's own apps that a redirect_url may have. */
  appSchemes: readonly string[]
}

/** Narrower than a key: only these templates, only its own sessions. */
export type DeviceCaller = Identity & { kind: 'device'; deviceId: string; allowedTemplates: readonly string[] }
