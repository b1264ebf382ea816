import { SALT_BYTES } from '../base/seal.ts'
import { isoUtc } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Configured, Reading, Sealing, Unsealing } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { furtherStarts } from '../openid4vp/exchange/link-start.ts'
import { byReferenceUri, byValueUri, type OnPage, requestUri } from '../openid4vp/exchange/request-object.ts'
import { builtinOf, type FixedQuestion, type Made, withPurpose } from '../templates/resolve.ts'
import { mayBeRetained, withIntentToRetain } from '../templates/retention.ts'
import { readTenant } from '../tenants/settings.ts'
import { LANGUAGES, type Language } from '../words/languages.ts'
import { purposeOf } from '../words/purposes.ts'
import type { Resolving } from './deps.ts'
import { failureOfHeld, isHeld } from './hold.ts'
import { type Result, withKeptPortrait } from './portraits.ts'
import type { CreateVerification, Verification } from './schema.ts'
import { statusAt, type Timed } from './status.ts'
import {
  findSealedQuery,
  type ResultRow,
  type SessionKey,
  type SessionRow,
  type VerificationRow,
  type VerificationWithResult,
} from './store.ts'

/** The sealed members of a session, but for its query. */
export type SessionSecrets = Pick<CreateVerification, 'webhook_url' | 'redirect_url' | 'metadata' | 'purpose'> & {
  /** The purpose in further languages, where that of the template was taken. */
  purposes?: Partial<Record<Language, string>> | undefined
  /** Of a log-in: the name of the client, and the language that it wants for the page. */
  login?: { client: string; language?: Language | undefined } | undefined
  /** Made to be looked at: nobody is told its result. */
  isExample?: true | undefined
}

/** What is sealed of a query of its own. */
export type OwnQuery = Pick<FixedQuestion, 'query' | 'shares'>

export type Keyed = { sessionKey: Uint8Array }

export type PresentDeps = Reading & Unsealing & Configured & Resolving

/** `sessionKey`: where it was looked up with those of others. */
export type Presented = { links?: boolean; sessionKey?: Uint8Array | undefined }

/** The one place where a row becomes JSON, for every route and for webhooks. Without `links` no query is opened. */
export async function present(
  deps: PresentDeps,
  { verification, result }: VerificationWithResult,
  { links = true, sessionKey: known }: Presented = {},
): Promise<Verification> {
  // A damaged row: without its claims or its reason it would look like a verdict that has none.
  if (!result && isAnswered(verification)) throw new Error('a session that was answered has a result')
  const sessionKey = known ?? (await deps.sessionKeys.of(deps.db, verification))
  const shown =
    result && !isHeld(verification)
      ? await withKeptPortrait(deps, { ...verification, sessionKey }, openResult(deps, result, sessionKey))
      : {}
  const secrets = openWith(deps, verification, sessionKey)
  const query = async () => toldQuery(deps.db, verification, (await questionOf(deps, deps.db, verification)).query)
  return await presentOpened(deps, verification, { secrets, result: shown, query: links ? query : undefined })
}

const isAnswered = (row: VerificationRow): boolean => row.status === 'completed' || row.status === 'failed' || isHeld(row)

/** `query` gives that of the session, for its link; without it there are no links. */
type Opened = { secrets: SessionSecrets; result: Result; query: (() => Promise<DcqlQuery>) | undefined }

export async function presentOpened(
  deps: Reading & Configured,
  row: VerificationRow,
  { secrets, result, query }: Opened,
): Promise<Verification> {
  const at = deps.now()
  const status = statusAt(row, at)
  return {
    id: row.id,
    status,
    ...(row.template !== null && { template: row.template }),
    ...(query && isOpenAt(row, at) && (await walletLinks(deps, row, { secrets, query }))),
    ...(isHeld(row) && status === 'failed' ? { error: failureOfHeld(row) } : result),
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

type Linked = Pick<VerificationRow, 'id' | 'profile' | 'clientId' | 'nonce' | 'state'> & Made

/** Only a link of `eu-av` contains the query. */
export async function walletLinks(
  { config }: Configured,
  row: Linked,
  { secrets, query }: { secrets: SessionSecrets; query: () => Promise<DcqlQuery> },
  page: OnPage & { language?: Language | undefined } = {},
): Promise<Pick<Verification, 'wallet_uri' | 'request_uri'>> {
  const { publicUrl } = config
  if (row.profile === 'eu-av') {
    const asked = withPurpose(await query(), toldPurpose(row, secrets, page.language))
    return {
      wallet_uri: byValueUri({ publicUrl, id: row.id, nonce: row.nonce, state: row.state, query: asked, from: page.from }),
    }
  }
  return {
    wallet_uri: byReferenceUri(linkOf(config, row, page)),
    request_uri: requestUri(publicUrl, row.id, page),
  }
}

type Purposes = Pick<SessionSecrets, 'purpose' | 'purposes'>

/** In every language that it has. One that nobody gave is that of a built-in template, and no part of the session. */
export function purposesOf(
  session: Made,
  { purpose, purposes }: Purposes,
): string | Readonly<Record<Language, string>> | undefined {
  if (purpose === undefined) {
    const builtin = builtinOf(session)
    return builtin && purposeOf(builtin.key)
  }
  if (!purposes) return purpose
  return Object.fromEntries(LANGUAGES.map(each => [each, purposes[each] ?? purpose])) as Record<Language, string>
}

/** The purpose as a wallet is told it. */
export function toldPurpose(session: Made, given: Purposes, language: Language = 'en'): string | undefined {
  const told = purposesOf(session, given)
  return typeof told === 'object' ? told[language] : told
}

/** The query as a wallet is asked: a template says what its shop will keep. A query of its own says so itself. */
export async function toldQuery(
  db: Db,
  session: Pick<VerificationRow, 'template' | 'templateVersion' | 'tenantId'>,
  query: DcqlQuery,
): Promise<DcqlQuery> {
  if (session.template === null || !mayBeRetained(session)) return query
  return withIntentToRetain(query, session, (await readTenant(db, session.tenantId))?.retentionDays ?? null)
}

const linkOf = ({ wallet, publicUrl }: Configured['config'], { clientId, id }: Linked, page: OnPage) => ({
  start: wallet.linkStart,
  method: wallet.requestUriMethod,
  clientId,
  publicUrl,
  id,
  page,
})

/** Links for wallets that do not listen to `wallet_uri`. */
export const furtherLinks = ({ config }: Configured, row: Linked, page: OnPage = {}): string[] =>
  row.profile === 'eu-av'
    ? []
    : furtherStarts(config.wallet.linkStart).map(start => byReferenceUri({ ...linkOf(config, row, page), start }))

/** Query and rules of a session, as fixed at its creation. A query of its own has no rules. */
export async function questionOf(deps: Unsealing & Resolving, db: Db, row: SessionRow): Promise<FixedQuestion> {
  if (row.templateVersion === null) return { ...(await openQuery(deps, db, row)), rules: [] }
  const question = await deps.versions.find(db, row.templateVersion)
  if (!question) throw new Error('a session has a query of its own or a template version')
  return question
}

async function openQuery({ sealer, sessionKeys }: Unsealing, db: Db, row: SessionRow): Promise<OwnQuery> {
  const { sealedQuery = await findSealedQuery(db, row) } = row
  if (sealedQuery === undefined) throw apiError('session_not_found')
  if (!sealedQuery) throw new Error('a session has a query of its own or a template version')
  return JSON.parse(sealer.open(SEALED.query(row, row.salt, await sessionKeys.of(db, row)), sealedQuery))
}

/** Inside a transaction, `db` is its connection. */
export async function openSecrets(deps: Unsealing, db: Db, row: VerificationRow): Promise<SessionSecrets> {
  return row.sealed ? openWith(deps, row, await deps.sessionKeys.of(db, row)) : {}
}

export const openWith = ({ sealer }: Unsealing, row: VerificationRow, sessionKey: Uint8Array): SessionSecrets =>
  row.sealed ? JSON.parse(sealer.open(SEALED.secrets(row, row.salt, sessionKey), row.sealed)) : {}

export const openResult = ({ sealer }: Unsealing, row: ResultRow, sessionKey: Uint8Array): Result =>
  JSON.parse(sealer.open(SEALED.result({ id: row.verificationId, tenantId: row.tenantId }, row.salt, sessionKey), row.sealed))

export function sealResult(
  { random, sealer }: Sealing,
  { id: verificationId, tenantId, sessionKey }: SessionKey & Keyed,
  result: Result,
  at: number,
): Omit<ResultRow, 'auditSeq'> {
  const salt = Buffer.from(random(SALT_BYTES))
  const sealed = sealer.seal(SEALED.result({ id: verificationId, tenantId }, salt, sessionKey), JSON.stringify(result))
  return { verificationId, tenantId, salt, sealed, createdAt: at }
}
