// Whose anchor it is, for names of persons that must not change with a certificate. Never by the name in it, which anybody may
// choose.
import { X509Certificate } from 'node:crypto'
import { sha256Hex } from '../base/hash.ts'
import type { Db } from '../db/engine.ts'
import { type AnchorRow, findAnchor } from './store.ts'

/** The sandbox issuer's, which no row has. */
const SANDBOX = 'sandbox'

/** A list says who is who; an anchor that was added by hand is its key, or what it continues. */
export function lineageOf({ lineage, sourceId, entity, certificate }: AnchorRow): string {
  if (lineage !== null) return lineage
  if (sourceId !== null && entity !== null) return `list ${sourceId} ${entity}`
  return `key ${sha256Hex(new X509Certificate(certificate).publicKey.export({ format: 'der', type: 'spki' }))}`
}

/** Undefined when the anchor was removed. */
export async function authorityOf(db: Db, anchorId: string): Promise<string | undefined> {
  if (anchorId === SANDBOX) return SANDBOX
  const anchor = await findAnchor(db, anchorId)
  return anchor && lineageOf(anchor)
}
