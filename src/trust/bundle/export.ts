import { hostname } from 'node:os'
import { isoUtc } from '../../base/time.ts'
import type { Reading } from '../../ground.ts'
import { readBlocks } from '../blocks.ts'
import type { Deps } from '../deps.ts'
import { type SourceView, WITHDRAWN } from '../lists/source.ts'
import { findList } from '../lists/source-store.ts'
import { readSources } from '../lists/sources.ts'
import { readAnchors, TrustProblem } from '../settings.ts'
import type { AnchorRow } from '../store.ts'
import { BUNDLE_BYTES_MAX, type BundledAnchor, type BundledSource, bundleSignerOf, signBundle } from './form.ts'
import { bundledLists } from './revocation.ts'

/** The name of the member, and what encoding rounds up. */
const MEMBER_CHARS = 64

type Environment = AnchorRow['environment']

type ExportedBundle = {
  bytes: Uint8Array
  /** SHA-256 of this installation's bundle key, in hex: what another machine accepts. */
  signer: string
  madeAt: number
  sources: number
  anchors: number
  blocks: number
  /** Lists of revoked documents, and the addresses of those that found no room. */
  revocation: number
  leftOut: string[]
}

/** All lists with their pins, the operator's own anchors, and the blocks; of one environment if it is given. */
export async function exportBundle(
  deps: Deps,
  { environment }: { environment?: Environment },
  actor: string,
): Promise<ExportedBundle> {
  const isWanted = (row: { environment: Environment }) => environment === undefined || row.environment === environment
  const sources = (await readSources(deps)).filter(source => isWanted(source) && source.digest !== WITHDRAWN)
  const seed = deps.sealer.key('trust bundle')
  const madeAt = deps.now()
  const content = {
    version: 1,
    made_at: isoUtc(madeAt),
    // Without a port yet, there is no address either.
    made_by: URL.parse(deps.config.publicUrl)?.host || hostname(),
    sources: await Array.fromAsync(sources, source => bundledSource(deps, source)),
    anchors: (await readAnchors(deps)).filter(row => row.sourceId === null && isWanted(row)).map(bundledAnchor),
    blocks: (await readBlocks(deps))
      .filter(isWanted)
      .map(({ environment, fingerprint, reason }) => ({ environment, fingerprint, reason })),
  } as const
  const room = Math.floor(((BUNDLE_BYTES_MAX - signBundle(seed, content).length) * 3) / 4) - MEMBER_CHARS
  const { revocation, leftOut } = await bundledLists(deps, room)
  const bytes = signBundle(seed, { ...content, revocation })
  if (bytes.length > BUNDLE_BYTES_MAX)
    throw new TrustProblem(
      `the bundle would be larger than ${BUNDLE_BYTES_MAX / 1024 / 1024} MiB; export one environment by itself`,
    )
  const signer = bundleSignerOf(seed)
  const counts = {
    ...{ sources: content.sources.length, anchors: content.anchors.length, blocks: content.blocks.length },
    revocation: revocation.length,
  }
  const details = { environment: environment ?? null, ...counts }
  await deps.write(tx =>
    deps.audit.append(tx, { at: madeAt, tenantId: '', actor, action: 'trust.bundle_exported', subjectId: signer, details }),
  )
  return { bytes, signer, madeAt, ...counts, leftOut }
}

async function bundledSource({ db }: Reading, source: SourceView): Promise<BundledSource> {
  const { id, environment, kind, use, label, location, types, serviceType, mode, graceMs, pins } = source
  const list = await findList(db, id)
  return {
    environment,
    kind,
    use,
    label,
    // A path means nothing on another machine.
    ...(location?.startsWith('https:') && { location }),
    ...(types && { types }),
    ...(serviceType !== null && { service_type: serviceType }),
    ...(mode && { mode }),
    grace_seconds: Math.floor(graceMs / 1000),
    pins: pins.map(({ fingerprint, certificate }) => ({ fingerprint, ...(certificate !== null && { certificate }) })),
    list: Buffer.from(list ?? []).toString('base64'),
  }
}

const bundledAnchor = ({ environment, certificate, trustedFor, mode, crl, use, label }: AnchorRow): BundledAnchor => ({
  environment,
  pem: certificate,
  trusted_for: trustedFor,
  mode,
  ...(crl && { crl }),
  ...((use === 'documents' || use === 'status') && { use }),
  label,
})
