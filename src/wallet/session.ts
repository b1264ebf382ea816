import { apiError } from '../http/errors.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import type { Rule } from '../openid4vp/rules.ts'
import { withPurpose } from '../templates/resolve.ts'
import { effectiveRules } from '../templates/rules.ts'
import { openSecrets, questionOf, type SessionSecrets } from '../verifications/present.ts'
import { findSession, type VerificationRow } from '../verifications/store.ts'
import type { Deps } from './deps.ts'

/** The session a wallet names, while it can still be answered. Its id is the capability: no tenant is asked for. */
export async function openSession({ db, now }: Pick<Deps, 'db' | 'now'>, id: string): Promise<VerificationRow> {
  const session = await findSession(db, id)
  if (!session) throw apiError('session_not_found')
  refuseClosed(session, now())
  return session
}

/** Answered comes before expired: a second answer is told what happened to the first. */
export function refuseClosed({ respondedAt, status, expiresAt }: VerificationRow, now: number): void {
  if (respondedAt !== null) throw apiError('session_already_responded')
  if (status === 'failed') throw apiError('session_expired', { message: 'This session was cancelled; start a new one.' })
  if (status !== 'pending' || expiresAt <= now) throw apiError('session_expired')
}

export type Asked = { query: DcqlQuery; rules: readonly Rule[]; secrets: SessionSecrets }

/**
 * What this session asks its wallet for: as fixed at creation, with the purpose. The request leaves out the formats that a wallet lacks; the
 * answer may have any, because whoever fetched last may be another wallet, or somebody who saw the QR code.
 */
export async function askedOf(deps: Pick<Deps, 'db' | 'sealer'>, session: VerificationRow): Promise<Asked> {
  const secrets = openSecrets(deps, session)
  const { query, rules } = await questionOf(deps.db, session, secrets)
  return { query: withPurpose(query, secrets.purpose), rules: effectiveRules(query, rules), secrets }
}
