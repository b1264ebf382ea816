import { type Found, ok, warning } from '../db/check.ts'
import { ownersWithoutFactor } from '../people/users.ts'
import type { Scene } from './scene.ts'

const NAMES_MAX = 3

/** An owner's password alone would open every live shop. */
export async function checkSecondFactor({ deps, liveTenants }: Scene): Promise<Found> {
  const names = await ownersWithoutFactor(deps)
  if (names.length === 0) return ok('Every owner has a second factor, or there is none yet.')
  const shown = names.slice(0, NAMES_MAX).join(', ') + (names.length > NAMES_MAX ? ' and others' : '')
  if ((await liveTenants).length === 0) return ok(`Without a second factor: ${shown}. No shop has a live key yet.`)
  return warning(
    `Owners without a second factor: ${shown}. Their password alone opens every live shop.`,
    'Let them add a passkey or one-time codes in the dashboard under Settings, Security.',
  )
}
