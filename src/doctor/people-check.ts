import { notSetUp, ok, warning } from '../db/check.ts'
import { ownersWithoutFactor } from '../people/users/users.ts'
import type { Scene } from './scene.ts'

const NAMES_MAX = 3

/** An owner's password alone would open every live shop. */
export async function checkSecondFactor({ deps, liveTenants }: Scene) {
  const names = await ownersWithoutFactor(deps)
  if (names.length === 0) return ok('second_factors_set')
  const owners = names.slice(0, NAMES_MAX).join(', ') + (names.length > NAMES_MAX ? ', …' : '')
  return (await liveTenants).length === 0
    ? notSetUp('second_factors_unset', { owners })
    : warning('second_factors_missing', { owners })
}
