// Fills a data directory with sessions as the service would have left them: stored by its own functions, sealed under its own
// keys, each with its audit record, most of them ended and with a result.
import { and, eq, sql } from 'drizzle-orm'
import { newNonce, newVerificationId } from '../../src/base/ids.ts'
import { type Place, SALT_BYTES } from '../../src/base/seal.ts'
import { loadConfig } from '../../src/config.ts'
import type { Db } from '../../src/db/engine.ts'
import { verificationSessions } from '../../src/db/schema/verifications.ts'
import { SEALED } from '../../src/db/sealed-columns.ts'
import { prepared } from '../../src/db/statements.ts'
import { createDeps, type Deps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { ensureWrappingKey } from '../../src/session-keys/ensure.ts'
import type { RequestIdentity } from '../../src/signing/keys.ts'
import { ensureSigningKey } from '../../src/signing/keys.ts'
import { fixVersion, type ResolvedTemplate, resolveTemplate } from '../../src/templates/resolve.ts'
import { sealAgain } from '../../src/upkeep/seal-again.ts'
import { countCreation, countEnds } from '../../src/usage/outcomes.ts'
import { insertResult } from '../../src/verifications/end/answer-store.ts'
import { insertVerification } from '../../src/verifications/store.ts'
import { createTerms, termsOf } from '../../src/verifications/terms.ts'
import { enqueueDelivery } from '../../src/webhooks/queue.ts'
import { fixed, whole } from './output.ts'
import { environmentFor, makeTenant, type Tenant, temporaryDir } from './service.ts'

export type Filled = { dir: string; tenant: Tenant; ids: string[]; fillSeconds: number }

const BATCH_ROWS = 50_000
const SAMPLED_IDS_MAX = 5000
/** Keeps the indexes over random ids in memory while they grow. */
const FILL_CACHE_KIB = 1024 * 1024
const SPREAD_MS = 30 * 86_400_000
/** Older than any session lives: else the newest page of a large table would be pending, and that of a small one not. */
const NEWEST_AGE_MS = 2 * 3_600_000
const LIFETIME_MS = 300_000
const ANSWERED_AFTER_MS = 20_000
/** The till of every fifth session. */
export const DEVICE = '0194b3a0-0000-7000-8000-000000000001'

/** `owedTo`: every session is completed, and owes its result to one of these receivers in turn. */
export async function filledDir(rows: number, owedTo: string[] = []): Promise<Filled> {
  const dir = temporaryDir()
  const tenant = await makeTenant(dir)
  const config = { ...loadConfig(environmentFor(dir)), publicUrl: 'http://localhost:3000' }
  const deps = await createDeps(config, realWorld(), 'server')
  try {
    await ensureWrappingKey(deps)
    await ensureSigningKey(deps)
    // As at a first start: else the service would seal every session again while it is measured.
    await sealAgain(deps)
    return { dir, tenant, ...(await fill(deps, tenant.id, rows, owedTo)) }
  } finally {
    await deps.close()
  }
}

async function fill(deps: Deps, tenantId: string, rows: number, owedTo: string[]): Promise<Pick<Filled, 'ids' | 'fillSeconds'>> {
  const template = await resolveTemplate(deps.db, tenantId, 'age_over_18')
  if (!template) throw new Error('age_over_18 is built in')
  const session = { tenantId, template, owedTo, ...(await deps.identity(tenantId)) }
  const firstAt = deps.now() - NEWEST_AGE_MS - SPREAD_MS
  const timeOf = (number: number) => firstAt + Math.floor((number * SPREAD_MS) / rows)
  const sampleEvery = Math.ceil(rows / SAMPLED_IDS_MAX)
  const ids: string[] = []
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000

  for (let from = 0; from < rows; from += BATCH_ROWS) {
    const end = Math.min(rows, from + BATCH_ROWS)
    await deps.write(async tx => {
      await tx.run(sql.raw(`PRAGMA cache_size = -${FILL_CACHE_KIB}`))
      await fixVersion(tx, template.version, template)
      for (let number = from; number < end; number++) {
        const id = await insertOne(deps, tx, session, number, timeOf(number))
        if (number % sampleEvery === 0) ids.push(id)
      }
    })
    process.stderr.write(`filling: ${whole(end)} of ${whole(rows)} sessions, ${fixed(seconds(), 1)} s\n`)
  }
  return { ids, fillSeconds: seconds() }
}

type Session = RequestIdentity & { tenantId: string; template: ResolvedTemplate; owedTo: string[] }

async function insertOne(deps: Deps, tx: Db, session: Session, number: number, at: number): Promise<string> {
  const { tenantId, clientId, signingKeyId, template, owedTo } = session
  const url = owedTo[number % owedTo.length]
  const id = newVerificationId(deps.random)
  const wrappingKey = deps.sessionKeys.current()
  const sessionKey = deps.sessionKeys.derive(id, wrappingKey)
  const secrets = seal(deps, salt => SEALED.secrets({ id, tenantId }, salt, sessionKey), { ...SECRETS, webhook_url: url })
  const auditSeq = await deps.audit.append(tx, {
    at,
    tenantId,
    actor: 'vk_test_0000',
    action: 'verification.created',
    subjectId: id,
    details: { environment: 'test', template: 'age_over_18' },
    session: { id, wrappingKey, sessionKey },
  })
  // One value of its own, one that many share.
  const metadata = { order: `A-${number}`, till: `north ${number % 7}` }
  await insertVerification(tx, {
    id,
    tenantId,
    environment: 'test',
    deviceId: number % 5 === 0 ? DEVICE : null,
    keyId: `key_bench${number % 2}`,
    status: 'pending',
    template: number % 9 === 4 ? 'country' : 'age_over_18',
    templateVersion: template.version,
    profile: 'haip',
    clientId,
    signingKeyId,
    nonce: newNonce(deps.random),
    state: newNonce(deps.random),
    createdAt: at,
    expiresAt: at + LIFETIME_MS,
    auditSeq,
    idempotencyHash: null,
    respondedAt: null,
    salt: secrets.salt,
    sealed: url !== undefined || number % 2 === 0 ? secrets.sealed : null,
    sealedResponseKey: null,
    sealedDcRequests: null,
    sealedInPerson: null,
    release: null,
    answeredFrom: null,
    pageOwnerHash: null,
    loginClientId: null,
    isSameDevice: null,
    eraseAfter: null,
    fetchedAt: null,
    expirySeq: null,
    responseCodeHash: null,
    responseCodeExpiresAt: null,
    redeemedAt: null,
    wrappingKey,
    sealedQuery: null,
    ...termsOf(createTerms(deps), { tenantId, environment: 'test' }, metadata),
  })
  await countCreation(tx, { tenantId, environment: 'test' }, at)
  const status = url === undefined ? ENDINGS[number % ENDINGS.length]! : 'completed'
  const respondedAt = at + ANSWERED_AFTER_MS
  await endSession(tx).execute({ id, tenantId, status, respondedAt: status === 'expired' ? null : respondedAt })
  if (status !== 'expired') {
    const result = seal(deps, salt => SEALED.result({ id, tenantId }, salt, sessionKey), RESULTS[status])
    await insertResult(tx, { verificationId: id, tenantId, ...result, createdAt: respondedAt, auditSeq })
  }
  const isAnswered = status !== 'expired'
  await countEnds(tx, [
    {
      template: null,
      deviceId: null,
      tenantId,
      environment: 'test',
      outcome: status === 'failed' ? RESULTS.failed.error.code : status,
      at: isAnswered ? respondedAt : at + LIFETIME_MS,
      createdAt: at,
      respondedAt: isAnswered ? respondedAt : null,
    },
  ])
  if (url !== undefined)
    await enqueueDelivery(deps, tx, {
      tenantId,
      environment: 'test',
      verificationId: id,
      type: 'verification.completed',
      url,
      at: respondedAt,
      requestId: 'bench',
    })
  return id
}

/** Chosen by number, not at random: the newest page has the same mixture at every table size. */
const ENDINGS = [
  'completed',
  'completed',
  'completed',
  'expired',
  'completed',
  'completed',
  'failed',
  'completed',
  'expired',
] as const

const SECRETS = {
  redirect_url: 'https://shop.example/checkout/done?cart=6f1c2a',
  metadata: { order_id: 'A-2026-000417', till: 'north entrance 3', cashier: 'c0ffee17', cart: '3 items, 41.90 EUR' },
  purpose: 'To check that you are old enough to buy this',
}

const CLAIMS = { age_over_18: true, issuing_country: 'DE' }
const RESULTS = {
  completed: {
    claims: CLAIMS,
    credentials: [
      {
        format: 'mso_mdoc',
        doctype_or_vct: 'org.iso.18013.5.1.mDL',
        claims: CLAIMS,
        issuer: { common_name: 'Example Issuing Authority', country: 'DE' },
        trusted: true,
        signature_valid: true,
        holder_binding_valid: true,
        findings: [],
      },
    ],
  },
  failed: { error: { code: 'wallet_error', message: 'The holder declined the request.' } },
} as const

function seal({ sealer, random }: Deps, place: (salt: Uint8Array) => Place, value: object): { salt: Buffer; sealed: Buffer } {
  const salt = Buffer.from(random(SALT_BYTES))
  return { salt, sealed: sealer.seal(place(salt), JSON.stringify(value)) }
}

const column = <Name extends string>(name: Name) => sql.placeholder(name)

const endSession = prepared(db =>
  db
    .update(verificationSessions)
    .set({ status: sql`${column('status')}`, respondedAt: sql`${column('respondedAt')}` })
    .where(and(eq(verificationSessions.id, column('id')), eq(verificationSessions.tenantId, column('tenantId'))))
    .prepare(),
)
