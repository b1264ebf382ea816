// An installation with a row of every kind, as this folder keeps one of each release (keep.ts), and what its clients know.
import { decodeProtectedHeader } from 'jose'
import { linkEntries } from '../../src/audit/link.ts'
import type { WebhookSecret } from '../../src/dashboard/developers/webhooks/schema.ts'
import type { SEALED } from '../../src/db/sealed-columns.ts'
import type { HalfLogin, WithRecoveryCodes } from '../../src/people/security-schema.ts'
import { draftAddress } from '../../src/people/users/addresses.ts'
import { findUserId } from '../../src/people/users/users.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { type Answer, createVerification, type startApp, type TestApp, until } from '../helpers/app.ts'
import { sign } from '../helpers/audited.ts'
import { codeAt } from '../helpers/authenticator-app.ts'
import { type Browser, openBrowser, PASSWORD, setUpOwner } from '../helpers/dashboard.ts'
import { ask, listOrigin } from '../helpers/dc.ts'
import { pair } from '../helpers/devices.ts'
import { openSession } from '../helpers/exchange.ts'
import { forgeSigner, trust } from '../helpers/forger.ts'
import { PHONE_CODE } from '../helpers/id-routes.ts'
import { scan } from '../helpers/in-person.ts'
import { answerLogin, begin, comeBack, makeClient } from '../helpers/oidc.ts'
import { receive, startAppFor } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

export const OWNER = 'olivia'
export const TEMPLATE = 'membership'
export const ANCHOR = 'Club'
export const ORDER = { metadata: { order: 'A-1' }, template: 'age_over_18' }
export const IDEMPOTENCY_KEY = 'order-A-1-0001'
export const RECEIVED = 'thank you'
const QUERY = {
  credentials: [
    { id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: [{ path: ['family_name'] }] },
  ],
} as const

/** Where a row of each kind is. A new kind of sealed column needs one here. */
export const ROWS: Record<keyof typeof SEALED, string> = {
  secrets: 'verification_sessions WHERE length(sealed) > 0',
  query: 'verification_sessions WHERE length(sealed_query) > 0',
  responseKey: 'verification_sessions WHERE length(sealed_response_key) > 0',
  dcRequests: 'verification_sessions WHERE length(sealed_dc_requests) > 0',
  inPerson: 'verification_sessions WHERE length(sealed_in_person) > 0',
  fetches: 'verification_sessions WHERE length(sealed_fetches) > 0',
  result: 'verification_results',
  portrait: 'portraits',
  event: 'verification_events WHERE length(sealed) > 0',
  replay: 'idempotency_keys WHERE length(sealed) > 0',
  attempt: 'webhook_attempts WHERE length(sealed) > 0',
  auditDetails: 'audit_records WHERE length(sealed) > 0',
  webhookEndpoint: 'webhook_endpoints',
  webhookSecret: 'webhook_secrets',
  signingKey: 'signing_keys WHERE length(sealed) > 0',
  oidcIssuer: 'oidc_issuers',
  oidcKey: 'oidc_keys',
  login: 'oidc_logins',
  loginSub: 'oidc_logins WHERE length(sealed_sub) > 0',
  mailAddress: 'mail_addresses',
  totp: 'dashboard_users WHERE length(totp_sealed) > 0',
  signIn: 'sign_ins WHERE length(sealed) > 0',
  sandboxIssuer: "installation WHERE name = 'sandbox_issuer'",
  rootKey: "installation WHERE name = 'root_key'",
}

export type Facts = Awaited<ReturnType<typeof makeInstallation>>

/** Stopped when it returns. */
export async function makeInstallation(options: Parameters<typeof startApp>[0]) {
  const receiver = receive(() => new Response(RECEIVED))
  const app = await startAppFor([receiver], options)
  const { id: tenant, key } = await app.tenant()
  const at = `/tenants/${tenant}`
  const boss = await setUpOwner(app, OWNER)
  const endpoint = receiver.url('/hook')
  expectOk(await boss.put(`${at}/webhook-endpoint?environment=test`, { webhook_url: endpoint }))
  const { webhook_secret } = expectOk(await boss.post<WebhookSecret>(`${at}/webhook-secret/reveal?environment=test`))
  const { secret, recovery } = await addCodes(app, boss)
  await draftAddress(app.deps, (await findUserId(app.deps, OWNER)) ?? '', { address: 'olivia@shop.example', language: 'en' })
  await saveTemplate(app.deps, { tenantId: tenant, key: TEMPLATE, title: 'Member', query: QUERY }, 'test')
  await trust(app, await forgeSigner(), { label: ANCHOR })
  await listOrigin(app, tenant)

  // Four sessions: answered with a portrait and reported, fetched by a wallet, asked for by the page of a shop, and by a till
  // that scanned the code of a phone.
  const reported = { template: 'age_over_18_photo', purpose: 'to sell a bottle', metadata: { order: 'A-0' } }
  const { id, claims = {} } = (await verifyWith(app, key, 'adult', { body: reported })).verification
  const delivery = await untilDelivered(boss, at, id)
  const { request, created: pending } = await openSession({ app, key }, { query: QUERY })
  // A second wallet: what it said is kept beside the first.
  await app.call('GET', `/wallet/request/${pending.id}`)
  const headers = { 'idempotency-key': IDEMPOTENCY_KEY }
  const ordered = expectOk(await app.call<Verification>('POST', '/v1/verifications', { key, body: ORDER, headers }))
  const { requests } = expectOk(await ask(app, ordered.id))
  const scanned = await createVerification(app, key)
  const { message } = expectOk(await scan({ app, key }, scanned.id, PHONE_CODE))
  const { access_token, refresh_token } = await pair(app, key)

  // A log-in that brought its code back.
  const party = await makeClient({ app, tenant })
  const begun = await begin(party)
  await comeBack(begun, await answerLogin(party, begun))

  const chain = await chainOf(app, pending.id)
  const sandbox = await sandboxOf(app)
  await linkEntries(app.deps)
  const signedTo = await sign(app)
  await app.stop()
  return {
    madeAt: app.clock.now(),
    tenant,
    key,
    endpoint,
    webhookSecret: webhook_secret,
    totpSecret: secret,
    recoveryCode: recovery[0]!,
    completed: { id, claims: Object.keys(claims), delivery },
    pending: { id: pending.id, request },
    ordered: { id: ordered.id, requests },
    scanned: { id: scanned.id, code: PHONE_CODE, message },
    device: { access_token, refresh_token },
    chain,
    sandbox,
    signedTo,
  }
}

function expectOk<Body>({ status, text, body }: Answer<Body>): Exclude<Body, undefined> {
  if (status >= 300) throw new Error(`${status} ${text}`)
  return body as Exclude<Body, undefined>
}

/** Certificates of the key that signs the requests for wallets. */
export async function chainOf(app: TestApp, id: string): Promise<string[]> {
  const { text } = await app.call('GET', `/wallet/request/${id}`)
  return decodeProtectedHeader(text).x5c ?? []
}

/** The root that signs the documents of the sandbox, as PEM. */
export const sandboxOf = async ({ deps }: TestApp): Promise<string> => (await deps.sandbox()).issuer.anchorPem

async function addCodes(app: TestApp, boss: Browser): Promise<{ secret: string; recovery: string[] }> {
  const { secret } = expectOk(await boss.post<{ secret: string }>('/security/codes'))
  const code = await codeAt(secret, app.clock.now())
  const { recovery_codes } = expectOk(await boss.post<WithRecoveryCodes>('/security/codes/start', { code }))
  return { secret, recovery: recovery_codes! }
}

/** With the password and a code of either kind. */
export async function logIn(app: TestApp, code: string, browser = openBrowser(app)): Promise<Answer> {
  const half = await browser.post<HalfLogin>('/login', { name: OWNER, password: PASSWORD })
  if (half.status !== 202) return half
  return await browser.post('/login/second-factor', { ticket: half.body.ticket, code })
}

/** The id of a verification's delivery, once the receiver has answered. */
async function untilDelivered(boss: Browser, at: string, verification: string): Promise<string> {
  type Page = { data: { id: string; status: string }[] }
  let id = ''
  await until(async () => {
    const { body } = await boss.get<Page>(`${at}/deliveries?environment=test&verification=${verification}`)
    id = body.data[0]?.id ?? ''
    return body.data[0]?.status === 'delivered'
  })
  return id
}
