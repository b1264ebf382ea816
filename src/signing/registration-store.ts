import { eq } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { registrationCertificates } from '../db/schema/signing.ts'

export type RegistrationRow = typeof registrationCertificates.$inferSelect

/** The oldest first. */
export async function listRegistrations(db: Db): Promise<RegistrationRow[]> {
  return await db.select().from(registrationCertificates).orderBy(registrationCertificates.createdAt, registrationCertificates.id)
}

export async function insertRegistration(tx: Db, row: RegistrationRow): Promise<void> {
  await tx.insert(registrationCertificates).values(row)
}

export async function deleteRegistration(tx: Db, id: string): Promise<RegistrationRow | undefined> {
  const [row] = await tx.delete(registrationCertificates).where(eq(registrationCertificates.id, id)).returning()
  return row
}
