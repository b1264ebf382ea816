import type { Db } from '../db/engine.ts'
import type { Reading, Unsealing, Yielding } from '../ground.ts'
import { inTurns, waitToList } from '../http/turns.ts'
import type { AuditAction, AuditDetails, AuditRecord, Head } from './chain.ts'
import type { Audited } from './deps.ts'
import { type Linking, linkEntries } from './link.ts'
import {
  countOf,
  findActor,
  findHash,
  findHead,
  findLatestOf,
  findPersonAfter,
  hasActed,
  listOthers,
  listRecordsAbout,
  listRecordsBefore,
  type RecordFilter,
  type StoredRecord,
} from './store.ts'
import { disclose } from './verify.ts'

/** An index by tenant would cost every record. A page looks this far back and says where to continue. */
const LOOKED_AT_MAX = 5000
/** What a record's details decide is known once they are opened. */
const OPENED_MAX = 1000
const PEOPLE_MAX = 200

/** To whom the numbers above a record belong that its list leaves out. */
export const LEFT_OUT = ['installation', 'shops', 'environment'] as const

export type BrowsedRecord = Pick<AuditRecord, 'seq' | 'at' | 'tenantId' | 'actor' | 'action' | 'hash'> & {
  /** Null once the subject is erased. */
  details: AuditDetails | null
  /** Empty where no number is left out, or a filter explains it. */
  above: (typeof LEFT_OUT)[number][]
}

type Wanted = Pick<RecordFilter, 'action' | 'actor' | 'from' | 'until'> & {
  /** Leaves out records whose details name the other one. */
  environment?: 'test' | 'live'
  /** Its id, and the entries of its session if it has one. */
  subject?: { id: string; entryIds: readonly number[] }
}

type Page = Wanted & { before?: number; limit: number; tenantId?: string }

/** Newest first, of one tenant or of all; `nextBefore` is null when there is nothing older. */
export async function browseAudit(
  deps: Unsealing & Yielding & Linking & Audited,
  { before = Number.MAX_SAFE_INTEGER, environment, subject, ...page }: Page,
): Promise<{ records: BrowsedRecord[]; nextBefore: number | null }> {
  await linkEntries(deps)
  await waitToList(deps.turns, page.limit)
  if (subject) return { records: await browseSubject(deps, subject, page), nextBefore: null }
  const records: BrowsedRecord[] = []
  let [from, opened] = [before, 0]
  do {
    const limit = page.limit - records.length
    const { rows, downTo } = await listRecordsBefore(deps.db, { ...page, before: from, limit, lookedAtMax: LOOKED_AT_MAX })
    const isOfOther = ({ details }: BrowsedRecord) =>
      environment !== undefined && ['test', 'live'].includes(String(details?.environment)) && details?.environment !== environment
    records.push(...(await openAll(deps, rows)).filter(record => !isOfOther(record)))
    opened += rows.length
    from = downTo
    if (rows.length < limit) break
  } while (records.length < page.limit && from > 1 && opened < OPENED_MAX)
  const { tenantId, action, actor, from: since, until } = page
  const isFiltered = [action, actor, since, until].some(each => each !== undefined)
  if (tenantId !== undefined && !isFiltered) await markLeftOut(deps, records, { tenantId, before })
  return { records, nextBefore: from > 1 ? from : null }
}

async function browseSubject(
  deps: Unsealing & Yielding & Audited & Pick<Reading, 'db'>,
  { id, entryIds }: NonNullable<Wanted['subject']>,
  { tenantId, limit, action, actor, from = 0, until = Number.MAX_SAFE_INTEGER }: Page,
): Promise<BrowsedRecord[]> {
  const about = { tenantId, entryIds, subjects: deps.audit.namesOf(id), limit: LOOKED_AT_MAX }
  const rows = await listRecordsAbout(deps.db, about)
  const isWanted = (row: StoredRecord) =>
    (action ?? row.action) === row.action && (actor ?? row.actor) === row.actor && row.at >= from && row.at < until
  return await openAll(deps, rows.filter(isWanted).slice(0, limit))
}

async function openAll({ db, sealer, sessionKeys, turns }: Unsealing & Yielding & Pick<Reading, 'db'>, rows: StoredRecord[]) {
  const keyOf = await sessionKeys.lookUp(db, rows)
  return await inTurns(turns, rows, (row): BrowsedRecord => {
    const { seq, at, tenantId, actor, action, hash } = row
    return { seq, at, tenantId, actor, action, hash, details: disclose(sealer, row, keyOf(row))?.details ?? null, above: [] }
  })
}

/** Says of each record whose numbers lie between it and the one above. */
async function markLeftOut(
  { db }: Pick<Linking, 'db'>,
  records: BrowsedRecord[],
  { tenantId, before }: { tenantId: string; before: number },
): Promise<void> {
  const last = records.at(-1)
  if (!last) return
  const others = await listOthers(db, { tenantId, downTo: last.seq, before, limit: LOOKED_AT_MAX })
  let i = 0
  let above = Math.min(before, (await findHead(db))!.seq + 1)
  for (const record of records) {
    const between = above - record.seq - 1
    const from = i
    while (i < others.length && others[i]!.seq > record.seq) i++
    const theirs = others.slice(from, i)
    const isCut = i === LOOKED_AT_MAX
    const belongs = {
      installation: theirs.some(each => each.tenantId === ''),
      shops: isCut || theirs.some(each => each.tenantId !== ''),
      environment: !isCut && theirs.length < between,
    }
    record.above = between > 0 ? LEFT_OUT.filter(each => belongs[each]) : []
    above = record.seq
  }
}

/** Everybody who acted in the dashboard or on the command line: for one tenant, or at all. */
export async function readPeople(deps: Linking, tenantId?: string): Promise<string[]> {
  await linkEntries(deps)
  const people: string[] = []
  let name: string | undefined = ''
  for (let i = 0; i < PEOPLE_MAX; i++) {
    name = await findPersonAfter(deps.db, name)
    if (name === undefined) break
    if (tenantId === undefined || (await hasActed(deps.db, name, tenantId))) people.push(name)
  }
  return people
}

export async function readActor(db: Db, entryId: number): Promise<string> {
  return (await findActor(db, entryId)) ?? ''
}

/** The newest record. */
export async function readHead(db: Db): Promise<Head | undefined> {
  return await findHead(db)
}

/** True when this chain contains the head of an earlier moment. */
export async function isOnChain(db: Db, { seq, hash }: Head): Promise<boolean> {
  return (await findHash(db, seq)) === hash
}

/** The time of the newest record of an action; undefined when the last 5,000 records contain none. */
export async function readLatestAt(db: Db, action: AuditAction): Promise<number | undefined> {
  return (await findLatestOf(db, action))?.at
}

export async function countRecords(db: Db, action: AuditAction): Promise<number> {
  return await countOf(db, action)
}
