// The kinds of values that flags take, and how often a flag may or must be given.
import { ENVIRONMENTS } from '../access/scopes.ts'
import { findTextProblem } from '../base/plain-text.ts'
import type { Flag } from './command.ts'
import { UsageError, wholeNumber } from './output.ts'

export type Kind<T> = { placeholder: string; read: (text: string, flag: string) => T }

export const required = <T>(kind: Kind<T>, help?: string): Flag<T> => ({
  placeholder: kind.placeholder,
  isRequired: true,
  help,
  read: (given, flag) => {
    if (!given) throw new UsageError(`${flag} is missing`)
    return kind.read(String(given), flag)
  },
})

export const optional = <T>(kind: Kind<T>, help?: string): Flag<T | undefined> => ({
  placeholder: kind.placeholder,
  help,
  read: (given, flag) => (given === undefined ? undefined : kind.read(String(given), flag)),
})

export const repeated = <T>(kind: Kind<T>, help?: string): Flag<T[] | undefined> => ({
  placeholder: kind.placeholder,
  isMultiple: true,
  help,
  read: (given, flag) => (Array.isArray(given) ? given.map(each => kind.read(each, flag)) : undefined),
})

export const toggle = (help?: string): Flag<boolean> => ({ help, read: given => given === true })

export const kind = <T>(placeholder: string, read: Kind<T>['read']): Kind<T> => ({ placeholder, read })

/** `findProblem` says why a value cannot be used. */
export const checked = <T>({ placeholder, read }: Kind<T>, findProblem: (value: T) => string | undefined): Kind<T> =>
  kind(placeholder, (given, flag) => {
    const value = read(given, flag)
    const problem = findProblem(value)
    if (problem) throw new UsageError(`${flag}: ${problem}`)
    return value
  })

export const text = (placeholder: string): Kind<string> => kind(placeholder, value => value)

/** Text that people read in lists: on one line, and not too long. */
export const shortText = (placeholder: string, charsMax: number): Kind<string> =>
  checked(text(placeholder), value => {
    if ([...value].length > charsMax) return `longer than ${charsMax} characters`
    return findTextProblem(value)
  })

export const numberFrom = (minimum: number, maximum: number, placeholder = 'N'): Kind<number> =>
  kind(placeholder, (value, flag) => wholeNumber(value, flag, maximum, minimum))

/** `word` is written in place of a value, and reads as null. */
export const orNull = <T>({ placeholder, read }: Kind<T>, word: string): Kind<T | null> =>
  kind(`${placeholder}|${word}`, (value, flag) => (value === word ? null : read(value, flag)))

export const oneOf = <const T extends string | number>(allowed: readonly T[], placeholder = allowed.join('|')): Kind<T> =>
  kind(placeholder, (value, flag) => {
    const chosen = allowed.find(each => String(each) === value)
    if (chosen === undefined) throw new UsageError(`${flag}: "${value}" is not one of ${allowed.join(', ')}`)
    return chosen
  })

/** Values between commas, each once. */
export const listOf = <T>({ placeholder, read }: Kind<T>): Kind<T[]> =>
  kind(`${placeholder},…`, (value, flag) => [...new Set(value.split(',').map(each => each.trim()))].map(each => read(each, flag)))

export const TENANT = required(text('ID'))
export const ENV = required(oneOf(ENVIRONMENTS))
