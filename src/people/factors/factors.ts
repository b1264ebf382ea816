// A user's own second factors. The first one brings recovery codes; with the last one they go.

import { SALT_BYTES } from '../../base/seal.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Configured, Reading, Unsealing } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import type { Deps } from '../deps.ts'
import type { AddPasskey, Security, WithRecoveryCodes } from '../security-schema.ts'
import { actorOf, tenantIdOf, type Visit } from '../session.ts'
import { findUser, listUsers, lockUser, type UserRow } from '../store.ts'
import {
  countRecoveryCodes,
  deletePasskey,
  deletePasskeysOf,
  deleteRecoveryCodesOf,
  deleteTicketsOf,
  deleteTotp,
  draftTotp,
  insertPasskey,
  isFactorRequired,
  listPasskeys,
  requireFactor,
  sealTotp,
  startTotp,
  takeStep,
} from './factor-store.ts'
import { base32, otpauthUri, SECRET_BYTES, stepOfCode } from './one-time-code.ts'
import { checkNewPasskey, passkeySite } from './passkeys.ts'
import { hasFactor, openSecret } from './proofs.ts'
import { replaceRecoveryCodes } from './recovery-codes.ts'

const PASSKEYS_MAX = 10

export async function readSecurity({ db, config }: Reading & Configured, { user }: Visit): Promise<Security> {
  return {
    codes_since: user.totpSince === null ? null : isoUtc(user.totpSince),
    passkeys: (await listPasskeys(db, user.id)).map(({ id, label, createdAt, lastUsedAt }) => ({
      id,
      label,
      created_at: isoUtc(createdAt),
      last_used_at: lastUsedAt === null ? null : isoUtc(lastUsedAt),
    })),
    recovery_codes_left: await countRecoveryCodes(db, user.id),
    is_required: await isFactorRequired(db),
    passkey_origin: passkeySite(config)?.origin ?? null,
  }
}

/** A secret for an authenticator app. Codes that are in use stay so until the first new one was right. */
export async function draftCodes(deps: Deps, { user }: Visit): Promise<{ secret: string; uri: string }> {
  if (user.totpSince !== null) throw apiError('codes_exist')
  const secret = Buffer.from(deps.random(SECRET_BYTES))
  const totpSalt = Buffer.from(deps.random(SALT_BYTES))
  const totpSealed = deps.sealer.seal(SEALED.totp(user.id, totpSalt), secret.toString('base64'))
  await deps.write(async tx => {
    const current = await lockUser(tx, user.id)
    if (current?.totpSince !== null) throw apiError('codes_exist')
    await draftTotp(tx, user.id, { totpSalt, totpSealed })
  })
  const uri = otpauthUri(secret, { issuer: 'Vidimus', account: `${user.name}@${new URL(deps.config.publicUrl).host}` })
  return { secret: base32(secret), uri }
}

export async function startCodes(deps: Deps, visit: Visit, code: string): Promise<WithRecoveryCodes> {
  if (visit.user.totpSince !== null) throw apiError('codes_exist')
  const secret = openSecret(deps, visit.user)
  const step = secret && (await stepOfCode(secret, code.replaceAll(' ', ''), deps.now()))
  if (step === undefined) throw apiError('code_refused')
  return await withFactor(deps, visit, 'codes', async (tx, user) => {
    if (user.totpSince !== null) throw apiError('codes_exist')
    // Another tab drew a new secret meanwhile, which the app does not have.
    if (!Bun.deepEquals(user.totpSealed, visit.user.totpSealed)) throw apiError('code_refused')
    await takeStep(tx, visit.user.id, step)
    await startTotp(tx, visit.user.id, deps.now())
  })
}

export async function addPasskey(deps: Deps, visit: Visit, { label, passkey }: AddPasskey): Promise<WithRecoveryCodes> {
  const made = await checkNewPasskey(deps, visit.user, passkey)
  if (!made) throw apiError('passkey_refused')
  const { spend, ...key } = made
  return await withFactor(deps, visit, `passkey ${label}`, async tx => {
    if ((await listPasskeys(tx, visit.user.id)).length >= PASSKEYS_MAX) throw apiError('too_many_passkeys')
    const row = { ...key, userId: visit.user.id, label, createdAt: deps.now(), lastUsedAt: null }
    if (!(await spend(tx)) || !(await insertPasskey(tx, row))) throw apiError('passkey_refused')
  })
}

async function withFactor(
  deps: Deps,
  visit: Visit,
  factor: string,
  add: (tx: Db, user: UserRow) => Promise<void>,
): Promise<WithRecoveryCodes> {
  const codes = await deps.write(async tx => {
    const user = await lockUser(tx, visit.user.id)
    if (!user) throw apiError('not_logged_in')
    const isFirst = !(await hasFactor(tx, user))
    await add(tx, user)
    await deps.audit.append(tx, {
      ...entryOf(user, deps.now()),
      action: 'user.factor_added',
      details: { name: user.name, factor },
    })
    return isFirst ? await replaceRecoveryCodes(deps, tx, user.id) : null
  })
  return { security: await readAgain(deps, visit), recovery_codes: codes }
}

export async function removeCodes(deps: Deps, visit: Visit): Promise<Security> {
  return await withoutFactor(deps, visit, async tx => {
    await deleteTotp(tx, visit.user.id)
    return 'codes'
  })
}

export async function removePasskey(deps: Deps, visit: Visit, id: string): Promise<Security> {
  return await withoutFactor(deps, visit, async tx => {
    const gone = await deletePasskey(tx, { userId: visit.user.id, id })
    if (!gone) throw apiError('not_found', { message: 'No passkey with this id.' })
    return `passkey ${gone.label}`
  })
}

async function withoutFactor(deps: Deps, visit: Visit, remove: (tx: Db) => Promise<string>): Promise<Security> {
  await deps.write(async tx => {
    const user = await lockUser(tx, visit.user.id)
    if (!user) throw apiError('not_logged_in')
    const details = { name: user.name, factor: await remove(tx) }
    const left = await lockUser(tx, user.id)
    if (left && !(await hasFactor(tx, left))) await deleteRecoveryCodesOf(tx, user.id)
    await deps.audit.append(tx, { ...entryOf(user, deps.now()), action: 'user.factor_removed', details })
  })
  return await readAgain(deps, visit)
}

export async function renewRecoveryCodes(deps: Deps, visit: Visit): Promise<WithRecoveryCodes> {
  const codes = await deps.write(async tx => {
    const user = await lockUser(tx, visit.user.id)
    if (!user || !(await hasFactor(tx, user))) throw apiError('no_second_factor')
    const details = { name: user.name, factor: 'recovery codes' }
    await deps.audit.append(tx, { ...entryOf(user, deps.now()), action: 'user.factor_added', details })
    return await replaceRecoveryCodes(deps, tx, user.id)
  })
  return { security: await readAgain(deps, visit), recovery_codes: codes }
}

/** Removes all factors of a user who lost them. The user's row must be locked. */
export async function takeFactors(tx: Db, userId: string): Promise<void> {
  await deleteTotp(tx, userId)
  await deletePasskeysOf(tx, userId)
  await deleteRecoveryCodesOf(tx, userId)
  await deleteTicketsOf(tx, userId)
}

/** Only a user with a second factor may require it of everybody: otherwise the rule would lock them out too. */
export async function changeRule(deps: Deps, visit: Visit, isRequired: boolean): Promise<Security> {
  await deps.writeSettings(async tx => {
    const user = await lockUser(tx, visit.user.id)
    if (isRequired && !(user && (await hasFactor(tx, user)))) throw apiError('no_second_factor')
    await requireFactor(tx, isRequired)
    const details = { name: visit.user.name, is_required: isRequired }
    await deps.audit.append(tx, { ...entryOf(visit.user, deps.now()), action: 'user.factor_rule_changed', details })
  })
  return await readSecurity(deps, visit)
}

export async function sealFactorsAgain({ sealer }: Unsealing, tx: Db): Promise<void> {
  for (const { id, totpSalt, totpSealed } of await listUsers(tx)) {
    const again = totpSalt && totpSealed && sealer.sealAgain(SEALED.totp(id, totpSalt), totpSealed)
    if (again) await sealTotp(tx, id, again)
  }
}

async function readAgain(deps: Deps, visit: Visit): Promise<Security> {
  const user = await findUser(deps.db, visit.user.id)
  return await readSecurity(deps, user ? { ...visit, user } : visit)
}

const entryOf = (user: UserRow, at: number) => ({
  at,
  tenantId: tenantIdOf(user),
  actor: actorOf(user),
  subjectId: user.id,
})
