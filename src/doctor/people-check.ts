import { type Found, notSetUp, ok, warning } from '../db/check.ts'
import { ownersWithoutFactor } from '../people/users.ts'
import type { Scene } from './scene.ts'

const NAMES_MAX = 3

/** An owner's password alone would open every live shop. */
export async function checkSecondFactor({ deps, liveTenants }: Scene): Promise<Found> {
  const names = await ownersWithoutFactor(deps)
  if (names.length === 0)
    return ok({
      en: 'Every owner has a second factor, or there is none yet.',
      de: 'Alle Eigentümer haben einen zweiten Faktor, oder es gibt noch keine.',
    })
  const shown = names.slice(0, NAMES_MAX).join(', ') + (names.length > NAMES_MAX ? ', …' : '')
  const remedy = {
    en: 'Let them add a passkey or one-time codes in the dashboard under Settings, Security.',
    de: 'Lassen Sie sie im Dashboard unter Einstellungen, Sicherheit einen Passkey oder Einmalcodes einrichten.',
  }
  if ((await liveTenants).length === 0)
    return notSetUp({
      en: [`Owners without a second factor: ${shown}. No shop has a live key yet.`, remedy.en],
      de: [`Eigentümer ohne zweiten Faktor: ${shown}. Noch hat kein Geschäft einen Live-Schlüssel.`, remedy.de],
    })
  return warning({
    en: [`Owners without a second factor: ${shown}. Their password alone opens every live shop.`, remedy.en],
    de: [`Eigentümer ohne zweiten Faktor: ${shown}. Ihr Passwort allein öffnet jedes Live-Geschäft.`, remedy.de],
  })
}
