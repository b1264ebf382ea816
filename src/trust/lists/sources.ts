import type { Setting } from '../../audit/deps.ts'
import type { Reading } from '../../ground.ts'
import { TrustProblem } from '../settings.ts'
import type { SourceView } from './source.ts'
import {
  countEntries,
  deleteSource,
  type EntryCount,
  listAllPins,
  listRelyingPartyAnchors,
  listSources,
  lockSource,
} from './source-store.ts'

export async function readSources({ db }: Reading): Promise<SourceView[]> {
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

export async function readSource(deps: Reading, id: string): Promise<SourceView> {
  const found = (await readSources(deps)).find(source => source.id === id)
  if (!found) throw noSource(id)
  return found
}

export const noSource = (id: string): TrustProblem => new TrustProblem(`there is no source ${id}`)

/** Removes a source with its anchors: open sessions do not trust them any more. */
export async function removeSource(deps: Setting, id: string, actor: string): Promise<void> {
  await deps.writeSettings(async tx => {
    const source = await lockSource(tx, id)
    if (!source) throw noSource(id)
    await deleteSource(tx, id)
    const { environment, label, sequence } = source
    const details = { environment, label, sequence }
    await deps.audit.append(tx, { at: deps.now(), tenantId: '', actor, action: 'trust.source_removed', subjectId: id, details })
  })
}

/** Authorities that issue access certificates to relying parties, from the lists for that use; PEM (ETSI TS 119 602 annex F). */
export const readAccessAuthorities = (deps: Reading): Promise<string[]> => readIssuersOf(deps, 'WRPAC')

/** Issuers of registration certificates (annex G). */
export const readRegistrars = (deps: Reading): Promise<string[]> => readIssuersOf(deps, 'WRPRC')

async function readIssuersOf({ db }: Reading, paper: 'WRPAC' | 'WRPRC'): Promise<string[]> {
  const anchors = await listRelyingPartyAnchors(db)
  return anchors.filter(({ service }) => service?.endsWith(`/SvcType/${paper}/Issuance`)).map(({ certificate }) => certificate)
}
