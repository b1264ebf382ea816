// Records of accepted lists on the audit chain and in the log.
import type { Audited } from '../../audit/deps.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import type { Reading, Reporting } from '../../ground.ts'
import type { ListDifference } from '../../trust-lists/list.ts'
import type { PinRow, SourceRow } from './source.ts'

export async function recordAdded(
  tx: Db,
  deps: Reading & Audited,
  source: SourceRow,
  pins: readonly PinRow[],
  actor: string,
): Promise<void> {
  const { id, environment, kind, use, label, preset, location, types, serviceType, mode, graceMs } = source
  await deps.audit.append(tx, {
    at: deps.now(),
    tenantId: '',
    actor,
    action: 'trust.source_added',
    subjectId: id,
    details: {
      environment,
      kind,
      use,
      label,
      preset,
      location,
      types,
      service_type: serviceType,
      mode,
      grace_seconds: graceMs / 1000,
      pins: pins.map(({ fingerprint }) => fingerprint),
    },
  })
}

type AcceptedList = Pick<SourceRow, 'id' | 'label' | 'sequence' | 'issuedAt' | 'digest' | 'signer'> & {
  difference: ListDifference
}

export async function recordAccepted(
  tx: Db,
  deps: Reading & Audited,
  { id, label, sequence, issuedAt, digest, signer, difference }: AcceptedList,
  actor: string,
): Promise<void> {
  const { added, removed, addedCount, removedCount } = difference
  await deps.audit.append(tx, {
    at: deps.now(),
    tenantId: '',
    actor,
    action: 'trust.list_accepted',
    subjectId: id,
    details: {
      label,
      sequence,
      issued_at: isoUtc(issuedAt),
      digest,
      signer,
      added,
      removed,
      added_count: addedCount,
      removed_count: removedCount,
    },
  })
}

export function logAccepted({ log }: Reporting, source: SourceRow, entries: number): void {
  const { id, label, sequence, issuedAt, difference } = source
  const number = sequence === null ? '' : `number ${sequence}, `
  log.info('trust.list_accepted', { count: entries, detail: `${label} (${id}): ${number}issued ${isoUtc(issuedAt)}` })
  if (hasNumberGoneBack(source))
    log.warn('trust.number_went_back', { detail: `${label} (${id}): from ${difference?.before.sequence} to ${sequence}` })
  if (hasHalved(source, entries))
    log.warn('trust.entries_halved', { count: entries, detail: `${label} (${id}): ${difference?.before.entries} before` })
}

export const hasNumberGoneBack = ({ sequence, difference }: SourceRow): boolean =>
  sequence !== null && difference !== null && difference.before.sequence !== null && sequence < difference.before.sequence

/** Half of its issuers or more are gone: a withdrawal, or a mistake of the operator. */
export const hasHalved = ({ difference }: SourceRow, entries: number): boolean =>
  difference !== null && difference.before.entries > 0 && entries * 2 <= difference.before.entries
