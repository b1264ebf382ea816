import { useFollowed } from './followed.ts'
import * as de from './words/de.ts'
import * as en from './words/en.ts'

export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

const KEPT_AS = 'vidimus-language'
const CHANGED = new EventTarget()

let current: Language = kept() ?? (navigator.languages.find(isKnown)?.slice(0, 2) as Language | undefined) ?? 'en'
document.documentElement.lang = current

function isKnown(tag: string): boolean {
  return LANGUAGES.some(language => tag === language || tag.startsWith(`${language}-`))
}

function kept(): Language | undefined {
  try {
    return LANGUAGES.find(language => language === localStorage.getItem(KEPT_AS))
  } catch {
    // Storage may be forbidden; then the choice lasts as long as the page.
    return undefined
  }
}

export function chooseLanguage(language: Language): void {
  current = language
  document.documentElement.lang = language
  try {
    localStorage.setItem(KEPT_AS, language)
  } catch {
    // Storage may be forbidden, as in `kept`.
  }
  CHANGED.dispatchEvent(new Event('change'))
}

export const useLanguage = (): Language => useFollowed(() => current, [CHANGED, 'change'])

/** A text from the service, which may have both languages. */
export const inLanguage = (text: string | Readonly<Record<Language, string>>, language: Language): string =>
  typeof text === 'string' ? text : text[language]

const REGIONS: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' }

/** The region for dates and numbers: the browser's for this language, else the most common one. */
export function useRegion(): string {
  const language = useLanguage()
  const regional = new RegExp(`^${language}-([A-Z][a-z]{3}-)?([A-Z]{2}|\\d{3})$`)
  return navigator.languages.find(tag => regional.test(tag)) ?? REGIONS[language]
}

/** The words of a page in the reader's language: `useWords({ en: en.hosted, de: de.hosted })`. */
export const useWords = <Words>(words: Readonly<Record<Language, Words>>): Words => words[useLanguage()]

/** The words that all pages share. */
export const useCommon = () => useWords({ en: en.common, de: de.common })
