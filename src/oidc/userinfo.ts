import { sha256Hex } from '../base/hash.ts'
import { isWellFormedSecret } from '../base/ids.ts'
import { readFields } from '../http/body.ts'
import { openOne } from '../verifications/read.ts'
import { hasLogin, recordLogin } from '../verifications/timeline.ts'
import { clientOf } from './authorize.ts'
import { claimsFor } from './claims.ts'
import type { Issuer } from './client-store.ts'
import type { Deps } from './deps.ts'
import { findLoginByToken } from './login-store.ts'
import { answering, asOAuthError, OAuthError } from './refusal.ts'
import { openSub, TOKEN_PREFIX } from './token.ts'

const FORM_BYTES_MAX = 16 * 1024

const invalidToken = () =>
  new OAuthError('invalid_token', 'the access token is unknown, too old or revoked', 401, {
    'www-authenticate': 'Bearer error="invalid_token"',
  })

/** The claims, from the result of the verification: they are kept nowhere else. */
export const readUserinfo = (deps: Deps, issuer: Issuer, request: Request): Promise<Response> =>
  answering(deps, { endpoint: 'userinfo', tenant: issuer.tenantId }, () => read(deps, issuer, request))

async function read(deps: Deps, issuer: Issuer, request: Request): Promise<object> {
  const token = await tokenOf(request)
  const hash = sha256Hex(token)
  const login = isWellFormedSecret(token, TOKEN_PREFIX) ? await findLoginByToken(deps.db, hash) : undefined
  const client = await clientOf(deps, issuer, login?.clientId)
  const isGood = login && client && login.tokenRevokedAt === null && login.tokenExpiresAt! > deps.now()
  if (!isGood) throw invalidToken()
  deps.limits.take('oidc-userinfo', hash)
  const session = { id: login.verificationId, ...issuer }
  const opened = await openOne(deps, issuer, session.id)
  // Erased since.
  if (!opened) throw invalidToken()
  if (!(await hasLogin(deps, session, 'userinfo_read')))
    await deps.write(tx => recordLogin(deps, tx, session, 'userinfo_read', { client: client.id }))
  return { ...claimsFor(opened.result.claims ?? {}).claims, sub: openSub(deps, login, opened) }
}

/** RFC 6750: in the header or, by POST, in the form. */
async function tokenOf(request: Request): Promise<string> {
  const [, inHeader] = /^Bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const isForm =
    request.method === 'POST' && /^application\/x-www-form-urlencoded\b/i.test(request.headers.get('content-type') ?? '')
  const inForm = isForm ? await readFields(request, FORM_BYTES_MAX).catch(asOAuthError) : new URLSearchParams()
  const sent = [inHeader ?? [], inForm.getAll('access_token')].flat()
  if (sent.length > 1)
    throw new OAuthError('invalid_request', 'the token is sent twice', 400, {
      'www-authenticate': 'Bearer error="invalid_request"',
    })
  const [token] = sent
  if (!token) throw new OAuthError('invalid_token', 'send the access token as bearer', 401, { 'www-authenticate': 'Bearer' })
  return token
}
