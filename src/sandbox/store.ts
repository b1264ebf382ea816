import { and, eq } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { installation } from '../db/schema/installation.ts'

const NAME = 'sandbox_issuer'

export async function findSandbox(db: Db): Promise<Buffer | undefined> {
  const [row] = await db.select({ value: installation.value }).from(installation).where(eq(installation.name, NAME)).limit(1)
  return row?.value
}

/** False when another process stored one first: `replaced` is no longer the stored value. */
export async function saveSandbox(tx: Db, value: Buffer, replaced: Buffer | undefined): Promise<boolean> {
  const { name } = installation
  const saved =
    replaced === undefined
      ? await tx.insert(installation).values({ name: NAME, value }).onConflictDoNothing({ target: name }).returning({ name })
      : await tx
          .update(installation)
          .set({ value })
          .where(and(eq(name, NAME), eq(installation.value, replaced)))
          .returning({ name })
  return saved.length > 0
}
