import { and, eq, gt, isNotNull, isNull, ne } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { dashboardUsers, mailAddresses } from '../db/schema/people.ts'

export type AddressRow = typeof mailAddresses.$inferSelect

export async function insertAddress(tx: Db, row: AddressRow): Promise<void> {
  await tx.insert(mailAddresses).values(row)
}

export async function listAddresses(db: Db, userId: string): Promise<AddressRow[]> {
  return await db.select().from(mailAddresses).where(eq(mailAddresses.userId, userId))
}

export async function listAllAddresses(db: Db): Promise<AddressRow[]> {
  return await db.select().from(mailAddresses)
}

/** Confirmed ones, of owners who can log in. */
export async function listOwnerAddresses(db: Db): Promise<AddressRow[]> {
  const rows = await db
    .select({ address: mailAddresses })
    .from(mailAddresses)
    .innerJoin(dashboardUsers, eq(dashboardUsers.id, mailAddresses.userId))
    .where(and(isNull(mailAddresses.hash), isNull(dashboardUsers.memberOf), isNotNull(dashboardUsers.password)))
  return rows.map(({ address }) => address)
}

/** Undefined when the link was used, has expired or never existed. */
export async function confirmByHash(tx: Db, hash: string, now: number): Promise<AddressRow | undefined> {
  const [row] = await tx
    .update(mailAddresses)
    .set({ hash: null, expiresAt: null })
    .where(and(eq(mailAddresses.hash, hash), gt(mailAddresses.expiresAt, now)))
    .returning()
  return row
}

export async function deleteOtherAddresses(tx: Db, { id, userId }: AddressRow): Promise<void> {
  await tx.delete(mailAddresses).where(and(eq(mailAddresses.userId, userId), ne(mailAddresses.id, id)))
}

export async function deletePending(tx: Db, userId: string): Promise<void> {
  await tx.delete(mailAddresses).where(and(eq(mailAddresses.userId, userId), isNotNull(mailAddresses.hash)))
}

export async function deleteAddresses(tx: Db, userId: string): Promise<void> {
  await tx.delete(mailAddresses).where(eq(mailAddresses.userId, userId))
}

export async function sealAddress(tx: Db, id: string, sealed: Buffer): Promise<void> {
  await tx.update(mailAddresses).set({ sealed }).where(eq(mailAddresses.id, id))
}
