import { browseAudit } from '../../src/audit/browse.ts'
import type { Deps } from '../../src/deps.ts'
import { addSource } from '../../src/trust/lists/add-source.ts'
import type { NewSource, SourceView } from '../../src/trust/lists/source.ts'
import { type ListSigner, type LoteEntity, makeIssuer, makeLote, type WantedLote } from '../trust-lists/make.ts'
import type { Issued } from './certificates.ts'

/** A PID provider with one certificate. */
export const provider = (issuer: Pick<Issued, 'der'>, name = 'Test Provider', country = 'FI'): LoteEntity => ({
  name,
  role: country,
  services: [{ certificates: [issuer.der] }],
})

/** A list of PID providers, one for each certificate. */
export const pidList = (signer: ListSigner, issuers: readonly Pick<Issued, 'der'>[], wanted: WantedLote = {}) =>
  makeLote({ entities: issuers.map((issuer, i) => provider(issuer, `Provider ${i + 1}`)), ...wanted }, signer)

/** Adds a source by hand, whose signer is pinned. */
export const addLote = (
  deps: Deps,
  signer: Pick<ListSigner, 'fingerprint'>,
  bytes: Uint8Array,
  asked: Partial<NewSource> = {},
): Promise<SourceView> =>
  addSource(
    deps,
    { environment: 'live', kind: 'lote', label: 'PID list', signers: [signer.fingerprint], bytes, ...asked },
    'test',
  )

/** What the audit chain says of trust, oldest first. */
export async function trustRecords(deps: Deps) {
  const { records } = await browseAudit(deps, { tenantId: '', limit: 100 })
  return records
    .filter(({ action }) => action.startsWith('trust.'))
    .map(({ action, actor, details }) => ({ action, actor, details: details as Record<string, unknown> }))
    .toReversed()
}

export const makeIssuers = (count: number): Promise<Issued[]> => Promise.all(Array.from({ length: count }, () => makeIssuer()))
