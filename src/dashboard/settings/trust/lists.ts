import { apiError } from '../../../http/errors.ts'
import { actorOf, requireFresh, type Visit } from '../../../people/session.ts'
import { block, readBlocks, unblock } from '../../../trust/blocks.ts'
import { importBundle } from '../../../trust/bundle/import.ts'
import { presentImport } from '../../../trust/bundle/present.ts'
import { addSource } from '../../../trust/lists/add-source.ts'
import { checkList } from '../../../trust/lists/check-list.ts'
import { pinSigner, unpinSigner } from '../../../trust/lists/pins.ts'
import { PRESET_NAMES, type Preset, presetOf } from '../../../trust/lists/presets.ts'
import { refreshSource } from '../../../trust/lists/refresh.ts'
import type { SourceView } from '../../../trust/lists/source.ts'
import { readSources, removeSource } from '../../../trust/lists/sources.ts'
import { presentBlock, presentList, presentSource } from '../../../trust/present.ts'
import { ListProblem, presentAnchor, readAnchors, TrustProblem } from '../../../trust/settings.ts'
import type { Deps } from '../../deps.ts'
import type {
  AddSource,
  Block,
  CheckedList,
  CheckList,
  ImportBundle,
  ImportedBundle,
  RefreshedSource,
  TrustBlock,
  TrustPreset,
  TrustSource,
  TrustSourceDetail,
  TrustSources,
  Unblock,
} from './schema.ts'

export async function readTrustSources(deps: Deps): Promise<TrustSources> {
  return {
    data: await presentAll(deps, await readSources(deps)),
    presets: PRESET_NAMES.map(name => presentPreset(name, presetOf(name)!)),
  }
}

/** Sources with the types of documents that each counts for now. */
async function presentAll(deps: Deps, sources: readonly SourceView[]): Promise<TrustSource[]> {
  const anchors = (await readAnchors(deps)).filter(({ use }) => use === 'both')
  const bySource = Map.groupBy(anchors, ({ sourceId }) => sourceId)
  return sources.map(source => ({
    ...presentSource(source, deps.now()),
    counts_for: [...new Set(bySource.get(source.id)?.flatMap(({ trustedFor }) => trustedFor ?? []))].toSorted(),
  }))
}

const presentOne = async (deps: Deps, source: SourceView): Promise<TrustSource> => (await presentAll(deps, [source]))[0]!

const presentPreset = (name: string, { environment, label, location, types, pins, compareAt, terms }: Preset): TrustPreset => ({
  name,
  environment,
  label,
  location,
  types: [...types],
  pins: [...pins],
  compare_at: compareAt,
  terms: terms ?? null,
})

async function requireSource(deps: Deps, id: string): Promise<SourceView> {
  const found = (await readSources(deps)).find(source => source.id === id)
  if (!found) throw apiError('source_not_found')
  return found
}

/** A source with the issuers that its list names. */
export async function readTrustSource(deps: Deps, id: string): Promise<TrustSourceDetail> {
  const source = await requireSource(deps, id)
  const anchors = (await readAnchors(deps)).filter(({ sourceId }) => sourceId === id)
  return { source: await presentOne(deps, source), anchors: anchors.map(presentAnchor) }
}

/** A look: nothing is kept. */
export async function checkTrustList(deps: Deps, asked: CheckList): Promise<CheckedList> {
  const given = givenIn(asked)
  try {
    const list = presentList(await checkList(deps, given))
    return { list: { ...list, announced: [...list.announced] }, refused: null }
  } catch (error) {
    if (error instanceof ListProblem) return { list: null, refused: refusedBy(error) }
    throw problemOf(error)
  }
}

/** Exactly one of preset, location and list. */
function givenIn({ preset, location, list }: CheckList): { location: string } | { bytes: Uint8Array } {
  if ([preset, location, list].filter(each => each !== undefined).length !== 1)
    throw apiError('invalid_request', { message: 'body: give one of preset, location and list' })
  if (list !== undefined) return { bytes: Buffer.from(list, 'base64') }
  if (preset === undefined) return { location: checkedLocation(location!) }
  const found = presetOf(preset)
  if (!found) throw apiError('invalid_request', { message: 'preset: there is no such preset' })
  return { location: found.location }
}

/** A dashboard user must not make the server read files. */
function checkedLocation(location: string): string {
  if (URL.parse(location)?.protocol === 'https:') return location
  throw apiError('invalid_request', { message: 'location: give an https address; only a command may name a file of the server' })
}

const refusedBy = ({ code, message }: ListProblem) => ({ code, message })

function problemOf(error: unknown): unknown {
  if (error instanceof ListProblem) return apiError('list_refused', { message: error.message })
  return error instanceof TrustProblem ? apiError('invalid_request', { message: error.message }) : error
}

const telling = async <Result>(acting: Promise<Result>): Promise<Result> =>
  await acting.catch(error => {
    throw problemOf(error)
  })

export async function addTrustSource(deps: Deps, visit: Visit, asked: AddSource): Promise<TrustSource> {
  requireFresh(visit, deps.now(), asked.environment)
  const { environment, kind, label, preset, signers, types, service_type: serviceType, terms_read: isReadTerms } = asked
  const given = preset === undefined ? givenIn(asked) : {}
  const adding = addSource(
    deps,
    { environment, kind, label, preset, ...given, signers, types, serviceType, isReadTerms },
    actorOf(visit.user),
  )
  return await presentOne(deps, await telling(adding))
}

export async function removeTrustSource(deps: Deps, visit: Visit, id: string): Promise<void> {
  requireFresh(visit, deps.now(), (await requireSource(deps, id)).environment)
  await telling(removeSource(deps, id, actorOf(visit.user)))
}

/** A refused list is an outcome: the source says since when it fails. */
export async function refreshTrustSource(
  deps: Deps,
  id: string,
  { list, actor }: { list?: string; actor: string },
): Promise<RefreshedSource> {
  await requireSource(deps, id)
  try {
    const bytes = list === undefined ? undefined : Buffer.from(list, 'base64')
    const { outcome, source } = await refreshSource(deps, id, { ...(bytes && { bytes }), actor })
    return { outcome, refused: null, source: await presentOne(deps, source) }
  } catch (error) {
    if (!(error instanceof ListProblem)) throw problemOf(error)
    return { outcome: 'refused', refused: refusedBy(error), source: await presentOne(deps, await requireSource(deps, id)) }
  }
}

type Pinning = { id: string; signer: string }

export async function pinTrustSigner(deps: Deps, visit: Visit, { id, signer }: Pinning): Promise<TrustSource> {
  requireFresh(visit, deps.now(), (await requireSource(deps, id)).environment)
  return await presentOne(deps, await telling(pinSigner(deps, id, signer, actorOf(visit.user))))
}

export async function unpinTrustSigner(
  deps: Deps,
  visit: Visit,
  { id, signer, withdraw }: Pinning & { withdraw?: boolean },
): Promise<TrustSource> {
  requireFresh(visit, deps.now(), (await requireSource(deps, id)).environment)
  return await presentOne(deps, await telling(unpinSigner(deps, id, signer, actorOf(visit.user), { withdraw })))
}

export async function readTrustBlocks(deps: Deps): Promise<{ data: TrustBlock[] }> {
  return { data: (await readBlocks(deps)).map(presentBlock) }
}

export async function blockCertificate(deps: Deps, visit: Visit, asked: Block): Promise<TrustBlock> {
  requireFresh(visit, deps.now(), asked.environment)
  return presentBlock(await telling(block(deps, asked, actorOf(visit.user))))
}

export async function unblockCertificate(deps: Deps, visit: Visit, asked: Unblock): Promise<TrustBlock> {
  requireFresh(visit, deps.now(), asked.environment)
  return presentBlock(await telling(unblock(deps, asked, actorOf(visit.user))))
}

/** Lists in it count by the signers that are pinned here. */
export async function importTrustBundle(
  deps: Deps,
  { bundle, from, older = false }: ImportBundle,
  actor: string,
): Promise<ImportedBundle> {
  return presentImport(await telling(importBundle(deps, Buffer.from(bundle), { from, isOlderTaken: older }, actor)))
}
