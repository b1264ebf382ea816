import { eq } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { installation } from '../db/schema/installation.ts'
import { locked } from '../db/statements.ts'

const SEAL_AGAIN = 'seal_again'

export async function findProgress(db: Db): Promise<string | undefined> {
  const [row] = await db.select().from(installation).where(eq(installation.name, SEAL_AGAIN))
  return row && Buffer.from(row.value).toString()
}

/** Locks the row: of two processes that continue the job, the second waits for the first. */
export async function lockProgress(tx: Db): Promise<string | undefined> {
  const [row] = await locked(tx.select().from(installation).where(eq(installation.name, SEAL_AGAIN)), 'update')
  return row && Buffer.from(row.value).toString()
}

export async function keepProgress(tx: Db, text: string): Promise<void> {
  const value = Buffer.from(text)
  await tx
    .insert(installation)
    .values({ name: SEAL_AGAIN, value })
    .onConflictDoUpdate({ target: installation.name, set: { value } })
}
