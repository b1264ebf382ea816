// Issuers, and their clients with their secrets.
import { and, asc, count, desc, eq, isNotNull, ne, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { oidcClientSecrets, oidcClients, oidcIssuers } from '../db/schema/oidc.ts'
import { column, hot, locked, prepared, wholeRow } from '../db/statements.ts'

export type IssuerRow = typeof oidcIssuers.$inferSelect
export type ClientRow = typeof oidcClients.$inferSelect
export type SecretRow = typeof oidcClientSecrets.$inferSelect

/** Test and live are two issuers. */
export type Issuer = Pick<IssuerRow, 'tenantId' | 'environment'>

const selectIssuer = prepared(db =>
  db
    .select()
    .from(oidcIssuers)
    .where(
      and(eq(oidcIssuers.tenantId, sql.placeholder('tenantId')), eq(oidcIssuers.environment, sql.placeholder('environment'))),
    )
    .prepare(),
)

export async function findIssuer(db: Db, { tenantId, environment }: Issuer): Promise<IssuerRow | undefined> {
  const [row] = await selectIssuer(db).execute({ tenantId, environment })
  return row
}

export async function listIssuers(db: Db): Promise<IssuerRow[]> {
  return await db.select().from(oidcIssuers).orderBy(asc(oidcIssuers.tenantId), asc(oidcIssuers.environment))
}

export async function insertIssuer(tx: Db, row: IssuerRow): Promise<void> {
  await tx.insert(oidcIssuers).values(row)
}

export async function updateIssuerSealed(tx: Db, { tenantId, environment }: Issuer, sealed: Buffer): Promise<void> {
  await tx
    .update(oidcIssuers)
    .set({ sealed })
    .where(and(eq(oidcIssuers.tenantId, tenantId), eq(oidcIssuers.environment, environment)))
}

const whole = wholeRow(oidcClients)
const JSON_COLUMNS = ['redirect_uris', 'templates', 'lastRefusal'] as const

const selectClient = hot<Record<string, unknown>>(db =>
  db
    .select(whole.columns)
    .from(oidcClients)
    .where(eq(oidcClients.id, column('id'))),
)

/** In every request of a log-in. */
export async function findClient(db: Db, id: string): Promise<ClientRow | undefined> {
  const [row] = await selectClient(db, { id })
  if (!row) return undefined
  for (const name of JSON_COLUMNS) if (row[name] !== null) row[name] = JSON.parse(row[name] as string)
  return whole.read(row)
}

export async function lockClient(tx: Db, id: string): Promise<ClientRow | undefined> {
  const [row] = await locked(tx.select().from(oidcClients).where(eq(oidcClients.id, id)), 'no key update')
  return row
}

/** Oldest first. */
export async function listClients(db: Db, tenantId: string): Promise<ClientRow[]> {
  return await db
    .select()
    .from(oidcClients)
    .where(eq(oidcClients.tenantId, tenantId))
    .orderBy(asc(oidcClients.createdAt), asc(oidcClients.id))
}

/** Those that know people by a claim, and had a log-in. */
export async function countWithAccounts(db: Db): Promise<number> {
  return await db.$count(oidcClients, and(ne(oidcClients.subject, 'session'), isNotNull(oidcClients.lastLoginAt)))
}

export async function countClients(db: Db, { tenantId, environment }: Issuer): Promise<number> {
  const [row] = await db
    .select({ all: count() })
    .from(oidcClients)
    .where(and(eq(oidcClients.tenantId, tenantId), eq(oidcClients.environment, environment)))
  return row?.all ?? 0
}

export async function insertClient(tx: Db, row: ClientRow): Promise<void> {
  await tx.insert(oidcClients).values(row)
}

export async function updateClient(tx: Db, { id, ...changes }: ClientRow): Promise<void> {
  await tx.update(oidcClients).set(changes).where(eq(oidcClients.id, id))
}

export async function deleteClient(tx: Db, id: string): Promise<void> {
  await tx.delete(oidcClientSecrets).where(eq(oidcClientSecrets.clientId, id))
  await tx.delete(oidcClients).where(eq(oidcClients.id, id))
}

const setLoggedIn = hot(db =>
  db
    .update(oidcClients)
    .set({ lastLoginAt: sql`${column('at')}` })
    .where(eq(oidcClients.id, column('id'))),
)

export async function markLoggedIn(tx: Db, id: string, at: number): Promise<void> {
  await setLoggedIn(tx, { id, at })
}

export async function markRefused(tx: Db, id: string, lastRefusal: NonNullable<ClientRow['lastRefusal']>): Promise<void> {
  await tx.update(oidcClients).set({ lastRefusal }).where(eq(oidcClients.id, id))
}

const wholeSecret = wholeRow(oidcClientSecrets)

const selectSecrets = hot<Record<string, unknown>>(db =>
  db
    .select(wholeSecret.columns)
    .from(oidcClientSecrets)
    .where(eq(oidcClientSecrets.clientId, column('clientId')))
    .orderBy(desc(oidcClientSecrets.id)),
)

/** Newest first. */
export async function listSecrets(db: Db, clientId: string): Promise<SecretRow[]> {
  return (await selectSecrets(db, { clientId })).map(wholeSecret.read)
}

type NewSecret = Omit<SecretRow, 'id' | 'clientId' | 'tenantId'>

export async function insertSecret(tx: Db, { id: clientId, tenantId }: ClientRow, secret: NewSecret): Promise<void> {
  await tx.insert(oidcClientSecrets).values({ clientId, tenantId, ...secret })
}

export async function retireSecret(tx: Db, id: number, expiresAt: number): Promise<void> {
  await tx.update(oidcClientSecrets).set({ expiresAt }).where(eq(oidcClientSecrets.id, id))
}

export async function deleteSecret(tx: Db, id: number): Promise<void> {
  await tx.delete(oidcClientSecrets).where(eq(oidcClientSecrets.id, id))
}
