// Verifications as the dashboard shows them: pages by filter or search, and one with its query.
import type { Reading } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import { waitToList } from '../../http/turns.ts'
import type { DcqlQuery } from '../../openid4vp/dcql/dcql.ts'
import { namesOf } from '../../templates/forms.ts'
import { leavesAgeOpen } from '../../templates/rules.ts'
import { readDelivery } from '../../webhooks/browse.ts'
import type { Deps, Resolving } from '../deps.ts'
import { CANCELLED, isOverdue } from '../failures.ts'
import { heldUntil, isHeld } from '../hold.ts'
import { questionOf } from '../present.ts'
import type { Status, Verification } from '../schema.ts'
import { findVerification, type Owner } from '../store.ts'
import { termsToFind } from '../terms.ts'
import { presentOrLog } from '../unreadable.ts'
import {
  type By,
  countOutlines,
  findReach,
  type Indexed,
  type LookedAt,
  listOutlines,
  type Outline,
  type Range,
  type RowFilter,
} from './browse-store.ts'

/** Filters with an index, the one that usually leaves the fewest sessions first. */
const INDEXED = ['sought', 'device', 'key', 'template', 'status'] as const

/** A session that is over may be stored as pending until the next sweep. */
const STORED: Record<Status, readonly Status[]> = {
  pending: ['pending'],
  completed: ['completed'],
  failed: ['failed', 'pending'],
  expired: ['expired', 'pending'],
}

/** The event of a session that was asked by a channel. */
const ASKED = { dc_api: 'dc_requested', in_person: 'in_person_requested' } as const

/** Parts of a shop's sessions, of 20,000 each, that a search reads for one page. */
const SEARCH_PARTS_MAX = 10

/** Rows of a page that are read together. */
const READ_AT_ONCE = 10

export type Filter = {
  /** The id of a session or of a delivery, a whole metadata value, or the first letters of words in one. */
  search?: string
  device?: string
  key?: string
  template?: string
  status?: Status
  /** Asked through the browser or in person, whatever it was answered by. */
  channel?: keyof typeof ASKED
  /** Created at or after. */
  from?: number
  /** Created before. */
  until?: number
}

export type Browsed = { verification: Verification; isJudged: boolean } & Pick<Outline, 'deviceId' | 'keyId'>

/** Newest first; `nextBefore` is null on the last page. Other pages may be short or empty. */
export async function browseVerifications(
  deps: Deps,
  owner: Owner,
  { before = Number.MAX_SAFE_INTEGER, limit, ...filter }: Filter & { before?: number; limit: number },
): Promise<{ verifications: Browsed[]; nextBefore: number | null }> {
  await waitToList(deps.turns, limit)
  const range = { from: filter.from ?? 0, before: Math.min(before, filter.until ?? before) }
  const wanted = await wantedOf(deps, owner, filter)
  const { matching, downTo } = await find(deps, owner, { wanted, range, limit })
  const shown = matching.slice(0, limit)
  // Below `downTo` nothing was looked at, and the next page continues.
  const nextBefore = matching.length > limit ? shown.at(-1)!.createdAt : downTo
  const judged = new Map<string | null, boolean>([[null, false]])
  const verifications: Browsed[] = []
  const turn = deps.turns.start()
  for (let i = 0; i < shown.length; i += READ_AT_ONCE) {
    const some = shown.slice(i, i + READ_AT_ONCE)
    await turn.next()
    const rows = await Promise.all(some.map(({ id }) => findVerification(deps.db, owner, id)))
    for (const row of rows) {
      if (!row) continue
      await turn.next()
      const { templateVersion, deviceId, keyId } = row.verification
      if (!judged.has(templateVersion)) judged.set(templateVersion, await judgesAges(deps, templateVersion))
      const verification = await presentOrLog(deps, row, { links: false })
      verifications.push({ verification, isJudged: judged.get(templateVersion)!, deviceId, keyId })
    }
  }
  return { verifications, nextBefore: nextBefore || null }
}

const COUNTED_MAX = 10_000

/** `isMore`: more than could be counted. */
export async function countVerifications(deps: Deps, owner: Owner, filter: Filter): Promise<{ count: number; isMore: boolean }> {
  const wanted = await wantedOf(deps, owner, filter)
  const turn = deps.turns.start()
  let count = 0
  let before = filter.until ?? Number.MAX_SAFE_INTEGER
  for (let left = SEARCH_PARTS_MAX; left > 0; left--) {
    const range = { from: filter.from ?? 0, before }
    const { reads, downTo } = await sourceOf(deps, owner, wanted, range, 'most')
    const within = { from: Math.max(range.from, downTo), before, limit: COUNTED_MAX + 1 - count }
    for (const by of reads)
      count +=
        by.name === 'term'
          ? (await listOutlines(deps.db, owner, by, wanted, within)).length
          : await countOutlines(deps.db, owner, by, wanted, within)
    if (count > COUNTED_MAX) return { count: COUNTED_MAX, isMore: true }
    if (downTo === 0) return { count, isMore: false }
    before = downTo
    await turn.next()
  }
  return { count, isMore: true }
}

/** False where an age is asked for that no rule judges; false without a template. */
async function judgesAges({ db, versions }: Reading & Resolving, version: string | null): Promise<boolean> {
  const question = version === null ? undefined : await versions.find(db, version)
  return question !== undefined && !leavesAgeOpen(question.query, question.rules)
}

type BrowseQuery = { wanted: RowFilter; range: Range; limit: number }

/** A few sessions first, then more. A search alone reads little of each, and goes on. */
async function find(deps: Deps, owner: Owner, query: BrowseQuery): Promise<Found> {
  const isEnough = ({ matching, downTo }: Found) => matching.length > query.limit || downTo === 0
  const few = await lookAt(deps, owner, query, 'few')
  if (isEnough(few)) return few
  let found = await lookAt(deps, owner, query, 'most')
  const turn = deps.turns.start()
  for (let left = isSearchAlone(query.wanted) ? SEARCH_PARTS_MAX - 1 : 0; left > 0 && !isEnough(found); left--) {
    await turn.next()
    const further = await lookAt(deps, owner, { ...query, range: { ...query.range, before: found.downTo } }, 'most')
    found = { matching: [...found.matching, ...further.matching], downTo: further.downTo }
  }
  return found
}

const isSearchAlone = ({ asked, ...wanted }: RowFilter): boolean =>
  asked === undefined && INDEXED.every(name => (wanted[name] !== undefined) === (name === 'sought'))

type Found = { matching: Outline[]; downTo: number }

/** Sessions created at or after `downTo`, newest first; one more than `limit` at most of each kind of match. */
async function lookAt(deps: Deps, owner: Owner, { wanted, range, limit }: BrowseQuery, lookedAt: LookedAt): Promise<Found> {
  const { reads, downTo } = await sourceOf(deps, owner, wanted, range, lookedAt)
  const within = { from: Math.max(range.from, downTo), before: range.before, limit: limit + 1 }
  const rows = await Promise.all(reads.map(by => listOutlines(deps.db, owner, by, wanted, within)))
  return { matching: rows.flat().toSorted((a, b) => b.createdAt - a.createdAt), downTo }
}

type Source = { reads: By[]; downTo: number }

/** The filter that leads furthest back over as many sessions: it leaves the fewest. */
async function sourceOf(deps: Deps, owner: Owner, wanted: RowFilter, range: Range, lookedAt: LookedAt): Promise<Source> {
  if (wanted.id !== undefined) return { reads: [{ name: 'id', value: wanted.id }], downTo: 0 }
  const given = INDEXED.filter(name => wanted[name] !== undefined)
  const isAsked = wanted.asked !== undefined
  const [first, ...others] = given.length === 0 && isAsked ? [EVERY_STATUS] : given.map(name => readsOf(name, wanted))
  if (!first) return { reads: [{ name: 'all' }], downTo: 0 }
  const reachOf = async (reads: Indexed[]): Promise<Source> => {
    const isWhole = (by: Indexed) => others.length === 0 && !isAsked && isExact(by)
    const reaches = reads.map(by => (isWhole(by) ? 0 : findReach(deps.db, owner, by, lookedAt, range)))
    return { reads, downTo: Math.max(...(await Promise.all(reaches))) }
  }
  let best = await reachOf(first)
  for (const reads of others) {
    if (best.downTo === 0) break
    const source = await reachOf(reads)
    if (source.downTo < best.downTo) best = source
  }
  return best
}

/** A channel has no index of its own: the sessions of each status are looked at, a part for each page. */
const EVERY_STATUS = (Object.keys(STORED) as Status[]).map(value => ({ name: 'status', value }) as const)

function readsOf(name: (typeof INDEXED)[number], wanted: RowFilter): Indexed[] {
  if (name === 'sought') {
    const { whole, words } = wanted.sought!
    return [{ name: 'term', value: whole }, ...(words.length > 0 ? [{ name: 'beginning' } as const] : [])]
  }
  if (name === 'status') return STORED[wanted.status!].map(value => ({ name, value }))
  if (name === 'template') return wanted.template!.map(value => ({ name, value }))
  return [{ name, value: wanted[name] } as Indexed]
}

/** Every row of it is wanted when no other filter is given. */
const isExact = (by: Indexed): boolean => by.name !== 'beginning' && (by.name !== 'status' || by.value !== 'pending')

async function wantedOf(deps: Deps, owner: Owner, filter: Filter): Promise<RowFilter> {
  const { device, key, status, channel } = filter
  const template = filter.template === undefined ? undefined : namesOf(filter.template)
  const wanted = { device, key, template, status, asked: channel && ASKED[channel], at: deps.now() }
  if (filter.search === undefined) return wanted
  const text = filter.search.trim()
  if (/^vs_[0-9A-Za-z]{22}$/.test(text)) return { ...wanted, id: text }
  if (/^whd_[0-9A-Za-z]{22}$/.test(text)) {
    const found = await readDelivery(deps, owner, text)
    if (found) return { ...wanted, id: found.delivery.verificationId }
  }
  return { ...wanted, sought: termsToFind(deps, owner, text) }
}

export type WholeVerification = {
  verification: Verification
  query: DcqlQuery
  /** False for a query of its own, and where an age is asked for that no rule judges. */
  isJudged: boolean
  /** Its record on the audit chain. */
  auditSeq: number
  createdAt: number
  expiresAt: number
  redeemedAt: number | null
  /** An answer that is held, or was for too long: since when, and the end of its time. */
  unreleased: { since: number; until: number; awaits: 'redemption' | 'comparison' } | null
  /** Time of the cancellation, and its record on the audit chain. */
  cancelled: { at: number; auditSeq: number } | null
}

/** False for the checks of an answer that is held, or was for too long. */
export const showsAnswer = ({ status, error }: Verification): boolean => status !== 'pending' && !isOverdue(error?.code)

export async function readWhole(deps: Deps, owner: Owner, id: string): Promise<WholeVerification> {
  const found = await findVerification(deps.db, owner, id)
  if (!found) throw apiError('session_not_found')
  const { auditSeq, createdAt, expiresAt, redeemedAt } = found.verification
  const verification = await presentOrLog(deps, found)
  const { query, rules } = await questionOf(deps, deps.db, found.verification)
  const isJudged = found.verification.template !== null && !leavesAgeOpen(query, rules)
  const cancelled =
    found.result && verification.error?.code === CANCELLED.code
      ? { at: found.result.createdAt, auditSeq: found.result.auditSeq }
      : null
  const isUnreleased = isHeld(found.verification) || isOverdue(verification.error?.code)
  const since = isUnreleased ? found.verification.respondedAt : null
  const awaits = found.verification.release === 'on_redeem' ? 'redemption' : 'comparison'
  const unreleased = since === null ? null : ({ since, until: heldUntil(since, found.verification), awaits } as const)
  return { verification, query, isJudged, auditSeq, createdAt, expiresAt, redeemedAt, unreleased, cancelled }
}
