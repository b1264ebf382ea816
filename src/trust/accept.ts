// A list is taken only when everything about it holds: form, signature, signer, which list it is, its dates, its order.
// It is read outside any transaction. Then one transaction looks at the source again under its lock and replaces the
// anchors: of two lists at once, the later issue wins. What is refused changes nothing that is trusted.
import { createHash } from 'node:crypto'
import type { Db } from '../db/engine.ts'
import { sha256Hex } from '../hash.ts'
import { base62Of } from '../ids.ts'
import { isoUtc } from '../time.ts'
import { grantsOf } from '../trust-lists/grants.ts'
import type { Grant, ListDifference, ListRefused, TrustList } from '../trust-lists/list.ts'
import { readInThread } from '../trust-lists/read-in-thread.ts'
import { refuse } from '../trust-lists/refuse.ts'
import { judgeSigner, type Pin } from '../trust-lists/signer.ts'
import type { Deps } from './deps.ts'
import { TrustProblem } from './settings.ts'
import type { PinRow, SourceRow } from './source.ts'
import {
  completePin,
  deleteAnchors,
  insertAnchors,
  insertPin,
  insertSource,
  listAnchorsOf,
  listPins,
  lockSource,
  saveList,
  updateSource,
} from './source-store.ts'
import { endOf } from './state.ts'
import type { AnchorRow } from './store.ts'

const AHEAD_MAX_MS = 24 * 3_600_000
const NAMES_MAX = 50
const LABEL_CHARS_MAX = 60
const ANCHOR_ID_LENGTH = 16

export type AcceptDeps = Pick<Deps, 'db' | 'writeSettings' | 'now' | 'wall' | 'random' | 'audit' | 'log'>

/** `source` is the row after it. */
export type Accepted = { ok: true; outcome: 'accepted' | 'unchanged'; source: SourceRow }

type Rules = Pick<
  SourceRow,
  'id' | 'environment' | 'kind' | 'use' | 'preset' | 'location' | 'types' | 'serviceType' | 'mode' | 'everyMs' | 'graceMs'
>

/** A source before its first list. */
export type SourceDraft = Rules & {
  label: string | null
  /** The end of the type that its lists must have. */
  listType: string | null
  pins: readonly Pin[]
  createdAt: number
}

/** `etag` names the bytes at their location; null for those brought by hand. */
type Options = { actor: string; etag?: string | null }

export async function acceptList(
  deps: AcceptDeps,
  source: SourceRow | SourceDraft,
  bytes: Uint8Array,
  { actor, etag = null }: Options,
): Promise<Accepted | ListRefused> {
  const digest = sha256Hex(bytes)
  if (isKept(source) && source.digest === digest) return await keepList(deps, source.id, etag)
  const read = await readInThread(source.kind, bytes)
  if (!read.ok) return read
  const { list } = read
  const pins = isKept(source) ? await listPins(deps.db, source.id) : source.pins
  const judged = judgeList(deps, source, list, pins)
  if (!judged.ok) return judged
  const { grants, skipped } = grantsOf(list, source, deps.now())
  if (!isKept(source) && !grants.some(isCounting)) return refuse('empty', nothingCounts(source))
  const found: Found = { list, grants, bytes, facts: factsOf(list, judged.signer, digest, etag, skipped) }
  return isKept(source)
    ? await replaceList(deps, source.id, found, actor)
    : { ok: true, outcome: 'accepted', source: await saveFirst(deps, source, found, actor) }
}

const isKept = (source: SourceRow | SourceDraft): source is SourceRow => 'digest' in source

/** Of a withdrawn entry nothing is left but the explanation. */
const isCounting = ({ use }: Pick<AnchorRow, 'use'>): boolean => use !== 'none'

const nothingCounts = ({ types }: Rules): string => `no entry counts for ${types?.join(', ') ?? 'a known type of document'}`

type Found = { list: TrustList; grants: readonly Grant[]; bytes: Uint8Array; facts: Facts }
type Facts = ReturnType<typeof factsOf>

const factsOf = (list: TrustList, signer: string, digest: string, etag: string | null, skipped: Record<string, number>) => ({
  identity: list.identity,
  name: list.name,
  sequence: list.sequence,
  issuedAt: list.issuedAt,
  nextUpdate: list.nextUpdate,
  digest,
  signer,
  announced: [...list.announced],
  skipped,
  etag,
})

/** Signer, which list, dates, order: in the order of the refusals. Cheap enough to be repeated under the lock. */
function judgeList(
  deps: Pick<Deps, 'now' | 'wall'>,
  source: SourceRow | SourceDraft,
  list: TrustList,
  pins: readonly Pin[],
): { ok: true; signer: string } | ListRefused {
  const signed = judgeSigner(list, pins, deps.now())
  if (!signed.ok) return signed.code === 'signer_unknown' ? unknownSigner(source, list) : signed
  return (
    wrongList(source, list) ?? wrongDates(deps, source, list) ?? (isKept(source) ? wrongOrder(source, list) : undefined) ?? signed
  )
}

function unknownSigner(source: SourceRow | SourceDraft, list: TrustList): ListRefused {
  const fingerprint = sha256Hex(list.chain[0]!)
  const isAnnounced = isKept(source) && source.announced.includes(fingerprint)
  const next = isKept(source)
    ? `then "vidimus trust source pin ${source.id} ${fingerprint}"`
    : `then add it with --signer ${fingerprint}`
  return refuse(
    'signer_unknown',
    `signed by ${fingerprint}, which you have not pinned${isAnnounced ? '; the last list announced it' : ''}; compare it with the operator's publication, ${next}`,
  )
}

function wrongList(source: SourceRow | SourceDraft, list: TrustList): ListRefused | undefined {
  const isRight = isKept(source)
    ? list.identity === source.identity
    : source.listType === null || list.type?.endsWith(source.listType) === true
  if (isRight) return undefined
  const which = list.type === null ? `the list of ${list.name}` : `${list.type} of ${list.territory ?? 'no territory'}`
  return refuse('wrong_list', `this is ${which}, the source is for another`)
}

/** What is dated ahead is compared with the clock of others; what ends here, with the clock that never goes back. */
function wrongDates(
  { now, wall }: Pick<Deps, 'now' | 'wall'>,
  { graceMs }: Rules,
  { issuedAt, nextUpdate }: TrustList,
): ListRefused | undefined {
  if (issuedAt > wall() + AHEAD_MAX_MS) return refuse('not_yet', `dated in the future, ${isoUtc(issuedAt)}: check the clock`)
  const end = endOf({ issuedAt, nextUpdate, graceMs })
  return end <= now() ? refuse('expired', `it is already past its end, ${isoUtc(end)}`) : undefined
}

/** By the issue time: numbers go back in the field, and a withdrawal must not be refused for that. The number breaks a tie. */
function wrongOrder(accepted: SourceRow, { issuedAt, sequence }: TrustList): ListRefused | undefined {
  if (issuedAt > accepted.issuedAt) return undefined
  const isHigher = sequence !== null && accepted.sequence !== null && sequence > accepted.sequence
  if (issuedAt === accepted.issuedAt && isHigher) return undefined
  return refuse('rolled_back', `issued ${isoUtc(issuedAt)}, which is not after the accepted one of ${isoUtc(accepted.issuedAt)}`)
}

/** The same bytes again: the look succeeded, and nothing else is new. */
export async function keepList(deps: AcceptDeps, id: string, etag: string | null): Promise<Accepted> {
  return await deps.writeSettings(async tx => {
    const current = await requireSource(tx, id)
    const looked = { ...succeeded(deps, current.everyMs), ...(etag !== null && { etag }) }
    await updateSource(tx, id, looked)
    return { ok: true, outcome: 'unchanged', source: { ...current, ...looked } }
  })
}

async function requireSource(tx: Db, id: string): Promise<SourceRow> {
  const current = await lockSource(tx, id)
  if (!current) throw new TrustProblem(`the source ${id} was removed meanwhile`)
  return current
}

const succeeded = (deps: Pick<Deps, 'now' | 'random'>, everyMs: number) => ({
  checkedAt: deps.now(),
  failure: null,
  failureDetail: null,
  failingSince: null,
  failures: 0,
  dueAt: nextLook(deps, everyMs),
})

/** A tenth earlier or later, so that not every installation asks at the same minute. */
function nextLook({ now, random }: Pick<Deps, 'now' | 'random'>, everyMs: number): number {
  const share = Buffer.from(random(4)).readUInt32BE() / 2 ** 32
  return Math.round(now() + everyMs * (0.9 + 0.2 * share))
}

async function replaceList(deps: AcceptDeps, id: string, found: Found, actor: string): Promise<Accepted | ListRefused> {
  const { list, bytes, facts } = found
  const result = await deps.writeSettings(async tx => {
    const current = await requireSource(tx, id)
    if (current.digest === facts.digest) return { current, same: true as const }
    const pins = await listPins(tx, id)
    const judged = judgeList(deps, current, list, pins)
    if (!judged.ok) return judged
    const { difference, entries } = await replaceAnchors(tx, deps, current, found.grants)
    const now = deps.now()
    const changes = { ...facts, difference, acceptedAt: now, warnedAt: null, ...succeeded(deps, current.everyMs) }
    await updateSource(tx, id, changes)
    await saveList(tx, id, bytes)
    await completePins(tx, pins, list)
    await recordAccepted(tx, deps, { id, label: current.label, facts, difference }, actor)
    return { current, same: false as const, changed: { ...current, ...changes }, entries }
  })
  if ('ok' in result) return result
  if (result.same) return { ok: true, outcome: 'unchanged', source: result.current }
  logAccepted(deps, result.changed, result.entries)
  return { ok: true, outcome: 'accepted', source: result.changed }
}

async function saveFirst(deps: AcceptDeps, draft: SourceDraft, found: Found, actor: string): Promise<SourceRow> {
  const { listType: _, pins, ...rules } = draft
  const { list, bytes, facts } = found
  const now = deps.now()
  const source: SourceRow = {
    ...rules,
    label: draft.label ?? shortened(list.name),
    ...facts,
    difference: null,
    acceptedAt: now,
    warnedAt: null,
    ...succeeded(deps, draft.everyMs),
  }
  const pinRows = pins.map(pin => ({ sourceId: draft.id, ...pin, addedAt: now }))
  const entries = await deps.writeSettings(async tx => {
    await insertSource(tx, source)
    for (const pin of pinRows) await insertPin(tx, pin)
    const { difference, entries } = await replaceAnchors(tx, deps, source, found.grants)
    await saveList(tx, draft.id, bytes)
    await completePins(tx, pinRows, list)
    await recordAdded(tx, deps, source, pinRows, actor)
    await recordAccepted(tx, deps, { id: source.id, label: source.label, facts, difference }, actor)
    return entries
  })
  logAccepted(deps, source, entries)
  return source
}

/** Some operators' names are sentences. */
const shortened = (name: string): string => (name.length > LABEL_CHARS_MAX ? `${name.slice(0, LABEL_CHARS_MAX - 1)}…` : name)

/** Ids are derived, so that those of a list's entries stay the same and the difference is one of sets. */
async function replaceAnchors(
  tx: Db,
  { now }: Pick<Deps, 'now'>,
  source: SourceRow,
  grants: readonly Grant[],
): Promise<{ difference: ListDifference; entries: number }> {
  const known = new Map((await listAnchorsOf(tx, source.id)).map(row => [row.id, row]))
  const at = now()
  const wanted = new Map(grants.map(grant => anchorOf(source, grant, at)).map(row => [row.id, row]))
  const changed = [...wanted.values()].filter(row => !isSame(known.get(row.id), row))
  const gone = [...known.keys()].filter(id => !wanted.has(id))
  await deleteAnchors(tx, [...gone, ...changed.flatMap(({ id }) => (known.has(id) ? [id] : []))])
  await insertAnchors(
    tx,
    changed.map(row => ({ ...row, createdAt: known.get(row.id)?.createdAt ?? row.createdAt })),
  )
  const [before, after] = [countingOf(known.values()), countingOf(wanted.values())]
  const added = [...after].filter(([certificate]) => !before.has(certificate))
  const removed = [...before].filter(([certificate]) => !after.has(certificate))
  const difference = {
    added: namesOf(added),
    removed: namesOf(removed),
    addedCount: added.length,
    removedCount: removed.length,
    before: { sequence: source.sequence, entries: before.size },
  }
  return { difference, entries: after.size }
}

const anchorOf = (source: SourceRow, grant: Grant, now: number): AnchorRow => ({
  id: anchorId(source.id, grant),
  environment: source.environment,
  label: grant.label,
  certificate: pemOf(grant.certificate),
  mode: grant.mode,
  crl: null,
  trustedFor: grant.trustedFor,
  createdAt: now,
  sourceId: source.id,
  use: grant.use,
  entity: grant.entity,
  country: grant.country,
  since: grant.since,
})

export function anchorId(sourceId: string, { certificate, trustedFor }: Pick<Grant, 'certificate' | 'trustedFor'>): string {
  const digest = createHash('sha256')
    .update(`${sourceId}\n${sha256Hex(certificate)}\n${trustedFor}`)
    .digest()
  return `anc_${base62Of(digest, ANCHOR_ID_LENGTH)}`
}

const pemOf = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`

const isSame = (known: AnchorRow | undefined, row: AnchorRow): boolean =>
  known !== undefined &&
  (['label', 'mode', 'use', 'entity', 'country', 'since'] as const).every(name => known[name] === row[name])

/** Labels of the certificates that count, by the certificate. */
const countingOf = (rows: Iterable<AnchorRow>): Map<string, string> =>
  new Map([...rows].filter(isCounting).map(({ certificate, label }) => [certificate, label]))

const namesOf = (certificates: [certificate: string, label: string][]) =>
  certificates.slice(0, NAMES_MAX).map(([certificate, name]) => ({ name, fingerprint: fingerprintOf(certificate) }))

const fingerprintOf = (pem: string): string => sha256Hex(Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64'))

/** Doctor reads from it when the pin ends. */
async function completePins(tx: Db, pins: readonly PinRow[], { chain }: TrustList): Promise<void> {
  for (const pin of pins.filter(({ certificate }) => certificate === null)) {
    const der = chain.find(each => sha256Hex(each) === pin.fingerprint)
    if (der) await completePin(tx, { ...pin, certificate: pemOf(der) })
  }
}

async function recordAdded(tx: Db, deps: AcceptDeps, source: SourceRow, pins: readonly PinRow[], actor: string): Promise<void> {
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

async function recordAccepted(
  tx: Db,
  deps: AcceptDeps,
  { id, label, facts, difference }: { id: string; label: string; facts: Facts; difference: ListDifference },
  actor: string,
): Promise<void> {
  const { sequence, issuedAt, digest, signer } = facts
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

function logAccepted({ log }: Pick<Deps, 'log'>, source: SourceRow, entries: number): void {
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
