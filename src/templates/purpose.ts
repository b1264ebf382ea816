// The purpose of a template while it is edited: one that nobody typed follows the ages that are asked for, and one that
// somebody typed is compared with them. Runs in the browser too.
import { type Localized, purposeOfAge } from '../words/templates.ts'

const AGE_CLAIM = /^age_over_(\d{1,3})$/
/** They prove any age. */
const DATES = ['birthdate', 'age_in_years', 'age_birth_year']

/** A number beside the words of an age, in English or German. */
const AGE =
  /(?<![\d.,])\d{1,3}(?=\s?\+|[\s-]?(?:years?|yrs|Jahren?|jährig\p{L}*)(?!\p{L})|\s(?:or|and) (?:over|older|above))|(?<=(?<!\p{L})(?:over|under|aged?|at least|ab|über|unter|mindestens)\s)\d{1,3}(?=\s*(?:$|[.,;!?)]))/giu

const agesOf = (claims: readonly string[]): number[] =>
  claims.flatMap(claim => {
    const years = AGE_CLAIM.exec(claim)?.[1]
    return years === undefined ? [] : [Number(years)]
  })

export const agesNamed = (purpose: string): number[] => [...new Set(purpose.match(AGE)?.map(Number))]

/** True for a purpose of a built-in template, whatever age it names: it was copied, and followed the ticks. */
export const isAutomatic = (purpose: string, builtin: readonly string[]): boolean =>
  builtin.some(each => ageless(each) === ageless(purpose))

const ageless = (purpose: string): string => purpose.replace(AGE, '0')

/** The purpose for these claims, from the one that the template began with. Every age is to be reached, so the oldest is named. */
export function followTicks(purpose: string, claims: readonly string[], language: keyof Localized): string {
  const ages = agesOf(claims)
  const oldest = Math.max(...ages)
  const namesAge = agesNamed(purpose).length > 0
  if (ages.length > 0 && namesAge) return purpose.replace(AGE, String(oldest))
  if (ages.length > 0 && ages.length === claims.length) return purposeOfAge(oldest)[language]
  return namesAge && !claims.some(claim => DATES.includes(claim)) ? '' : purpose
}

type ClaimsAndAges = { claims: readonly string[] /** Of the rules. */; ages: readonly number[] }

/** Ages that a purpose names and nothing asks for; none where a date of birth may show them. */
export function strayAges(purpose: string, { claims, ages }: ClaimsAndAges): { named: number[]; asked: number[] } {
  const asked = [...new Set([...agesOf(claims), ...ages])].sort((a, b) => a - b)
  const isOpen = asked.length === 0 && claims.some(claim => DATES.includes(claim))
  return { named: isOpen ? [] : agesNamed(purpose).filter(years => !asked.includes(years)), asked }
}
