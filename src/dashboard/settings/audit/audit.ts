import { type BrowsedRecord, browseAudit, readPeople } from '../../../audit/browse.ts'
import { exportAudit } from '../../../audit/export.ts'
import { presentVerdict } from '../../../audit/present.ts'
import { verifyAudit } from '../../../audit/verify.ts'
import { describeFailure } from '../../../base/log.ts'
import { isoUtc, parseUtcInstant, within } from '../../../base/time.ts'
import { readAuditEntries } from '../../../verifications/timeline.ts'
import { readActorLabels } from '../../actors.ts'
import type { Deps } from '../../deps.ts'
import type { AuditRecord, AuditVerification, TenantAuditFilter } from './schema.ts'

const LIMIT_DEFAULT = 20
const WAIT_MS = 2000
/** An erasure waits this long for the log to be emptied, which a running export prevents. */
const EXPORT_MS_MAX = 50_000
const CHUNK_CHARS = 64 * 1024

/** The whole installation without `tenantId`. */
export async function readAuditPage(
  deps: Deps,
  { limit = LIMIT_DEFAULT, subject, from, until, ...filter }: TenantAuditFilter,
  tenantId?: string,
): Promise<{ data: AuditRecord[]; next_before: number | null }> {
  const about = subject === undefined ? undefined : { id: subject, entryIds: await entriesOf(deps, subject, tenantId) }
  const wanted = { ...filter, limit, subject: about, from: instant(from), until: instant(until), tenantId }
  const { records, nextBefore } = await browseAudit(deps, wanted)
  const labelOf = await readActorLabels(
    deps,
    records.flatMap(record => record.tenantId || []),
  )
  return { data: records.map(record => present(record, labelOf(record.tenantId, record.actor))), next_before: nextBefore }
}

const entriesOf = (deps: Deps, id: string, tenantId: string | undefined): Promise<number[]> | never[] =>
  tenantId === undefined ? [] : readAuditEntries(deps, { id, tenantId })

const instant = (text: string | undefined): number | undefined => (text === undefined ? undefined : parseUtcInstant(text))

const present = (
  { seq, at, tenantId, actor, action, details, hash, above }: BrowsedRecord,
  label: string | undefined,
): AuditRecord => ({
  seq,
  at: isoUtc(at),
  tenant: tenantId === '' ? null : tenantId,
  actor,
  ...(label !== undefined && { actor_label: label }),
  action,
  details,
  hash,
  ...(above.length > 0 && { above }),
})

export const readAuditPeople = async (deps: Deps, tenantId?: string): Promise<{ data: string[] }> => ({
  data: await readPeople(deps, tenantId),
})

type Walk = {
  /** Starts verifying the chain, or joins the run under way, and waits for it briefly. */
  start(): Promise<AuditVerification>
  state(): AuditVerification
}

/** One run at a time, shared by all callers: a chain of years takes a while. */
export function createWalk(deps: Deps): Walk {
  let state: AuditVerification = { state: 'never' }
  let walking: Promise<void> | undefined

  async function walk(): Promise<void> {
    const started_at = isoUtc(deps.now())
    state = { state: 'running', started_at }
    try {
      state = { state: 'done', started_at, verdict: presentVerdict(await verifyAudit(deps)) }
    } catch (error) {
      state = { state: 'never' }
      deps.log.error('audit.not_verified', { failure: describeFailure(error) })
    } finally {
      walking = undefined
    }
  }

  return {
    async start() {
      walking ??= walk()
      await within(WAIT_MS, walking, () => {})
      return state
    },
    state: () => state,
  }
}

/** An export that takes too long is cut off, which its verification reports. */
export async function streamExport(deps: Deps, actor: string): Promise<ReadableStream<Uint8Array>> {
  await deps.write(tx =>
    deps.audit.append(tx, { at: deps.now(), tenantId: '', actor, action: 'audit.exported', subjectId: 'audit' }),
  )
  const lines = exportAudit(deps)
  let ended: Promise<unknown> | undefined
  const end = () => {
    ended ??= lines.return()
    return ended
  }
  const tooLong = setTimeout(end, EXPORT_MS_MAX).unref()
  const finish = async () => {
    clearTimeout(tooLong)
    await end()
  }
  return new ReadableStream({
    async pull(controller) {
      const text = await nextChunk(lines).catch(async error => {
        await finish()
        throw error
      })
      if (ended) return controller.error(new Error('the export took too long'))
      if (text) return controller.enqueue(Buffer.from(text))
      await finish()
      controller.close()
    },
    cancel: finish,
  })
}

async function nextChunk(lines: AsyncGenerator<string, void, undefined>): Promise<string> {
  let text = ''
  while (text.length < CHUNK_CHARS) {
    const { value, done } = await lines.next()
    if (done) break
    text += `${value}\n`
  }
  return text
}
