import { SEALED } from '../db/sealed-columns.ts'
import type { Unsealing } from '../ground.ts'
import { type AuditRecord, type ChainProblem, chainVerifier, type Disclosed, readPublicKey } from './chain.ts'
import type { Audited, Deps } from './deps.ts'
import { type Linking, linkEntries } from './link.ts'
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

type ChainDeps = Unsealing & Audited & Pick<Deps, 'db'>

/** Checks every record, every signed checkpoint and the details that still exist. */
export const verifyAudit = (deps: ChainDeps & Linking): Promise<AuditVerdict> => verifyChain(deps, () => linkEntries(deps))

/** `link` puts what is committed on the chain; a database at rest has nothing to link. */
export async function verifyChain(deps: ChainDeps, link = async () => {}): Promise<AuditVerdict> {
  const publicKey = deps.audit.publicKey()
  await link()
  const verifier = chainVerifier(readPublicKey(publicKey)!, await listCheckpoints(deps.db))
  // Starts below the first record, so that one inserted there is found too.
  let after = Number.MIN_SAFE_INTEGER
  for (let doubted: ChainProblem | undefined; ; await link()) {
    for await (const { record, disclosed } of readChain(deps, after)) {
      const problem = verifier.next(record, disclosed)
      if (problem) return { ...verifier.end(), publicKey, problem }
      after = record.seq
    }
    const end = verifier.end()
    // Details may have gone while the chain was read. Their erasure is committed then, and linked by the next round.
    if (!end.problem || end.problem.seq === doubted?.seq) return { ...end, publicKey }
    doubted = end.problem
  }
}

export async function* readChain(
  { db, sealer, sessionKeys }: Unsealing & Pick<Deps, 'db'>,
  after = Number.MIN_SAFE_INTEGER,
): AsyncGenerator<{ record: AuditRecord; disclosed?: Disclosed }> {
  for (;;) {
    const batch = await listRecords(db, after, BATCH)
    const keyOf = await sessionKeys.lookUp(db, batch)
    for (const row of batch) {
      const { id: _, salt: __, sealed: ___, sessionId: ____, wrappingKey: _____, ...record } = row
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
  { id, tenantId, salt, sealed }: StoredRecord,
  sessionKey: Uint8Array | undefined,
): Disclosed | undefined {
  if (!salt && !sealed) return undefined
  // An erasure removes both; one without the other fails the commitment.
  if (!salt || !sealed) return { salt: Buffer.alloc(0), details: {} }
  try {
    return { salt, details: JSON.parse(sealer.open(SEALED.auditDetails({ tenantId, id: String(id) }, salt, sessionKey), sealed)) }
  } catch {
    // Sealed text that does not open was changed. Empty details fail the commitment, and the verdict names the record.
    return { salt, details: {} }
  }
}
