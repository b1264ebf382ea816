// Texts that people type and others read in lists, in audit records, at the till and in wallets: names, titles, labels,
// purposes. They are on one line, must not change the direction of the text around them, and have nothing that cannot be
// seen: two names that look alike would be two shops.

/** The refused characters by what to say of them, spelled out: a pattern in a JSON Schema has no flags and no properties. */
const REFUSED_BY = {
  'remove line breaks and control characters': '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029',
  'remove characters that change the direction of text': '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069',
  'remove invisible characters, such as spaces without a width': '\\u200b-\\u200d\\u2060-\\u2064\\ufeff',
}

/** For a character class. */
export const REFUSED = Object.values(REFUSED_BY).join('')

const PATTERNS = Object.entries(REFUSED_BY).map(([problem, refused]) => [problem, new RegExp(`[${refused}]`)] as const)

export const findTextProblem = (text: string): string | undefined => PATTERNS.find(([, pattern]) => pattern.test(text))?.[0]

/** The same, for a text that must not look empty. */
export function findNameProblem(name: string): string | undefined {
  const problem = findTextProblem(name)
  if (problem) return problem
  if (!/[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u.test(name)) return 'it needs at least one visible character'
  return undefined
}

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
