import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../db/engine.ts'
import { oidcLogins } from '../db/schema/oidc.ts'
import { column, hot, wholeRow } from '../db/statements.ts'

export type LoginRow = typeof oidcLogins.$inferSelect

const whole = wholeRow(oidcLogins)

const selectBy = (name: 'id' | 'codeHash' | 'tokenHash') => {
  const select = hot<Record<string, unknown>>(db =>
    db
      .select(whole.columns)
      .from(oidcLogins)
      .where(eq(oidcLogins[name], column('value'))),
  )
  return async (db: Db, value: string): Promise<LoginRow | undefined> => {
    const [row] = await select(db, { value })
    return row && whole.read(row)
  }
}

export const findLogin = selectBy('id')
export const findLoginByCode = selectBy('codeHash')
export const findLoginByToken = selectBy('tokenHash')

type NewLogin = Pick<
  LoginRow,
  'id' | 'tenantId' | 'verificationId' | 'clientId' | 'subject' | 'createdAt' | 'browserHash' | 'salt' | 'sealed'
>

const insert = hot(db =>
  db.insert(oidcLogins).values({
    id: column('id'),
    tenantId: column('tenantId'),
    verificationId: column('verificationId'),
    clientId: column('clientId'),
    subject: column('subject'),
    createdAt: column('createdAt'),
    browserHash: column('browserHash'),
    salt: column('salt'),
    sealed: column('sealed'),
  }),
)

export async function insertLogin(tx: Db, row: NewLogin): Promise<void> {
  await insert(tx, row)
}

const isThis = () => and(eq(oidcLogins.id, column('id')), eq(oidcLogins.tenantId, column('tenantId')))
const isOne = ({ id, tenantId }: LoginRow) => and(eq(oidcLogins.id, id), eq(oidcLogins.tenantId, tenantId))

type Ended = Partial<Pick<LoginRow, 'codeHash' | 'codeExpiresAt' | 'sealedSub'>>

const end = hot<{ id: string }>(db =>
  db
    .update(oidcLogins)
    .set({
      endedAt: sql`${column('endedAt')}`,
      codeHash: sql`${column('codeHash')}`,
      codeExpiresAt: sql`${column('codeExpiresAt')}`,
      sealedSub: sql`${column('sealedSub')}`,
    })
    .where(and(isThis(), isNull(oidcLogins.endedAt)))
    .returning({ id: oidcLogins.id }),
)

/** True for the one return to the client, with a code or without. */
export async function endLogin(tx: Db, login: LoginRow, endedAt: number, code: Ended = {}): Promise<boolean> {
  const { id, tenantId } = login
  return (await end(tx, { id, tenantId, endedAt, codeHash: null, codeExpiresAt: null, sealedSub: null, ...code })).length > 0
}

type Spent = Partial<Pick<LoginRow, 'tokenHash' | 'tokenExpiresAt'>>

const spend = hot<{ id: string }>(db =>
  db
    .update(oidcLogins)
    .set({
      codeUsedAt: sql`${column('codeUsedAt')}`,
      tokenHash: sql`${column('tokenHash')}`,
      tokenExpiresAt: sql`${column('tokenExpiresAt')}`,
    })
    .where(and(isThis(), isNull(oidcLogins.codeUsedAt)))
    .returning({ id: oidcLogins.id }),
)

/** True for the one use of a code, with a token or in vain. */
export async function spendCode(tx: Db, login: LoginRow, codeUsedAt: number, token: Spent = {}): Promise<boolean> {
  const { id, tenantId } = login
  return (await spend(tx, { id, tenantId, codeUsedAt, tokenHash: null, tokenExpiresAt: null, ...token })).length > 0
}

export async function revokeToken(tx: Db, login: LoginRow, tokenRevokedAt: number): Promise<void> {
  await tx
    .update(oidcLogins)
    .set({ tokenRevokedAt })
    .where(and(isOne(login), isNull(oidcLogins.tokenRevokedAt)))
}
