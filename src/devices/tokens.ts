import { sha256Hex } from '../base/hash.ts'
import { newSecret } from '../base/ids.ts'
import type { Db } from '../db/engine.ts'
import type { Making } from '../ground.ts'
import { presentDevice } from './present.ts'
import type { TokenPair } from './schema.ts'
import { type DeviceRow, insertToken } from './store.ts'

const DAY_MS = 86_400_000
const ACCESS_MS = 3_600_000
/** Counted from each refresh; long enough for a till that is off during a holiday. */
const REFRESH_MS = 30 * DAY_MS
/** Counted from the enrolment; after that the till must be paired again. */
export const FAMILY_MS = 365 * DAY_MS

const ACCESS_PREFIX = 'vd_'
export const REFRESH_PREFIX = 'vdr_'

/** `replayed`: the pair was issued before, and is repeated. */
export type Exchange = { tenantId: string; pair: TokenPair; replayed: boolean }

type Issue = { generation: number; familyExpiresAt: number; at: number }

export async function issuePair(
  { random }: Making,
  tx: Db,
  device: DeviceRow,
  { generation, familyExpiresAt, at }: Issue,
): Promise<TokenPair> {
  const access = newSecret(random, ACCESS_PREFIX)
  const refresh = newSecret(random, REFRESH_PREFIX)
  const expiresAt = at + ACCESS_MS
  const refreshExpiresAt = Math.min(at + REFRESH_MS, familyExpiresAt)
  const shared = { deviceId: device.id, tenantId: device.tenantId, generation, familyExpiresAt }
  await insertToken(tx, { ...shared, kind: 'access', hash: sha256Hex(access), expiresAt })
  await insertToken(tx, { ...shared, kind: 'refresh', hash: sha256Hex(refresh), expiresAt: refreshExpiresAt })
  return {
    access_token: access,
    refresh_token: refresh,
    token_type: 'Bearer',
    expires_in: secondsUp(expiresAt - at),
    refresh_expires_in: secondsUp(refreshExpiresAt - at),
    device: presentDevice(device),
  }
}

/** A started second counts. */
const secondsUp = (ms: number): number => Math.ceil(ms / 1000)
