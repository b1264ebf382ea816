// Looks at lists again. A failed look changes nothing that is trusted: it is noted, and the next ones are spaced out.
import { secondOf } from '../../db/check.ts'
import type { Db } from '../../db/engine.ts'
import type { ListRefused } from '../../trust-lists/list.ts'
import type { Deps } from '../deps.ts'
import { TrustProblem } from '../settings.ts'
import { endOf, nextUpdateOf, sourceState } from '../state.ts'
import { type Accepted, acceptList, keepList } from './accept.ts'
import { problemOf } from './check-list.ts'
import { fetchSource } from './fetch-source.ts'
import type { SourceRow, SourceView } from './source.ts'
import { findSource, listDueSources, listSources, lockSource, updateSource } from './source-store.ts'
import { noSource, readSource } from './sources.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
/** Waits after the first failure, the second, and all others. */
const RETRY_MS = [15 * MINUTE_MS, 60 * MINUTE_MS, 360 * MINUTE_MS]
const AT_ONCE_MAX = 2

type Refreshed = { outcome: Accepted['outcome']; source: SourceView }

/** `signal` ends the look, which is then no failure. */
type Look = { actor: string; signal?: AbortSignal }

/** `bytes`: a list brought by hand. One that is refused is no failure of the location. */
export async function refreshSource(
  deps: Deps,
  id: string,
  { bytes, actor, signal }: Look & { bytes?: Uint8Array },
): Promise<Refreshed> {
  const source = await findSource(deps.db, id)
  if (!source) throw noSource(id)
  if (!bytes && source.location === null) throw new TrustProblem(`${source.label}: it has no address; bring its list as a file`)
  const result = bytes ? await acceptList(deps, source, bytes, { actor }) : await look(deps, source, { actor, signal })
  countOutcome(deps, result)
  if (!result.ok) {
    const failure = { ...result, detail: sentenceOf(source, result) }
    await deps.writeSettings(tx =>
      bytes ? recordRefused(tx, deps, source, failure, actor) : noteFailure(tx, deps, id, failure, actor),
    )
    deps.log.warn('trust.list_refused', { error_code: failure.code, detail: `${source.label} (${id}): ${failure.detail}` })
    throw problemOf(source.label, failure)
  }
  return { outcome: result.outcome, source: await readSource(deps, id) }
}

async function look(deps: Deps, source: SourceRow, { actor, signal }: Look): Promise<Accepted | ListRefused> {
  const fetched = await fetchSource(deps, source.location!, source.etag, signal)
  signal?.throwIfAborted()
  if (!fetched.ok) return fetched
  if ('isUnchanged' in fetched) return await keepList(deps, source.id, null)
  return await acceptList(deps, source, fetched.bytes, { actor, etag: fetched.etag })
}

function countOutcome({ metrics }: Deps, result: Accepted | ListRefused): void {
  const missed = !result.ok && result.code === 'unreachable' ? 'unreachable' : 'refused'
  metrics.count('vidimus_trust_list_refreshes_total', { outcome: result.ok ? result.outcome : missed })
}

function sentenceOf(source: SourceRow, { code, detail }: ListRefused): string {
  return code === 'unreachable' ? `${detail}; the last one counts until ${secondOf(endOf(source))}` : detail
}

async function noteFailure(tx: Db, deps: Deps, id: string, refused: ListRefused, actor: string): Promise<void> {
  const current = await lockSource(tx, id)
  if (!current) return
  const now = deps.now()
  const wait = RETRY_MS[Math.min(current.failures, RETRY_MS.length - 1)]!
  await updateSource(tx, id, {
    failure: refused.code,
    failureDetail: refused.detail,
    failureSigner: refused.signer ?? null,
    failingSince: current.failingSince ?? now,
    failures: current.failures + 1,
    checkedAt: now,
    dueAt: now + wait,
  })
  if (current.failure !== refused.code) await recordRefused(tx, deps, current, refused, actor)
}

async function recordRefused(tx: Db, deps: Deps, source: SourceRow, refused: ListRefused, actor: string): Promise<void> {
  const details = { label: source.label, code: refused.code, detail: refused.detail }
  const { id: subjectId } = source
  await deps.audit.append(tx, { at: deps.now(), tenantId: '', actor, action: 'trust.list_refused', subjectId, details })
}

/** Looks at every source whose time has come, and logs those that are out of date. */
export async function refreshDue(deps: Deps, signal?: AbortSignal): Promise<void> {
  if (deps.config.trustRefresh) {
    const due = await listDueSources(deps.db, deps.now())
    await Promise.all(
      Array.from({ length: AT_ONCE_MAX }, async () => {
        for (let source = due.shift(); source && !signal?.aborted; source = due.shift())
          await refreshQuietly(deps, source, signal)
      }),
    )
  }
  if (!signal?.aborted) await warnOfOldLists(deps)
}

/** Ignores failures of the look: `refreshSource` has stored them with the source and logged them. */
async function refreshQuietly(deps: Deps, { id }: SourceRow, signal?: AbortSignal): Promise<void> {
  try {
    await refreshSource(deps, id, { actor: JOB, signal })
  } catch (error) {
    if (!(error instanceof TrustProblem) && !signal?.aborted) throw error
  }
}

/** The actor of audit records that the job writes. */
const JOB = 'service'

/** Warns once a day for each list, and once more when it ends. */
async function warnOfOldLists(deps: Deps): Promise<void> {
  const now = deps.now()
  for (const source of await listSources(deps.db)) {
    const state = sourceState(source, now)
    if (state === 'fresh') continue
    const since = state === 'stale' ? nextUpdateOf(source) : endOf(source)
    const isRecent = source.warnedAt !== null && source.warnedAt >= since && now - source.warnedAt < DAY_MS
    if (isRecent) continue
    await deps.writeSettings(tx => updateSource(tx, source.id, { warnedAt: now }))
    const { label, id } = source
    if (state === 'stale')
      deps.log.warn('trust.list_stale', {
        detail: `${label} (${id}): out of date since ${secondOf(since)}; it counts until ${secondOf(endOf(source))}`,
      })
    else deps.log.error('trust.list_ended', { detail: `${label} (${id}): its issuers count no more since ${secondOf(since)}` })
  }
}
