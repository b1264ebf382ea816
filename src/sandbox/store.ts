import { eq } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { installation } from '../db/schema.ts'

const NAME = 'sandbox_issuer'

export async function findSandbox(db: Db): Promise<Buffer | undefined> {
  const [row] = await db.select({ value: installation.value }).from(installation).where(eq(installation.name, NAME)).limit(1)
  return row?.value
}

export async function saveSandbox(tx: Db, value: Buffer): Promise<void> {
  await tx.insert(installation).values({ name: NAME, value }).onConflictDoUpdate({ target: installation.name, set: { value } })
}
