// Begins a log-in: one verification, whose page belongs to this browser.
import { sha256Hex } from '../base/hash.ts'
import { newLoginId, newNonce } from '../base/ids.ts'
import { SALT_BYTES } from '../base/seal.ts'
import { SEALED } from '../db/sealed-columns.ts'
import { readFields } from '../http/body.ts'
import { ApiError } from '../http/errors.ts'
import { refuseWhenOverloaded } from '../http/load.ts'
import { traceOf } from '../http/plugin.ts'
import { dailyQuotaOf, readTenant } from '../tenants/settings.ts'
import { createLoginSession } from '../verifications/create/create.ts'
import { cookie, cookiesOfLogin, isHttps } from '../verifications/page/page-owner.ts'
import { LOGIN_KEPT_MS } from '../verifications/status.ts'
import { recordEvent } from '../verifications/timeline.ts'
import type { Language } from '../words/languages.ts'
import { type ClientRow, findClient, type Issuer, markRefused } from './client-store.ts'
import type { Deps } from './deps.ts'
import { insertLogin } from './login-store.ts'
import { issuerOf } from './present.ts'
import { isRegistered } from './redirect-uri.ts'
import { reportRefusal } from './refusal.ts'
import { isRefused, type LoginRequest, languageOf, parametersIn, type Refused, readRequest, withAnswer } from './request.ts'

const FORM_BYTES_MAX = 8 * 1024
const LOGIN_SECONDS = 600
/** Time to log in, and then to return. */
const COOKIE_SECONDS = 1200
const REFUSAL_KEPT_EVERY_MS = 60_000
const URI_KEPT_CHARS = 2048
const HOUR_PARTS = 3_600_000 * 1024

/** What the browser gets: a page that leads nowhere, or the way on. */
export type Begun = { page: 'unknown_client' | 'redirect_uri_mismatch' } | { location: string; cookies?: string[] }

export async function authorize(deps: Deps, issuer: Issuer, request: Request): Promise<Begun> {
  refuseWhenOverloaded(deps)
  deps.limits.take('oidc-authorize', traceOf(request).client)
  const fields = request.method === 'POST' ? await readFields(request, FORM_BYTES_MAX) : new URL(request.url).searchParams
  const given = parametersIn(fields)
  const client = fields.getAll('client_id').length === 1 ? await clientOf(deps, issuer, given('client_id')) : undefined
  if (!client) return onPage(deps, issuer, 'unknown_client')
  const redirectUri = given('redirect_uri')
  if (!redirectUri || fields.getAll('redirect_uri').length > 1 || !isRegistered(client.redirect_uris, redirectUri)) {
    await keepRefusal(deps, client, 'redirect_uri_mismatch', redirectUri)
    return onPage(deps, issuer, 'redirect_uri_mismatch', client)
  }
  const wanted = readRequest(fields, client, redirectUri)
  const begun = isRefused(wanted) ? wanted : await begin(deps, client, wanted, languageOf(given('ui_locales')))
  if (!('error' in begun)) return begun
  await keepRefusal(deps, client, begun.error)
  reportRefusal(deps, { endpoint: 'authorize', error: begun.error, tenant: issuer.tenantId, client: client.id })
  const state = fields.getAll('state').length === 1 && begun.description.startsWith('state') ? undefined : given('state')
  const { error, description } = begun
  return { location: withAnswer(redirectUri, issuerOf(deps.config, issuer), { error, error_description: description, state }) }
}

/** PostgreSQL takes no U+0000 in a text. */
const CLIENT_ID = /^oc_\w{1,61}$/

/** Of this issuer. */
export async function clientOf({ db }: Pick<Deps, 'db'>, issuer: Issuer, id: string | undefined): Promise<ClientRow | undefined> {
  const client = CLIENT_ID.test(id ?? '') ? await findClient(db, id!) : undefined
  return client?.tenantId === issuer.tenantId && client.environment === issuer.environment ? client : undefined
}

function onPage(deps: Deps, { tenantId }: Issuer, page: 'unknown_client' | 'redirect_uri_mismatch', client?: ClientRow): Begun {
  reportRefusal(deps, { endpoint: 'authorize', error: page, tenant: tenantId, client: client?.id })
  return { page }
}

/** For whoever sets the client up; a stranger cannot make us write more than once a minute. */
async function keepRefusal({ write, now }: Deps, { id, lastRefusal }: ClientRow, reason: string, uri?: string): Promise<void> {
  const at = now()
  if (lastRefusal && lastRefusal.at > at - REFUSAL_KEPT_EVERY_MS) return
  const redirect_uri = uri?.slice(0, URI_KEPT_CHARS).toWellFormed().replaceAll('\0', '')
  await write(tx => markRefused(tx, id, { at, reason, ...(redirect_uri && { redirect_uri }) }))
}

async function begin(
  deps: Deps,
  client: ClientRow,
  wanted: LoginRequest,
  language: Language | undefined,
): Promise<{ location: string; cookies: string[] } | Refused> {
  const { tenantId, environment, id: clientId } = client
  if (!(await hasRoom(deps, client))) return { error: 'temporarily_unavailable', description: 'too many log-ins in this hour' }
  const tenant = await readTenant(deps.db, tenantId)
  const { config, random, sealer } = deps
  const login = newLoginId(random)
  const [browser, owner] = [newNonce(random), newNonce(random)]
  const isSameDevice = client.cross_device === 'refused'
  const path = `/oidc/${tenantId}/${environment}/return/${login}`
  const salt = Buffer.from(random(SALT_BYTES))
  const caller = {
    kind: 'login' as const,
    tenantId,
    environment,
    name: `client ${client.name}`,
    dailyQuota: tenant ? dailyQuotaOf(tenant) : 0,
    clientId,
    pageOwnerHash: sha256Hex(owner),
    isSameDevice,
    eraseAfter: client.keep_results === 1 ? null : LOGIN_KEPT_MS,
    shown: { client: client.name, language },
    keep: async (...[tx, session, sessionKey]: Kept) => {
      const place = SEALED.login({ id: login, tenantId }, salt, sessionKey)
      await insertLogin(tx, {
        id: login,
        tenantId,
        verificationId: session.id,
        clientId,
        subject: client.subject,
        createdAt: deps.now(),
        browserHash: sha256Hex(browser),
        salt,
        sealed: sealer.seal(place, JSON.stringify(wanted)),
      })
      await recordEvent(deps, tx, session, 'login_started', { client: clientId })
    },
  }
  const body = {
    template: wanted.template,
    redirect_url: `${config.publicUrl}${path}`,
    ttl_seconds: LOGIN_SECONDS,
    ...(client.purpose !== null && { purpose: client.purpose }),
    ...(isSameDevice && { release: 'on_redeem' as const }),
  }
  try {
    const { id } = (await createLoginSession(deps, caller, body)).verification
    deps.metrics.count('vidimus_oidc_logins_total', { environment, outcome: 'started' })
    const own = cookie(config, { name: cookieName(deps), secret: browser, path, seconds: COOKIE_SECONDS })
    return { location: `${config.publicUrl}/v/${id}`, cookies: [own, ...cookiesOfLogin(config, id, owner, COOKIE_SECONDS)] }
  } catch (error) {
    const code = error instanceof ApiError ? error.code : undefined
    if (code === 'quota_exceeded') return { error: 'temporarily_unavailable', description: 'the daily quota is used up' }
    if (code === 'unknown_template') return { error: 'invalid_scope', description: 'scope: this template was deleted' }
    throw error
  }
}

type Kept = Parameters<Parameters<typeof createLoginSession>[1]['keep']>

/** Browsers refuse cookies with the prefix `__Secure-` over plain http. */
export const cookieName = ({ config }: Pick<Deps, 'config'>): string => (isHttps(config) ? '__Secure-login' : 'vidimus-login')

/** A budget for the whole installation: anybody can begin a log-in. */
async function hasRoom({ shortLived, config }: Deps, { id, logins_per_hour }: ClientRow): Promise<boolean> {
  const burst = Math.floor(logins_per_hour * config.rateLimitScale)
  if (config.rateLimitScale === 0) return true
  const pace = {
    burst: Math.max(1, burst),
    interval: Math.ceil(HOUR_PARTS / Math.max(1, burst)),
    total: Number.POSITIVE_INFINITY,
  }
  return !(await shortLived.take({ kind: 'oidc-logins', key: id, pace })).isRefused
}
