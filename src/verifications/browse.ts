// Verifications as the dashboard shows them: pages by status and template, and one with its query.
import { apiError } from '../http/errors.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import type { Deps } from './deps.ts'
import { isHeld, statusAt } from './expire.ts'
import { CANCELLED, NOT_FOLLOWED } from './failures.ts'
import { openSecrets, queryOf } from './present.ts'
import type { Status, Verification } from './schema.ts'
import { findVerification, listOutlines, type Owner } from './store.ts'
import { presentOrLog } from './unreadable.ts'

/** Rows that a filter reads for one page: it has no index, and blocks the event loop. */
const LOOKED_AT_MAX = 1000

export type Wanted = { before?: number; limit: number; status?: Status; template?: string }

/** Newest first; `nextBefore` is null on the last page. Other pages may be short or empty. */
export async function browseVerifications(
  deps: Deps,
  owner: Owner,
  { before = Number.MAX_SAFE_INTEGER, limit, status, template }: Wanted,
): Promise<{ verifications: Verification[]; nextBefore: number | null }> {
  const isFiltered = status !== undefined || template !== undefined
  const lookedAtMax = isFiltered ? LOOKED_AT_MAX : limit + 1
  const outlines = await listOutlines(deps.db, owner, { before, limit: lookedAtMax })
  const at = deps.now()
  const matching = outlines.filter(
    each => (status ?? statusAt(each, at)) === statusAt(each, at) && (template ?? each.template) === each.template,
  )
  const shown = matching.slice(0, limit)
  const last = matching.length > limit ? shown.at(-1) : outlines.length === lookedAtMax ? outlines.at(-1) : undefined
  const found = await Promise.all(shown.map(({ id }) => findVerification(deps.db, owner, id)))
  return {
    verifications: await Promise.all(found.filter(each => each !== undefined).map(each => presentOrLog(deps, each))),
    nextBefore: last?.createdAt ?? null,
  }
}

export type WholeVerification = {
  verification: Verification
  query: DcqlQuery
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
  const query = await queryOf(deps.db, found.verification, await openSecrets(deps, deps.db, found.verification))
  const cancelled =
    found.result && verification.error?.code === CANCELLED.code
      ? { at: found.result.createdAt, auditSeq: found.result.auditSeq }
      : null
  const isUnreleased = isHeld(found.verification) || verification.error?.code === NOT_FOLLOWED.code
  const unreleasedSince = isUnreleased ? found.verification.respondedAt : null
  return { verification, query, auditSeq, createdAt, expiresAt, redeemedAt, unreleasedSince, cancelled }
}
