// Proofs of a user's identity beside the password.
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Configured, Reading, Sealing, Unsealing } from '../../ground.ts'
import type { PasskeyAnswer } from '../security-schema.ts'
import type { UserRow } from '../store.ts'
import { findPasskey, hasRecoveryCode, listPasskeys, takeRecoveryCode, takeStep } from './factor-store.ts'
import { stepOfCode } from './one-time-code.ts'
import { checkPasskey, type Purpose } from './passkeys.ts'
import { recoveryHash } from './recovery-codes.ts'

type ProofDeps = Reading & Sealing & Configured

export type Given = { code?: string; passkey?: PasskeyAnswer }
/** `spend` runs in the transaction of the act: false when the code or answer was used before. */
export type Proof = { method: 'code' | 'recovery_code' | 'passkey'; spend: (tx: Db) => Promise<boolean> }

/** Undefined when it proves nothing about this user. */
export async function findProof(
  deps: ProofDeps,
  user: UserRow,
  { code, passkey }: Given,
  purpose: Purpose,
): Promise<Proof | undefined> {
  if (passkey) return await passkeyProof(deps, user, passkey, purpose)
  const plain = (code ?? '').trim()
  return /^\d{3} ?\d{3}$/.test(plain)
    ? await codeProof(deps, user, plain.replace(' ', ''))
    : await recoveryProof(deps, user, plain)
}

async function passkeyProof(
  deps: ProofDeps,
  user: UserRow,
  passkey: PasskeyAnswer,
  purpose: Purpose,
): Promise<Proof | undefined> {
  const row = await findPasskey(deps.db, passkey.id)
  if (row?.userId !== user.id) return undefined
  const proven = await checkPasskey(deps, { purpose, userId: user.id }, row, passkey)
  return proven && { method: 'passkey', ...proven }
}

async function codeProof(deps: ProofDeps, user: UserRow, code: string): Promise<Proof | undefined> {
  const secret = user.totpSince === null ? undefined : openSecret(deps, user)
  const step = secret && (await stepOfCode(secret, code, deps.now()))
  return step === undefined ? undefined : { method: 'code', spend: tx => takeStep(tx, user.id, step) }
}

async function recoveryProof(deps: ProofDeps, user: UserRow, typed: string): Promise<Proof | undefined> {
  const hash = recoveryHash(deps, user.id, typed)
  if (hash === undefined || !(await hasRecoveryCode(deps.db, { userId: user.id, hash }))) return undefined
  return { method: 'recovery_code', spend: tx => takeRecoveryCode(tx, { userId: user.id, hash }) }
}

/** Undefined without one-time codes. */
export function openSecret({ sealer }: Unsealing, { id, totpSalt, totpSealed }: UserRow): Uint8Array | undefined {
  return totpSalt && totpSealed ? Buffer.from(sealer.open(SEALED.totp(id, totpSalt), totpSealed), 'base64') : undefined
}

export const hasFactor = async (db: Db, { id, totpSince }: UserRow): Promise<boolean> =>
  totpSince !== null || (await listPasskeys(db, id)).length > 0
