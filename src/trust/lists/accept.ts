// A list is taken only when everything about it holds: form, signature, signer, which list it is, its dates, its order.
// It is read outside any transaction. Then one transaction looks at the source again under its lock and replaces the
// anchors: of two lists at once, the later issue wins. What is refused changes nothing that is trusted.

import { sha256Hex } from '../../base/hash.ts'
import type { Db } from '../../db/engine.ts'
import type { Making } from '../../ground.ts'
import { grantsOf } from '../../trust-lists/grants.ts'
import type { Grant, ListRefused, TrustList } from '../../trust-lists/list.ts'
import { readInThread } from '../../trust-lists/read-in-thread.ts'
import { refuse } from '../../trust-lists/refuse.ts'
import type { Deps } from '../deps.ts'
import { TrustProblem } from '../settings.ts'
import { judgeList } from './judge-list.ts'
import { logAccepted, recordAccepted, recordAdded } from './record-list.ts'
import { isCounting, pemOf, replaceAnchors } from './replace-anchors.ts'
import { isKept, type PinRow, type SourceDraft, type SourceRow } from './source.ts'
import {
  completePin,
  insertPin,
  insertSource,
  listPins,
  listSources,
  lockSource,
  saveList,
  updateSource,
} from './source-store.ts'

const SOURCES_MAX = 32
const LABEL_CHARS_MAX = 60

/** `source` is the row after it. */
export type Accepted = { ok: true; outcome: 'accepted' | 'unchanged'; source: SourceRow }

/** `etag` names the bytes at their location; null for those brought by hand. */
type Options = { actor: string; etag?: string | null }

export async function acceptList(
  deps: Deps,
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
  if (!isKept(source) && !grants.some(isCounting)) return refuse('empty', nothingCounts(source, list))
  const found: Found = { list, grants, bytes, facts: factsOf(list, judged.signer, digest, etag, skipped) }
  return isKept(source)
    ? await replaceList(deps, source.id, found, actor)
    : { ok: true, outcome: 'accepted', source: await saveFirst(deps, source, found, actor) }
}

/** The operator names what counts in an ETSI list that is not known. */
function nothingCounts({ types }: SourceDraft, { kind }: TrustList): string {
  const nothing = `no entry counts for ${types?.join(', ') ?? 'a known type of document'}`
  if (kind === 'vical' || types) return nothing
  return `${nothing}; in a list of another type, name the services (--service-type) and the documents (--for) that count`
}

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

/** The same bytes again: the look succeeded, and nothing else is new. */
export async function keepList(deps: Deps, id: string, etag: string | null): Promise<Accepted> {
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

const succeeded = (deps: Making, everyMs: number) => ({
  checkedAt: deps.now(),
  failure: null,
  failureDetail: null,
  failureSigner: null,
  failingSince: null,
  failures: 0,
  dueAt: nextLook(deps, everyMs),
})

/** A tenth earlier or later, so that not every installation asks at the same minute. */
function nextLook({ now, random }: Making, everyMs: number): number {
  const share = Buffer.from(random(4)).readUInt32BE() / 2 ** 32
  return Math.round(now() + everyMs * (0.9 + 0.2 * share))
}

async function replaceList(deps: Deps, id: string, found: Found, actor: string): Promise<Accepted | ListRefused> {
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
    await recordAccepted(tx, deps, { id, label: current.label, ...facts, difference }, actor)
    return { current, same: false as const, changed: { ...current, ...changes }, entries }
  })
  if ('ok' in result) return result
  if (result.same) return { ok: true, outcome: 'unchanged', source: result.current }
  logAccepted(deps, result.changed, result.entries)
  return { ok: true, outcome: 'accepted', source: result.changed }
}

async function saveFirst(deps: Deps, draft: SourceDraft, found: Found, actor: string): Promise<SourceRow> {
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
    refuseAnother(await listSources(tx), source)
    await insertSource(tx, source)
    for (const pin of pinRows) await insertPin(tx, pin)
    const { difference, entries } = await replaceAnchors(tx, deps, source, found.grants)
    await saveList(tx, draft.id, bytes)
    await completePins(tx, pinRows, list)
    await recordAdded(tx, deps, source, pinRows, actor)
    await recordAccepted(tx, deps, { ...source, difference }, actor)
    return entries
  })
  logAccepted(deps, source, entries)
  return source
}

/** Settings are written one at a time, so that two additions at once see each other. */
function refuseAnother(known: readonly SourceRow[], wanted: SourceRow): void {
  const same = known.find(source => SAME_LIST.every(name => source[name] === wanted[name]))
  if (same)
    throw new TrustProblem(
      `this list is here already, as ${same.label} (${same.id}): for another signer, "vidimus trust source pin ${same.id} FINGERPRINT"; for other rules, "vidimus trust source remove ${same.id}" first`,
    )
  if (known.length >= SOURCES_MAX) throw new TrustProblem(`there are ${SOURCES_MAX} sources already; remove one first`)
}

/** Each service of an unknown list is a source of its own. */
const SAME_LIST = ['environment', 'kind', 'use', 'identity', 'serviceType'] as const

/** Some operators' names are sentences. */
const shortened = (name: string): string => (name.length > LABEL_CHARS_MAX ? `${name.slice(0, LABEL_CHARS_MAX - 1)}…` : name)

/** Doctor reads from it when the pin ends. */
async function completePins(tx: Db, pins: readonly PinRow[], { chain }: TrustList): Promise<void> {
  for (const pin of pins.filter(({ certificate }) => certificate === null)) {
    const der = chain.find(each => sha256Hex(each) === pin.fingerprint)
    if (der) await completePin(tx, { ...pin, certificate: pemOf(der) })
  }
}
