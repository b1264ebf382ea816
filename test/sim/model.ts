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
  invalid_engagement: 400,
  login_not_found: 400,
  unknown_client: 400,
  invalid_grant: 400,
  invalid_api_key: 401,
  invalid_client: 401,
  invalid_token: 401,
  api_key_expired: 401,
  insufficient_scope: 403,
  session_not_found: 404,
  invalid_response_code: 404,
  device_not_found: 404,
  session_already_responded: 409,
  session_expired: 410,
  unknown_template: 422,
  invalid_webhook_url: 422,
  not_askable_in_person: 422,
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
  formats: readonly Format[] | undefined
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
  /** Of the answer, or of what took its place. */
  endedAt: number | undefined
  code: { secret: string; expiresAt: number; isSpent: boolean } | undefined
  delivery: Delivery | undefined
  /** By a wallet that has not answered since. */
  isFetched: boolean
  /** Phones whose code was scanned; the last one counts. */
  phones: Phone[]
  login: Login | undefined
  isErased: boolean
}

export type Format = 'dc+sd-jwt' | 'mso_mdoc'

/** What the service wrote to it is learned. */
export type Phone = { code: string; declines: boolean; message: string | undefined }

export type Client = {
  /** Learned. */
  id: string
  secret: string
  environment: Environment
  /** Only the device that began may answer: its answer is held until it comes back. */
  isSameDevice: boolean
  isRemoved: boolean
}

export type Login = {
  client: Client
  hasReturned: boolean
  code: { secret: string; expiresAt: number; isSpent: boolean } | undefined
  token: { secret: string; expiresAt: number; isRevoked: boolean } | undefined
  /** Learned. */
  sub: string | undefined
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
  /** Else an hour. */
  keepsLogins: boolean
  keys: Key[]
  sessions: Session[]
  devices: Device[]
  clients: Client[]
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

// Sessions

/** For devices only here: what a key reads of it changes after a quarter of an hour. */
export const PHOTO_TEMPLATE = 'age_over_18_photo'
export const KNOWN_TEMPLATES = ['age_over_18', 'age_over_65', 'identity_basic', PHOTO_TEMPLATE]
export const UNKNOWN_TEMPLATE = 'of_tomorrow'
const RESPONSE_CODE_MS = 600 * SECOND
const COMPARISON_MS = 120 * SECOND

/** Of the templates here that have not both forms. */
const ONE_FORMAT: Record<string, Format> = { driving_licence: 'mso_mdoc' }

export type Creation = {
  /** Neither stands for an invalid body. */
  template?: string
  formats?: Format[]
  query?: boolean
  ttlSeconds?: number
  metadata?: Record<string, string>
  purpose?: string
  redirectUrl?: string
  release?: true
  receiver?: Receiver
  privateWebhook?: boolean
}

export type Created = { session: Session; isReplayed: boolean; isKept: Kept | undefined }

/** The order of checks is that of decisions.md 5; nothing is charged for a refusal. */
export function create(model: Model, caller: Caller, idempotencyKey: string | undefined, asked: Creation): Created {
  admit(model, caller, 'verifications:create')
  if (idempotencyKey?.includes(' ')) throw new Refusal('invalid_idempotency_key')
  if ((asked.template === undefined) === !asked.query) throw new Refusal('invalid_request')
  if (asked.formats && asked.query) throw new Refusal('invalid_request')
  if (asked.release && asked.redirectUrl === undefined) throw new Refusal('invalid_request')
  if (caller.kind === 'device' && (asked.receiver || asked.privateWebhook || asked.redirectUrl !== undefined))
    throw new Refusal('insufficient_scope')
  if (caller.kind === 'device' && !(asked.template && caller.device.allowedTemplates.includes(asked.template)))
    throw new Refusal('insufficient_scope')
  const namespace = caller.kind === 'device' ? caller.device.id : environmentOf(caller)
  const place = `${namespace} ${idempotencyKey}`
  const before = idempotencyKey === undefined ? undefined : model.kept.get(place)
  if (before && before.expiresAt > model.now) {
    if (before.body !== JSON.stringify(asked) || before.session.isErased) throw new Refusal('idempotency_key_reused')
    return { session: before.session, isReplayed: true, isKept: before }
  }
  if (asked.template === UNKNOWN_TEMPLATE) throw new Refusal('unknown_template')
  const only = ONE_FORMAT[asked.template ?? '']
  if (only && asked.formats?.includes(only) === false) throw new Refusal('invalid_request')
  if (asked.privateWebhook) throw new Refusal('invalid_webhook_url')
  const session = addSession(model, caller, asked)
  const kept = { body: JSON.stringify(asked), expiresAt: model.now + DAY, session }
  if (idempotencyKey !== undefined) model.kept.set(place, kept)
  return { session, isReplayed: false, isKept: undefined }
}

function charge(model: Model, at: number): void {
  const used = model.usage.get(dayOf(at)) ?? 0
  if (used >= model.quota) throw new Refusal('quota_exceeded', Math.ceil((DAY - (at % DAY)) / SECOND))
  model.usage.set(dayOf(at), used + 1)
}

export function addSession(model: Model, caller: Caller, asked: Creation): Session {
  const at = Math.max(model.now, model.newestAt + 1)
  charge(model, at)
  const session = newSession(caller, asked, at)
  model.newestAt = at
  model.sessions.push(session)
  model.audited++
  return session
}

const newSession = (caller: Caller, asked: Creation, at: number): Session => ({
  id: '',
  walletUri: '',
  created: undefined,
  result: undefined,
  environment: environmentOf(caller),
  device: caller.kind === 'device' ? caller.device : undefined,
  template: asked.template,
  formats: asked.formats,
  metadata: asked.metadata,
  purpose: asked.purpose,
  redirectUrl: asked.redirectUrl,
  isReleasedByCode: asked.release === true,
  receiver: asked.receiver,
  createdAt: at,
  expiresAt: at + (asked.ttlSeconds ?? 300) * SECOND,
  respondedAt: undefined,
  outcome: undefined,
  endedAt: undefined,
  code: undefined,
  delivery: undefined,
  isFetched: false,
  phones: [],
  login: undefined,
  isErased: false,
})

export const isHeld = ({ outcome, respondedAt }: Session): boolean => outcome === undefined && respondedAt !== undefined

const isCompared = ({ device, template }: Session): boolean => device !== undefined && template === PHOTO_TEMPLATE

const heldMs = (session: Session): number => (isCompared(session) ? COMPARISON_MS : RESPONSE_CODE_MS)

export function statusOf({ now }: Model, session: Session): string {
  if (session.outcome) return session.outcome
  if (isHeld(session)) return session.respondedAt! + heldMs(session) <= now ? 'failed' : 'pending'
  return session.expiresAt <= now ? 'expired' : 'pending'
}

/** Held answers that nobody redeemed or compared in time. */
export const overdue = ({ sessions, now }: Model): Session[] =>
  sessions.filter(each => !each.isErased && isHeld(each) && each.respondedAt! + heldMs(each) <= now)

export function failOverdue(model: Model, session: Session): void {
  session.outcome = 'failed'
  session.result = { error: { code: isCompared(session) ? 'not_compared' : 'redirect_not_followed', message: isText } }
  end(model, session, model.now)
}

/** A sweep records the expiry of each session that a wallet knew, once. */
export function expireFetched(model: Model): void {
  const expired = model.sessions.filter(each => each.isFetched && !each.isErased && statusOf(model, each) === 'expired')
  for (const session of expired) session.isFetched = false
  model.audited += expired.length
}

/** As every route and every webhook shows it; a function stands for what must only look right. */
export function viewOf(model: Model, session: Session): Record<string, unknown> {
  const status = statusOf(model, session)
  const isOpen = status === 'pending' && !isHeld(session)
  const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
  const view = {
    id: session.id === '' ? isId : session.id,
    status,
    template: session.template,
    wallet_uri: isOpen ? (session.walletUri === '' ? isWalletUri : session.walletUri) : undefined,
    request_uri: isOpen ? isRequestUri : undefined,
    ...session.result,
    metadata: session.metadata,
    purpose: session.purpose,
    redirect_url: session.redirectUrl,
    created_at: iso(session.createdAt),
    expires_at: iso(session.expiresAt),
    responded_at: iso(session.respondedAt),
  }
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined))
}

const isId = (value: unknown) => /^vs_[0-9A-Za-z]{22}$/.test(String(value))
const isWalletUri = (value: unknown) => String(value).startsWith('openid4vp://?client_id=')
const isRequestUri = (value: unknown) => /^https:\/\/verify\.example\/wallet\/request\/vs_/.test(String(value))

/** Sessions that a caller sees: those of its environment, and for a device those it created. */
export const visibleTo = ({ sessions }: Model, caller: Caller): Session[] =>
  sessions.filter(
    session =>
      !session.isErased &&
      session.environment === environmentOf(caller) &&
      (caller.kind !== 'device' || session.device === caller.device),
  )

export function read(model: Model, caller: Caller, session: Session): Record<string, unknown> {
  admit(model, caller, 'verifications:read')
  if (!visibleTo(model, caller).includes(session)) throw new Refusal('session_not_found')
  return viewOf(model, session)
}

export function list(model: Model, caller: Caller, limit: number, before: number): Record<string, unknown>[] {
  admit(model, caller, 'verifications:read')
  return visibleTo(model, caller)
    .filter(({ createdAt }) => createdAt < before)
    .sort((a, b) => b.createdAt - a.createdAt)
    .slice(0, limit)
    .map(session => viewOf(model, session))
}

export function usage(model: Model, caller: Caller): Record<string, unknown> {
  admit(model, caller, 'verifications:read')
  const recent = [...model.usage].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, 30)
  const created = model.usage.get(dayOf(model.now)) ?? 0
  return {
    day: dayOf(model.now),
    verifications_created: created,
    daily_quota: model.quota,
    remaining: model.quota - created,
    recent: recent.map(([day, verifications_created]) => ({ day, verifications_created })),
  }
}

export function erase(model: Model, caller: Caller, session: Session): Record<string, number> {
  admit(model, caller, 'verifications:delete')
  if (!visibleTo(model, caller).includes(session)) throw new Refusal('session_not_found')
  const deleted = {
    verification_sessions: 1,
    verification_results: session.outcome || isHeld(session) ? 1 : 0,
    webhook_deliveries: session.delivery ? 1 : 0,
  }
  forget(model, session)
  return deleted
}

export function forget(model: Model, session: Session): void {
  session.isErased = true
  session.delivery = undefined
  model.audited++
}

/** Retention: what ended long enough ago. */
export function forgetOld(model: Model): void {
  if (model.retentionDays === undefined) return
  const endedBy = model.now - model.retentionDays * DAY
  for (const session of model.sessions)
    if (!session.isErased && (session.respondedAt ?? session.expiresAt) <= endedBy) forget(model, session)
}

export function redeem(model: Model, caller: Caller, session: Session, code: string): Record<string, unknown> {
  admit(model, caller, 'verifications:read')
  if (!visibleTo(model, caller).includes(session) || !spendCode(model, session, code)) throw new Refusal('invalid_response_code')
  return viewOf(model, session)
}

/** True for the right code, in time, once. */
export function spendCode(model: Model, session: Session, given: string): boolean {
  const { code } = session
  if (!code || code.secret !== given || code.isSpent || code.expiresAt <= model.now) return false
  code.isSpent = true
  if (isHeld(session)) {
    session.outcome = 'completed'
    end(model, session, model.now)
  }
  return true
}

/** The decision of the device that asked. */
export function compare(model: Model, caller: Caller, session: Session, isSame: boolean): void {
  admit(model, caller, 'verifications:create')
  const isOwn = caller.kind === 'device' && visibleTo(model, caller).includes(session)
  if (!isOwn || session.respondedAt === undefined) throw new Refusal('session_not_found')
  if (!isHeld(session) || statusOf(model, session) !== 'pending') throw new Refusal('session_already_responded')
  session.outcome = isSame ? 'completed' : 'failed'
  end(model, session, model.now)
}

/** For a wallet the id is all it takes. An answer is mentioned before a deadline. */
export function openToWallet(model: Model, session: Session): void {
  if (session.isErased) throw new Refusal('session_not_found')
  if (session.respondedAt !== undefined) throw new Refusal('session_already_responded')
  if (session.outcome || session.expiresAt <= model.now) throw new Refusal('session_expired')
}

export function fetchRequest(model: Model, session: Session): void {
  openToWallet(model, session)
  session.isFetched = true
}

/** Before an answer and within its time. A repeat finds it cancelled and changes nothing. */
export function cancel(model: Model, caller: Caller, session: Session): Record<string, unknown> {
  admit(model, caller, 'verifications:create')
  if (!visibleTo(model, caller).includes(session)) throw new Refusal('session_not_found')
  if (session.respondedAt !== undefined) throw new Refusal('session_already_responded')
  if (session.outcome) return viewOf(model, session)
  if (session.expiresAt <= model.now) throw new Refusal('session_expired')
  cancelOpen(model, session)
  return viewOf(model, session)
}

export function cancelOpen(model: Model, session: Session): void {
  session.outcome = 'failed'
  session.result = { error: { code: 'cancelled', message: isText } }
  end(model, session, Math.max(model.now, session.createdAt))
}

export const isText = (value: unknown) => typeof value === 'string' && value.length > 0

/** The message that is owed, and the record. */
function end(model: Model, session: Session, at: number): void {
  session.endedAt = at
  if (session.receiver) session.delivery = { id: '', status: 'pending', attempts: 0, logged: 0, dueAt: at }
  model.audited++
}

export function answerGarbage(model: Model, session: Session): never {
  openToWallet(model, session)
  throw new Refusal('invalid_wallet_response')
}

export type Verdict = { outcome: 'completed' | 'failed'; error?: string }

export function answer(model: Model, session: Session, { outcome }: Verdict): void {
  openToWallet(model, session)
  const at = Math.max(model.now, session.createdAt)
  session.respondedAt = at
  if (session.redirectUrl !== undefined) session.code = { secret: '', expiresAt: at + RESPONSE_CODE_MS, isSpent: false }
  if (outcome === 'completed' && (session.isReleasedByCode || isCompared(session))) return
  session.outcome = outcome
  end(model, session, at)
}

/** Result of a sandbox persona's answer. */
export function verdictOn({ environment, template }: Session, persona: string): Verdict {
  const failed = (error: string): Verdict => ({ outcome: 'failed', error })
  if (persona === 'declines') return failed('wallet_declined')
  if (persona === 'wrong_device_key') return failed('holder_binding_invalid')
  // A live session trusts nobody here.
  if (environment === 'live') return failed('issuer_untrusted')
  if (persona === 'expired') return failed('credential_expired')
  const isOldEnough = template === 'age_over_18' || template === PHOTO_TEMPLATE ? persona === 'adult' : template !== 'age_over_65'
  return isOldEnough ? { outcome: 'completed' } : failed('claim_not_satisfied')
}

// Devices

const ACCESS_MS = HOUR
const REFRESH_MS = 30 * DAY
const FAMILY_MS = 365 * DAY
const REPLAY_MS = DAY
/** After its end; then nobody knows a token any more. */
const KNOWN_MS = 90 * DAY

export type Registration = { name: string; allowedTemplates: string[]; pairingTtlSeconds?: number }

export function register(
  model: Model,
  caller: Caller,
  { name, allowedTemplates, pairingTtlSeconds = 900 }: Registration,
): Device {
  admit(model, caller, 'devices:manage')
  const environment = environmentOf(caller)
  const newest = Math.max(0, ...model.devices.filter(each => each.environment === environment).map(each => each.createdAt))
  const createdAt = Math.max(model.now, newest + 1)
  const pairingExpiresAt = createdAt + pairingTtlSeconds * SECOND
  const device: Device = {
    id: '',
    name,
    environment,
    allowedTemplates,
    status: 'pending',
    createdAt,
    pairingExpiresAt,
    enrolledAt: undefined,
    lastSeenAt: undefined,
    revokedAt: undefined,
    familyExpiresAt: 0,
    spendables: [{ secret: '', expiresAt: pairingExpiresAt, spentAt: undefined, replay: undefined }],
    accessTokens: [],
  }
  model.devices.push(device)
  model.audited++
  return device
}

/** A new pair, whose secrets are to be learned, or the answer that was given before. */
export type Exchanged = { replayed: unknown } | { issued: true; spent: Spendable }

export function enroll(model: Model, device: Device, idempotencyKey: string | undefined): Exchanged {
  const code = device.spendables[0]!
  const isGood = code.spentAt === undefined && device.status === 'pending' && code.expiresAt > model.now
  if (!isGood) return repeat(model, device, code, idempotencyKey) ?? refuse('invalid_pairing_code')
  device.status = 'active'
  device.enrolledAt = model.now
  device.familyExpiresAt = model.now + FAMILY_MS
  model.audited++
  return issue(model, device, 0)
}

export function refresh(model: Model, device: Device, generation: number, idempotencyKey: string | undefined): Exchanged {
  const token = device.spendables[generation]!
  if (token.spentAt === undefined && device.status === 'active' && token.expiresAt > model.now) {
    seen(model, device)
    device.spendables[generation - 1]!.replay = undefined
    return issue(model, device, generation)
  }
  const again = repeat(model, device, token, idempotencyKey)
  if (again) return again
  if (token.spentAt !== undefined && !token.isForgotten) revokeNow(model, device)
  return refuse('invalid_refresh_token')
}

export function forgetTokens({ devices, now }: Model): void {
  for (const { accessTokens, spendables } of devices)
    for (const token of [...accessTokens, ...spendables]) if (token.expiresAt <= now - KNOWN_MS) token.isForgotten = true
}

const refuse = (code: 'invalid_pairing_code' | 'invalid_refresh_token'): never => {
  throw new Refusal(code)
}

/** The same secret with the same key, while the pair is unused, for a day. */
function repeat(
  model: Model,
  device: Device,
  { spentAt, replay }: Spendable,
  idempotencyKey: string | undefined,
): Exchanged | undefined {
  if (idempotencyKey === undefined || spentAt === undefined || device.status === 'revoked') return undefined
  if (replay?.idempotencyKey !== idempotencyKey || spentAt <= model.now - REPLAY_MS) return undefined
  return { replayed: replay.answer }
}

function issue(model: Model, device: Device, generation: number): Exchanged {
  const spent = device.spendables[generation]!
  spent.spentAt = model.now
  device.accessTokens.push({ secret: '', expiresAt: model.now + ACCESS_MS, generation: generation + 1, isUsed: false })
  const expiresAt = Math.min(model.now + REFRESH_MS, device.familyExpiresAt)
  device.spendables.push({ secret: '', expiresAt, spentAt: undefined, replay: undefined })
  return { issued: true, spent }
}

export function revoke(model: Model, caller: Caller, device: Device): Record<string, unknown> {
  admit(model, caller, 'devices:manage')
  if (device.environment !== environmentOf(caller)) throw new Refusal('device_not_found')
  revokeNow(model, device)
  return deviceView(device)
}

function revokeNow(model: Model, device: Device): void {
  if (device.status === 'revoked') return
  device.status = 'revoked'
  device.revokedAt = model.now
  for (const spendable of device.spendables) spendable.replay = undefined
  model.audited++
}

export function listDevices(model: Model, caller: Caller): Record<string, unknown>[] {
  admit(model, caller, 'devices:manage')
  return model.devices
    .filter(({ environment }) => environment === environmentOf(caller))
    .sort((a, b) => b.createdAt - a.createdAt)
    .map(deviceView)
}

export function deviceView(device: Device): Record<string, unknown> {
  const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
  const view = {
    id: device.id === '' ? isUuid : device.id,
    name: device.name,
    status: device.status,
    allowed_templates: device.allowedTemplates,
    created_at: iso(device.createdAt),
    pairing_expires_at: device.status === 'pending' ? iso(device.pairingExpiresAt) : undefined,
    enrolled_at: iso(device.enrolledAt),
    last_seen_at: iso(device.lastSeenAt),
    revoked_at: iso(device.revokedAt),
  }
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined))
}

const isUuid = (value: unknown) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(String(value))

/** State of a pair that was just issued. */
export function pairView(model: Model, device: Device): Record<string, unknown> {
  const refreshToken = device.spendables.at(-1)!
  return {
    access_token: (value: unknown) => /^vd_[0-9A-Za-z]{38}$/.test(String(value)),
    refresh_token: (value: unknown) => /^vdr_[0-9A-Za-z]{38}$/.test(String(value)),
    token_type: 'Bearer',
    expires_in: ACCESS_MS / SECOND,
    refresh_expires_in: Math.ceil((refreshToken.expiresAt - model.now) / SECOND),
    device: deviceView(device),
  }
}

// Deliveries

/** Before each attempt, counted from the end of the one before. */
export const DELAYS_MS = [0, 5 * SECOND, MINUTE, 10 * MINUTE, 2 * HOUR, 22 * HOUR]
const JITTER = 0.2
const FLAKY_ATTEMPTS = 2
const BUSY_RETRY_SECONDS = 90

export const dueNow = ({ sessions, now }: Model): Session[] =>
  sessions.filter(({ delivery }) => delivery?.status === 'pending' && delivery.dueAt <= now)

/** The receiver answers; nothing where nobody listens. */
export function replyOf(receiver: Receiver, attempt: number): { status: number; headers?: Record<string, string> } | undefined {
  switch (receiver) {
    case 'ok':
      return { status: 204 }
    case 'error':
      return { status: 500 }
    case 'gone':
      return { status: 410 }
    case 'redirect':
      return { status: 307, headers: { location: '/followed' } }
    case 'busy':
      return { status: attempt <= FLAKY_ATTEMPTS ? 503 : 200, headers: { 'retry-after': String(BUSY_RETRY_SECONDS) } }
    case 'flaky':
      return { status: attempt <= FLAKY_ATTEMPTS ? 500 : 200 }
    case 'dead':
      return undefined
  }
}

/** When the next attempt may be due: chance decides within these bounds. */
type Bounds = { least: number; most: number }

/** An attempt came to its end. */
export function attempted(model: Model, delivery: Delivery, receiver: Receiver): Bounds | undefined {
  const reply = replyOf(receiver, ++delivery.attempts)
  delivery.logged++
  if (reply && reply.status < 300) delivery.status = 'delivered'
  else if (reply?.status === 410 || delivery.attempts === DELAYS_MS.length) delivery.status = 'failed'
  if (delivery.status !== 'pending') return undefined
  const delay = DELAYS_MS[delivery.attempts]!
  if (receiver === 'busy') {
    const asked = Math.min(Math.max(BUSY_RETRY_SECONDS * SECOND, delay), 2 * delay)
    return { least: model.now + asked, most: model.now + asked }
  }
  return { least: model.now + Math.floor(delay * (1 - JITTER)), most: model.now + Math.ceil(delay * (1 + JITTER)) }
}

export function replay(model: Model, delivery: Delivery): void {
  Object.assign(delivery, { status: 'pending', attempts: 0, dueAt: model.now })
  model.audited++
}

/** The new one first; the one before goes on for a day, an older one is gone at once. */
export function rotate(model: Model, environment: Environment, secret: string): void {
  const [current] = model.webhookSecrets[environment]
  const previous = current ? [{ ...current, validUntil: model.now + DAY }] : []
  model.webhookSecrets[environment] = [{ secret, createdAt: model.now, validUntil: null }, ...previous]
  model.audited++
}

export const signingSecrets = ({ webhookSecrets, now }: Model, environment: Environment): string[] =>
  webhookSecrets[environment].filter(({ validUntil }) => validUntil === null || validUntil > now).map(({ secret }) => secret)
