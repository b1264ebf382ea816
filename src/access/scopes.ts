export const SCOPES = ['verifications:create', 'verifications:read', 'verifications:delete', 'devices:manage'] as const
export type Scope = (typeof SCOPES)[number]

export const isScope = (text: string): text is Scope => SCOPES.some(scope => scope === text)

/** Erasure is asked for, never given by default (interface 5.7). */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter(scope => scope !== 'verifications:delete')

export type Environment = 'test' | 'live'

/** Who is calling, once authenticated. */
export type Caller = {
  kind: 'key'
  keyId: string
  tenantId: string
  environment: Environment
  scopes: readonly Scope[]
  /** How the audit trail and the log name the caller: the key's prefix. */
  name: string
  /** Creations a day that the tenant has. */
  dailyQuota: number
}
