// Where owners get mail. An address counts once its owner has followed a link in a mail to it.
import { sha256Hex } from '../../base/hash.ts'
import { newNonce } from '../../base/ids.ts'
import { SALT_BYTES } from '../../base/seal.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import { SEALED } from '../../db/sealed-columns.ts'
import type { Reading, Unsealing } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import type { StaffLanguage } from '../../words/languages.ts'
import {
  type AddressRow,
  confirmByHash,
  deleteAddresses,
  deleteOtherAddresses,
  deletePending,
  insertAddress,
  listAddresses,
  listAllAddresses,
  listOwnerAddresses,
  sealAddress,
} from '../address-store.ts'
import type { Deps } from '../deps.ts'
import { actorOf, tenantIdOf, type Visit } from '../session.ts'
import { findUser, lockUser, type UserRow } from '../store.ts'

const CONFIRM_MS = 3_600_000

export type MailAddress = { address: string; language: StaffLanguage }

export async function readAddresses({ db, sealer, now }: Reading & Unsealing, userId: string) {
  const rows = await listAddresses(db, userId)
  const confirmed = rows.find(({ hash }) => hash === null)
  const pending = rows.find(({ expiresAt }) => expiresAt !== null && expiresAt > now())
  return {
    confirmed: confirmed && open(sealer, confirmed),
    pending: pending && { ...open(sealer, pending), expires_at: isoUtc(pending.expiresAt ?? 0) },
  }
}

/** The confirmed addresses of owners, by the id of the user. */
export async function readOwnerAddresses({ db, sealer }: Reading & Unsealing): Promise<Map<string, MailAddress>> {
  return new Map((await listOwnerAddresses(db)).map(row => [row.userId, open(sealer, row)]))
}

export const confirmUrl = (publicUrl: string, token: string): string => `${publicUrl}/dashboard#mail=${token}`

/** Returns the token of the link that confirms it. Until then an earlier address counts. */
export async function draftAddress(deps: Deps, userId: string, wanted: MailAddress) {
  const token = newNonce(deps.random)
  const id = newNonce(deps.random)
  const salt = Buffer.from(deps.random(SALT_BYTES))
  const expiresAt = deps.now() + CONFIRM_MS
  const sealed = deps.sealer.seal(SEALED.mailAddress(id, salt), JSON.stringify(wanted))
  await deps.write(async tx => {
    if (!(await lockUser(tx, userId))) throw apiError('not_logged_in')
    await deletePending(tx, userId)
    await insertAddress(tx, { id, userId, salt, sealed, hash: sha256Hex(token), expiresAt })
  })
  return { token, expiresAt }
}

/** The mail with the link was not sent. */
export const dropDraft = (deps: Deps, userId: string): Promise<void> => deps.write(tx => deletePending(tx, userId))

/** A link works once. */
export async function confirmAddress(deps: Deps, token: string): Promise<void> {
  const hash = sha256Hex(token)
  const isConfirmed = await deps.write(async tx => {
    const row = await confirmByHash(tx, hash, deps.now())
    const user = row && (await findUser(tx, row.userId))
    if (!row || !user) return false
    await deleteOtherAddresses(tx, row)
    await record(deps, tx, user, 'confirmed')
    return true
  })
  if (!isConfirmed) throw apiError('link_unavailable')
}

export async function removeAddress(deps: Deps, { user }: Visit): Promise<void> {
  await deps.write(async tx => {
    await deleteAddresses(tx, user.id)
    await record(deps, tx, user, 'removed')
  })
}

export async function sealAddressesAgain({ sealer }: Unsealing, tx: Db): Promise<void> {
  for (const { id, salt, sealed } of await listAllAddresses(tx)) {
    const again = sealer.sealAgain(SEALED.mailAddress(id, salt), sealed)
    if (again) await sealAddress(tx, id, again)
  }
}

const open = (sealer: Deps['sealer'], { id, salt, sealed }: AddressRow): MailAddress =>
  JSON.parse(sealer.open(SEALED.mailAddress(id, salt), sealed))

/** Without the address: records stay when the user is gone. */
async function record({ audit, now }: Deps, tx: Db, user: UserRow, address: 'confirmed' | 'removed'): Promise<void> {
  await audit.append(tx, {
    at: now(),
    tenantId: tenantIdOf(user),
    actor: actorOf(user),
    action: 'user.address_changed',
    subjectId: user.id,
    details: { name: user.name, address },
  })
}
