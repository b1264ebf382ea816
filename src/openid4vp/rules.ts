import { isObject } from '../base/members.ts'
import { ageOf } from './dcql/match.ts'
import { type Age, agesIn, decideAge, fullYearsSince } from './merge-claims.ts'
import type { NextTurn } from './turns.ts'

/** A condition on the merged claims of a valid presentation. Dots in `claim` lead into objects. */
export type Rule =
  | { claim: string; is: boolean }
  | { claim: string; one_of: (string | number | boolean)[] }
  | { claim: 'birthdate'; age_at_least: number }

type Claims = Record<string, unknown>

/**
 * One sentence for each broken rule; it names the claim, never its value. A rule must hold for the
 * merged claims, and no presented credential may break it: there may be more than were merged.
 */
export async function findBrokenRules(
  rules: readonly Rule[],
  merged: Claims,
  each: readonly Claims[],
  now: number,
  nextTurn: NextTurn,
): Promise<string[]> {
  const context = { now, ages: new Map<Claims, readonly Age[]>(), visited: 0, nextTurn }
  const broken: string[] = []
  for (const rule of rules) {
    const breaking = await findBreaking(rule, [merged, ...each], context)
    if (breaking) broken.push(`The rule on ${rule.claim} is broken: ${reasonOf(rule, breaking)}.`)
  }
  return broken
}

/** Values that the rules visit in one turn; then other requests take theirs. */
const VISITED_A_TURN = 20_000

/** The first of the merged claims and those of each credential that breaks the rule. */
async function findBreaking(rule: Rule, all: readonly Claims[], context: Context): Promise<Claims | undefined> {
  const allowed = 'one_of' in rule ? new Set<unknown>(rule.one_of) : undefined
  for (const [index, claims] of all.entries()) {
    const isMet = meets(rule, claims, context, allowed)
    if (isMet === false || (isMet === undefined && index === 0)) return claims
    if (context.visited < VISITED_A_TURN) continue
    context.visited = 0
    await context.nextTurn()
  }
  return undefined
}

/** The names of an object are read once, however many ages are asked for. */
type Context = { now: number; ages: Map<Claims, readonly Age[]>; visited: number; nextTurn: NextTurn }

/** Undefined if the claims do not decide it. */
function meets(rule: Rule, claims: Claims, context: Context, allowed: ReadonlySet<unknown> | undefined): boolean | undefined {
  const { now } = context
  context.visited++
  const value = claimAt(claims, rule.claim)
  if ('is' in rule) {
    const years = rule.is ? yearsOf(rule) : undefined
    const siblings = years === undefined ? undefined : claimAt(claims, rule.claim.split('.').slice(0, -1).join('.'))
    if (years !== undefined && isObject(siblings)) return decideAge(siblings, years, now, agesOf(siblings, context))
  }
  if (value === undefined) return undefined
  if ('is' in rule) return value === rule.is
  if ('age_at_least' in rule) return (fullYearsSince(value, now) ?? 0) >= rule.age_at_least
  // One matching element of a list is enough: a person may have two nationalities.
  const elements = [value].flat()
  context.visited += elements.length
  return elements.some(element => allowed!.has(element))
}

function agesOf(claims: Claims, { ages }: Context): readonly Age[] {
  const known = ages.get(claims) ?? agesIn(claims)
  ages.set(claims, known)
  return known
}

function reasonOf(rule: Rule, claims: Claims): string {
  const value = claimAt(claims, rule.claim)
  if ('is' in rule && value !== undefined && typeof value !== 'boolean') return 'the claim is no boolean, so it proves nothing'
  const years = yearsOf(rule)
  if (years !== undefined) return `the holder is not shown to be ${years} or over`
  if (value === undefined) return 'the claim is missing'
  return 'is' in rule ? `the claim is not ${rule.is}` : 'its value is not among the allowed ones'
}

function yearsOf(rule: Rule): number | undefined {
  if ('age_at_least' in rule) return rule.age_at_least
  return 'is' in rule && rule.is ? ageOf(rule.claim.split('.').slice(-1)) : undefined
}

/**
 * Finds a claim by name. Claim names may contain dots themselves (RFC 7519 § 4.2 suggests URIs), so
 * the whole name is tried first.
 */
function claimAt(claims: unknown, name: string): unknown {
  if (name === '') return claims
  if (!isObject(claims)) return undefined
  if (Object.hasOwn(claims, name)) return claims[name]
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const outer = name.slice(0, dot)
    const found = Object.hasOwn(claims, outer) ? claimAt(claims[outer], name.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}
