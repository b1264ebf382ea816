// The rules of a template: the default if it has none, and the check of rules before they are saved.
import { Value } from '@sinclair/typebox/value'
import { describeProblem } from '../http/schema.ts'
import type { CredentialQuery, DcqlProblem, DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { ageOf } from '../openid4vp/dcql/match.ts'
import { mergedName } from '../openid4vp/merge-claims.ts'
import type { Rule } from '../openid4vp/rules.ts'
import { AgeRule, IsRule, OneOfRule, RULES_MAX } from './schema.ts'

const KINDS = {
  is: { schema: IsRule, example: '{"claim":"age_over_18","is":true}' },
  one_of: { schema: OneOfRule, example: '{"claim":"nationalities","one_of":["DE","FR"]}' },
  age_at_least: { schema: AgeRule, example: '{"claim":"birthdate","age_at_least":18}' },
} as const
const EXAMPLES = Object.values(KINDS).map(({ example }) => example)
const NAMES_TOLD_MAX = 10

/** Null is the default: every age that is asked for must be reached. */
export const effectiveRules = (query: DcqlQuery, rules: readonly Rule[] | null): readonly Rule[] => rules ?? defaultRules(query)

function defaultRules({ credentials }: DcqlQuery): Rule[] {
  const ages = credentials.flatMap(({ format, claims = [] }) =>
    claims.filter(({ path }) => ageOf(path) !== undefined).map(({ path }) => mergedName(format, path)),
  )
  return [...new Set(ages)].map(claim => ({ claim, is: true }))
}

/** Whether an age is asked for that no rule judges: then `completed` says nothing about it. */
export const leavesAgeOpen = (query: DcqlQuery, rules: readonly Rule[] | null): boolean => {
  const ruled = effectiveRules(query, rules).map(({ claim }) => claim)
  return defaultRules(query).some(({ claim }) => !ruled.includes(claim))
}

/** The first problem of the rules of a valid query, or undefined. Takes any JSON value; null and undefined mean the default. */
export function findRulesProblem(rules: unknown, query: DcqlQuery): DcqlProblem | undefined {
  const given = rules ?? null
  if (given !== null && !Array.isArray(given))
    return { path: '', reason: `Rules must be an array of up to ${RULES_MAX} rules; [] for none, null for the default.` }
  if (given && given.length > RULES_MAX) return { path: '', reason: `There are more than ${RULES_MAX} rules; leave some out.` }
  for (const [index, rule] of (given ?? []).entries()) {
    const reason = findShapeProblem(rule)
    if (reason) return { path: `[${index}]`, reason }
  }
  const effective = effectiveRules(query, given)
  if (effective.length > RULES_MAX)
    return { path: '', reason: `The query asks for more than ${RULES_MAX} ages, each of which must be reached; give rules.` }
  const index = effective.findIndex(({ claim }) => !query.credentials.some(credential => delivers(credential, claim)))
  const lost = effective[index]
  return lost && { path: given ? `[${index}].claim` : '', reason: undeliveredReason(lost.claim, query, given !== null) }
}

function findShapeProblem(rule: unknown): string | undefined {
  const members = typeof rule === 'object' && rule !== null ? Object.keys(rule) : []
  const [kind, second] = members.filter((member): member is keyof typeof KINDS => Object.hasOwn(KINDS, member))
  if (!kind || second) return `A rule is one of ${EXAMPLES.join(', ')}.`
  const { schema, example } = KINDS[kind]
  const error = Value.Errors(schema, rule).First()
  return error && `Write it like ${example}; ${describeProblem(error)}.`
}

/** Whether a credential can have a merged claim of this name, or one inside it. */
function delivers({ format, claims = [], multiple }: CredentialQuery, claim: string): boolean {
  // Several credentials of one query are never merged.
  if (multiple) return false
  return claims.some(({ path }) => {
    const name = mergedName(format, path)
    if (format === 'dc+sd-jwt' && name === 'age_equal_or_over') return ageOf([claim]) !== undefined
    const list = path.findIndex(step => typeof step !== 'string')
    // A rule can be on a list, but not inside its elements.
    if (list >= 0) return list === path.length - 1 && claim === name
    return claim === name || claim.startsWith(`${name}.`)
  })
}

function undeliveredReason(claim: string, { credentials }: DcqlQuery, isGiven: boolean): string {
  const all = new Set(credentials.flatMap(({ format, claims = [] }) => claims.map(({ path }) => mergedName(format, path))))
  const names = [...all].filter(name => credentials.some(credential => delivers(credential, name))).slice(0, NAMES_TOLD_MAX)
  const told = names.length > 0 ? `a rule can be on ${names.join(', ')}` : 'it asks for no claim that a rule can be on'
  const remedy = isGiven ? '' : ' Without rules every age that is asked for must be reached: give rules, or [] for none.'
  return `The query never delivers ${JSON.stringify(claim)} as a merged claim; ${told}.${remedy}`
}
