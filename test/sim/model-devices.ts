import {
  admit,
  type Caller,
  DAY,
  type Device,
  environmentOf,
  HOUR,
  type Model,
  Refusal,
  SECOND,
  type Spendable,
  seen,
} from './model.ts'

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
