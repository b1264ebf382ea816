// Bundles bring trust to venues without internet. A list counts by the pins of this machine, so neither the stick nor
// whoever made the bundle needs trust for it. New sources, anchors and blocks count only when the bundle's signer was
// accepted here. Nothing is ever removed or widened, and nothing comes from test into live.
import { X509Certificate } from 'node:crypto'
import { hostname } from 'node:os'
import { isoUtc } from '../../base/time.ts'
import type { Reading, Timing } from '../../ground.ts'
import type { TrustList } from '../../trust-lists/list.ts'
import { readInThread } from '../../trust-lists/read-in-thread.ts'
import { signerOf } from '../../trust-lists/signer.ts'
import { block, readBlocks } from '../blocks.ts'
import type { Deps } from '../deps.ts'
import { acceptList } from '../lists/accept.ts'
import { addSource } from '../lists/add-source.ts'
import { parseFingerprint } from '../lists/pins.ts'
import { PRESETS } from '../lists/presets.ts'
import { type SourceView, WITHDRAWN } from '../lists/source.ts'
import { findList } from '../lists/source-store.ts'
import { readSources } from '../lists/sources.ts'
import { AnchorExists, addAnchors, ListProblem, readAnchors, TrustProblem } from '../settings.ts'
import { authoritiesOf } from '../status/refresh.ts'
import type { AnchorRow } from '../store.ts'
import {
  BUNDLE_BYTES_MAX,
  type BundledAnchor,
  type BundledBlock,
  type BundledRevocation,
  type BundledSource,
  bundleSignerOf,
  type OpenedBundle,
  openBundle,
  signBundle,
} from './form.ts'
import { bundledLists, takeRevocation } from './revocation.ts'
import { findBundleSigner, saveBundleSigner } from './store.ts'

const AHEAD_MAX_MS = 24 * 3_600_000
const AUDITED_MAX = 50
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

export type InspectedBundle = Pick<OpenedBundle, 'signer' | 'isSigned'> & {
  madeAt: string
  madeBy: string
  /** `list` is missing where `problem` says why it cannot be read. */
  sources: (Omit<BundledSource, 'list'> & { list?: TrustList; listSigner?: string; problem?: string })[]
  anchors: readonly BundledAnchor[]
  blocks: readonly BundledBlock[]
  revocation: readonly Omit<BundledRevocation, 'bytes'>[]
}

/** Stores nothing, and asks nobody. */
export async function inspectBundle(bytes: Uint8Array): Promise<InspectedBundle> {
  const { content, signer, isSigned } = openBundle(bytes)
  const sources = await Array.fromAsync(content.sources, async ({ list: encoded, ...source }) => {
    const read = await readInThread(source.kind, Buffer.from(encoded, 'base64'))
    return read.ok
      ? { ...source, list: read.list, listSigner: signerOf(read.list).fingerprint }
      : { ...source, problem: read.detail }
  })
  return {
    signer,
    isSigned,
    madeAt: content.made_at,
    madeBy: content.made_by,
    sources,
    anchors: content.anchors,
    blocks: content.blocks,
    revocation: (content.revocation ?? []).map(({ bytes: _, ...list }) => list),
  }
}

/** `not_taken`: only an accepted signer may bring it. */
type Outcome = 'accepted' | 'unchanged' | 'added' | 'known' | 'refused' | 'not_taken'

export type BundleItem = {
  what: 'list' | 'anchor' | 'block' | 'status'
  /** Lists of revoked documents are for both. */
  environment?: Environment
  name: string
  outcome: Outcome
  /** The source that took the list. */
  source?: string
  detail?: string
}

export type ImportedBundle = Pick<OpenedBundle, 'signer' | 'isSigned'> & {
  madeAt: string
  madeBy: string
  isAccepted: boolean
  items: BundleItem[]
}

type ImportOptions = {
  /** Accepts this signer, from now on. */
  from?: string
  /** Takes a bundle that was made before the last one of its signer. */
  isOlderTaken?: boolean
}

export async function importBundle(
  deps: Deps,
  bytes: Uint8Array,
  { from, isOlderTaken = false }: ImportOptions,
  actor: string,
): Promise<ImportedBundle> {
  const bundle = openBundle(bytes)
  const { content, signer, isSigned } = bundle
  if (from !== undefined) requireSigner(bundle, parseFingerprint(from))
  const known = isSigned ? await findBundleSigner(deps.db, signer) : undefined
  const isAccepted = isSigned && (from !== undefined || known !== undefined)
  const madeAt = Date.parse(content.made_at)
  if (isAccepted) refuseMisdated(deps, madeAt, isOlderTaken ? undefined : known?.lastMadeAt)

  const taking = { ...deps, isAccepted, actor }
  const items: BundleItem[] = []
  for (const source of content.sources) items.push(...(await takeSource(taking, source)))
  for (const anchor of content.anchors) items.push(await takeAnchor(taking, anchor))
  for (const each of content.blocks) items.push(await takeBlock(taking, each))
  const { revocation = [] } = content
  const authorities = revocation.some(({ media }) => media === 'crl') ? await authoritiesOf(deps) : []
  for (const each of revocation)
    items.push({ what: 'status', name: each.uri, ...(await takeRevocation(deps, each, { isAccepted, authorities })) })

  const { made_at, made_by } = content
  await deps.write(async tx => {
    const lastMadeAt = Math.max(madeAt, known?.lastMadeAt ?? madeAt)
    if (isAccepted) await saveBundleSigner(tx, { fingerprint: signer, label: made_by, lastMadeAt })
    const audited = items.slice(0, AUDITED_MAX)
    const details = { made_at, made_by, is_signed: isSigned, is_accepted: isAccepted, items: audited, count: items.length }
    await deps.audit.append(tx, {
      at: deps.now(),
      tenantId: '',
      actor,
      action: 'trust.bundle_imported',
      subjectId: signer,
      details,
    })
  })
  return { signer, isSigned, isAccepted, madeAt: made_at, madeBy: made_by, items }
}

function requireSigner({ signer, isSigned }: OpenedBundle, wanted: string): void {
  if (!isSigned) throw new TrustProblem('the signature of the bundle does not hold, so nobody knows who made it; export it again')
  if (signer !== wanted) throw new TrustProblem(`the bundle was made by ${signer}, not by ${wanted}`)
}

/** An old stick must not bring back an anchor that the newer one no longer had. */
function refuseMisdated({ wall }: Timing, madeAt: number, lastMadeAt: number | undefined): void {
  if (madeAt > wall() + AHEAD_MAX_MS)
    throw new TrustProblem(`the bundle is dated in the future, ${isoUtc(madeAt)}: check the clocks of both machines`)
  if (lastMadeAt !== undefined && madeAt < lastMadeAt)
    throw new TrustProblem(
      `the bundle was made at ${isoUtc(madeAt)}, before the last one of its signer (${isoUtc(lastMadeAt)}); --older takes it all the same`,
    )
}

type Taking = Deps & { isAccepted: boolean; actor: string }

async function takeSource(deps: Taking, bundled: BundledSource): Promise<BundleItem[]> {
  const { environment, kind, use, label } = bundled
  const item = { what: 'list', environment, name: label } as const
  const bytes = Buffer.from(bundled.list, 'base64')
  const read = await readInThread(kind, bytes)
  if (!read.ok) return [{ ...item, outcome: 'refused', detail: read.detail }]

  const sameList = (await readSources(deps)).filter(
    source => source.kind === kind && source.use === use && source.identity === read.list.identity,
  )
  const here = sameList.filter(source => source.environment === environment)
  const pinned = here.filter(({ pins }) =>
    pins.some(({ fingerprint }) => bundled.pins.some(pin => pin.fingerprint === fingerprint)),
  )
  if (pinned.length > 0) return await Array.fromAsync(pinned, source => takeList(deps, source, bytes))
  if (here.length > 0)
    return [{ ...item, outcome: 'not_taken', detail: `${here[0]?.label} is here with other signers; pin its signer by hand` }]
  if (!deps.isAccepted) return [{ ...item, outcome: 'not_taken', detail: NEW_HERE }]
  if (environment === 'live' && (sameList.length > 0 || isTestList(bundled, read.list)))
    return [{ ...item, outcome: 'refused', detail: TEST_ONLY }]
  return [await addNew(deps, bundled, bytes)]
}

const NEW_HERE = 'it is new here, and the signer of the bundle is not accepted'
const TEST_ONLY = 'it is a test list, whose issuers prove nothing about real people'

/** True for a list of the shipped test presets. An address has several spellings: with its port, or in capitals. */
function isTestList({ location = '' }: BundledSource, list: TrustList): boolean {
  const { fingerprint } = signerOf(list)
  const address = URL.parse(location)?.href
  return Object.values(PRESETS).some(
    preset => preset.environment === 'test' && (preset.location === address || preset.pins.some(pin => pin === fingerprint)),
  )
}

async function takeList(deps: Taking, source: SourceView, bytes: Uint8Array): Promise<BundleItem> {
  const { id, environment, label } = source
  const item = { what: 'list', environment, name: label, source: id } as const
  const result = await acceptList(deps, source, bytes, { actor: deps.actor })
  return result.ok ? { ...item, outcome: result.outcome } : { ...item, outcome: 'refused', detail: result.detail }
}

async function addNew(deps: Taking, bundled: BundledSource, bytes: Uint8Array): Promise<BundleItem> {
  const { environment, kind, use, label, location, types, service_type: serviceType, mode, grace_seconds: grace, pins } = bundled
  const item = { what: 'list', environment, name: label } as const
  const signers = pins.map(({ fingerprint, certificate }) => certificate ?? fingerprint)
  const asked = {
    ...{ environment, kind, use, label, bytes, signers },
    // The service would read a file of this machine.
    location: location?.startsWith('https:') ? location : null,
    ...(types && { types }),
    ...(serviceType !== undefined && { serviceType }),
    ...(mode && { mode }),
    ...(grace !== undefined && { graceMs: grace * 1000 }),
  }
  return await outcomeOf(item, async () => ({ outcome: 'added', source: (await addSource(deps, asked, deps.actor)).id }))
}

const ONE_CERTIFICATE = /^\s*-----BEGIN CERTIFICATE-----[\w+/=\s]+-----END CERTIFICATE-----\s*$/

async function takeAnchor(deps: Taking, bundled: BundledAnchor): Promise<BundleItem> {
  const { environment, pem, trusted_for: trustedFor, mode, crl, use, label } = bundled
  const item = { what: 'anchor', environment, name: label } as const
  // One certificate only: all that is added must be what is compared below.
  if (!ONE_CERTIFICATE.test(pem)) return { ...item, outcome: 'refused', detail: 'it is not exactly one certificate in PEM' }
  const same = (await readAnchors(deps)).filter(row => row.sourceId === null && isSameCertificate(row.certificate, pem))
  if (same.some(row => row.environment === environment && row.trustedFor === trustedFor)) return { ...item, outcome: 'known' }
  if (!deps.isAccepted) return { ...item, outcome: 'not_taken', detail: NEW_HERE }
  if (environment === 'live' && same.length > 0 && same.every(row => row.environment === 'test'))
    return { ...item, outcome: 'refused', detail: 'it is trusted in test sessions only here; add it to live by hand' }
  const asked = {
    pem,
    environment,
    label,
    mode,
    ...(trustedFor !== null && { trustedFor }),
    ...(crl && { crl }),
    ...(use && { use }),
  }
  return await outcomeOf(item, async () => {
    await addAnchors(deps, asked, deps.actor)
    return { outcome: 'added' }
  })
}

function isSameCertificate(own: string, pem: string): boolean {
  try {
    return new X509Certificate(own).raw.equals(new X509Certificate(pem).raw)
  } catch {
    // Not readable; it is refused when it is added.
    return false
  }
}

async function takeBlock(deps: Taking, { environment, fingerprint, reason }: BundledBlock): Promise<BundleItem> {
  const item = { what: 'block', environment, name: fingerprint } as const
  const isKnown = (await readBlocks(deps)).some(row => row.environment === environment && row.fingerprint === fingerprint)
  if (isKnown) return { ...item, outcome: 'known' }
  if (!deps.isAccepted) return { ...item, outcome: 'not_taken', detail: NEW_HERE }
  return await outcomeOf(item, async () => {
    await block(deps, { environment, fingerprint, reason }, deps.actor)
    return { outcome: 'added' }
  })
}

/** One thing that cannot be taken does not stop the others. */
async function outcomeOf(
  item: Omit<BundleItem, 'outcome'>,
  take: () => Promise<Pick<BundleItem, 'outcome' | 'source'>>,
): Promise<BundleItem> {
  try {
    return { ...item, ...(await take()) }
  } catch (error) {
    if (error instanceof AnchorExists) return { ...item, outcome: 'known' }
    if (!(error instanceof TrustProblem)) throw error
    const detail = error instanceof ListProblem ? error.message.replace(`${item.name}: `, '') : error.message
    return { ...item, outcome: 'refused', detail }
  }
}
