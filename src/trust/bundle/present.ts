import { isoUtc } from '../../base/time.ts'
import type { ImportedBundle } from './import.ts'
import type { InspectedBundle } from './inspect.ts'

export const presentImport = ({ signer, isSigned, isAccepted, madeAt, madeBy, items }: ImportedBundle) => ({
  signer,
  signature_valid: isSigned,
  signer_accepted: isAccepted,
  made_at: madeAt,
  made_by: madeBy,
  items,
})

export const presentInspected = ({
  signer,
  isSigned,
  madeAt,
  madeBy,
  sources,
  anchors,
  blocks,
  revocation,
}: InspectedBundle) => ({
  signer,
  signature_valid: isSigned,
  made_at: madeAt,
  made_by: madeBy,
  sources: sources.map(presentBundled),
  anchors,
  blocks,
  revocation,
})

function presentBundled({ list, listSigner, problem, ...source }: InspectedBundle['sources'][number]) {
  return {
    ...source,
    ...(problem !== undefined && { problem }),
    ...(list && {
      name: list.name,
      sequence: list.sequence,
      issued_at: isoUtc(list.issuedAt),
      next_update: list.nextUpdate === null ? null : isoUtc(list.nextUpdate),
      signer: listSigner,
      entries: list.entries.length,
    }),
  }
}
