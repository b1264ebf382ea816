import type { Acting } from '../audit/deps.ts'
import { newPairingCode } from '../base/ids.ts'
import type { Sealing } from '../ground.ts'
import { lockTenant, type Owner } from '../tenants/settings.ts'
import { requireUsable } from './change.ts'
import { readPairingCode } from './pairing-code.ts'
import { type Registration, refuseTooManyCodes } from './register.ts'
import { PAIRING_TTL_SECONDS_DEFAULT, type PairDevice } from './schema.ts'
import { findNewestGeneration, insertToken, lockDevice, markPending, revokeTokens } from './store.ts'

/** A new code for a known device. What it held before stops working at once, an unclaimed code too. */
export async function pairAgain(
  deps: Sealing & Acting,
  { tenantId, environment }: Owner,
  id: string,
  { pairing_ttl_seconds = PAIRING_TTL_SECONDS_DEFAULT }: PairDevice,
  actor: string,
): Promise<Registration> {
  const pairingCode = newPairingCode(deps.random)
  const { hash } = readPairingCode(deps, pairingCode)!
  const key = { deviceId: id.toLowerCase(), tenantId }
  const device = await deps.write(async tx => {
    // The tenant is locked first: registrations count the codes under the same lock.
    await lockTenant(tx, tenantId)
    requireUsable(await lockDevice(tx, key), environment)
    const at = deps.now()
    await revokeTokens(tx, key, at)
    await refuseTooManyCodes(tx, tenantId, at)
    const expiresAt = at + pairing_ttl_seconds * 1000
    const generation = (await findNewestGeneration(tx, key)) + 1
    await insertToken(tx, { ...key, hash, kind: 'pairing', generation, expiresAt, familyExpiresAt: null })
    const pending = await markPending(tx, key, expiresAt)
    const details = { name: pending.name }
    await deps.audit.append(tx, { at, tenantId, actor, action: 'device.code_renewed', subjectId: key.deviceId, details })
    return pending
  })
  return { device, pairingCode }
}
