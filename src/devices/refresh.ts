import { sha256Hex } from '../base/hash.ts'
import { isWellFormedSecret } from '../base/ids.ts'
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import { SEEN_EVERY_MS } from './access-token.ts'
import type { Deps } from './deps.ts'
import { findReplay, keepReplay, type Presented } from './replay.ts'
import { revokeIn } from './revoke.ts'
import {
  type DeviceRow,
  findToken,
  forgetSealedPair,
  lockDevice,
  markTokenUsed,
  seeDevice,
  spendToken,
  type TokenRow,
} from './store.ts'
import { type Exchange, issuePair, REFRESH_PREFIX } from './tokens.ts'

type Refresh = { client: string; token: string; idempotencyKey: string | undefined }

/** The device that was revoked for the reuse. */
type Reuse = { reusedOf: DeviceRow }

/** Each refresh token works once. A second use reveals a copy, and revokes the device. */
export async function refreshDevice(deps: Deps, { client, token, idempotencyKey }: Refresh): Promise<Exchange> {
  if (!isWellFormedSecret(token, REFRESH_PREFIX)) throw refused()
  const presented = { kind: 'refresh' as const, secret: token, hash: sha256Hex(token), idempotencyKey }
  const known = await findToken(deps.db, presented)
  if (!known) throw refused()
  // A reuse must revoke the device at once, so no budget may refuse it first.
  const mayBeRepeat = idempotencyKey !== undefined && known.replaySealed !== null
  const isReused = known.spentAt !== null && known.revokedAt === null && !mayBeRepeat
  if (!isReused) await deps.guesses.take('refresh-device', known.deviceId)
  const exchange = await deps.write(tx => rotate(deps, tx, known, presented))
  // Outside the transaction, where throwing would undo the revocation.
  if (!exchange) throw refused()
  if ('reusedOf' in exchange) {
    deps.log.warn('device.token_reused', { tenant: exchange.reusedOf.tenantId, device: exchange.reusedOf.id })
    throw refused()
  }
  deps.networks.note(client, exchange.tenantId)
  return exchange
}

/** The same for unknown, expired, spent and revoked tokens. */
const refused = () => apiError('invalid_refresh_token')

async function rotate(deps: Deps, tx: Db, known: TokenRow, presented: Presented): Promise<Exchange | Reuse | undefined> {
  await lockDevice(tx, known)
  const at = deps.now()
  const spent = await spendToken(tx, presented, at)
  if (!spent) return await repeatOrRevoke(deps, tx, presented, at)
  const device = await seeDevice(tx, spent, { at, seenBy: at - SEEN_EVERY_MS })
  await forgetSealedPair(tx, spent)
  const pair = await issuePair(deps, tx, device, { generation: spent.generation + 1, familyExpiresAt: familyEnd(spent), at })
  await keepReplay(deps, tx, presented, pair)
  return { tenantId: spent.tenantId, pair, replayed: false }
}

async function repeatOrRevoke(deps: Deps, tx: Db, presented: Presented, at: number): Promise<Exchange | Reuse | undefined> {
  const token = await findToken(tx, presented)
  const pair = await findReplay(deps, tx, presented, at)
  if (token && pair) return { tenantId: token.tenantId, pair, replayed: true }
  // A revoked one belongs to an earlier pairing: it must not end the present one.
  if (!token || token.spentAt === null || token.revokedAt !== null) return undefined
  const reusedOf = await revokeIn(deps, tx, token, { at, actor: 'system', reason: 'refresh_reuse' })
  if (!reusedOf) return undefined
  await markTokenUsed(tx, token, at)
  return { reusedOf }
}

function familyEnd({ familyExpiresAt }: TokenRow): number {
  if (familyExpiresAt === null) throw new Error('a refresh token has no family_expires_at')
  return familyExpiresAt
}
