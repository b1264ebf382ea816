import { and, eq, isNull } from 'drizzle-orm'
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

export async function insertLogin(tx: Db, row: LoginRow): Promise<void> {
  await tx.insert(oidcLogins).values(row)
}

const isOne = ({ id, tenantId }: LoginRow) => and(eq(oidcLogins.id, id), eq(oidcLogins.tenantId, tenantId))

type Ended = Partial<Pick<LoginRow, 'codeHash' | 'codeExpiresAt' | 'sealedSub'>>

/** True for the one return to the client, with a code or without. */
export async function endLogin(tx: Db, login: LoginRow, endedAt: number, code: Ended = {}): Promise<boolean> {
  const ended = await tx
    .update(oidcLogins)
    .set({ endedAt, ...code })
    .where(and(isOne(login), isNull(oidcLogins.endedAt)))
    .returning({ id: oidcLogins.id })
  return ended.length > 0
}

type Spent = Partial<Pick<LoginRow, 'tokenHash' | 'tokenExpiresAt'>>

/** True for the one use of a code, with a token or in vain. */
export async function spendCode(tx: Db, login: LoginRow, codeUsedAt: number, token: Spent = {}): Promise<boolean> {
  const spent = await tx
    .update(oidcLogins)
    .set({ codeUsedAt, ...token })
    .where(and(isOne(login), isNull(oidcLogins.codeUsedAt)))
    .returning({ id: oidcLogins.id })
  return spent.length > 0
}

export async function revokeToken(tx: Db, login: LoginRow, tokenRevokedAt: number): Promise<void> {
  await tx
    .update(oidcLogins)
    .set({ tokenRevokedAt })
    .where(and(isOne(login), isNull(oidcLogins.tokenRevokedAt)))
}
