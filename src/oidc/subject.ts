// The name of a person for a client: another one each time, or the same for the same claim of the same authority.
import { newNonce } from '../base/ids.ts'
import type { Db } from '../db/engine.ts'
import type { Result } from '../verifications/portraits.ts'
import type { Deps } from './deps.ts'
import type { LoginRow } from './login-store.ts'

type Presented = { login: LoginRow; session: { id: string; tenantId: string }; result: Result }

/** Undefined when the claim is missing. */
export async function subjectOf(deps: Deps, _tx: Db, { login }: Presented): Promise<string | undefined> {
  if (login.subject === 'session') return newNonce(deps.random)
  return undefined
}
