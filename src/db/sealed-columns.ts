// Every sealed column, and what names a row of it. Text opens only in the place it was sealed for (seal.ts).
import type { Place } from '../base/seal.ts'

type Row = { id: string; tenantId: string }
type Owner = { tenantId: string; environment: string }

const ofTenant =
  (table: string, column = 'sealed') =>
  ({ id, tenantId }: Row, salt: Uint8Array, sessionKey?: Uint8Array): Place => ({
    tenant: tenantId,
    table,
    column,
    row: id,
    salt,
    sessionKey,
  })

/** The key is required: text without it would outlive the erasure of its session. */
const ofSession: (table: string, column?: string) => (row: Row, salt: Uint8Array, sessionKey: Uint8Array) => Place = ofTenant
/** A few rows of these tables belong to no session, or to one that was erased meanwhile. */
const ofSessionIfAny: (table: string) => (row: Row, salt: Uint8Array, sessionKey: Uint8Array | undefined) => Place = ofTenant

const ofInstallation =
  (table: string, column = 'sealed') =>
  (row: string, salt: Uint8Array): Place => ({ tenant: '', table, column, row, salt })

/** Named values of the installation have no salt of their own. */
const named = (row: string): Place => ofInstallation('installation', 'value')(row, Buffer.from(row))

const webhookEndpoint = ofTenant('webhook_endpoints')
const webhookSecret = ofTenant('webhook_secrets')
const oidcIssuer = ofTenant('oidc_issuers')
const signIn = ofInstallation('sign_ins')

export const SEALED = {
  /** What a creation gives besides its query. */
  secrets: ofSession('verification_sessions'),
  query: ofSession('verification_sessions', 'sealed_query'),
  responseKey: ofSession('verification_sessions', 'sealed_response_key'),
  dcRequests: ofSession('verification_sessions', 'sealed_dc_requests'),
  inPerson: ofSession('verification_sessions', 'sealed_in_person'),
  fetches: ofSession('verification_sessions', 'sealed_fetches'),
  result: ofSession('verification_results'),
  portrait: ofSession('portraits'),
  event: ofSession('verification_events'),
  /** The answer to a creation, by the hash of its key. */
  replay: ofSession('idempotency_keys'),
  /** What a receiver answered, by the id of the delivery. */
  attempt: ofSessionIfAny('webhook_attempts'),
  auditDetails: ofSessionIfAny('audit_records'),
  webhookEndpoint: ({ tenantId, environment }: Owner, salt: Uint8Array) => webhookEndpoint({ id: environment, tenantId }, salt),
  webhookSecret: ({ tenantId, environment }: Owner, salt: Uint8Array) =>
    webhookSecret({ id: `${tenantId} ${environment}`, tenantId }, salt),
  signingKey: ofInstallation('signing_keys'),
  /** The secret of `sub`. */
  oidcIssuer: ({ tenantId, environment }: Owner, salt: Uint8Array) => oidcIssuer({ id: environment, tenantId }, salt),
  oidcKey: ofTenant('oidc_keys'),
  login: ofSession('oidc_logins'),
  loginSub: ofSession('oidc_logins', 'sealed_sub'),
  mailAddress: ofInstallation('mail_addresses'),
  totp: ofInstallation('dashboard_users', 'totp_sealed'),
  /** The row has no id before it is stored: its salt stands for it. */
  signIn: (salt: Uint8Array) => signIn(Buffer.from(salt).toString('hex'), salt),
  sandboxIssuer: named('sandbox_issuer'),
  rootKey: named('root_key'),
}
