import type { Setting } from '../audit/deps.ts'
import type { Db } from '../db/engine.ts'
import { findGoLive, listLive, upsertGoLiveDocuments } from './store.ts'

/** The kinds of documents that a shop may want to accept. */
export const DOCUMENT_KINDS = ['eu_age', 'eu_wallet', 'us_licence', 'other'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

export type GoLive = {
  documents: DocumentKind[]
  firstTestAt: number | null
  firstLiveAt: number | null
  retentionChosenAt: number | null
}

/** A shop's chosen documents, and its first completed sessions. */
export async function readGoLive(db: Db, tenantId: string): Promise<GoLive> {
  const row = await findGoLive(db, tenantId)
  return {
    // Documents in the order of the kinds; one that this version does not know is left out.
    documents: DOCUMENT_KINDS.filter(kind => row?.documents.includes(kind)),
    firstTestAt: row?.firstTestAt ?? null,
    firstLiveAt: row?.firstLiveAt ?? null,
    retentionChosenAt: row?.retentionChosenAt ?? null,
  }
}

/** Shops that need the way no more. */
export const readLive = async (db: Db): Promise<Set<string>> => new Set(await listLive(db))

export async function chooseDocuments(
  deps: Setting,
  tenantId: string,
  documents: readonly DocumentKind[],
  actor: string,
): Promise<void> {
  const at = deps.now()
  const details = { documents }
  await deps.writeSettings(async tx => {
    await upsertGoLiveDocuments(tx, tenantId, [...documents])
    await deps.audit.append(tx, { at, tenantId, actor, action: 'tenant.changed', subjectId: tenantId, details })
  })
}
