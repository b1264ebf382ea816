import {
  admit,
  type Caller,
  DAY,
  dayOf,
  environmentOf,
  type Kept,
  type Model,
  type Receiver,
  Refusal,
  SECOND,
  type Session,
} from './model.ts'

/** For devices only here: what a key reads of it changes after a quarter of an hour. */
export const PHOTO_TEMPLATE = 'age_over_18_photo'
export const KNOWN_TEMPLATES = ['age_over_18', 'age_over_65', 'identity_basic', PHOTO_TEMPLATE]
export const UNKNOWN_TEMPLATE = 'of_tomorrow'
const RESPONSE_CODE_MS = 600 * SECOND
const COMPARISON_MS = 120 * SECOND

export type Creation = {
  /** Neither stands for an invalid body. */
  template?: string
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
  if (asked.privateWebhook) throw new Refusal('invalid_webhook_url')
  const at = Math.max(model.now, model.newestAt + 1)
  charge(model, at)
  const session = newSession(caller, asked, at)
  model.newestAt = at
  model.sessions.push(session)
  model.audited++
  const kept = { body: JSON.stringify(asked), expiresAt: model.now + DAY, session }
  if (idempotencyKey !== undefined) model.kept.set(place, kept)
  return { session, isReplayed: false, isKept: undefined }
}

function charge(model: Model, at: number): void {
  const used = model.usage.get(dayOf(at)) ?? 0
  if (used >= model.quota) throw new Refusal('quota_exceeded', Math.ceil((DAY - (at % DAY)) / SECOND))
  model.usage.set(dayOf(at), used + 1)
}

const newSession = (caller: Caller, asked: Creation, at: number): Session => ({
  id: '',
  walletUri: '',
  created: undefined,
  result: undefined,
  environment: environmentOf(caller),
  device: caller.kind === 'device' ? caller.device : undefined,
  template: asked.template,
  metadata: asked.metadata,
  purpose: asked.purpose,
  redirectUrl: asked.redirectUrl,
  isReleasedByCode: asked.release === true,
  receiver: asked.receiver,
  createdAt: at,
  expiresAt: at + (asked.ttlSeconds ?? 300) * SECOND,
  respondedAt: undefined,
  outcome: undefined,
  code: undefined,
  delivery: undefined,
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
const isWalletUri = (value: unknown) => String(value).startsWith('openid4vp://authorize?client_id=')
const isRequestUri = (value: unknown) => /^https:\/\/verify\.example\/wallet\/request\/vs_/.test(String(value))

/** Sessions that a caller sees: those of its environment, and for a device those it created. */
const visibleTo = ({ sessions }: Model, caller: Caller): Session[] =>
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
  const isRight = visibleTo(model, caller).includes(session) && session.code?.secret === code
  if (!isRight || session.code!.isSpent || session.code!.expiresAt <= model.now) throw new Refusal('invalid_response_code')
  session.code!.isSpent = true
  if (isHeld(session)) {
    session.outcome = 'completed'
    end(model, session, model.now)
  }
  return viewOf(model, session)
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

/** Before an answer and within its time. A repeat finds it cancelled and changes nothing. */
export function cancel(model: Model, caller: Caller, session: Session): Record<string, unknown> {
  admit(model, caller, 'verifications:create')
  if (!visibleTo(model, caller).includes(session)) throw new Refusal('session_not_found')
  if (session.respondedAt !== undefined) throw new Refusal('session_already_responded')
  if (session.outcome) return viewOf(model, session)
  if (session.expiresAt <= model.now) throw new Refusal('session_expired')
  session.outcome = 'failed'
  session.result = { error: { code: 'cancelled', message: isText } }
  end(model, session, Math.max(model.now, session.createdAt))
  return viewOf(model, session)
}

const isText = (value: unknown) => typeof value === 'string' && value.length > 0

/** The message that is owed, and the record. */
function end(model: Model, session: Session, at: number): void {
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
