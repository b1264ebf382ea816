import type { Language, StaffLanguage } from '../../words/languages.ts'
import { useFollowed } from './followed.ts'
import * as de from './words/de.ts'
import * as en from './words/en.ts'

/** Text in the languages of staff, and in others where a page has them. */
type InLanguages<Text> = Readonly<Record<StaffLanguage, Text> & Partial<Record<Language, Text>>>

/** The words that pages share. */
export type SharedWords = Pick<typeof en, 'common' | 'outcomeNames' | 'claims' | 'ageOver' | 'documents'>

const SHARED: Record<StaffLanguage, SharedWords> & Partial<Record<Language, SharedWords>> = {
  en: {
    common: en.common,
    outcomeNames: en.outcomeNames,
    claims: en.claims,
    ageOver: en.ageOver,
    documents: en.documents,
  },
  de: {
    common: de.common,
    outcomeNames: de.outcomeNames,
    claims: de.claims,
    ageOver: de.ageOver,
    documents: de.documents,
  },
}

const KEPT_AS = 'vidimus-language'
const CHANGED = new EventTarget()

let current: Language
speak(chosen())

/** The languages of this page. */
export function offered(): Language[] {
  return Object.keys(SHARED) as Language[]
}

/** Called by a page that has further languages, before it is drawn. */
export function offer(more: Partial<Record<Language, SharedWords>>): void {
  Object.assign(SHARED, more)
  speak(chosen())
}

function chosen(): Language {
  return kept() ?? navigator.languages.map(tag => tag.split('-', 1)[0]).find(isOffered) ?? 'en'
}

function isOffered(language: string | null | undefined): language is Language {
  return offered().some(each => each === language)
}

function kept(): Language | undefined {
  try {
    const language = localStorage.getItem(KEPT_AS)
    return isOffered(language) ? language : undefined
  } catch {
    // Storage may be forbidden; then the choice lasts as long as the page.
    return undefined
  }
}

function speak(language: Language): void {
  current = language
  document.documentElement.lang = language
}

export function chooseLanguage(language: Language): void {
  speak(language)
  try {
    localStorage.setItem(KEPT_AS, language)
  } catch {
    // Storage may be forbidden, as in `kept`.
  }
  CHANGED.dispatchEvent(new Event('change'))
}

/** For whoever has not chosen one. */
export function suggestLanguage(language: Language): void {
  if (kept() !== undefined || !isOffered(language) || current === language) return
  speak(language)
  CHANGED.dispatchEvent(new Event('change'))
}

export const useReadersLanguage = (): Language => useFollowed(() => current, [CHANGED, 'change'])

/** For texts in the languages of staff: English for readers of another. */
export function useLanguage(): StaffLanguage {
  const language = useReadersLanguage()
  return language === 'de' ? language : 'en'
}

/** A text from the service, which may be in several languages. */
export const inLanguage = (text: string | InLanguages<string>, language: Language): string =>
  typeof text === 'string' ? text : (text[language] ?? text.en)

const REGIONS: Readonly<Record<Language, string>> = {
  en: 'en-GB',
  de: 'de-DE',
  es: 'es-ES',
  fr: 'fr-FR',
  it: 'it-IT',
  nl: 'nl-NL',
  pl: 'pl-PL',
}

/** The region for dates and numbers: the browser's for this language, else the most common one. */
export function useRegion(): string {
  const language = useReadersLanguage()
  const regional = new RegExp(`^${language}-([A-Z][a-z]{3}-)?([A-Z]{2}|\\d{3})$`)
  return navigator.languages.find(tag => regional.test(tag)) ?? REGIONS[language]
}

/** The words of a page in the reader's language: `useWords({ en: en.hosted, de: de.hosted })`. */
export function useWords<Words>(words: InLanguages<Words>): Words {
  return words[useReadersLanguage()] ?? words.en
}

export const useShared = (): SharedWords => useWords(SHARED)

export const useCommon = () => useShared().common
