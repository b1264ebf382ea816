import { and, asc, count, desc, eq, exists, gt, inArray, isNotNull, isNull, lte, max, min, ne, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { devices, deviceTokens } from '../db/schema/devices.ts'
import { tenants } from '../db/schema/tenants.ts'
import { column, locked, prepared } from '../db/statements.ts'
import type { Owner } from '../tenants/settings.ts'

export type DeviceRow = typeof devices.$inferSelect
export type TokenRow = typeof deviceTokens.$inferSelect

type DeviceKey = { deviceId: string; tenantId: string }

export async function insertDevice(tx: Db, row: DeviceRow): Promise<void> {
  await tx.insert(devices).values(row)
}

/** Creation time of the newest device; 0 when there is none. */
export async function findNewestCreation(tx: Db, { tenantId, environment }: Owner): Promise<number> {
  const [row] = await tx
    .select({ createdAt: devices.createdAt })
    .from(devices)
    .where(and(eq(devices.tenantId, tenantId), eq(devices.environment, environment)))
    .orderBy(desc(devices.createdAt))
    .limit(1)
  return row?.createdAt ?? 0
}

const selectLocked = prepared(db =>
  locked(
    db
      .select()
      .from(devices)
      .where(and(eq(devices.id, column('deviceId')), eq(devices.tenantId, column('tenantId')))),
    'no key update',
  ).prepare(),
)

/** Taken before a device or its tokens change. Device before tokens: no deadlock. */
export async function lockDevice(tx: Db, { deviceId, tenantId }: DeviceKey): Promise<DeviceRow | undefined> {
  const [row] = await selectLocked(tx).execute({ deviceId, tenantId })
  return row
}

/** Across tenants, for the command line. */
export async function findDeviceOfAnyone(db: Db, id: string): Promise<DeviceRow | undefined> {
  const [row] = await db.select().from(devices).where(eq(devices.id, id)).limit(1)
  return row
}

export async function listDevices(db: Db, { tenantId, environment }: Owner): Promise<DeviceRow[]> {
  return await db
    .select()
    .from(devices)
    .where(and(eq(devices.tenantId, tenantId), eq(devices.environment, environment)))
    .orderBy(desc(devices.createdAt))
}

/** Unclaimed codes that still work, and when the first lapses; of one tenant or of all. */
export async function liveCodes(tx: Db, now: number, tenantId?: string): Promise<{ count: number; firstExpiresAt: number }> {
  const [row] = await tx
    .select({ count: count(), firstExpiresAt: min(deviceTokens.expiresAt) })
    .from(deviceTokens)
    .where(
      and(
        eq(deviceTokens.kind, sql`'pairing'`),
        isNull(deviceTokens.spentAt),
        isNull(deviceTokens.revokedAt),
        gt(deviceTokens.expiresAt, now),
        tenantId === undefined ? undefined : eq(deviceTokens.tenantId, tenantId),
      ),
    )
  return { count: row?.count ?? 0, firstExpiresAt: row?.firstExpiresAt ?? now }
}

const enroll = prepared(db =>
  db
    .update(devices)
    .set({ status: 'active', enrolledAt: sql`${column('at')}` })
    .where(and(eq(devices.id, column('deviceId')), eq(devices.tenantId, column('tenantId'))))
    .returning()
    .prepare(),
)

export async function markEnrolled(tx: Db, { deviceId, tenantId }: DeviceKey, at: number): Promise<DeviceRow> {
  const [row] = await enroll(tx).execute({ deviceId, tenantId, at })
  if (!row) throw new Error('the device of a pairing code is missing')
  return row
}

const see = prepared(db =>
  db
    .update(devices)
    .set({
      lastSeenAt: sql`CASE WHEN ${devices.lastSeenAt} > ${column('seenBy')} THEN ${devices.lastSeenAt} ELSE ${column('at')} END`,
    })
    .where(and(eq(devices.id, column('deviceId')), eq(devices.tenantId, column('tenantId'))))
    .returning()
    .prepare(),
)

/** Keeps the previous time when that is later than `seenBy`. */
export async function seeDevice(
  tx: Db,
  { deviceId, tenantId }: DeviceKey,
  { at, seenBy }: { at: number; seenBy: number },
): Promise<DeviceRow> {
  const [row] = await see(tx).execute({ deviceId, tenantId, at, seenBy })
  if (!row) throw new Error('the device of a token is missing')
  return row
}

export async function updateDevice(
  tx: Db,
  { deviceId, tenantId }: DeviceKey,
  changed: Pick<DeviceRow, 'name' | 'allowedTemplates' | 'ways'>,
): Promise<DeviceRow> {
  const [row] = await tx
    .update(devices)
    .set(changed)
    .where(and(eq(devices.id, deviceId), eq(devices.tenantId, tenantId)))
    .returning()
  if (!row) throw new Error('a locked device is missing')
  return row
}

/** A till that waits for a new code. */
export async function markPending(tx: Db, { deviceId, tenantId }: DeviceKey, pairingExpiresAt: number): Promise<DeviceRow> {
  const [row] = await tx
    .update(devices)
    .set({ status: 'pending', pairingExpiresAt })
    .where(and(eq(devices.id, deviceId), eq(devices.tenantId, tenantId)))
    .returning()
  if (!row) throw new Error('a locked device is missing')
  return row
}

/** Undefined when it is unknown or was revoked before. */
export async function markDeviceRevoked(tx: Db, { deviceId, tenantId }: DeviceKey, at: number): Promise<DeviceRow | undefined> {
  const [row] = await tx
    .update(devices)
    .set({ status: 'revoked', revokedAt: at })
    .where(and(eq(devices.id, deviceId), eq(devices.tenantId, tenantId), ne(devices.status, 'revoked')))
    .returning()
  return row
}

/** All tokens, and the unclaimed pairing code. */
export async function revokeTokens(tx: Db, { deviceId, tenantId }: DeviceKey, at: number): Promise<void> {
  await tx
    .update(deviceTokens)
    .set({ revokedAt: at, replaySealed: null })
    .where(and(eq(deviceTokens.deviceId, deviceId), eq(deviceTokens.tenantId, tenantId), isNull(deviceTokens.revokedAt)))
}

/** Devices of which a spent refresh token was presented again, the latest revoked first. */
export async function listReused(db: Db, { tenantId, environment }: Owner, since: number, limit: number): Promise<DeviceRow[]> {
  const reused = db
    .select({ id: deviceTokens.deviceId })
    .from(deviceTokens)
    .where(
      and(
        eq(deviceTokens.deviceId, devices.id),
        eq(deviceTokens.tenantId, devices.tenantId),
        eq(deviceTokens.kind, 'refresh'),
        isNotNull(deviceTokens.usedAt),
      ),
    )
  return await db
    .select()
    .from(devices)
    .where(
      and(eq(devices.tenantId, tenantId), eq(devices.environment, environment), gt(devices.revokedAt, since), exists(reused)),
    )
    .orderBy(desc(devices.revokedAt))
    .limit(limit)
}

const insertTokenRow = prepared(db =>
  db
    .insert(deviceTokens)
    .values({
      hash: column('hash'),
      deviceId: column('deviceId'),
      tenantId: column('tenantId'),
      kind: column('kind'),
      generation: column('generation'),
      expiresAt: column('expiresAt'),
      familyExpiresAt: column('familyExpiresAt'),
    })
    .prepare(),
)

type NewToken = Omit<TokenRow, 'spentAt' | 'usedAt' | 'revokedAt' | 'replaySealed'>

export async function insertToken(tx: Db, row: NewToken): Promise<void> {
  await insertTokenRow(tx).execute(row)
}

/** 0 when it holds no token any more. */
export async function findNewestGeneration(tx: Db, { deviceId, tenantId }: DeviceKey): Promise<number> {
  const [row] = await tx
    .select({ newest: max(deviceTokens.generation) })
    .from(deviceTokens)
    .where(and(eq(deviceTokens.deviceId, deviceId), eq(deviceTokens.tenantId, tenantId)))
  return row?.newest ?? 0
}

type Spendable = { hash: string; kind: 'pairing' | 'refresh' }

const spend = prepared(db =>
  db
    .update(deviceTokens)
    .set({ spentAt: sql`${column('at')}` })
    .where(
      and(
        eq(deviceTokens.hash, column('hash')),
        eq(deviceTokens.kind, column('kind')),
        isNull(deviceTokens.spentAt),
        isNull(deviceTokens.revokedAt),
        gt(deviceTokens.expiresAt, column('at')),
      ),
    )
    .returning()
    .prepare(),
)

/** One of many simultaneous calls gets the row; undefined when it is not valid. */
export async function spendToken(tx: Db, { hash, kind }: Spendable, at: number): Promise<TokenRow | undefined> {
  const [row] = await spend(tx).execute({ hash, kind, at })
  return row
}

const selectToken = prepared(db =>
  db
    .select()
    .from(deviceTokens)
    .where(and(eq(deviceTokens.hash, column('hash')), eq(deviceTokens.kind, column('kind'))))
    .prepare(),
)

export async function findToken(db: Db, { hash, kind }: Spendable): Promise<TokenRow | undefined> {
  const [row] = await selectToken(db).execute({ hash, kind })
  return row
}

/** A token with the tenant's plan, which limits what the device may create. */
export type AccessToken = { token: TokenRow; device: DeviceRow } & Pick<typeof tenants.$inferSelect, 'plan' | 'dailyQuota'>

const selectAccessToken = prepared(db =>
  db
    .select({ token: deviceTokens, device: devices, plan: tenants.plan, dailyQuota: tenants.dailyQuota })
    .from(deviceTokens)
    .innerJoin(devices, and(eq(devices.id, deviceTokens.deviceId), eq(devices.tenantId, deviceTokens.tenantId)))
    .innerJoin(tenants, eq(tenants.id, deviceTokens.tenantId))
    .where(and(eq(deviceTokens.hash, column('hash')), eq(deviceTokens.kind, 'access')))
    .prepare(),
)

export async function findAccessToken(db: Db, hash: string): Promise<AccessToken | undefined> {
  const [row] = await selectAccessToken(db).execute({ hash })
  return row
}

/** First use of an access token, second of a refresh token. False when recorded before. */
export async function markTokenUsed(tx: Db, { hash }: TokenRow, at: number): Promise<boolean> {
  const used = await tx
    .update(deviceTokens)
    .set({ usedAt: at })
    .where(and(eq(deviceTokens.hash, hash), isNull(deviceTokens.usedAt)))
    .returning({ hash: deviceTokens.hash })
  return used.length > 0
}

/** A device has one sealed pair at a time, the latest. */
export async function keepSealedPair(tx: Db, hash: string, replaySealed: Buffer): Promise<void> {
  await tx.update(deviceTokens).set({ replaySealed }).where(eq(deviceTokens.hash, hash))
}

const forgetPair = prepared(db =>
  db
    .update(deviceTokens)
    .set({ replaySealed: null })
    .where(
      and(
        eq(deviceTokens.deviceId, column('deviceId')),
        eq(deviceTokens.tenantId, column('tenantId')),
        eq(deviceTokens.generation, column('generation')),
      ),
    )
    .prepare(),
)

/** Deletes the sealed copy of the pair that this token belongs to. */
export async function forgetSealedPair(tx: Db, { deviceId, tenantId, generation }: TokenRow): Promise<void> {
  await forgetPair(tx).execute({ deviceId, tenantId, generation: generation - 1 })
}

export async function deleteTokensExpiredBy(tx: Db, expiredBy: number, limit: number): Promise<number> {
  const due = tx
    .select({ hash: deviceTokens.hash })
    .from(deviceTokens)
    .where(lte(deviceTokens.expiresAt, expiredBy))
    .orderBy(asc(deviceTokens.expiresAt))
    .limit(limit)
  const rows = await tx.delete(deviceTokens).where(inArray(deviceTokens.hash, due)).returning({ hash: deviceTokens.hash })
  return rows.length
}
