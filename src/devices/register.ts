import type { Acting } from '../audit/deps.ts'
import { newDeviceId, newPairingCode } from '../base/ids.ts'
import { findNameProblem } from '../base/plain-text.ts'
import type { Db } from '../db/engine.ts'
import type { Sealing } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import { lockTenant, type Owner } from '../tenants/settings.ts'
import { readPairingCode } from './pairing-code.ts'
import { PAIRING_TTL_SECONDS_DEFAULT, type RegisterTill } from './schema.ts'
import { type DeviceRow, findNewestCreation, insertDevice, insertToken, liveCodes } from './store.ts'

/** Every live code makes a guess likelier to hit (reliability 2.4). */
const LIVE_CODES_PER_TENANT_MAX = 50
/** Not exact with several writers: tenants that register at one moment may each add one more. */
const LIVE_CODES_MAX = 1000

/** The code is shown once: only its HMAC is stored. */
export type Registration = { device: DeviceRow; pairingCode: string }

export async function registerDevice(
  deps: Sealing & Acting,
  { tenantId, environment }: Owner,
  { name, allowed_templates, pairing_ttl_seconds = PAIRING_TTL_SECONDS_DEFAULT, ways }: RegisterTill,
  actor: string,
): Promise<Registration> {
  const problem = findNameProblem(name)
  if (problem) throw apiError('invalid_request', { message: `name: ${problem}` })
  const pairingCode = newPairingCode(deps.random)
  const { hash } = readPairingCode(deps, pairingCode)!
  const device = await deps.write(async tx => {
    // Held to the commit: registrations of one tenant count its codes, and take their time, one after another.
    await lockTenant(tx, tenantId)
    await refuseTooManyCodes(tx, tenantId, deps.now())
    // Strictly later than the previous one, so that the list has one order.
    const at = Math.max(deps.now(), (await findNewestCreation(tx, { tenantId, environment })) + 1)
    const expiresAt = at + pairing_ttl_seconds * 1000
    const row: DeviceRow = {
      id: newDeviceId(deps.random, at),
      tenantId,
      environment,
      name,
      status: 'pending',
      allowedTemplates: allowed_templates,
      pairingExpiresAt: expiresAt,
      createdAt: at,
      enrolledAt: null,
      lastSeenAt: null,
      revokedAt: null,
      ways: ways ?? null,
    }
    await insertDevice(tx, row)
    await insertToken(tx, { hash, deviceId: row.id, tenantId, kind: 'pairing', generation: 0, expiresAt, familyExpiresAt: null })
    const details = { name, environment, allowed_templates, ways }
    await deps.audit.append(tx, { at, tenantId, actor, action: 'device.registered', subjectId: row.id, details })
    return row
  })
  return { device, pairingCode }
}

export async function refuseTooManyCodes(tx: Db, tenantId: string, now: number): Promise<void> {
  const own = await liveCodes(tx, now, tenantId)
  const all = await liveCodes(tx, now)
  const full = own.count >= LIVE_CODES_PER_TENANT_MAX ? own : all.count >= LIVE_CODES_MAX ? all : undefined
  if (!full) return
  throw apiError('rate_limit_exceeded', {
    message: `${full.count} pairing codes are waiting to be used; pair or revoke devices, or wait until a code lapses.`,
    retryAfter: Math.max(1, Math.ceil((full.firstExpiresAt - now) / 1000)),
  })
}
