// What a merchant, a wallet and a till may expect of the service, and nothing about how it does it. Written from the interface
// and the decisions; it shares no code with the service. What only chance decides (ids, secrets, jitter) is learned from the
// first answer and held to from then on.

export type Environment = 'test' | 'live'

export const SCOPES = ['verifications:create', 'verifications:read', 'verifications:delete', 'devices:manage'] as const
export type Scope = (typeof SCOPES)[number]

/** Interface part 7, and the codes that the decisions add. */
const STATUSES = {
  invalid_request: 400,
  invalid_idempotency_key: 400,
  invalid_pairing_code: 400,
  invalid_refresh_token: 400,
  invalid_wallet_response: 400,
  invalid_api_key: 401,
  api_key_expired: 401,
  insufficient_scope: 403,
  session_not_found: 404,
  invalid_response_code: 404,
  device_not_found: 404,
  session_already_responded: 409,
  session_expired: 410,
  unknown_template: 422,
  invalid_webhook_url: 422,
  idempotency_key_reused: 422,
  quota_exceeded: 429,
} as const

export type Code = keyof typeof STATUSES
export const CODES = Object.keys(STATUSES) as Code[]

/** Thrown by the model where the service must refuse. */
export class Refusal extends Error {
  readonly status: number
  constructor(
    readonly code: Code,
    readonly retryAfterSeconds?: number,
  ) {
    super(code)
    this.status = STATUSES[code]
  }
}

export type Key = {
  /** Learned. */
  id: string
  secret: string
  environment: Environment
  scopes: readonly Scope[]
  createdAt: number
  expiresAt: number | null
  isRevoked: boolean
  isRolled?: true
}

export type Delivery = {
  /** Learned. */
  id: string
  status: 'pending' | 'delivered' | 'failed'
  attempts: number
  /** All there ever were, replays included. */
  logged: number
  dueAt: number
}

export type Session = {
  /** Learned. */
  id: string
  walletUri: string
  /** The whole 201, for its repeat. */
  created: unknown
  /** Claims, credentials or error: as first read, for ever. */
  result: Record<string, unknown> | undefined
  environment: Environment
  device: Device | undefined
  template: string | undefined
  metadata: Record<string, string> | undefined
  purpose: string | undefined
  redirectUrl: string | undefined
  /** A good answer is held until its code is redeemed. */
  isReleasedByCode: boolean
  /** How its receiver answers. */
  receiver: Receiver | undefined
  createdAt: number
  expiresAt: number
  respondedAt: number | undefined
  outcome: 'completed' | 'failed' | undefined
  code: { secret: string; expiresAt: number; isSpent: boolean } | undefined
  delivery: Delivery | undefined
  isErased: boolean
}

export const RECEIVERS = ['ok', 'error', 'gone', 'redirect', 'flaky', 'busy', 'dead'] as const
export type Receiver = (typeof RECEIVERS)[number]

/** A pairing code or a refresh token, and what it was spent for. */
export type Spendable = {
  secret: string
  expiresAt: number
  spentAt: number | undefined
  /** Kept for a lost answer, until the pair is used. */
  replay: { idempotencyKey: string; answer: unknown } | undefined
  isForgotten?: true
}

export type AccessToken = { secret: string; expiresAt: number; generation: number; isUsed: boolean; isForgotten?: true }

export type Device = {
  /** Learned. */
  id: string
  name: string
  environment: Environment
  allowedTemplates: string[]
  status: 'pending' | 'active' | 'revoked'
  createdAt: number
  pairingExpiresAt: number
  enrolledAt: number | undefined
  lastSeenAt: number | undefined
  revokedAt: number | undefined
  familyExpiresAt: number
  /** Secrets by generation: the pairing code, then the refresh tokens. */
  spendables: Spendable[]
  accessTokens: AccessToken[]
}

export type Kept = { body: string; expiresAt: number; session: Session }

export type Model = {
  /** No other run shares the service: only then may it stop and start. */
  isAlone: boolean
  /** The machine's clock, and the time of the service, which never goes back. */
  wall: number
  now: number
  quota: number
  retentionDays: number | undefined
  keys: Key[]
  sessions: Session[]
  devices: Device[]
  usage: Map<string, number>
  /** Stored replays by namespace and key. */
  kept: Map<string, Kept>
  /** The time of the newest creation, erased or not. */
  newestAt: number
  /** Newest first. */
  webhookSecrets: Record<Environment, { secret: string; createdAt: number; validUntil: number | null }[]>
  /** How many records the tenant has on the audit chain. */
  audited: number
}

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Set back, time goes on at half speed until the clock has caught up. */
export function passTime(model: Model, stepMs: number): void {
  model.wall += stepMs
  model.now = Math.max(model.wall, model.now + Math.max(0, stepMs) / 2)
  model.now = Math.floor(model.now)
}

/** The caller: a key, an access token of a device, or neither. */
export type Caller = { kind: 'key'; key: Key } | { kind: 'device'; device: Device; token: AccessToken } | { kind: 'nobody' }

export const environmentOf = (caller: Caller): Environment =>
  caller.kind === 'key' ? caller.key.environment : caller.kind === 'device' ? caller.device.environment : 'test'

export const secretOf = (caller: Caller): string | undefined =>
  caller.kind === 'key' ? caller.key.secret : caller.kind === 'device' ? caller.token.secret : undefined

const DEVICE_SCOPES: readonly Scope[] = ['verifications:create', 'verifications:read']

/** Authentication, then scope (interface 5.6). */
export function admit(model: Model, caller: Caller, scope: Scope): void {
  if (caller.kind === 'nobody') throw new Refusal('invalid_api_key')
  if (caller.kind === 'key') {
    const { isRevoked, expiresAt, scopes } = caller.key
    if (isRevoked) throw new Refusal('invalid_api_key')
    if (expiresAt !== null && expiresAt <= model.now) throw new Refusal('api_key_expired')
    if (!scopes.includes(scope)) throw new Refusal('insufficient_scope')
    return
  }
  if (caller.device.status !== 'active' || caller.token.isForgotten) throw new Refusal('invalid_api_key')
  if (caller.token.expiresAt <= model.now) throw new Refusal('api_key_expired')
  useToken(model, caller.device, caller.token)
  if (!DEVICE_SCOPES.includes(scope)) throw new Refusal('insufficient_scope')
}

/** From its first use on, the answer that brought a token is never given again. */
function useToken(model: Model, device: Device, token: AccessToken): void {
  if (!token.isUsed) device.spendables[token.generation - 1]!.replay = undefined
  token.isUsed = true
  seen(model, device)
}

/** To the minute. */
export function seen(model: Model, device: Device): void {
  if (device.lastSeenAt === undefined || device.lastSeenAt <= model.now - MINUTE) device.lastSeenAt = model.now
}
