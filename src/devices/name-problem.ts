/** A name stands in lists, in the audit trail and on the till: it must not break their lines, turn their text round, or look like none. */
export function findNameProblem(name: string): string | undefined {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) return 'without line breaks or control characters, please'
  if (/\p{Bidi_Control}/u.test(name)) return 'without characters that change the direction of text, please'
  if (!/[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u.test(name)) return 'it needs at least one character that can be seen'
  return undefined
}
