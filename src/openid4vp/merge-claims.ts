// One set of names for both formats: a merchant reads `birthdate`, whether it was `birth_date` in
// an mdoc or `birthdate` in an SD-JWT. The names are those of the SD-JWT PID; ages are
// `age_over_NN`. Each credential's own result keeps its own names.

import { isObject, setMember } from '../base/members.ts'
import type { ReadCredential } from './credential.ts'
import type { ClaimPath } from './dcql/dcql.ts'
import { ageOf } from './dcql/match.ts'

type Claims = Record<string, unknown>

const NAMES: Record<string, readonly string[]> = {
  birth_date: ['birthdate'],
  nationality: ['nationalities'],
  portrait: ['picture'],
  family_name_birth: ['birth_family_name'],
  given_name_birth: ['birth_given_name'],
  expiry_date: ['date_of_expiry'],
  issue_date: ['date_of_issuance'],
  issuance_date: ['date_of_issuance'],
  email_address: ['email'],
  mobile_phone_number: ['phone_number'],
  resident_address: ['address', 'formatted'],
  resident_street: ['address', 'street_address'],
  resident_house_number: ['address', 'house_number'],
  resident_city: ['address', 'locality'],
  resident_state: ['address', 'region'],
  resident_postal_code: ['address', 'postal_code'],
  resident_country: ['address', 'country'],
}

type Credential = Pick<ReadCredential, 'format' | 'claims'>

/** A claim in two credentials is taken from the first, as a whole. The credentials are not changed. */
export function mergeClaims(credentials: readonly Credential[]): Claims {
  const merged: Claims = {}
  for (const credential of credentials)
    for (const [name, value] of Object.entries(renamed(credential)))
      if (!Object.hasOwn(merged, name)) setMember(merged, name, value)
  return merged
}

/** The merged names of each credential that an earlier one already has. */
export function repeatedNames(credentials: readonly Credential[]): string[][] {
  const taken = new Set<string>()
  return credentials.map(credential => {
    const names = Object.keys(renamed(credential))
    const repeated = names.filter(name => taken.has(name))
    for (const name of names) taken.add(name)
    return repeated
  })
}

function renamed({ format, claims }: Credential): Claims {
  const own: Claims = {}
  const flat =
    format === 'mso_mdoc' ? Object.values(claims).flatMap(elements => Object.entries(elements as Claims)) : Object.entries(claims)
  for (const [name, value] of flat) {
    if (format === 'mso_mdoc') place(own, namesOf(name), plainValue(name, value))
    else if (name === 'age_equal_or_over' && isObject(value))
      for (const [age, over] of Object.entries(value)) place(own, [`age_over_${age}`], over)
    else place(own, [name], value)
  }
  return own
}

/** The name of a requested claim among the merged ones, with dots between its parts. */
export function mergedName(format: ReadCredential['format'], path: ClaimPath): string {
  if (format === 'mso_mdoc') {
    const element = String(path.at(-1))
    return namesOf(element).join('.')
  }
  const [first, age] = path
  if (first === 'age_equal_or_over' && typeof age === 'string') return `age_over_${age}`
  return path.filter(part => typeof part === 'string').join('.')
}

/** Verifiers and wallets choose the names, so `constructor` is a name like any other. */
const namesOf = (element: string): readonly string[] => (Object.hasOwn(NAMES, element) ? NAMES[element] : undefined) ?? [element]

function place(target: Claims, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length > 0) {
    const inner = Object.hasOwn(target, name) ? target[name] : {}
    if (!isObject(inner)) return
    place(inner, rest, value)
    setMember(target, name, inner)
  } else if (!Object.hasOwn(target, name)) setMember(target, name, isObject(value) ? { ...value } : value)
}

/** The nationality of an mdoc is one country; the birth date of a photo ID is a map around the date (ISO/IEC 23220-2). */
function plainValue(name: string, value: unknown): unknown {
  if (name === 'nationality') return Array.isArray(value) ? value : [value]
  if (name === 'birth_date' && isObject(value) && typeof value.birth_date === 'string' && !isApproximate(value))
    return value.birth_date
  return value
}

/** A 1 marks an unknown digit. Such a date is kept as received: it must not pass for an exact one. */
const isApproximate = ({ approximate_mask: mask }: Claims): boolean => mask !== undefined && !/^0+$/.test(String(mask))

/** A time after the date is ignored. */
const DATE = /^(\d{4})-(\d\d)-(\d\d)(T\S+)?$/

export type Age = { age: number; value: unknown }

export const agesIn = (claims: Claims): Age[] =>
  Object.keys(claims).flatMap(name => {
    const age = ageOf([name])
    return age === undefined ? [] : [{ age, value: claims[name] }]
  })

/**
 * True or false if the claims prove it: by a boolean for this age, else by a higher one that is
 * true, else by the birth date. Undefined if they do not.
 */
export function decideAge(
  claims: Claims,
  years: number,
  now: number,
  ages: readonly Age[] = agesIn(claims),
): boolean | undefined {
  const own = ages.find(({ age }) => age === years)
  if (typeof own?.value === 'boolean') return own.value
  if (ages.some(({ age, value }) => age > years && value === true)) return true
  // A string "true" proves nothing.
  if (own) return false
  const lived = fullYearsSince(claims.birthdate, now)
  return lived === undefined ? undefined : lived >= years
}

type CalendarDay = { year: number; month: number; day: number }

/** Zeros mark unknown parts (OpenID Connect Core § 5.1). Such a date, or a day that does not exist, proves no age. */
function calendarDay(text: unknown): CalendarDay | undefined {
  const [, year, month, day] = (typeof text === 'string' && DATE.exec(text)?.map(Number)) || []
  if (!year || !month || !day || month > 12) return undefined
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return day <= daysInMonth ? { year, month, day } : undefined
}

/**
 * The age that a birth date proves, or undefined. Birthdays are calendar days in UTC; a person born
 * on 29 February turns older on 1 March in other years.
 */
export function fullYearsSince(birthdate: unknown, now: number): number | undefined {
  const born = calendarDay(birthdate)
  if (!born) return undefined
  const today = new Date(now)
  const thisMonth = today.getUTCMonth() + 1
  const hadBirthday = thisMonth > born.month || (thisMonth === born.month && today.getUTCDate() >= born.day)
  return today.getUTCFullYear() - born.year - (hadBirthday ? 0 : 1)
}
