import { X509Certificate } from 'node:crypto'
import { isoUtc } from '../base/time.ts'
import type { BlockRow } from './blocks.ts'
import { presetOf } from './lists/presets.ts'
import type { CheckedList, PinRow, SourceView } from './lists/source.ts'
import { endOf, nextUpdateOf, sourceState } from './state.ts'

export function presentSource(source: SourceView, now: number) {
  return {
    id: source.id,
    environment: source.environment,
    kind: source.kind,
    use: source.use,
    label: source.label,
    preset: source.preset,
    location: source.location,
    types: source.types,
    service_type: source.serviceType,
    mode: source.mode,
    every_seconds: source.everyMs / 1000,
    grace_seconds: source.graceMs / 1000,
    name: source.name,
    state: sourceState(source, now),
    sequence: source.sequence,
    issued_at: isoUtc(source.issuedAt),
    /** The date in the list, or 90 days after its issue. */
    next_update: isoUtc(nextUpdateOf(source)),
    ends_at: isoUtc(endOf(source)),
    digest: source.digest,
    signer: source.signer,
    accepted_at: isoUtc(source.acceptedAt),
    entries: source.entries,
    withdrawn: source.withdrawn,
    skipped: source.skipped,
    difference: source.difference && {
      added: source.difference.added,
      removed: source.difference.removed,
      added_count: source.difference.addedCount,
      removed_count: source.difference.removedCount,
    },
    checked_at: isoUtc(source.checkedAt),
    failure: source.failure === null ? null : presentFailure(source),
    pins: source.pins.map(presentPin),
    announced: source.announced,
    created_at: isoUtc(source.createdAt),
  }
}

const presentFailure = ({ failure, failureDetail, failureSigner, failingSince }: SourceView) => ({
  code: failure!,
  message: failureDetail ?? '',
  signer: failureSigner,
  since: isoUtc(failingSince ?? 0),
})

/** Subject and end are known once a list had the certificate. */
function presentPin({ fingerprint, certificate, addedAt }: PinRow) {
  const parsed = certificate === null ? undefined : new X509Certificate(certificate)
  return {
    fingerprint,
    ...(parsed && { subject: parsed.subject.split('\n').join(', '), not_after: isoUtc(parsed.validToDate.getTime()) }),
    added_at: isoUtc(addedAt),
  }
}

export function presentList({ location, digest, list, signer, types }: CheckedList) {
  return {
    location,
    kind: list.kind,
    name: list.name,
    type: list.type,
    territory: list.territory,
    sequence: list.sequence,
    issued_at: isoUtc(list.issuedAt),
    next_update: list.nextUpdate === null ? null : isoUtc(list.nextUpdate),
    digest,
    signer: {
      fingerprint: signer.fingerprint,
      subject: signer.subject,
      not_before: isoUtc(signer.notBefore),
      not_after: isoUtc(signer.notAfter),
    },
    announced: list.announced,
    entries: list.entries.length,
    skipped: list.skipped,
    types,
  }
}

export const presentBlock = ({ environment, fingerprint, reason, createdAt }: BlockRow) => ({
  environment,
  fingerprint,
  reason,
  created_at: isoUtc(createdAt),
})

/** The address where the signer of a preset is published. */
export const compareAt = (preset: string | null): string =>
  (preset && presetOf(preset)?.compareAt) || "the operator's publication"
