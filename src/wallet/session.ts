import type { Deps } from '../deps.ts'
import { apiError } from '../http/errors.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import { withoutFormats } from '../openid4vp/dcql-match.ts'
import { withPurpose } from '../templates/resolve.ts'
import { openSecrets, queryOf, type SessionSecrets } from '../verifications/present.ts'
import { findSession, type VerificationRow } from '../verifications/store.ts'

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
  if (status !== 'pending' || expiresAt <= now) throw apiError('session_expired')
}

export type Asked = { query: DcqlQuery; secrets: SessionSecrets }

/** What this session asks its wallet for: as fixed at creation, with the purpose, without the formats that the wallet lacks. */
export async function askedOf(
  deps: Pick<Deps, 'db' | 'sealer'>,
  session: VerificationRow,
  formats: readonly string[] | null,
): Promise<Asked> {
  const secrets = openSecrets(deps, session)
  const query = withPurpose(await queryOf(deps.db, session, secrets), secrets.purpose)
  return { query: formats ? withoutFormats(query, new Set(formats)) : query, secrets }
}
