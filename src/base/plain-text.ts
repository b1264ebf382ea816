// Texts that people type and others read in lists, in audit records, at the till and in wallets: names, titles, labels,
// purposes. They are on one line, must not change the direction of the text around them, and have nothing that cannot be
// seen: two names that look alike would be two shops.
import { TEXT_WORDS, type TextFlaw } from '../words/plain-text.ts'

/** The refused characters, spelled out: a pattern in a JSON Schema has no flags and no properties. */
const REFUSED_BY = {
  line_break: '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029',
  direction: '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069',
  invisible: '\\u200b-\\u200d\\u2060-\\u2064\\ufeff',
} satisfies Partial<Record<TextFlaw, string>>

/** For a character class. */
export const REFUSED = Object.values(REFUSED_BY).join('')

const PATTERNS = Object.entries(REFUSED_BY).map(([flaw, refused]) => [flaw as TextFlaw, new RegExp(`[${refused}]`)] as const)

const findTextFlaw = (text: string): TextFlaw | undefined => PATTERNS.find(([, pattern]) => pattern.test(text))?.[0]

/** The same, for a text that must not look empty. */
export function findNameFlaw(name: string): TextFlaw | undefined {
  const flaw = findTextFlaw(name)
  if (flaw) return flaw
  return /[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u.test(name) ? undefined : 'empty'
}

/** In English, for commands and the API. */
const inWords = (flaw: TextFlaw | undefined): string | undefined => flaw && TEXT_WORDS[flaw].en

export const findTextProblem = (text: string): string | undefined => inWords(findTextFlaw(text))
export const findNameProblem = (name: string): string | undefined => inWords(findNameFlaw(name))

/** Equal for names that cannot be told apart: by compatible forms (NFKC), by case, by spaces, by what shows nothing. */
export const foldName = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    // Through both cases: ß equals SS, and all sigmas are equal.
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/\s+/g, ' ')
    .trim()
