import { createHash } from 'node:crypto'
import { equalConstantTime, sha256Hex } from '../base/hash.ts'
import { newSecret } from '../base/ids.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import { readFields } from '../http/body.ts'
import { type OpenedSession, openOne } from '../verifications/read.ts'
import { recordLogin } from '../verifications/timeline.ts'
import { claimsFor } from './claims.ts'
import { authenticateClient } from './client-auth.ts'
import type { ClientRow, Issuer } from './client-store.ts'
import type { Deps } from './deps.ts'
import { scopeOf } from './discovery.ts'
import { signIdToken } from './id-token.ts'
import { findLoginByCode, type LoginRow, revokeToken, spendCode } from './login-store.ts'
import { answering, asOAuthError, OAuthError } from './refusal.ts'
import { type LoginRequest, parametersIn } from './request.ts'
import { openRequest } from './return.ts'

const FORM_BYTES_MAX = 16 * 1024
export const TOKEN_SECONDS = 600
export const TOKEN_PREFIX = 'vo_'

const invalidGrant = () => new OAuthError('invalid_grant', 'the code is unknown, spent, too old, or not for this request')

/** A code once, for the client, the address and the verifier that it was made for. */
export const exchangeCode = (deps: Deps, issuer: Issuer, request: Request): Promise<Response> =>
  answering(deps, { endpoint: 'token', tenant: issuer.tenantId }, () => exchange(deps, issuer, request))

async function exchange(deps: Deps, issuer: Issuer, request: Request): Promise<object> {
  const fields = await readFields(request, FORM_BYTES_MAX).catch(asOAuthError)
  const given = parametersIn(fields)
  const client = await authenticateClient(deps, issuer, request, fields)
  deps.limits.take('oidc-token', client.id)
  if (!given('grant_type')) throw new OAuthError('invalid_request', 'grant_type is missing')
  if (given('grant_type') !== 'authorization_code')
    throw new OAuthError('unsupported_grant_type', 'grant_type: only authorization_code')
  const code = given('code')
  if (!code) throw new OAuthError('invalid_request', 'code is missing')
  const login = await findLoginByCode(deps.db, sha256Hex(code))
  if (login?.clientId !== client.id) throw invalidGrant()
  return await redeem(deps, { issuer, client, login }, { redirectUri: given('redirect_uri'), verifier: given('code_verifier') })
}

type Asked = { issuer: Issuer; client: ClientRow; login: LoginRow }

async function redeem(deps: Deps, { issuer, client, login }: Asked, sent: Sent): Promise<object> {
  const at = deps.now()
  const session = { id: login.verificationId, ...issuer }
  const opened = await openOne(deps, issuer, session.id)
  const wanted = opened && openRequest(deps, login, opened)
  const isGood = wanted && opened.status === 'completed' && login.codeExpiresAt! > at && isFor(wanted, sent)
  const token = newSecret(deps.random, TOKEN_PREFIX)
  const { claims, left_out } = claimsFor(opened?.result.claims ?? {})
  const sub = isGood ? openSub(deps, login, opened) : ''
  const isIssued = await deps.write(async tx => {
    const issued = isGood ? { tokenHash: sha256Hex(token), tokenExpiresAt: at + TOKEN_SECONDS * 1000 } : {}
    if (!(await spendCode(tx, login, at, issued))) return await recordReplay(deps, tx, { issuer, client, login })
    if (!isGood) return false
    const names = Object.keys(claims)
    const audited = { client: client.id, claims: names, subject: sub }
    return await recordLogin(
      deps,
      tx,
      session,
      'token_issued',
      { client: client.id, claims: names, left_out },
      {
        action: 'oidc.token_issued',
        actor: `client ${client.name}`,
        details: audited,
      },
    )
  })
  if (!isIssued || !isGood) throw invalidGrant()
  deps.log.info('oidc.token_issued', { tenant: issuer.tenantId, detail: client.id })
  const id_token = await signIdToken(deps, { issuer, client, session: opened.session, sub, nonce: wanted.nonce, token, claims })
  const scope = `openid ${scopeOf(wanted.template)}`
  return { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS, id_token, scope }
}

type Sent = { redirectUri: string | undefined; verifier: string | undefined }

/** A verifier without a challenge is refused too: the request may have been another one (RFC 9700 § 2.1.1). */
function isFor({ redirect_uri, code_challenge }: LoginRequest, { redirectUri, verifier }: Sent): boolean {
  if (redirectUri !== redirect_uri) return false
  if (code_challenge === undefined || verifier === undefined) return code_challenge === verifier
  const made = createHash('sha256').update(verifier).digest('base64url')
  return /^[\w.~-]{43,128}$/.test(verifier) && equalConstantTime(made, code_challenge)
}

/** A code that comes twice was stolen: what it was exchanged for ends. */
async function recordReplay(deps: Deps, tx: Db, { issuer, client, login }: Asked): Promise<false> {
  await revokeToken(tx, login, deps.now())
  await deps.audit.append(tx, {
    at: deps.now(),
    tenantId: issuer.tenantId,
    actor: `client ${client.name}`,
    action: 'oidc.code_replayed',
    subjectId: client.id,
    details: { environment: issuer.environment },
  })
  return false
}

export const openSub = ({ sealer }: Deps, login: LoginRow, { sessionKey }: OpenedSession): string =>
  sealer.open(SEALED.loginSub(login, login.salt, sessionKey), login.sealedSub!)
