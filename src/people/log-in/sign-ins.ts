// Every sign-in, and every attempt that was refused: on the audit chain for good, in the log, and for
// 90 days in a table that the page Security shows. The name as it was typed is kept in that table
// only, sealed: people type passwords into the field of the name.
import type { Audited } from '../../audit/deps.ts'
import { SALT_BYTES } from '../../base/seal.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Making, Reading, Reporting, Sealing, Unsealing, Writing } from '../../ground.ts'
import type { SignIn } from '../security-schema.ts'
import { actorOf, tenantIdOf } from '../session.ts'
import type { UserRow } from '../store.ts'
import { networkOf } from './network.ts'
import { deleteSignInsUntil, insertSignIn, listSignIns, listSignInsAfter, updateSignIn } from './sign-in-store.ts'

const KEPT_MS = 90 * 86_400_000
const AGENT_CHARS_MAX = 160
const NAME_CHARS_MAX = 128
/** The subject of audit records about names that nobody has. */
const NOBODY = 'nobody'

/** `client`: the network, as budgets count it. `agent`, `origin`, `cookies`: headers. */
export type Browser = { client: string; address: string; agent: string | null; origin: string | null; cookies: string | null }

export type Method = 'setup' | 'link' | 'password' | 'passkey' | `password+${'code' | 'recovery_code' | 'passkey'}`
export type Failure = 'unknown_name' | 'wrong_password' | 'wrong_second_factor' | 'wrong_passkey'

type SealedSignIn = { name: string; method: string; network: string; agent: string }

type RecordDeps = Making & Sealing & Audited

/** Called inside the transaction of the log-in. */
export async function recordSignIn(deps: RecordDeps, tx: Db, user: UserRow, method: Method, browser: Browser): Promise<void> {
  const at = deps.now()
  const network = networkOf(browser.address)
  await insertSignIn(tx, sealed(deps, { at, userId: user.id, outcome: 'signed_in' }, keptOf(user.name, method, browser)))
  await deps.audit.append(tx, {
    at,
    tenantId: tenantIdOf(user),
    actor: actorOf(user),
    action: 'user.logged_in',
    subjectId: user.id,
    details: { name: user.name, method, network },
  })
}

type Refused = { name: string; user: UserRow | undefined; outcome: Failure; method: string; browser: Browser }

export async function recordFailure(
  deps: RecordDeps & Writing & Reporting,
  { name, user, outcome, method, browser }: Refused,
): Promise<void> {
  const at = deps.now()
  const network = networkOf(browser.address)
  await deps.write(async tx => {
    await insertSignIn(tx, sealed(deps, { at, userId: user?.id ?? null, outcome }, keptOf(name, method, browser)))
    await deps.audit.append(tx, {
      at,
      tenantId: user ? tenantIdOf(user) : '',
      actor: user ? actorOf(user) : 'dashboard',
      action: 'user.login_failed',
      subjectId: user?.id ?? NOBODY,
      details: { ...(user && { name: user.name }), reason: outcome, network },
    })
  })
  deps.log.warn('login.failed', { user: user?.name, network, detail: outcome })
}

const keptOf = (name: string, method: string, { address, agent }: Browser): SealedSignIn => ({
  name: [...name].slice(0, NAME_CHARS_MAX).join(''),
  method,
  network: networkOf(address),
  agent: (agent ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, AGENT_CHARS_MAX),
})

function sealed({ sealer, random }: RecordDeps, row: { at: number; userId: string | null; outcome: string }, kept: SealedSignIn) {
  const salt = Buffer.from(random(SALT_BYTES))
  return { ...row, salt, sealed: sealer.seal(SEALED.signIn(salt), JSON.stringify(kept)) }
}

export type SignInPage = { data: SignIn[]; next_before: number | null }

/** One user's, or everybody's. */
export async function readSignIns(
  { db, sealer }: Reading & Unsealing,
  { userId, before, limit }: { userId?: string; before?: number; limit: number },
): Promise<SignInPage> {
  const rows = await listSignIns(db, { userId, before, limit })
  const data = rows.map(row => ({
    at: isoUtc(row.at),
    outcome: row.outcome as SignIn['outcome'],
    ...(JSON.parse(sealer.open(SEALED.signIn(row.salt), row.sealed)) as SealedSignIn),
  }))
  return { data, next_before: rows.length === limit ? (rows.at(-1)?.id ?? null) : null }
}

/** The id of the last one; undefined at the end. */
export async function sealSignInsAgain({ sealer }: Unsealing, tx: Db, after: number, limit: number): Promise<number | undefined> {
  const batch = await listSignInsAfter(tx, after, limit)
  for (const row of batch) {
    const again = sealer.sealAgain(SEALED.signIn(row.salt), row.sealed)
    if (again) await updateSignIn(tx, row.id, again)
  }
  return batch.length === limit ? batch.at(-1)?.id : undefined
}

export async function sweepSignIns({ write, now }: Writing): Promise<void> {
  await write(tx => deleteSignInsUntil(tx, now() - KEPT_MS))
}
