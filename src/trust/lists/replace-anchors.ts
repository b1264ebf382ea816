// The entries of an accepted list become the anchors of its source.
import { createHash } from 'node:crypto'
import { sha256Hex } from '../../base/hash.ts'
import { base62Of } from '../../base/ids.ts'
import type { Db } from '../../db/engine.ts'
import type { Grant, ListDifference } from '../../trust-lists/list.ts'
import type { Deps } from '../deps.ts'
import type { AnchorRow } from '../store.ts'
import type { SourceRow } from './source.ts'
import { deleteAnchors, insertAnchors, listAnchorsOf } from './source-store.ts'

const NAMES_MAX = 50
const ANCHOR_ID_LENGTH = 16

/** Ids are derived, so that those of a list's entries stay the same and the difference is one of sets. */
export async function replaceAnchors(
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
  lineage: null,
})

function anchorId(sourceId: string, { certificate, trustedFor }: Grant): string {
  const digest = createHash('sha256')
    .update(`${sourceId}\n${sha256Hex(certificate)}\n${trustedFor}`)
    .digest()
  return `anc_${base62Of(digest, ANCHOR_ID_LENGTH)}`
}

export const pemOf = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`

const isSame = (known: AnchorRow | undefined, row: AnchorRow): boolean =>
  known !== undefined &&
  (['label', 'mode', 'use', 'entity', 'country', 'since'] as const).every(name => known[name] === row[name])

/** A withdrawn entry only explains a refusal. */
export const isCounting = ({ use }: { use: AnchorRow['use'] }): boolean => use !== 'none'

/** Labels of the certificates that count, by the certificate. */
const countingOf = (rows: Iterable<AnchorRow>): Map<string, string> =>
  new Map([...rows].filter(isCounting).map(({ certificate, label }) => [certificate, label]))

const namesOf = (certificates: [certificate: string, label: string][]) =>
  certificates.slice(0, NAMES_MAX).map(([certificate, name]) => ({ name, fingerprint: fingerprintOfPem(certificate) }))

const fingerprintOfPem = (pem: string): string => sha256Hex(Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64'))
