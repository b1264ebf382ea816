import type { HostedVerification } from '../../verifications/schema.ts'
import { offer, type SharedWords, useReadersLanguage, useWords } from '../shared/language.ts'
import * as common from '../shared/words/en.ts'
import * as de from './de.ts'
import * as en from './en.ts'
import { es } from './languages/es.ts'
import { fr } from './languages/fr.ts'
import { it } from './languages/it.ts'
import { nl } from './languages/nl.ts'
import { pl } from './languages/pl.ts'
import type { ShopperWords } from './languages/words.ts'

export type HostedWords = typeof en.hosted

/** Beside the languages of all pages, those of shoppers. */
export function offerLanguages(): void {
  offer({ es: shared(es), fr: shared(fr), it: shared(it), nl: shared(nl), pl: shared(pl) })
}

/** The words of staff, which no shopper meets, stay English. */
const shared = ({ common: own, outcomes, claims, ageOver, documents }: ShopperWords): SharedWords => ({
  common: { ...common.common, ...own },
  outcomeNames: { ...common.outcomeNames, ...outcomes },
  claims,
  ageOver,
  documents,
})

export const useHostedWords = (): HostedWords =>
  useWords({ en: en.hosted, de: de.hosted, es: es.hosted, fr: fr.hosted, it: it.hosted, nl: nl.hosted, pl: pl.hosted })

/** What the shop offers people without a wallet: in the reader's language, else in English, else as it was first written. */
export function useWithoutWallet({ look }: HostedVerification): string | undefined {
  const language = useReadersLanguage()
  const lines = look?.without_wallet
  return lines?.[language] ?? lines?.en ?? Object.values(lines ?? {})[0]
}
