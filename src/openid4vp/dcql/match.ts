// DCQL on the verifier's side: does the answer match the query? The wallet's own matching is never
// relied on (OpenID4VP 1.0 § 14.9).

import { isObject, setMember } from '../../base/members.ts'
import type { ReadCredential } from '../credential.ts'
import type { Findings } from '../finding.ts'
import type { NextTurn } from '../turns.ts'
import type { Certificate } from '../x509/x509.ts'
import { claimSetsOf } from './credential-sets.ts'
import type { ClaimPath, ClaimsQuery, CredentialQuery } from './dcql.ts'

type Claims = Record<string, unknown>

/** Elements, names and values that the matching of one answer may visit, over all its presentations and queries. */
export const STEPS_MAX = 200_000
/** Other requests take their turn after so many. */
const STEPS_A_TURN = 20_000
/** Texts are copied and stored: long ones count by their length. */
const CHARS_A_STEP = 16

class TooManySteps extends Error {
  override name = 'TooManySteps'
}

const TOO_MANY_STEPS = `Comparing the answer with the query takes more than ${STEPS_MAX.toLocaleString('en')} steps. Ask for fewer claims, and for fewer with a number or null in their path.`

/** The matching of one answer. A wallet and a shop choose the sizes of answer and query, and nobody else may wait for their product. */
export class Matching {
  private left = STEPS_MAX
  private turnEndsAt = STEPS_MAX - STEPS_A_TURN
  private readonly values = new Map<ClaimsQuery, ReadonlySet<unknown>>()
  private readonly sets = new Map<CredentialQuery, readonly (readonly ClaimsQuery[])[]>()
  private readonly authorities = new Map<CredentialQuery, ReadonlySet<string>>()

  constructor(private readonly giveWay: NextTurn) {}

  of(credential: Presented): PresentationMatch {
    return new PresentationMatch(this, credential)
  }

  /** Throws TooManySteps. */
  spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new TooManySteps()
  }

  get isTurnOver(): boolean {
    return this.left < this.turnEndsAt
  }

  async nextTurn(): Promise<void> {
    this.turnEndsAt = this.left - STEPS_A_TURN
    await this.giveWay()
  }

  valuesOf(claim: ClaimsQuery): ReadonlySet<unknown> | undefined {
    return claim.values && remembered(this.values, claim, () => new Set<unknown>(claim.values))
  }

  setsOf(query: CredentialQuery): readonly (readonly ClaimsQuery[])[] {
    return remembered(this.sets, query, () => claimSetsOf(query))
  }

  /** An unknown type matches nothing. */
  authoritiesOf(query: CredentialQuery): ReadonlySet<string> | undefined {
    const { trusted_authorities: authorities } = query
    const keyIdentifiers = () => new Set(authorities!.flatMap(({ type, values }) => (type === 'aki' ? values : [])))
    return authorities && remembered(this.authorities, query, keyIdentifiers)
  }
}

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = known.get(key) ?? make()
  known.set(key, found)
  return found
}

type Presented = Pick<ReadCredential, 'format' | 'type' | 'claims'>
type Authorities = readonly Pick<Certificate, 'authorityKeyIdentifier'>[]

/** `path` is the requested one, or that of a higher age. */
type Found = { path: ClaimPath; isThere: boolean; isMet: boolean }
type Age = { age: number; name: string; isPlain: boolean }

/** One presentation and the queries that it may answer. Each claim is looked up once. */
export class PresentationMatch {
  private readonly found = new Map<ClaimsQuery, Found>()
  /** The proven ages of an object, the lowest first. */
  private readonly ages = new Map<Claims, readonly Age[]>()

  constructor(
    private readonly matching: Matching,
    private readonly credential: Presented,
  ) {}

  /**
   * The type, the authority, and every claim of the query or of one of its claim sets. `path` is the validated path: other
   * certificates in the presentation could be made by anybody. Throws TooManySteps.
   */
  async findMismatch(query: CredentialQuery, path: Authorities): Promise<string | undefined> {
    return (await this.findClaimMismatch(query, 'isMet')) ?? this.findAuthorityMismatch(query, path)
  }

  /** As findMismatch, but with any value and of any authority. */
  async covers(query: CredentialQuery): Promise<boolean> {
    return (await this.findClaimMismatch(query, 'isThere')) === undefined
  }

  private async findClaimMismatch(query: CredentialQuery, need: 'isMet' | 'isThere'): Promise<string | undefined> {
    const { format, type } = this.credential
    if (format !== query.format) return `A credential of format ${query.format} was asked for, another format came.`
    // Exact match: a subtype could be proven with type metadata from the network only (§ B.3.5).
    const wanted = query.format === 'mso_mdoc' ? [query.meta.doctype_value] : query.meta.vct_values
    if (!wanted.includes(type)) return 'The credential is of another type than was asked for.'
    await this.lookUpAll(query)
    // The wallet should take the first set it can answer, but any complete one is accepted (§ 6.4.1).
    const unmet: ClaimsQuery[] = []
    for (const claims of this.matching.setsOf(query)) {
      const first = this.firstUnmet(claims, need)
      if (!first) return undefined
      unmet.push(first)
    }
    if (query.claim_sets) return 'No set of the claims that were asked for is complete.'
    const [claim] = unmet
    const name = claim!.path.map(step => step ?? '*').join('.')
    return this.found.get(claim!)!.isThere
      ? `The claim ${name} has another value than was asked for.`
      : `The claim ${name} is missing.`
  }

  private firstUnmet(claims: readonly ClaimsQuery[], need: 'isMet' | 'isThere'): ClaimsQuery | undefined {
    this.matching.spend(claims.length)
    return claims.find(claim => !this.found.get(claim)![need])
  }

  /** § 6.1.1: one value of one entry is enough. */
  private findAuthorityMismatch(query: CredentialQuery, path: Authorities): string | undefined {
    const wanted = this.matching.authoritiesOf(query)
    if (!wanted) return undefined
    const isMatch = path.some(
      ({ authorityKeyIdentifier: key }) => key !== undefined && wanted.has(Buffer.from(key).toString('base64url')),
    )
    return isMatch ? undefined : 'The credential is not of one of the authorities that were asked for.'
  }

  private async lookUpAll({ claims = [] }: CredentialQuery): Promise<void> {
    for (const claim of claims) {
      if (!this.found.has(claim)) this.found.set(claim, this.lookUp(claim))
      if (this.matching.isTurnOver) await this.matching.nextTurn()
    }
  }

  private lookUp(claim: ClaimsQuery): Found {
    const wanted = this.matching.valuesOf(claim)
    let { path } = claim
    let values = this.select(path)
    if (!values) {
      path = this.higherAge(path) ?? path
      values = path === claim.path ? undefined : this.select(path)
    }
    const isMet = values !== undefined && (wanted === undefined || values.some(value => wanted.has(value)))
    return { path, isThere: values !== undefined, isMet }
  }

  private select(path: ClaimPath): unknown[] | undefined {
    return selectPath(this.credential.claims, path, 'any', steps => this.matching.spend(steps))
  }

  /**
   * The path that answers for a requested age that is missing: the nearest higher one that is true (ISO/IEC 18013-5 § 7.2.5).
   */
  private higherAge(path: ClaimPath): ClaimPath | undefined {
    const asked = ageOf(path)
    if (asked === undefined) return undefined
    const above = path.slice(0, -1)
    const parent = this.select(above)?.[0]
    if (!isObject(parent)) return undefined
    const ages = remembered(this.ages, parent, () => this.agesIn(parent))
    this.matching.spend(ages.length)
    const isPlain = above.at(-1) === AGES
    const higher = ages.find(each => each.age > asked && each.isPlain === isPlain)
    return higher && [...above, higher.name]
  }

  private agesIn(parent: Claims): readonly Age[] {
    const names = Object.keys(parent)
    this.matching.spend(names.length)
    const ages = names.flatMap(name => {
      if (parent[name] !== true) return []
      const plain = ageOf([AGES, name])
      const age = plain ?? ageOf([name])
      return age === undefined ? [] : [{ age, name, isPlain: plain !== undefined }]
    })
    return ages.sort((a, b) => a.age - b.age)
  }

  /** The requested claims only: further claims of the wallet are neither passed on nor stored. Throws TooManySteps. */
  async requestedClaims(query: CredentialQuery): Promise<Claims> {
    await this.lookUpAll(query)
    const root: PathTree = { isWhole: false, names: new Map(), elements: undefined }
    for (const claim of query.claims ?? []) this.want(root, this.found.get(claim)!.path)
    return root.names.size > 0 ? (this.subset(this.credential.claims, root) as Claims) : {}
  }

  private want(root: PathTree, path: ClaimPath): void {
    this.matching.spend(path.length)
    let node = root
    for (const step of path) {
      const next = (typeof step === 'string' ? node.names.get(step) : node.elements) ?? {
        isWhole: false,
        names: new Map(),
        elements: undefined,
      }
      if (typeof step === 'string') node.names.set(step, next)
      else node.elements = next
      node = next
    }
    node.isWhole = true
  }

  private subset(value: unknown, { isWhole, names, elements }: PathTree): unknown {
    if (isWhole) return this.charged(value)
    this.matching.spend(1)
    if (Array.isArray(value))
      return elements ? value.map(element => this.subset(element, elements)).filter(kept => kept !== undefined) : []
    if (!isObject(value)) return undefined
    const kept: Claims = {}
    for (const [name, wanted] of names) {
      const inner = Object.hasOwn(value, name) ? this.subset(value[name], wanted) : undefined
      if (inner !== undefined) setMember(kept, name, inner)
    }
    return kept
  }

  /** What is returned is merged, compared and stored. */
  private charged(value: unknown): unknown {
    if (typeof value === 'string') this.matching.spend(1 + Math.floor(value.length / CHARS_A_STEP))
    else {
      this.matching.spend(1)
      if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) this.charged(each)
    }
    return value
  }
}

/** The requested parts of a value, below each name and below every element of a list. */
type PathTree = { isWhole: boolean; names: Map<string, PathTree>; elements: PathTree | undefined }

/** Records one finding on `query`, and gives the requested claims. */
export async function checkAgainstQuery(
  findings: Findings,
  query: CredentialQuery,
  match: PresentationMatch,
  path: Authorities,
): Promise<Claims> {
  const matched = await withinSteps(async () => ({
    problem: await match.findMismatch(query, path),
    claims: await match.requestedClaims(query),
  }))
  const { problem, claims } = matched ?? { problem: TOO_MANY_STEPS, claims: {} }
  if (problem === undefined) findings.pass('query')
  else findings.fail('query', 'query_not_satisfied', problem)
  return claims
}

/** Undefined if the steps of the answer are used up. */
export async function withinSteps<Result>(match: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await match()
  } catch (error) {
    if (error instanceof TooManySteps) return undefined
    throw error
  }
}

/**
 * The values that a claims path selects (§ 7.1.1), or undefined. With `any`, a number selects every
 * element that the rest of the path matches: undisclosed elements are removed, so the requested one
 * may have a lower index (RFC 9901 § 7.1).
 */
export function selectPath(
  claims: unknown,
  path: ClaimPath,
  index: 'exact' | 'any',
  spend: (steps: number) => void = () => {},
): unknown[] | undefined {
  let values = [claims]
  let isAnyElement = false
  for (const step of path) {
    spend(values.length)
    const next: unknown[] = []
    for (const value of values) {
      if (typeof step === 'string' ? isObject(value) : Array.isArray(value)) take(value as Claims & unknown[], step, index, next)
      else if (!isAnyElement) return undefined
    }
    values = next
    isAnyElement ||= typeof step === 'number' && index === 'any'
  }
  spend(values.length)
  return values.length > 0 ? values : undefined
}

function take(value: Claims & unknown[], step: ClaimPath[number], index: 'exact' | 'any', taken: unknown[]): void {
  if (typeof step === 'string') {
    if (Object.hasOwn(value, step)) taken.push(value[step])
  } else if (step === null || index === 'any') for (const element of value) taken.push(element)
  else if (step < value.length) taken.push(value[step])
}

const AGES = 'age_equal_or_over'

/** 18 of `age_over_18` (mdoc) or of `age_equal_or_over.18` (SD-JWT PID). */
export function ageOf(path: ClaimPath): number | undefined {
  const last = path.at(-1)
  if (typeof last !== 'string') return undefined
  const prefix = path.at(-2) === AGES ? '' : 'age_over_'
  const digits = last.startsWith(prefix) ? last.slice(prefix.length) : ''
  return /^\d{1,3}$/.test(digits) ? Number(digits) : undefined
}
