/**
 * Names appear in lists, in audit records and on the till: a name must be visible, on one line, and
 * must not change the direction of the text around it.
 */
export function findNameProblem(name: string): string | undefined {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return 'remove line breaks and control characters'
  if (/\p{Bidi_Control}/u.test(name)) return 'remove characters that change the direction of text'
  if (!/[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u.test(name)) return 'it needs at least one visible character'
  return undefined
}

const REFUSED = '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
const UNSEEN =
  '\\u0020\\u00a0\\u00ad\\u034f\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u202f\\u205f-\\u206f\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8' +
  // Literal characters: regular expressions differ in how they escape these.
  '\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}'

/** The same rules for the API document, in syntax that all regular expressions share. */
export const NAME_PATTERN = `^[^${REFUSED}]*[^${REFUSED}${UNSEEN}][^${REFUSED}]*$`
