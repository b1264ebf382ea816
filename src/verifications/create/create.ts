import type { Caller, KeyCaller } from '../../access/scopes.ts'
import { newNonce, newVerificationId } from '../../base/ids.ts'
import { SALT_BYTES } from '../../base/seal.ts'
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Peeking } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import { type DcqlQuery, findQueryProblem } from '../../openid4vp/dcql/dcql.ts'
import type { RequestIdentity } from '../../signing/keys.ts'
import {
  fixVersion,
  inFormats,
  noteLiveUse,
  type Question,
  type ResolvedTemplate,
  resolveTemplate,
} from '../../templates/resolve.ts'
import { sharesOf } from '../../templates/shares.ts'
import { countCreation } from '../../usage/outcomes.ts'
import { type Charge, chargeOne } from '../../usage/quota.ts'
import { refuseForbidden } from '../../webhooks/endpoint.ts'
import { type Keyed, type OwnQuery, presentOpened, type SessionSecrets, toldQuery } from '../present.ts'
import { redirectProblem } from '../redirect-url.ts'
import { type CreateVerification, METADATA_KEY_CHARS_MAX, TTL_SECONDS_DEFAULT, type Verification } from '../schema.ts'
import type { KeyedSession } from '../store.ts'
import { insertVerification } from '../store.ts'
import { termsOf } from '../terms.ts'
import type { Deps } from './deps.ts'
import type { Claim } from './idempotency.ts'

export type Creation =
  | { verification: Verification; replayed: true }
  | { verification: Verification; replayed: false; charge: Charge }

/** An OpenID client, whose log-in the session is. */
export type LoginCaller = Omit<KeyCaller, 'kind' | 'keyId' | 'scopes' | 'appSchemes'> & {
  kind: 'login'
  clientId: string
  /** Of the browser that began the log-in: the page is its own from the start. */
  pageOwnerHash: string
  isSameDevice: boolean
  eraseAfter: number | null
  /** The client's name, and the language of the page. */
  shown: NonNullable<SessionSecrets['login']>
  /** Called in the transaction of the creation. */
  keep(tx: Db, session: KeyedSession, sessionKey: Uint8Array): Promise<void>
}

type NewVerification = { caller: Caller | LoginCaller; body: CreateVerification; isExample?: true | undefined }

export async function createVerification(
  deps: Deps,
  { caller, body, idempotencyKey, isExample }: NewVerification & { caller: Caller; idempotencyKey?: string | undefined },
): Promise<Creation> {
  refuseInvalid(caller, body)
  refuseBeyondRights(caller, body)
  if (idempotencyKey === undefined) return await create(deps, { caller, body, isExample })
  const begun = await deps.creations.idempotency.begin(caller, idempotencyKey, body)
  if ('replay' in begun) return { verification: begun.replay, replayed: true }
  let isKept = false
  try {
    const created = await create(deps, { caller, body, claim: begun.claim })
    isKept = true
    return created
  } finally {
    await begun.claim.release(isKept)
  }
}

/** The session of a log-in, whose body is made here. */
export const createLoginSession = (deps: Deps, caller: LoginCaller, body: CreateVerification): Promise<Creation> =>
  create(deps, { caller, body })

function refuseInvalid(caller: Caller, body: CreateVerification): void {
  const { template, query, formats, redirect_url, release, metadata = {} } = body
  if ((template === undefined) === (query === undefined)) {
    throw apiError('invalid_request', { message: 'body: give exactly one of template and query' })
  }
  if (formats !== undefined && template === undefined) {
    throw apiError('invalid_request', { message: 'formats: only with a template; leave the other format out of the query' })
  }
  const problem = query && findQueryProblem(query)
  if (problem) throw apiError('invalid_request', { message: `query${problem.path ? `.${problem.path}` : ''}: ${problem.reason}` })
  if (Object.keys(metadata).some(key => [...key].length > METADATA_KEY_CHARS_MAX)) {
    throw apiError('invalid_request', { message: `metadata: a key is longer than ${METADATA_KEY_CHARS_MAX} characters` })
  }
  if (release !== undefined && redirect_url === undefined) {
    throw apiError('invalid_request', {
      message: 'redirect_url: give one with release: its response code is what releases the answer',
    })
  }
  // Devices may not give any (below).
  if (redirect_url === undefined || caller.kind !== 'key') return
  const wrong = redirectProblem(redirect_url, caller.appSchemes)
  if (wrong) throw apiError('invalid_request', { message: `redirect_url: ${wrong}` })
}

/** Members for API keys only: a stolen till must not send results, or customers, elsewhere. */
const NOT_FOR_DEVICES = ['webhook_url', 'redirect_url', 'release'] as const

/** The same refusal whether the template exists or not: a stolen till must not find out. */
function refuseBeyondRights(caller: Caller, body: CreateVerification): void {
  if (caller.kind === 'key') return
  const given = NOT_FOR_DEVICES.find(name => body[name] !== undefined)
  if (given) {
    throw apiError('insufficient_scope', { message: `A device may not give ${given}; leave it out, or use an API key.` })
  }
  const { template } = body
  if (template !== undefined && caller.allowedTemplates.includes(template)) return
  const wanted = template === undefined ? 'a query of its own' : `the template ${template}`
  throw apiError('insufficient_scope', {
    message: `This device may not ask with ${wanted}; PATCH /v1/devices/{id} or the dashboard changes its templates.`,
  })
}

async function create(
  deps: Deps,
  { caller, body: given, claim, isExample }: NewVerification & { claim?: Claim },
): Promise<Creation> {
  const asked = await resolveQuestion(deps, caller, given)
  const body = { ...given, purpose: given.purpose ?? asked.purpose }
  if (body.webhook_url !== undefined && caller.kind !== 'login') await refuseForbidden(deps, caller, body.webhook_url)
  const { row, secrets, sessionKey } = draft(deps, {
    caller,
    body,
    isExample,
    asked,
    identity: await deps.identity(caller.tenantId),
  })
  const { keptVersions } = deps.creations
  const { tenantId } = caller

  const created = await deps.write(async tx => {
    // Checked inside the write: a disk may turn out to be full here, and then the write runs again.
    if (deps.space.isShort()) throw apiError('internal_error')
    const charge = await chargeOne(tx, tenantId, caller.dailyQuota, deps.now())
    const { at } = charge
    if (asked.version !== null && !keptVersions.has(asked.version)) await fixVersion(tx, asked.version, asked)
    if (asked.isNewToLive && row.template !== null && caller.environment === 'live')
      await noteLiveUse(tx, tenantId, row.template, at)
    const auditSeq = await deps.audit.append(tx, {
      at,
      tenantId,
      actor: caller.name,
      action: 'verification.created',
      subjectId: row.id,
      // The device's id, not its name: names can change and repeat.
      details: {
        environment: caller.environment,
        template: row.template,
        formats: body.formats,
        purpose: body.purpose,
        device: row.deviceId ?? undefined,
      },
      session: { id: row.id, wrappingKey: row.wrappingKey, sessionKey },
    })
    const dated = {
      ...row,
      createdAt: at,
      expiresAt: at + (body.ttl_seconds ?? TTL_SECONDS_DEFAULT) * 1000,
      auditSeq,
      idempotencyHash: claim?.hash ?? null,
    }
    await insertVerification(tx, dated)
    const verification = await presentOpened(deps, dated, { secrets, result: {}, query: () => toldQuery(tx, dated, asked.query) })
    await claim?.keep(tx, verification)
    if (caller.kind === 'login') await caller.keep(tx, dated, sessionKey)
    await countCreation(tx, caller, at)
    return { verification, charge }
  }, tenantId)
  if (asked.version !== null) keptVersions.add(asked.version)
  deps.metrics.count('vidimus_verifications_total', { event: 'created', environment: caller.environment })
  return { ...created, replayed: false }
}

type ResolvedQuestion = Question &
  Pick<ResolvedTemplate, 'profile' | 'purpose' | 'purposes' | 'isNewToLive'> & { version: string | null }

async function resolveQuestion(
  deps: Peeking,
  caller: NewVerification['caller'],
  { template, query, formats }: CreateVerification,
): Promise<ResolvedQuestion> {
  if (template === undefined) return { query: query as unknown as DcqlQuery, rules: [], version: null }
  const resolved = await resolveTemplate(deps.warm(), caller.tenantId, template)
  if (!resolved) throw apiError('unknown_template')
  return formats ? inFormats(template, resolved, formats) : resolved
}

type Draft = {
  row: Omit<Parameters<typeof insertVerification>[1], 'createdAt' | 'expiresAt' | 'auditSeq' | 'idempotencyHash'>
  secrets: SessionSecrets
} & Keyed

type ToDraft = NewVerification & { asked: ResolvedQuestion; identity: RequestIdentity }

function draft(
  { random, sealer, sessionKeys, config, creations }: Deps,
  { caller, body, isExample, asked, identity }: ToDraft,
): Draft {
  const { webhook_url, redirect_url, metadata, purpose } = body
  const purposes = purpose === asked.purpose ? asked.purposes : undefined
  const login = caller.kind === 'login' ? caller : undefined
  const secrets = { webhook_url, redirect_url, metadata, purpose, purposes, login: login?.shown, isExample }
  const ownQuery: OwnQuery | null = asked.version === null ? { query: asked.query, shares: sharesOf(asked.query) } : null
  const sealable = JSON.stringify(secrets)
  const id = newVerificationId(random)
  const salt = Buffer.from(random(SALT_BYTES))
  const wrappingKey = sessionKeys.current()
  const sessionKey = sessionKeys.derive(id, wrappingKey)
  const { tenantId } = caller
  const row = {
    id,
    tenantId,
    environment: caller.environment,
    deviceId: caller.kind === 'device' ? caller.deviceId : null,
    keyId: caller.kind === 'key' ? caller.keyId : null,
    status: 'pending' as const,
    template: body.template ?? null,
    templateVersion: asked.version,
    profile: asked.profile ?? config.wallet.profile,
    clientId: identity.clientId,
    signingKeyId: identity.signingKeyId,
    nonce: newNonce(random),
    state: newNonce(random),
    respondedAt: null,
    salt,
    sealed: sealable !== '{}' ? sealer.seal(SEALED.secrets({ id, tenantId }, salt, sessionKey), sealable) : null,
    sealedResponseKey: null,
    sealedDcRequests: null,
    sealedInPerson: null,
    release: body.release ?? null,
    answeredFrom: null,
    pageOwnerHash: login?.pageOwnerHash ?? null,
    responseCodeHash: null,
    responseCodeExpiresAt: null,
    redeemedAt: null,
    wrappingKey,
    loginClientId: login?.clientId ?? null,
    isSameDevice: login ? Number(login.isSameDevice) : null,
    eraseAfter: login?.eraseAfter ?? null,
    ...termsOf(creations.terms, caller, metadata),
    fetchedAt: null,
    expirySeq: null,
    sealedQuery: ownQuery && sealer.seal(SEALED.query({ id, tenantId }, salt, sessionKey), JSON.stringify(ownQuery)),
  }
  return { row, sessionKey, secrets }
}
