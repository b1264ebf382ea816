import { Errors } from '@sinclair/typebox/errors'
import type { Setting } from '../audit/deps.ts'
import { equalConstantTime, sha256Hex } from '../base/hash.ts'
import { newClientId, newSecret } from '../base/ids.ts'
import type { Db } from '../db/engine.ts'
import type { Configured, Reading, Sealing } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import { describeProblem } from '../http/schema.ts'
import { presentTemplate } from '../templates/present.ts'
import { readTemplates, withAliases } from '../templates/read.ts'
import { readTenant } from '../tenants/settings.ts'
import {
  type ClientRow,
  countClients,
  countWithAccounts,
  deleteClient,
  deleteSecret,
  findClient,
  type Issuer,
  insertClient,
  insertSecret,
  listClients,
  listSecrets,
  lockClient,
  retireSecret,
  updateClient,
} from './client-store.ts'
import { prepareIssuer } from './keys.ts'
import { isValid, presentClient } from './present.ts'
import { redirectUriProblem } from './redirect-uri.ts'
import { type Client, ClientChanges, NewClient } from './schema.ts'

const CLIENTS_MAX = 50
const SECRET_PREFIX = 'ocs_'
const SECRET_CHARS = 40
const SHOWN_CHARS = 12
const SUBJECT_OF_CLAIM = 'claim:'

/** How long a rolled secret keeps working beside its successor. */
export const SECRET_GRACE_MS = { now: 0, '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 } as const
export type SecretGrace = keyof typeof SECRET_GRACE_MS

const DEFAULTS = {
  name: '',
  redirect_uris: [],
  templates: [],
  auth: 'client_secret',
  id_token_alg: 'RS256',
  pkce: 'required',
  subject: 'session',
  purpose: null,
  id_token_claims: 0,
  cross_device: 'allowed',
  logins_per_hour: 200,
  keep_results: 0,
  lastLoginAt: null,
  lastRefusal: null,
} satisfies Partial<ClientRow>

type ClientDeps = Reading & Sealing & Setting & Configured

/** The secret is shown once; a client without one has none. */
export type ClientWithSecret = Client & { client_secret?: string }

export async function createClient(
  deps: ClientDeps,
  issuer: Issuer,
  wanted: NewClient,
  actor: string,
): Promise<ClientWithSecret> {
  refuseInvalid(NewClient, wanted)
  const at = deps.now()
  const row = withChanges({ ...DEFAULTS, ...issuer, id: newClientId(deps.random, issuer.environment), createdAt: at }, wanted)
  await refuseUnfit(deps.db, row)
  const makeIssuer = await prepareIssuer(deps, issuer)
  const secret = row.auth === 'client_secret' ? mint(deps, at) : undefined
  await deps.writeSettings(async tx => {
    await makeIssuer(tx)
    if ((await countClients(tx, issuer)) >= CLIENTS_MAX) throw apiError('too_many_clients')
    await insertClient(tx, row)
    if (secret) await insertSecret(tx, row, secret.row)
    await record(deps, tx, row, { at, actor, action: 'client.created', details: describe(row) })
  })
  return { ...(await present(deps, row)), ...(secret && { client_secret: secret.text }) }
}

/** Across devices an age is safe, and an account is not: whoever passes on a QR code could take it. */
const crossDeviceFor = (subject: string): ClientRow['cross_device'] => (subject === 'session' ? 'allowed' : 'refused')

export async function readClients(deps: Reading & Configured, tenantId: string): Promise<Client[]> {
  return await Promise.all((await listClients(deps.db, tenantId)).map(row => present(deps, row)))
}

/** Undefined when the tenant, if one is named, has no such client. */
export async function readClient(deps: Reading & Configured, id: string, tenantId?: string): Promise<Client | undefined> {
  const row = await findClient(deps.db, id)
  return row && (tenantId === undefined || row.tenantId === tenantId) ? await present(deps, row) : undefined
}

/** Clients whose people have accounts, by a claim. */
export const countAccountClients = async ({ db }: Reading): Promise<number> => await countWithAccounts(db)

/** `confirm`: with another subject everybody has another name, once somebody has logged in. */
export async function changeClient(
  deps: ClientDeps,
  id: string,
  changes: ClientChanges & { confirm?: 'rename' },
  actor: string,
): Promise<Client> {
  const { confirm, ...given } = changes
  refuseInvalid(ClientChanges, given)
  const at = deps.now()
  const changed = await deps.writeSettings(async tx => {
    const old = await lockClient(tx, id)
    if (!old) throw apiError('client_not_found')
    const row = withChanges(old, given)
    await refuseUnfit(tx, row)
    if (row.subject !== old.subject && old.lastLoginAt !== null && confirm !== 'rename') throw apiError('rename_needed')
    await updateClient(tx, row)
    if (row.auth === 'none') for (const secret of await listSecrets(tx, id)) await deleteSecret(tx, secret.id)
    await record(deps, tx, row, { at, actor, action: 'client.changed', details: describe(row) })
    return row
  })
  return await present(deps, changed)
}

function withChanges(old: ClientRow, { id_token_claims, keep_results, ...given }: ClientChanges): ClientRow {
  const { subject = old.subject } = given
  return {
    ...old,
    cross_device: subject === old.subject ? old.cross_device : crossDeviceFor(subject),
    ...given,
    ...(id_token_claims !== undefined && { id_token_claims: Number(id_token_claims) }),
    ...(keep_results !== undefined && { keep_results: Number(keep_results) }),
  }
}

/** The newest secret keeps working for the grace; an older one ends at once. */
export async function rollSecret(deps: ClientDeps, id: string, grace: SecretGrace, actor: string): Promise<ClientWithSecret> {
  const at = deps.now()
  const minted = mint(deps, at)
  const row = await deps.writeSettings(async tx => {
    const client = await lockClient(tx, id)
    if (!client) throw apiError('client_not_found')
    if (client.auth === 'none') throw apiError('invalid_request', { message: 'auth: a client with "none" has no secret' })
    const [newest, ...older] = await listSecrets(tx, id)
    for (const secret of older) await deleteSecret(tx, secret.id)
    if (newest && grace === 'now') await deleteSecret(tx, newest.id)
    else if (newest) await retireSecret(tx, newest.id, Math.min(newest.expiresAt ?? Infinity, at + SECRET_GRACE_MS[grace]))
    await insertSecret(tx, client, minted.row)
    const details = { environment: client.environment, name: client.name, prefix: minted.row.prefix, old_expires: grace }
    await record(deps, tx, client, { at, actor, action: 'client.secret_rolled', details })
    return client
  })
  return { ...(await present(deps, row)), client_secret: minted.text }
}

/** Its open log-ins, codes and tokens end with it: each use looks the client up. */
export async function removeClient(deps: Setting, id: string, actor: string): Promise<{ id: string; removed: true }> {
  const at = deps.now()
  await deps.writeSettings(async tx => {
    const row = await lockClient(tx, id)
    if (!row) throw apiError('client_not_found')
    await deleteClient(tx, id)
    await record(deps, tx, row, {
      at,
      actor,
      action: 'client.removed',
      details: { environment: row.environment, name: row.name },
    })
  })
  return { id, removed: true }
}

/** True for a secret of the client that is valid; all are compared. */
export async function hasSecret({ db, now }: Reading, clientId: string, secret: string): Promise<boolean> {
  const hash = sha256Hex(secret)
  const secrets = await listSecrets(db, clientId)
  return secrets.filter(each => equalConstantTime(each.hash, hash) && isValid(each, now())).length > 0
}

function mint({ random }: Sealing, at: number) {
  const text = newSecret(random, SECRET_PREFIX, SECRET_CHARS)
  return { text, row: { hash: sha256Hex(text), prefix: text.slice(0, SHOWN_CHARS), createdAt: at, expiresAt: null } }
}

const present = async ({ db, config, now }: Reading & Configured, row: ClientRow): Promise<Client> =>
  presentClient(config, row, await listSecrets(db, row.id), now())

const describe = ({ tenantId: _, id, createdAt, lastLoginAt, lastRefusal, ...settings }: ClientRow) => settings

type Recorded = {
  at: number
  actor: string
  action: 'client.created' | 'client.changed' | 'client.secret_rolled' | 'client.removed'
}

async function record(
  { audit }: Setting,
  tx: Db,
  { id, tenantId }: ClientRow,
  entry: Recorded & { details: object },
): Promise<void> {
  await audit.append(tx, { ...entry, tenantId, subjectId: id, details: { ...entry.details } })
}

function refuseInvalid(schema: typeof NewClient | typeof ClientChanges, given: NewClient | ClientChanges): void {
  const problem = Errors(schema, given).First()
  if (problem) throw apiError('invalid_request', { message: describeProblem(problem) })
}

async function refuseUnfit(db: Db, row: ClientRow): Promise<void> {
  if (row.pkce === 'optional' && row.auth === 'none')
    throw apiError('invalid_request', { message: 'pkce: "optional" is for clients with a secret only' })
  const tenant = await readTenant(db, row.tenantId)
  if (!tenant) throw apiError('tenant_not_found')
  for (const uri of row.redirect_uris) {
    const problem = redirectUriProblem(uri, { ...row, appSchemes: tenant.appSchemes ?? [] })
    if (problem) throw apiError('invalid_redirect_uri', { message: `redirect_uris: ${uri.slice(0, 200)}: ${problem}` })
  }
  const known = withAliases(await readTemplates({ db }, row.tenantId))
  for (const key of row.templates) {
    const template = known.find(each => each.key === key)
    if (!template) throw apiError('unknown_template', { message: `templates: there is no template ${key.slice(0, 64)}` })
    const problem = subjectProblem(row.subject, presentTemplate(template).claims)
    if (problem) throw apiError('invalid_request', { message: `subject: ${problem}, in the template ${key}` })
  }
}

/** Not unique, or not a person's for ever. */
const NO_SUBJECT =
  /name|date|birth|^age_|^sex$|^gender$|address|resident|street|postal|locality|country|region|nationalit|place|^issuing_|email|phone|expiry|portrait|picture|signature/

function subjectProblem(subject: string, claims: readonly string[]): string | undefined {
  if (!subject.startsWith(SUBJECT_OF_CLAIM)) return undefined
  const name = subject.slice(SUBJECT_OF_CLAIM.length)
  if (NO_SUBJECT.test(name)) return `${name} is not unique, or not one person's for ever; use personal_administrative_number`
  return claims.includes(name) ? undefined : `${name} is not asked for`
}
