// What the checks of an installation find, in words. The compiler finds a code without a sentence, and a value that is not there.
import type { Found } from '../../../doctor/examine.ts'
import type { ImportNote } from '../../../signing/import.ts'
import type { RegistrationNote } from '../../../signing/registrations.ts'

/** Said like a finding of its own: its sentence continues the name of the list. */
type Trouble = Extract<Found, { code: 'lists_troubled' }>['values']['troubles'][number]
type Note = ImportNote | RegistrationNote
export type Sayable = Found | Trouble | Note

/** Notes, and what is in order, need no remedy. */
type Text<Of> = Of extends { status: 'ok' } | Note ? string : readonly [detail: string, remedy: string]
type Sentence<Of extends Sayable> = [keyof Of['values']] extends [never] ? Text<Of> : (values: Of['values']) => Text<Of>

export type FindingWords = { readonly [Code in Sayable['code']]: Sentence<Extract<Sayable, { code: Code }>> }

export function say(words: FindingWords, { code, values }: { code: Sayable['code']; values: object }) {
  const sentence = words[code] as Text<unknown> | string | ((values: object) => Text<unknown> | string)
  const text = typeof sentence === 'function' ? sentence(values) : sentence
  const [detail, remedy] = typeof text === 'string' ? [text] : text
  return { detail, remedy }
}

/** Remedies end with commands, so each is on a line of its own. One list can have several troubles with the same remedy. */
export function sayTroubles(words: FindingWords, troubles: readonly Trouble[]): readonly [detail: string, remedy: string] {
  const said = troubles.map(trouble => ({ list: trouble.list, ...say(words, trouble) }))
  const lines = new Set(said.map(({ list, remedy }) => `${list}: ${remedy}`))
  const details = said.map(({ list, detail }) => `${list} ${detail}.`).join(' ')
  return [details, lines.size === 1 ? `${said[0]?.remedy}` : [...lines].join('\n')]
}

/** The first few names; `more` adds the number of the others. */
export const someOf = (names: readonly string[], more: (count: number) => string, countMax = 5): string =>
  names.length > countMax ? `${names.slice(0, countMax).join(', ')} ${more(names.length - countMax)}` : names.join(', ')
