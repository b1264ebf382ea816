// Bundles bring trust to venues without internet. A list counts by the pins of this machine, so neither the stick nor
// whoever made the bundle needs trust for it. New sources, anchors and blocks count only when the bundle's signer was
// accepted here. Nothing is ever removed or widened, and nothing comes from test into live.
import { X509Certificate } from 'node:crypto'
import { isoUtc } from '../../base/time.ts'
import type { Timing } from '../../ground.ts'
import type { TrustList } from '../../trust-lists/list.ts'
import { readInThread } from '../../trust-lists/read-in-thread.ts'
import { signerOf } from '../../trust-lists/signer.ts'
import { block, readBlocks } from '../blocks.ts'
import type { Deps } from '../deps.ts'
import { acceptList } from '../lists/accept.ts'
import { addSource } from '../lists/add-source.ts'
import { parseFingerprint } from '../lists/pins.ts'
import { PRESETS } from '../lists/presets.ts'
import type { SourceView } from '../lists/source.ts'
import { readSources } from '../lists/sources.ts'
import { AnchorExists, addAnchors, ListProblem, readAnchors, TrustProblem } from '../settings.ts'
import { authoritiesOf } from '../status/refresh.ts'
import type { AnchorRow } from '../store.ts'
import { type BundledAnchor, type BundledBlock, type BundledSource, type OpenedBundle, openBundle } from './form.ts'
import { takeRevocation } from './revocation.ts'
import { findBundleSigner, saveBundleSigner } from './store.ts'

const AHEAD_MAX_MS = 24 * 3_600_000
const AUDITED_MAX = 50

type Environment = AnchorRow['environment']

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
