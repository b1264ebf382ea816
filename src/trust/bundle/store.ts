import { eq } from 'drizzle-orm'
import type { Db } from '../../db/engine.ts'
import { bundleSigners } from '../../db/schema/trust.ts'

type BundleSignerRow = typeof bundleSigners.$inferSelect

export async function findBundleSigner(db: Db, fingerprint: string): Promise<BundleSignerRow | undefined> {
  const [row] = await db.select().from(bundleSigners).where(eq(bundleSigners.fingerprint, fingerprint))
  return row
}

export async function saveBundleSigner(tx: Db, row: BundleSignerRow): Promise<void> {
  const { label, lastMadeAt } = row
  await tx.insert(bundleSigners).values(row).onConflictDoUpdate({ target: bundleSigners.fingerprint, set: { label, lastMadeAt } })
}
