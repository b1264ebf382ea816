// The certificates that may sign the lists of a source.
import { X509Certificate } from 'node:crypto'
import type { Setting } from '../../audit/deps.ts'
import { sha256Hex } from '../../base/hash.ts'
import type { Db } from '../../db/engine.ts'
import type { Reading } from '../../ground.ts'
import type { ListKind } from '../../trust-lists/list.ts'
import { readInThread } from '../../trust-lists/read-in-thread.ts'
import { judgeSigner, type Pin, refuseCaPin } from '../../trust-lists/signer.ts'
import { TrustProblem } from '../settings.ts'
import { endOf } from '../state.ts'
import { replaceAnchors } from './replace-anchors.ts'
import { type PinRow, type SourceRow, type SourceView, WITHDRAWN } from './source.ts'
import { deleteList, deletePin, findList, insertPin, listPins, lockSource, updateSource } from './source-store.ts'
import { noSource, readSource } from './sources.ts'

export const PINS_MAX = 8

type PinDeps = Reading & Setting

/** Lets a signer sign this source's lists. A refused list is looked at again soon. */
export async function pinSigner(deps: PinDeps, id: string, signer: string, actor: string): Promise<SourceView> {
  await changePins(deps, id, actor, async (tx, source, pins) => {
    const pin = pinOf(source.kind, signer)
    if (pins.some(({ fingerprint }) => fingerprint === pin.fingerprint)) throw new TrustProblem('this signer is pinned already')
    if (pins.length >= PINS_MAX) throw new TrustProblem(`a source takes at most ${PINS_MAX} signers; unpin one first`)
    await insertPin(tx, { sourceId: id, ...pin, addedAt: deps.now() })
    if (source.failure !== null) await updateSource(tx, id, { dueAt: deps.now() })
    return undefined
  })
  return await readSource(deps, id)
}

/** The accepted list of the signer stays until the next one or its end, unless it is withdrawn with the signer. */
export async function unpinSigner(
  deps: PinDeps,
  id: string,
  signer: string,
  actor: string,
  { withdraw = false } = {},
): Promise<SourceView> {
  const fingerprint = parseFingerprint(signer)
  const stake = withdraw ? await findStake(deps, id, fingerprint) : undefined
  await changePins(deps, id, actor, async (tx, source, pins) => {
    // One that was removed earlier, and whose list was kept then.
    if (!stake || pins.some(pin => pin.fingerprint === fingerprint)) refuseUnpinning(pins, fingerprint)
    await deletePin(tx, id, fingerprint)
    return stake && (await withdrawList(tx, deps, source, stake))
  })
  return await readSource(deps, id)
}

function refuseUnpinning(pins: readonly PinRow[], signer: string): void {
  if (!pins.some(({ fingerprint }) => fingerprint === signer)) throw new TrustProblem('this signer is not pinned')
  if (pins.length === 1) throw new TrustProblem('this is the only signer; pin another one first, or remove the source')
}

/** The accepted list, where it counts only because of one signer. */
export type Stake = { digest: string; label: string; entries: number; endsAt: number }

export async function findStake(deps: Reading, id: string, signer: string): Promise<Stake | undefined> {
  const source = await readSource(deps, id)
  const fingerprint = parseFingerprint(signer)
  const { digest, label, entries, pins } = source
  if (source.signer !== fingerprint || pins.some(pin => pin.fingerprint === fingerprint)) refuseUnpinning(pins, fingerprint)
  if (digest === WITHDRAWN || !(await countsOnlyBy(deps, source, fingerprint))) return undefined
  return { digest, label, entries, endsAt: endOf(source) }
}

async function countsOnlyBy(deps: Reading, source: SourceView, fingerprint: string): Promise<boolean> {
  const others = source.pins.filter(pin => pin.fingerprint !== fingerprint)
  if (source.signer === fingerprint) return true
  if (source.kind !== 'vical' || others.length === source.pins.length) return false
  // The pin may be an authority above the signer.
  const read = await readInThread('vical', (await findList(deps.db, source.id)) ?? new Uint8Array())
  const judged = read.ok && judgeSigner(read.list, others, deps.now())
  return judged && !judged.ok && judged.code === 'signer_unknown'
}

/** None of its entries counts from this commit on. The next look asks for the whole list, and judges it by the pins of then. */
async function withdrawList(tx: Db, deps: PinDeps, source: SourceRow, { digest }: Stake): Promise<object> {
  if (source.digest !== digest) throw new TrustProblem(`${source.label} has a newer list since a moment ago; call this again`)
  const { difference } = await replaceAnchors(tx, deps, source, [])
  await deleteList(tx, source.id)
  await updateSource(tx, source.id, { digest: WITHDRAWN, etag: null, difference, dueAt: deps.now() })
  const { removed, removedCount } = difference
  return { withdrawn: { signer: source.signer, removed, removed_count: removedCount } }
}

/** Returns what the record says beside the pins. */
type Change = (tx: Db, source: SourceRow, pins: readonly PinRow[]) => Promise<object | undefined>

async function changePins(deps: PinDeps, id: string, actor: string, change: Change): Promise<void> {
  await deps.writeSettings(async tx => {
    const source = await lockSource(tx, id)
    if (!source) throw noSource(id)
    const before = await listPins(tx, id)
    const more = await change(tx, source, before)
    const [pinsBefore, pins] = [before, await listPins(tx, id)].map(all => all.map(({ fingerprint }) => fingerprint))
    const details = { label: source.label, before: { pins: pinsBefore }, after: { pins }, ...more }
    await deps.audit.append(tx, { at: deps.now(), tenantId: '', actor, action: 'trust.source_changed', subjectId: id, details })
  })
}

/** A pin from a fingerprint, as tools print it, or from a certificate. */
export function pinOf(kind: ListKind, signer: string): Pin {
  if (signer.includes('-----BEGIN CERTIFICATE-----')) {
    const refusal = refuseCaPin(kind, signer)
    if (refusal) throw new TrustProblem(refusal)
    const certificate = new X509Certificate(signer)
    return { fingerprint: sha256Hex(certificate.raw), certificate: certificate.toString() }
  }
  return { fingerprint: parseFingerprint(signer), certificate: null }
}

/** SHA-256 in hex; colons and spaces do not matter. */
export function parseFingerprint(text: string): string {
  const fingerprint = text.replace(/[:\s]/g, '').toLowerCase()
  if (/^[0-9a-f]{64}$/.test(fingerprint)) return fingerprint
  throw new TrustProblem(`"${text.slice(0, 100)}" is not a SHA-256 fingerprint of 64 hexadecimal digits`)
}
