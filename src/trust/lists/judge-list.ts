// Decides whether a list that could be read is accepted: by its signer, its identity, its dates and its order.

import { sha256Hex } from '../../base/hash.ts'
import { isoUtc } from '../../base/time.ts'
import type { Timing } from '../../ground.ts'
import type { ListRefused, TrustList } from '../../trust-lists/list.ts'
import { refuse } from '../../trust-lists/refuse.ts'
import { judgeSigner, type Pin } from '../../trust-lists/signer.ts'
import { endOf } from '../state.ts'
import { isKept, type SourceDraft, type SourceRow, WITHDRAWN } from './source.ts'

const AHEAD_MAX_MS = 24 * 3_600_000

/** Returns the first refusal. Cheap enough to be repeated under the lock. */
export function judgeList(
  deps: Timing,
  source: SourceRow | SourceDraft,
  list: TrustList,
  pins: readonly Pin[],
): { ok: true; signer: string } | ListRefused {
  const signed = judgeSigner(list, pins, deps.now())
  if (!signed.ok) return signed.code === 'signer_unknown' ? unknownSigner(source, list, pins) : signed
  return (
    wrongList(source, list) ?? wrongDates(deps, source, list) ?? (isKept(source) ? wrongOrder(source, list) : undefined) ?? signed
  )
}

function unknownSigner(source: SourceRow | SourceDraft, list: TrustList, pins: readonly Pin[]): ListRefused {
  const fingerprint = sha256Hex(list.chain[0]!)
  const isAnnounced = isKept(source) && source.announced.includes(fingerprint)
  const next = isKept(source)
    ? `then "vidimus trust source pin ${source.id} ${fingerprint}"`
    : `then add it with --signer ${fingerprint}`
  const detail = `signed by ${fingerprint}, which you have not pinned${isAnnounced ? '; the last list announced it' : ''}; compare it with the operator's publication, ${next}${isCaMissing(list, pins) ? PIN_BY_FILE : ''}`
  return { ...refuse('signer_unknown', detail), signer: fingerprint }
}

const PIN_BY_FILE = '; a CA that the list does not carry is pinned by its certificate, as a file'

/** The fingerprint of a CA is enough only where the list carries the CA. */
const isCaMissing = ({ kind, chain }: TrustList, pins: readonly Pin[]): boolean => {
  const carried = chain.map(sha256Hex)
  return kind === 'vical' && pins.some(({ fingerprint, certificate }) => certificate === null && !carried.includes(fingerprint))
}

function wrongList(source: SourceRow | SourceDraft, list: TrustList): ListRefused | undefined {
  const isRight = isKept(source)
    ? list.identity === source.identity
    : source.listType === null || list.type?.endsWith(source.listType) === true
  if (isRight) return undefined
  const which = list.type === null ? `the list of ${list.name}` : `${list.type} of ${list.territory ?? 'no territory'}`
  return refuse('wrong_list', `this is ${which}, the source is for another`)
}

/** A date in the future is compared with the machine's clock, an end with the service's clock, which never goes back. */
function wrongDates(
  { now, wall }: Timing,
  { graceMs }: { graceMs: number },
  { issuedAt, nextUpdate }: TrustList,
): ListRefused | undefined {
  if (issuedAt > wall() + AHEAD_MAX_MS) return refuse('not_yet', `dated in the future, ${isoUtc(issuedAt)}: check the clock`)
  const end = endOf({ issuedAt, nextUpdate, graceMs })
  return end <= now() ? refuse('expired', `it is already past its end, ${isoUtc(end)}`) : undefined
}

/** Ordered by issue time: numbers of real lists go back at times, and a withdrawal must not be refused. They only break a tie. */
function wrongOrder(accepted: SourceRow, { issuedAt, sequence }: TrustList): ListRefused | undefined {
  if (issuedAt > accepted.issuedAt) return undefined
  const isHigher = sequence !== null && accepted.sequence !== null && sequence > accepted.sequence
  // The same issue, signed again by somebody else.
  const isWithdrawn = accepted.digest === WITHDRAWN
  if (issuedAt === accepted.issuedAt && (isHigher || isWithdrawn)) return undefined
  return refuse('rolled_back', `issued ${isoUtc(issuedAt)}, which is not after the accepted one of ${isoUtc(accepted.issuedAt)}`)
}
