import type { Environment } from '../access/scopes.ts'
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import { newDeviceId, newPairingCode } from '../ids.ts'
import type { Deps } from './deps.ts'
import { findNameProblem } from './name-problem.ts'
import { readPairingCode } from './pairing-code.ts'
import { PAIRING_TTL_SECONDS_DEFAULT, type RegisterDevice } from './schema.ts'
import { type DeviceRow, findNewestCreation, insertDevice, insertToken, liveCodes } from './store.ts'

/** Every live code makes a guess likelier to hit (reliability 2.4). */
const LIVE_CODES_PER_TENANT_MAX = 50
const LIVE_CODES_MAX = 1000

/** The only moment the code itself exists. */
export type Registration = { device: DeviceRow; pairingCode: string }

type Owner = { tenantId: string; environment: Environment }

export async function registerDevice(
  deps: Pick<Deps, 'write' | 'now' | 'random' | 'sealer' | 'audit'>,
  { tenantId, environment }: Owner,
  { name, allowed_templates, pairing_ttl_seconds = PAIRING_TTL_SECONDS_DEFAULT }: RegisterDevice,
  actor: string,
): Promise<Registration> {
  const problem = findNameProblem(name)
  if (problem) throw apiError('invalid_request', { message: `name: ${problem}` })
  const pairingCode = newPairingCode(deps.random)
  const { hash } = readPairingCode(deps, pairingCode)!
  const device = await deps.write(async tx => {
    await refuseTooManyCodes(tx, tenantId, deps.now())
    // Strictly later than the one before, so that the list has one order.
    const at = Math.max(deps.now(), (await findNewestCreation(tx, { tenantId, environment })) + 1)
    const row = draft({
      id: newDeviceId(deps.random, at),
      tenantId,
      environment,
      name,
      allowedTemplates: allowed_templates,
      createdAt: at,
    })
    const expiresAt = at + pairing_ttl_seconds * 1000
    const registered = { ...row, pairingExpiresAt: expiresAt }
    await insertDevice(tx, registered)
    await insertToken(tx, { hash, deviceId: row.id, tenantId, kind: 'pairing', generation: 0, expiresAt, familyExpiresAt: null })
    const details = { name, environment, allowed_templates }
    await deps.audit.append(tx, { at, tenantId, actor, action: 'device.registered', subjectId: row.id, details })
    return registered
  })
  return { device, pairingCode }
}

async function refuseTooManyCodes(tx: Db, tenantId: string, now: number): Promise<void> {
  const own = await liveCodes(tx, now, tenantId)
  const all = await liveCodes(tx, now)
  const full = own.count >= LIVE_CODES_PER_TENANT_MAX ? own : all.count >= LIVE_CODES_MAX ? all : undefined
  if (!full) return
  throw apiError('rate_limit_exceeded', {
    message: `${full.count} pairing codes are waiting to be used; pair or revoke devices, or wait until a code lapses.`,
    retryAfter: Math.max(1, Math.ceil((full.firstExpiresAt - now) / 1000)),
  })
}

type Draft = Pick<DeviceRow, 'id' | 'tenantId' | 'environment' | 'name' | 'allowedTemplates' | 'createdAt'>

const draft = (known: Draft) => ({
  ...known,
  status: 'pending' as const,
  enrolledAt: null,
  lastSeenAt: null,
  revokedAt: null,
})
