// The certificates that may sign the lists of a source.
import { X509Certificate } from 'node:crypto'
import type { Db } from '../db/engine.ts'
import { sha256Hex } from '../hash.ts'
import type { ListKind } from '../trust-lists/list.ts'
import { type Pin, refuseCaPin } from '../trust-lists/signer.ts'
import type { Deps } from './deps.ts'
import { TrustProblem } from './settings.ts'
import type { PinRow, SourceRow, SourceView } from './source.ts'
import { deletePin, insertPin, listPins, lockSource, updateSource } from './source-store.ts'
import { noSource, readSource } from './sources.ts'

export const PINS_MAX = 8

type PinDeps = Pick<Deps, 'db' | 'writeSettings' | 'now' | 'audit'>

/** Lets a signer sign this source's lists. A refused list is looked at again soon. */
export async function pinSigner(deps: PinDeps, id: string, signer: string, actor: string): Promise<SourceView> {
  await changePins(deps, id, actor, async (tx, source, pins) => {
    const pin = pinOf(source.kind, signer)
    if (pins.some(({ fingerprint }) => fingerprint === pin.fingerprint)) throw new TrustProblem('this signer is pinned already')
    if (pins.length >= PINS_MAX) throw new TrustProblem(`a source takes at most ${PINS_MAX} signers; unpin one first`)
    await insertPin(tx, { sourceId: id, ...pin, addedAt: deps.now() })
    if (source.failure !== null) await updateSource(tx, id, { dueAt: deps.now() })
  })
  return await readSource(deps, id)
}

/** The accepted list of the signer stays until the next one or its end. */
export async function unpinSigner(deps: PinDeps, id: string, signer: string, actor: string): Promise<SourceView> {
  await changePins(deps, id, actor, async (tx, _, pins) => {
    const fingerprint = parseFingerprint(signer)
    if (!pins.some(pin => pin.fingerprint === fingerprint)) throw new TrustProblem('this signer is not pinned')
    if (pins.length === 1) throw new TrustProblem('this is the only signer; pin another one first, or remove the source')
    await deletePin(tx, id, fingerprint)
  })
  return await readSource(deps, id)
}

async function changePins(
  deps: PinDeps,
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
