import { isoUtc } from '../../base/time.ts'
import type { Stake } from '../../trust/lists/pins.ts'
import { hasHalved, hasNumberGoneBack } from '../../trust/lists/record-list.ts'
import type { CheckedList, SourceView } from '../../trust/lists/source.ts'
import type { presentSource } from '../../trust/present.ts'
import type { presentAnchor } from '../../trust/settings.ts'
import { table } from '../output.ts'

export function describeList({ list, signer, types, location }: CheckedList): string[] {
  const skipped = Object.values(list.skipped).reduce((sum, count) => sum + count, 0)
  return [
    `List         ${list.name}`,
    `Place        ${location ?? 'a file'}`,
    `Kind         ${list.kind}${list.type ? `, ${list.type}` : ''}`,
    `Territory    ${list.territory ?? 'none'}`,
    `Number       ${list.sequence ?? 'none'}`,
    `Issued       ${isoUtc(list.issuedAt)}`,
    `Next update  ${list.nextUpdate === null ? 'not said' : isoUtc(list.nextUpdate)}`,
    `Signer       ${signer.subject}, until ${isoUtc(signer.notAfter).slice(0, 10)}`,
    `Fingerprint  ${signer.fingerprint}`,
    `Entries      ${list.entries.length}${skipped > 0 ? `, and ${skipped} that cannot be used` : ''}`,
    ...types.map(({ type, entries }) => `             ${entries} for ${type}`),
  ]
}

export const issuersOf = ({ entries }: { entries: number }): string => `${entries} ${entries === 1 ? 'issuer' : 'issuers'}`

type Shown = ReturnType<typeof presentSource> & { issuers: ReturnType<typeof presentAnchor>[] }

export function describeSource(source: Shown): string[] {
  const skipped = Object.entries(source.skipped).map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`)
  const { difference } = source
  return [
    `Label        ${source.label} (${source.id}), ${source.environment}`,
    `List         ${source.name}`,
    `Place        ${source.location ?? 'brought by hand'}`,
    `State        ${source.state}, until ${source.ends_at}`,
    `Number       ${source.sequence ?? 'none'}`,
    `Issued       ${source.issued_at}`,
    `Next update  ${source.next_update}`,
    `Last look    ${source.checked_at}`,
    ...(source.failure ? [`Failing      since ${source.failure.since}: ${source.failure.message}`] : []),
    `Signed by    ${source.signer}`,
    ...source.pins.map(
      ({ fingerprint, subject, not_after }) =>
        `Pinned       ${fingerprint}${subject ? ` (${subject}, until ${not_after?.slice(0, 10)})` : ''}`,
    ),
    ...(difference ? [`Last change  ${difference.added_count} added, ${difference.removed_count} removed`] : []),
    ...(skipped.length > 0 ? [`Not usable   ${skipped.join(', ')}`] : []),
    '',
    table(
      ['ISSUER', 'COUNTRY', 'FOR', 'VALID UNTIL', 'FINGERPRINT'],
      source.issuers.map(each => [
        each.use === 'none' ? `${each.label} (withdrawn)` : each.label,
        each.country ?? '',
        each.use === 'status' ? `${each.trusted_for} (status lists)` : (each.trusted_for ?? ''),
        each.not_after.slice(0, 10),
        each.fingerprint_sha256,
      ]),
    ),
  ]
}

export function unpinnedText(stake: Stake | undefined, isWithdrawn: boolean): string {
  if (!stake) return 'The list in force does not depend on it, and stays.'
  return isWithdrawn
    ? `The list that it signed counts no more: ${issuersOf(stake)} of it are trusted no longer, until a pinned signer has signed a new one.`
    : `The list that it signed stays in force until ${isoUtc(stake.endsAt)}, or until a pinned signer has signed a newer one; unpin with --withdraw ends it at once.`
}

export const refreshedText = (outcome: 'accepted' | 'unchanged', source: SourceView): string =>
  outcome === 'unchanged' ? `${source.label} has not changed.` : `${source.label} has a new issue: ${issuersOf(source)}.`

export function noteOn(outcome: 'accepted' | 'unchanged', source: SourceView): string | undefined {
  if (outcome === 'unchanged') return undefined
  const notes = [
    ...(hasNumberGoneBack(source)
      ? [`its number went back from ${source.difference?.before.sequence} to ${source.sequence}`]
      : []),
    ...(hasHalved(source, source.entries) ? [`it had ${issuersOf(source.difference!.before)} before`] : []),
  ]
  return notes.length > 0 ? `note: ${notes.join('; ')}` : undefined
}
