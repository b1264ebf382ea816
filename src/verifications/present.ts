import type { Db } from '../db/engine.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import { byReferenceUri, byValueUri, type From, requestUri } from '../openid4vp/request-object.ts'
import { SALT_BYTES } from '../seal.ts'
import { type Question, questionOfVersion, withPurpose } from '../templates/resolve.ts'
import { isoUtc } from '../time.ts'
import type { Deps } from './deps.ts'
import { isHeld, statusAt, type Timed } from './expire.ts'
import { NOT_FOLLOWED } from './failures.ts'
import type { Result } from './portraits.ts'
import type { CreateVerification, Verification } from './schema.ts'
import type { ResultRow, VerificationRow, VerificationWithResult } from './store.ts'

/** The sealed members of a session. */
export type SessionSecrets = Pick<CreateVerification, 'webhook_url' | 'redirect_url' | 'metadata' | 'purpose'> & {
  query?: DcqlQuery
}

/** The key of a session; undefined for sessions of older versions, which have none. */
export type Keyed = { sessionKey: Uint8Array | undefined }

type PresentDeps = Pick<Deps, 'config' | 'db' | 'now' | 'sealer' | 'sessionKeys' | 'portraits'>

/** The one place where a row becomes JSON, for every route and for webhooks. */
export async function present(deps: PresentDeps, { verification, result }: VerificationWithResult): Promise<Verification> {
  // A damaged row: without its claims or its reason it would look like a verdict that has none.
  if (!result && isAnswered(verification)) throw new Error('a session that was answered has a result')
  const sessionKey = await deps.sessionKeys.of(deps.db, verification)
  const shown =
    result && !isHeld(verification)
      ? await deps.portraits.show({ ...verification, sessionKey }, openResult(deps, result, sessionKey))
      : {}
  return await presentOpened(deps, deps.db, verification, openWith(deps, verification, sessionKey), shown)
}

const isAnswered = (row: VerificationRow): boolean => row.status === 'completed' || row.status === 'failed' || isHeld(row)

export async function presentOpened(
  deps: PresentDeps,
  db: Db,
  row: VerificationRow,
  secrets: SessionSecrets,
  result: Result,
): Promise<Verification> {
  const at = deps.now()
  const status = statusAt(row, at)
  return {
    id: row.id,
    status,
    ...(row.template !== null && { template: row.template }),
    ...(isOpenAt(row, at) && (await walletLinks(deps, db, row, secrets))),
    ...(isHeld(row) && status === 'failed' ? { error: NOT_FOLLOWED } : result),
    ...(secrets.metadata && { metadata: secrets.metadata }),
    ...(secrets.purpose && { purpose: secrets.purpose }),
    ...(secrets.redirect_url && { redirect_url: secrets.redirect_url }),
    created_at: isoUtc(row.createdAt),
    expires_at: isoUtc(row.expiresAt),
    ...(row.respondedAt !== null && { responded_at: isoUtc(row.respondedAt) }),
  }
}

/** True while a wallet can still answer. */
export const isOpenAt = (row: Timed, now: number): boolean => statusAt(row, now) === 'pending' && !isHeld(row)

/** Headers of a creation: the session itself, and the page to send its holder to. */
export const linksTo = (publicUrl: string, id: string): Record<string, string> => ({
  location: `${publicUrl.replace(/^\w+:\/\/[^/]+/, '')}/v1/verifications/${id}`,
  link: `<${publicUrl}/v/${id}>; rel="alternate"; type="text/html"`,
})

export async function walletLinks(
  deps: PresentDeps,
  db: Db,
  row: VerificationRow,
  secrets: SessionSecrets,
  from?: From,
): Promise<Pick<Verification, 'wallet_uri' | 'request_uri'>> {
  const { publicUrl } = deps.config
  if (row.profile === 'eu-av') {
    const query = withPurpose(await queryOf(db, row, secrets), secrets.purpose)
    return { wallet_uri: byValueUri({ publicUrl, id: row.id, nonce: row.nonce, state: row.state, query, from }) }
  }
  return {
    wallet_uri: byReferenceUri(deps.config.wallet.scheme, row.clientId, publicUrl, row.id, from),
    request_uri: requestUri(publicUrl, row.id, from),
  }
}

/** Query and rules of a session, as fixed at its creation. A query of its own has no rules. */
export async function questionOf(db: Db, row: VerificationRow, secrets: SessionSecrets): Promise<Question> {
  if (secrets.query) return { query: secrets.query, rules: [] }
  const question = await questionOfVersion(db, row.templateVersion ?? '')
  if (!question) throw new Error('a session has a query of its own or a template version')
  return question
}

export const queryOf = async (db: Db, row: VerificationRow, secrets: SessionSecrets): Promise<DcqlQuery> =>
  (await questionOf(db, row, secrets)).query

export const secretsPlace = (
  { id, tenantId }: Pick<VerificationRow, 'id' | 'tenantId'>,
  salt: Uint8Array,
  sessionKey: Uint8Array | undefined,
) => ({
  tenant: tenantId,
  table: 'verification_sessions',
  column: 'sealed',
  row: id,
  salt,
  sessionKey,
})

/** Inside a transaction, `db` is its connection. */
export async function openSecrets(
  deps: Pick<Deps, 'sealer' | 'sessionKeys'>,
  db: Db,
  row: VerificationRow,
): Promise<SessionSecrets> {
  return row.sealed ? openWith(deps, row, await deps.sessionKeys.of(db, row)) : {}
}

const openWith = ({ sealer }: Pick<Deps, 'sealer'>, row: VerificationRow, sessionKey: Uint8Array | undefined): SessionSecrets =>
  row.sealed ? JSON.parse(sealer.open(secretsPlace(row, row.salt, sessionKey), row.sealed)) : {}

export const resultPlace = (
  { verificationId, tenantId, salt }: Pick<ResultRow, 'verificationId' | 'tenantId' | 'salt'>,
  sessionKey: Uint8Array | undefined,
) => ({
  tenant: tenantId,
  table: 'verification_results',
  column: 'sealed',
  row: verificationId,
  salt,
  sessionKey,
})

const openResult = ({ sealer }: PresentDeps, row: ResultRow, sessionKey: Uint8Array | undefined): Result =>
  JSON.parse(sealer.open(resultPlace(row, sessionKey), row.sealed))

export function sealResult(
  { random, sealer }: Pick<Deps, 'random' | 'sealer'>,
  { id: verificationId, tenantId, sessionKey }: Pick<VerificationRow, 'id' | 'tenantId'> & Keyed,
  result: Result,
  at: number,
): Omit<ResultRow, 'auditSeq'> {
  const salt = Buffer.from(random(SALT_BYTES))
  const sealed = sealer.seal(resultPlace({ verificationId, tenantId, salt }, sessionKey), JSON.stringify(result))
  return { verificationId, tenantId, salt, sealed, createdAt: at }
}
