import type { Reading, Reporting, Unsealing } from '../../ground.ts'
import type { DcqlQuery } from '../../openid4vp/dcql/dcql.ts'
import type { DeviceRequestParts } from '../../openid4vp/exchange/device-request.ts'
import type { Rule } from '../../openid4vp/rules.ts'
import { withPurpose } from '../../templates/resolve.ts'
import { effectiveRules } from '../../templates/rules.ts'
import type { Language } from '../../words/languages.ts'
import type { Resolving } from '../deps.ts'
import { openSecrets, questionOf, type SessionSecrets, toldPurpose, toldQuery } from '../present.ts'
import type { OpenSession } from '../read.ts'
import type { Deps } from './deps.ts'

export type Question = { query: DcqlQuery; rules: readonly Rule[]; secrets: SessionSecrets }

/**
 * The query of a session, as fixed at its creation. A request leaves out the
 * formats that its wallet lacks; an answer may have any, because the last to fetch may be another
 * wallet, or somebody who saw the QR code.
 */
export async function askedOf(deps: Reading & Unsealing & Resolving, session: OpenSession): Promise<Question> {
  const secrets = await openSecrets(deps, deps.db, session)
  const { query, rules } = await questionOf(deps, deps.db, session)
  return { query, rules: effectiveRules(query, rules), secrets }
}

/** The same, as a wallet is asked: with the purpose, in a language that its holder reads. */
export async function askingOf(
  deps: Reading & Unsealing & Resolving,
  session: OpenSession,
  language?: Language,
): Promise<Question> {
  const asked = await askedOf(deps, session)
  const query = await toldQuery(deps.db, session, asked.query)
  return { ...asked, query: withPurpose(query, toldPurpose(session, asked.secrets, language)) }
}

/** The part of a session that its requests are made of. */
export type AskingSession = Pick<
  OpenSession,
  'id' | 'tenantId' | 'template' | 'templateVersion' | 'profile' | 'clientId' | 'signingKeyId' | 'nonce' | 'state' | 'expiresAt'
>

/** The registration certificate that goes with a session's request; the EU age app takes none. */
export async function registrationFor(deps: Deps, session: AskingSession, query: DcqlQuery): Promise<string | undefined> {
  if (session.profile === 'eu-av') return undefined
  return await deps.registrations(session, query, await deps.requestSigner(session.signingKeyId))
}

/** Wallets may want a copy in each document request. */
export function logLongRegistration(
  { log }: Reporting,
  { tenantId: tenant, template }: AskingSession,
  parts: DeviceRequestParts | undefined,
): void {
  if (parts?.isRegistrationLong) log.warn('signing.registration_large', { tenant, detail: template ?? 'a query' })
}
