/** The languages of shoppers, each named in itself. Pages for staff speak the first two. */
export const LANGUAGE_NAMES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  it: 'Italiano',
  nl: 'Nederlands',
  pl: 'Polski',
} as const

export type Language = keyof typeof LANGUAGE_NAMES
export const LANGUAGES = Object.keys(LANGUAGE_NAMES) as Language[]
export type StaffLanguage = 'en' | 'de'

export const isLanguage = (name: string | undefined): name is Language => LANGUAGES.some(each => each === name)

const HEADER_CHARS_MAX = 500
const RANGE = /^\s*([a-z]+)(?:-[\w-]*)?\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/i

/** The preferred one of our languages in an Accept-Language header (RFC 9110 § 12.5.4). */
export function preferredLanguage(header: string | null): Language | undefined {
  const ranges = (header ?? '').slice(0, HEADER_CHARS_MAX).split(',')
  return ranges
    .flatMap(range => {
      const [, tag, weight = '1'] = RANGE.exec(range) ?? []
      const language = tag?.toLowerCase()
      return isLanguage(language) && Number(weight) > 0 ? [{ language, weight: Number(weight) }] : []
    })
    .toSorted((one, other) => other.weight - one.weight)[0]?.language
}
