import { detailsPlace } from './append.ts'
import { type AuditRecord, type ChainProblem, chainVerifier, type Disclosed, readPublicKey } from './chain.ts'
import type { Deps } from './deps.ts'
import { listCheckpoints, listRecords, type StoredRecord } from './store.ts'

const BATCH = 1000

/** The reader must compare `publicKey`: anybody can make a whole chain under a key of their own. */
export type AuditVerdict = {
  count: number
  head: string
  signedTo: number
  publicKey: string
  problem: ChainProblem | undefined
}

/** Checks every record, every signed checkpoint and the details that still exist. */
export async function verifyAudit(deps: Pick<Deps, 'db' | 'sealer' | 'sessionKeys' | 'audit'>): Promise<AuditVerdict> {
  const publicKey = deps.audit.publicKey()
  const verifier = chainVerifier(readPublicKey(publicKey)!, await listCheckpoints(deps.db))
  for await (const { record, disclosed } of readChain(deps)) {
    const problem = verifier.next(record, disclosed)
    if (problem) return { ...verifier.end(), publicKey, problem }
  }
  return { ...verifier.end(), publicKey }
}

export async function* readChain({
  db,
  sealer,
  sessionKeys,
}: Pick<Deps, 'db' | 'sealer' | 'sessionKeys'>): AsyncGenerator<{ record: AuditRecord; disclosed?: Disclosed }> {
  // From below the first, so that a record inserted there is found too.
  let after = Number.MIN_SAFE_INTEGER
  for (;;) {
    const batch = await listRecords(db, after, BATCH)
    const keyOf = await sessionKeys.lookUp(db, batch)
    for (const row of batch) {
      const { salt: _, sealed: __, sessionId: ___, wrappingKey: ____, ...record } = row
      yield { record, disclosed: disclose(sealer, row, keyOf(row)) }
    }
    if (batch.length < BATCH) return
    after = batch.at(-1)?.seq ?? after
    // A running service needs its turn while a long chain is read.
    await new Promise<void>(resolve => setImmediate(resolve))
  }
}

/** Undefined once the subject is erased. */
export function disclose(
  sealer: Deps['sealer'],
  { salt, sealed, ...record }: StoredRecord,
  sessionKey: Uint8Array | undefined,
): Disclosed | undefined {
  if (!salt && !sealed) return undefined
  // An erasure removes both; one without the other fails the commitment.
  if (!salt || !sealed) return { salt: Buffer.alloc(0), details: {} }
  try {
    return { salt, details: JSON.parse(sealer.open(detailsPlace(record, salt, sessionKey), sealed)) }
  } catch {
    // Sealed text that does not open was changed. Empty details fail the commitment, and the verdict names the record.
    return { salt, details: {} }
  }
}
