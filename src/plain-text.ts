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
