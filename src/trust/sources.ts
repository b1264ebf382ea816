import { X509Certificate } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Db } from '../db/engine.ts'
import { sha256Hex } from '../hash.ts'
import { base62 } from '../ids.ts'
import { grantsOf } from '../trust-lists/grants.ts'
import type { ListKind, ListRefused } from '../trust-lists/list.ts'
import { readInThread } from '../trust-lists/read-in-thread.ts'
import { kindOf } from '../trust-lists/read-list.ts'
import { type Pin, refuseCaPin, signerOf } from '../trust-lists/signer.ts'
import { type AcceptDeps, acceptList, type SourceDraft } from './accept.ts'
import type { Deps } from './deps.ts'
import { fetchSource } from './fetch-source.ts'
import { type Preset, presetOf } from './presets.ts'
import { ListProblem, TrustProblem } from './settings.ts'
import type { CheckedList, NewSource, PinRow, SourceRow, SourceView } from './source.ts'
import {
  countEntries,
  deletePin,
  deleteSource,
  type EntryCount,
  insertPin,
  listAllPins,
  listPins,
  listSources,
  lockSource,
  updateSource,
} from './source-store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SOURCES_MAX = 32
const PINS_MAX = 8
const EVERY_MS: Record<ListKind, number> = { vical: 6 * HOUR_MS, 'etsi-xml': 12 * HOUR_MS, lote: 12 * HOUR_MS }
/** An operator of a VICAL writes when an update is expected, not when the list is over. */
const GRACE_MS: Record<ListKind, number> = { vical: 30 * DAY_MS, 'etsi-xml': 7 * DAY_MS, lote: 7 * DAY_MS }
const EVERY_MIN_MS = HOUR_MS / 4
const EVERY_MAX_MS = 30 * DAY_MS
const GRACE_MAX_MS = 90 * DAY_MS

type CheckDeps = Pick<Deps, 'egress' | 'resolve' | 'now'>
export type SourceDeps = AcceptDeps & CheckDeps

/** Reads a list and verifies its signature. Nothing is kept. */
export async function checkList(
  deps: CheckDeps,
  given: { location: string } | { bytes: Uint8Array },
  kind?: ListKind,
): Promise<CheckedList> {
  const location = 'location' in given ? given.location : null
  const name = location === null ? 'the file' : placeOf(location)
  const bytes = 'bytes' in given ? given.bytes : await fetchFirst(deps, requireLocation(given.location), name)
  const found = kind ?? kindOf(bytes)
  if (!found) throw new ListProblem('malformed', `${name}: it is not a readable list`)
  const read = await readInThread(found, bytes)
  if (!read.ok) throw problemOf(name, read)
  const { list } = read
  const { grants } = grantsOf(list, { types: null, serviceType: null, mode: null, use: 'issuers' }, deps.now())
  const types = Map.groupBy(
    grants.filter(({ use }) => use !== 'none'),
    ({ trustedFor }) => trustedFor,
  )
  return {
    location,
    bytes,
    digest: sha256Hex(bytes),
    list,
    signer: signerOf(list),
    types: [...types].map(([type, all]) => ({ type, entries: all.length })),
  }
}

export const problemOf = (name: string, { code, detail }: ListRefused): ListProblem => new ListProblem(code, `${name}: ${detail}`)

const placeOf = (location: string): string => (location.startsWith('file:') ? fileURLToPath(location) : location)

function requireLocation(location: string): string {
  const url = URL.parse(location)
  if (url?.protocol === 'https:' || url?.protocol === 'file:') return location
  throw new TrustProblem(`${location}: lists are fetched over https; give an https address or a file`)
}

async function fetchFirst(deps: CheckDeps, location: string, name: string): Promise<Uint8Array> {
  const fetched = await fetchSource(deps, location, null)
  if (!fetched.ok) throw problemOf(name, fetched)
  // Without an etag there is nothing that could be unchanged.
  return 'bytes' in fetched ? fetched.bytes : new Uint8Array()
}

/** Done only when a first list was accepted. */
export async function addSource(deps: SourceDeps, asked: NewSource, actor: string): Promise<SourceView> {
  const draft = draftOf(deps, asked)
  const name = draft.label ?? (draft.location === null ? 'the list' : placeOf(draft.location))
  await refuseMore(deps)
  if (draft.location === null && asked.bytes === undefined)
    throw new TrustProblem('a source needs an address, or a first list from a file')
  const location = draft.location === null ? null : requireLocation(draft.location)
  const bytes = asked.bytes ?? (await fetchFirst(deps, location!, name))
  const accepted = await acceptList(deps, draft, bytes, { actor })
  if (!accepted.ok) throw problemOf(name, accepted)
  return await readSource(deps, accepted.source.id)
}

function draftOf(deps: Pick<Deps, 'now' | 'random'>, asked: NewSource): SourceDraft {
  const preset = asked.preset === undefined ? undefined : requirePreset(asked)
  const kind = preset?.kind ?? asked.kind
  if (!kind) throw new TrustProblem('a source needs a preset or a kind of list')
  const pins = [...asked.signers, ...(preset?.pins ?? [])].map(signer => pinOf(kind, signer))
  if (pins.length === 0)
    throw new TrustProblem('a source needs the fingerprint or the certificate of whoever signs the list; give it as signer')
  if (pins.length > PINS_MAX) throw new TrustProblem(`a source takes at most ${PINS_MAX} signers`)
  const everyMs = asked.everyMs ?? EVERY_MS[kind]
  const graceMs = asked.graceMs ?? GRACE_MS[kind]
  if (everyMs < EVERY_MIN_MS || everyMs > EVERY_MAX_MS)
    throw new TrustProblem('a list is looked at every 15 minutes at most, and every 30 days at least')
  if (graceMs < 0 || graceMs > GRACE_MAX_MS) throw new TrustProblem('the grace is 0 to 90 days')
  const prefix = asked.types?.find(type => type.includes('*'))
  if (prefix !== undefined) throw new TrustProblem(`${prefix}: name each type whole, without *`)
  return {
    id: `src_${base62(deps.random, 16)}`,
    environment: asked.environment,
    kind,
    use: preset?.use ?? asked.use ?? 'issuers',
    label: asked.label ?? preset?.label ?? null,
    preset: asked.preset ?? null,
    location: preset?.location ?? asked.location ?? null,
    types: asked.types?.length ? [...asked.types] : null,
    serviceType: asked.serviceType ?? null,
    mode: asked.mode ?? null,
    everyMs,
    graceMs,
    listType: preset?.listType ?? null,
    pins: [...new Map(pins.map(pin => [pin.fingerprint, pin])).values()],
    createdAt: deps.now(),
  }
}

/** A preset that may be used in this environment. */
export function requirePreset({
  preset: name = '',
  environment,
  isReadTerms,
}: Pick<NewSource, 'preset' | 'environment' | 'isReadTerms'>): Preset {
  const preset = presetOf(name)
  if (!preset) throw new TrustProblem(`there is no preset "${name}"`)
  if (preset.environment !== environment)
    throw new TrustProblem(
      preset.environment === 'test'
        ? `${name} is a test list: its issuers prove nothing about real people`
        : `${name} is a live list: add it to live`,
    )
  if (preset.terms && !isReadTerms)
    throw new TrustProblem(`${name} has terms of use, at ${preset.terms}; read them first, then confirm that (--terms-read)`)
  return preset
}

/** By fingerprint, as tools print it, or by certificate. */
export function pinOf(kind: ListKind, signer: string): Pin {
  if (signer.includes('-----BEGIN CERTIFICATE-----')) {
    const refusal = refuseCaPin(kind, signer)
    if (refusal) throw new TrustProblem(refusal)
    const certificate = new X509Certificate(signer)
    return { fingerprint: sha256Hex(certificate.raw), certificate: certificate.toString() }
  }
  return { fingerprint: fingerprintOf(signer), certificate: null }
}

/** SHA-256 in hex; colons and spaces do not matter. */
export function fingerprintOf(text: string): string {
  const fingerprint = text.replace(/[:\s]/g, '').toLowerCase()
  if (/^[0-9a-f]{64}$/.test(fingerprint)) return fingerprint
  throw new TrustProblem(`"${text.slice(0, 100)}" is not a SHA-256 fingerprint of 64 hexadecimal digits`)
}

async function refuseMore({ db }: Pick<Deps, 'db'>): Promise<void> {
  if ((await listSources(db)).length >= SOURCES_MAX)
    throw new TrustProblem(`there are ${SOURCES_MAX} sources already; remove one first`)
}

export async function readSources({ db }: Pick<Deps, 'db'>): Promise<SourceView[]> {
  const [sources, pins, counting, withdrawn] = await Promise.all([
    listSources(db),
    listAllPins(db),
    countEntries(db, false),
    countEntries(db, true),
  ])
  return sources.map(source => {
    const countOf = (all: EntryCount[]) => all.find(({ sourceId }) => sourceId === source.id)?.count ?? 0
    return {
      ...source,
      pins: pins.filter(({ sourceId }) => sourceId === source.id),
      entries: countOf(counting),
      withdrawn: countOf(withdrawn),
    }
  })
}

export async function readSource(deps: Pick<Deps, 'db'>, id: string): Promise<SourceView> {
  const found = (await readSources(deps)).find(source => source.id === id)
  if (!found) throw noSource(id)
  return found
}

export const noSource = (id: string): TrustProblem => new TrustProblem(`there is no source ${id}`)

/** From now on it may sign this source's lists. A refused list is looked at again soon. */
export async function pinSigner(deps: SourceDeps, id: string, signer: string, actor: string): Promise<SourceView> {
  await changePins(deps, id, actor, async (tx, source, pins) => {
    const pin = pinOf(source.kind, signer)
    if (pins.some(({ fingerprint }) => fingerprint === pin.fingerprint)) throw new TrustProblem('this signer is pinned already')
    if (pins.length >= PINS_MAX) throw new TrustProblem(`a source takes at most ${PINS_MAX} signers; unpin one first`)
    await insertPin(tx, { sourceId: id, ...pin, addedAt: deps.now() })
    if (source.failure !== null) await updateSource(tx, id, { dueAt: deps.now() })
  })
  return await readSource(deps, id)
}

/** Its accepted list stays until the next one or its end. */
export async function unpinSigner(deps: SourceDeps, id: string, signer: string, actor: string): Promise<SourceView> {
  await changePins(deps, id, actor, async (tx, _, pins) => {
    const fingerprint = fingerprintOf(signer)
    if (!pins.some(pin => pin.fingerprint === fingerprint)) throw new TrustProblem('this signer is not pinned')
    if (pins.length === 1) throw new TrustProblem('this is the only signer; pin another one first, or remove the source')
    await deletePin(tx, id, fingerprint)
  })
  return await readSource(deps, id)
}

async function changePins(
  deps: SourceDeps,
  id: string,
  actor: string,
  change: (tx: Db, source: SourceRow, pins: readonly PinRow[]) => Promise<void>,
): Promise<void> {
  await deps.writeSettings(async tx => {
    const source = await lockSource(tx, id)
    if (!source) throw noSource(id)
    const before = await listPins(tx, id)
    await change(tx, source, before)
    const [pinsBefore, pins] = [before, await listPins(tx, id)].map(all => all.map(({ fingerprint }) => fingerprint))
    const details = { label: source.label, before: { pins: pinsBefore }, after: { pins } }
    await deps.audit.append(tx, { at: deps.now(), tenantId: '', actor, action: 'trust.source_changed', subjectId: id, details })
  })
}

/** With its anchors: sessions that are open now trust them no more. */
export async function removeSource(deps: SourceDeps, id: string, actor: string): Promise<void> {
  await deps.writeSettings(async tx => {
    const source = await lockSource(tx, id)
    if (!source) throw noSource(id)
    await deleteSource(tx, id)
    const { environment, label, sequence } = source
    const details = { environment, label, sequence }
    await deps.audit.append(tx, { at: deps.now(), tenantId: '', actor, action: 'trust.source_removed', subjectId: id, details })
  })
}
