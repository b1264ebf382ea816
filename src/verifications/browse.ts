// Verifications as the dashboard shows them: pages by filter or search, and one with its query.
import { apiError } from '../http/errors.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import { leavesAgeOpen } from '../templates/rules.ts'
import { readDelivery } from '../webhooks/browse.ts'
import { type By, listOutlines, type Outline } from './browse-store.ts'
import type { Deps } from './deps.ts'
import { isHeld, statusAt } from './expire.ts'
import { CANCELLED, NOT_FOLLOWED } from './failures.ts'
import { openSecrets, questionOf } from './present.ts'
import type { Status, Verification } from './schema.ts'
import { findVerification, type Owner } from './store.ts'
import { createTerms } from './terms.ts'
import { presentOrLog } from './unreadable.ts'

/** Rows that a page looks at when a filter beside the index decides; more would block the event loop. */
const LOOKED_AT_MAX = 1000

/** By the index to use: the one that leaves the fewest rows first. */
const INDEXED = ['device', 'key', 'template', 'status'] as const

/** A session that is over may be stored as pending until the next sweep. */
const STORED: Record<Status, readonly Status[]> = {
  pending: ['pending'],
  completed: ['completed'],
  failed: ['failed', 'pending'],
  expired: ['expired', 'pending'],
}

export type Filter = {
  /** The id of a session or of a delivery, or a whole metadata value. */
  search?: string
  device?: string
  key?: string
  template?: string
  status?: Status
  /** Created at or after. */
  from?: number
  /** Created before. */
  until?: number
}

export type Browsed = { verification: Verification } & Pick<Outline, 'deviceId' | 'keyId'>

/** Newest first; `nextBefore` is null on the last page. Other pages may be short or empty. */
export async function browseVerifications(
  deps: Deps,
  owner: Owner,
  { before = Number.MAX_SAFE_INTEGER, limit, ...filter }: Filter & { before?: number; limit: number },
): Promise<{ verifications: Browsed[]; nextBefore: number | null }> {
  const at = deps.now()
  const range = { from: filter.from ?? 0, before: Math.min(before, filter.until ?? before) }
  const reads = await Promise.all(
    (await sourcesOf(deps, owner, filter)).map(async ({ by, isExact }) => {
      const lookedAtMax = isExact ? limit + 1 : LOOKED_AT_MAX
      const rows = await listOutlines(deps.db, owner, by, { ...range, limit: lookedAtMax })
      return { rows, downTo: rows.length === lookedAtMax ? rows.at(-1)!.createdAt : 0 }
    }),
  )
  // Below this time one of the reads has ended, and the next page continues.
  const downTo = Math.max(...reads.map(read => read.downTo))
  const matching = reads
    .flatMap(({ rows }) => rows)
    .filter(row => row.createdAt >= downTo && isWanted(row, filter, at))
    .toSorted((a, b) => b.createdAt - a.createdAt)
  const shown = matching.slice(0, limit)
  const nextBefore = matching.length > limit ? shown.at(-1)!.createdAt : downTo
  const found = await Promise.all(
    shown.map(async ({ id, deviceId, keyId }) => ({ row: await findVerification(deps.db, owner, id), deviceId, keyId })),
  )
  return {
    verifications: await Promise.all(
      found.flatMap(({ row, ...by }) => (row ? [presentOrLog(deps, row).then(verification => ({ verification, ...by }))] : [])),
    ),
    nextBefore: nextBefore || null,
  }
}

type Source = {
  by: By
  /** Every row of it is wanted. */
  isExact: boolean
}

async function sourcesOf(deps: Deps, owner: Owner, filter: Filter): Promise<Source[]> {
  const given = INDEXED.filter(name => filter[name] !== undefined)
  if (filter.search !== undefined) return [{ by: await searched(deps, owner, filter.search.trim()), isExact: given.length === 0 }]
  const [name, ...others] = given
  const isExact = others.length === 0
  if (name === undefined) return [{ by: { name: 'all' }, isExact }]
  if (name !== 'status') return [{ by: { name, value: filter[name]! }, isExact }]
  return STORED[filter.status!].map(value => ({ by: { name, value }, isExact: isExact && value !== 'pending' }))
}

async function searched(deps: Deps, owner: Owner, text: string): Promise<By> {
  if (/^vs_[0-9A-Za-z]{22}$/.test(text)) return { name: 'id', value: text }
  if (/^whd_[0-9A-Za-z]{22}$/.test(text)) {
    const found = await readDelivery(deps, owner, text)
    if (found) return { name: 'id', value: found.delivery.verificationId }
  }
  return { name: 'term', value: createTerms(deps)(owner, text) }
}

const isWanted = (row: Outline, { device, key, template, status }: Filter, at: number): boolean =>
  (device ?? row.deviceId) === row.deviceId &&
  (key ?? row.keyId) === row.keyId &&
  (template ?? row.template) === row.template &&
  (status === undefined || status === statusAt(row, at))

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
  /** Time of an answer that is held, or that nobody redeemed. */
  unreleasedSince: number | null
  /** Time of the cancellation, and its record on the audit chain. */
  cancelled: { at: number; auditSeq: number } | null
}

/** False for the checks of an answer that is held, or that nobody redeemed. */
export const showsAnswer = ({ status, error }: Verification): boolean => status !== 'pending' && error?.code !== NOT_FOLLOWED.code

export async function readWhole(deps: Deps, owner: Owner, id: string): Promise<WholeVerification> {
  const found = await findVerification(deps.db, owner, id)
  if (!found) throw apiError('session_not_found')
  const { auditSeq, createdAt, expiresAt, redeemedAt } = found.verification
  const verification = await presentOrLog(deps, found)
  const secrets = await openSecrets(deps, deps.db, found.verification)
  const { query, rules } = await questionOf(deps.db, found.verification, secrets)
  const isJudged = found.verification.template !== null && !leavesAgeOpen(query, rules)
  const cancelled =
    found.result && verification.error?.code === CANCELLED.code
      ? { at: found.result.createdAt, auditSeq: found.result.auditSeq }
      : null
  const isUnreleased = isHeld(found.verification) || verification.error?.code === NOT_FOLLOWED.code
  const unreleasedSince = isUnreleased ? found.verification.respondedAt : null
  return { verification, query, isJudged, auditSeq, createdAt, expiresAt, redeemedAt, unreleasedSince, cancelled }
}
