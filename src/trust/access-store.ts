import { eq } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { trustAnchors, trustSources } from '../db/schema.ts'

export async function listRelyingPartyAnchors(db: Db): Promise<{ certificate: string; service: string | null }[]> {
  return await db
    .select({ certificate: trustAnchors.certificate, service: trustAnchors.trustedFor })
    .from(trustAnchors)
    .innerJoin(trustSources, eq(trustAnchors.sourceId, trustSources.id))
    .where(eq(trustSources.use, 'relying_party'))
}
