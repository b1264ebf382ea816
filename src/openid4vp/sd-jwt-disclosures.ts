// What a credential says once its disclosures are put in place (RFC 9901 § 7.1, steps 3 to 5). @sd-jwt/core can do that too, but it
// takes unreferenced and doubled disclosures, reserved and colliding names and the wrong arity, and loses claims with odd names; a
// walk that refuses those visits every value anyway, so it also builds the result.
import { type Disclosure, isObject, JSON_DEPTH_MAX, Malformed, type Members } from './sd-jwt-form.ts'

const DISCLOSURE_NESTING_MAX = 10

// SD-JWT VC § 3.2.2.2: what decides over validity, type and holder has to be in the signed part itself.
const NEVER_DISCLOSED = new Set(['iss', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity', 'aka_vcts', 'status'])
const RESERVED = new Set(['_sd', '...', '_sd_alg'])

/** How deep we are: in JSON, and in disclosures that were found inside disclosures. */
type Place = { depth: number; nesting: number }

/** The processed payload. Throws `Malformed` when payload and disclosures do not fit together. */
export function discloseClaims(payload: Members, disclosures: Disclosure[]): Members {
  const { _sd_alg, ...signed } = payload
  const walk = new Walk(disclosures)
  const claims = walk.object(signed, { depth: 1, nesting: 0 })
  walk.assertAllReferenced()
  return claims
}

class Walk {
  private readonly byDigest = new Map<string, Disclosure>()
  private readonly seen = new Set<string>()

  constructor(disclosures: Disclosure[]) {
    for (const disclosure of disclosures) this.byDigest.set(disclosure.digest, disclosure)
    if (this.byDigest.size < disclosures.length) throw new Malformed('digests', 'A value is disclosed twice.')
  }

  object(object: Members, place: Place): Members {
    const members = new Map<string, unknown>()
    for (const [name, value] of Object.entries(object)) {
      if (name === '_sd') continue
      if (RESERVED.has(name)) throw new Malformed('digests', 'A reserved name is used for something else.')
      members.set(name, this.value(value, inside(place)))
    }
    for (const digest of digestsOf(object)) {
      const disclosure = this.take(digest)
      if (!disclosure) continue
      const name = claimName(disclosure, place)
      if (members.has(name)) throw new Malformed('digests', 'A disclosed claim has the name of a claim that is already there.')
      members.set(name, this.value(disclosure.value, inside(disclosed(place))))
    }
    // Not by assignment: that would make `__proto__` the prototype.
    return Object.fromEntries(members)
  }

  private value(value: unknown, place: Place): unknown {
    const isContainer = typeof value === 'object' && value !== null
    if (isContainer && place.depth > JSON_DEPTH_MAX) throw tooDeep()
    if (Array.isArray(value)) return value.flatMap(element => this.element(element, place))
    return isObject(value) ? this.object(value, place) : value
  }

  /** The element in an array, so that none is left of one that is not disclosed. */
  private element(element: unknown, place: Place): [unknown] | [] {
    const digest = elementDigest(element)
    if (digest === undefined) return [this.value(element, inside(place))]
    const disclosure = this.take(digest)
    if (!disclosure) return []
    if (disclosure.name !== undefined || typeof disclosure.salt !== 'string') throw wrongShape()
    return [this.value(disclosure.value, inside(disclosed(place)))]
  }

  /** Undefined for a digest whose value the holder keeps, and for a decoy: nobody can tell them apart. */
  private take(digest: string): Disclosure | undefined {
    if (this.seen.has(digest)) throw new Malformed('digests', 'The same digest is used twice.')
    this.seen.add(digest)
    return this.byDigest.get(digest)
  }

  assertAllReferenced(): void {
    for (const digest of this.byDigest.keys())
      if (!this.seen.has(digest)) throw new Malformed('digests', 'A disclosed value is not part of what the issuer signed.')
  }
}

const tooDeep = () => new Malformed('digests', 'The disclosed values are nested too deeply.')

const inside = ({ depth, nesting }: Place): Place => ({ depth: depth + 1, nesting })

function disclosed({ depth, nesting }: Place): Place {
  if (nesting === DISCLOSURE_NESTING_MAX) throw tooDeep()
  return { depth, nesting: nesting + 1 }
}

function digestsOf(object: Members): string[] {
  if (!Object.hasOwn(object, '_sd')) return []
  const { _sd } = object
  if (Array.isArray(_sd) && _sd.every(digest => typeof digest === 'string')) return _sd
  throw new Malformed('digests', 'The list of digests is not a list of texts.')
}

/** An object with one key, `...`, that refers to a string. Any other use of that key ends in `Walk.object`. */
function elementDigest(element: unknown): string | undefined {
  if (!isObject(element) || Object.keys(element).length !== 1) return undefined
  const digest = Object.hasOwn(element, '...') ? element['...'] : undefined
  return typeof digest === 'string' ? digest : undefined
}

function claimName({ salt, name }: Disclosure, { depth }: Place): string {
  if (typeof salt !== 'string' || typeof name !== 'string') throw wrongShape()
  if (RESERVED.has(name)) throw new Malformed('digests', 'A disclosed claim has a reserved name.')
  if (depth === 1 && NEVER_DISCLOSED.has(name)) {
    throw new Malformed('digests', 'A claim on validity, type or holder is disclosed instead of signed directly.')
  }
  return name
}

const wrongShape = () => new Malformed('digests', 'A disclosed value does not have the shape that its place asks for.')
