// The claims of a credential, with its disclosures put in place (RFC 9901 § 7.1, steps 3 to 5).
// Unreferenced and doubled disclosures, reserved and colliding names and the wrong arity are
// refused on the way.
import { LargeNumber } from '../../base/json.ts'
import { isObject, type Members, setMember } from '../../base/members.ts'
import { type Disclosure, JSON_DEPTH_MAX, Malformed } from './form.ts'

const ROOT_DEPTH = 1
const DISCLOSURE_NESTING_MAX = 10

// SD-JWT VC § 3.2.2.2: claims about validity, type and holder must be in the signed part itself.
const NEVER_DISCLOSED = new Set(['iss', 'nbf', 'exp', 'cnf', 'vct', 'vct#integrity', 'aka_vcts', 'status'])
const RESERVED = new Set(['_sd', '...', '_sd_alg'])

/**
 * Returns the processed payload without unsigned disclosures, and whether all disclosures were
 * signed. Numbers beyond 2^53 are texts in it. Throws `Malformed` when payload and disclosures do not fit together.
 */
export function discloseClaims(payload: Members, disclosures: Disclosure[]): { claims: Members; isAllSigned: boolean } {
  const walk = new Walk(disclosures)
  const claims = walk.object(payload, ROOT_DEPTH, 0)
  return { claims, isAllSigned: walk.isAllReferenced() }
}

/** `depth` is the nesting in JSON, `nesting` that of disclosures inside disclosures. */
class Walk {
  private readonly byDigest = new Map<string, Disclosure>()
  private readonly seen = new Set<string>()

  constructor(disclosures: Disclosure[]) {
    for (const disclosure of disclosures) this.byDigest.set(disclosure.digest, disclosure)
    if (this.byDigest.size < disclosures.length) throw new Malformed('digests', 'A value is disclosed twice.')
  }

  object(object: Members, depth: number, nesting: number): Members {
    const members: Members = {}
    for (const name of Object.keys(object)) {
      if (name === '_sd' || (name === '_sd_alg' && depth === ROOT_DEPTH)) continue
      if (RESERVED.has(name)) throw new Malformed('digests', 'A reserved name is used for something else.')
      setMember(members, name, this.value(object[name], depth + 1, nesting))
    }
    for (const digest of digestsOf(object)) {
      const disclosure = this.take(digest)
      if (!disclosure) continue
      const name = claimName(disclosure, depth)
      if (Object.hasOwn(members, name))
        throw new Malformed('digests', 'A disclosed claim has the name of a claim that is already there.')
      setMember(members, name, this.value(disclosure.value, depth + 1, nestedOnce(nesting)))
    }
    return members
  }

  private value(value: unknown, depth: number, nesting: number): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof LargeNumber) return String(value)
    if (depth > JSON_DEPTH_MAX) throw tooDeep()
    return Array.isArray(value) ? this.array(value, depth, nesting) : this.object(value as Members, depth, nesting)
  }

  /** An undisclosed element is removed. */
  private array(array: unknown[], depth: number, nesting: number): unknown[] {
    const elements: unknown[] = []
    for (const element of array) {
      const digest = elementDigest(element)
      const disclosure = digest === undefined ? undefined : this.take(digest)
      if (digest === undefined) elements.push(this.value(element, depth + 1, nesting))
      else if (disclosure) elements.push(this.disclosedElement(disclosure, depth + 1, nesting))
    }
    return elements
  }

  private disclosedElement({ salt, name, value }: Disclosure, depth: number, nesting: number): unknown {
    if (name !== undefined || typeof salt !== 'string') throw wrongShape()
    return this.value(value, depth, nestedOnce(nesting))
  }

  /** Undefined for an undisclosed value and for a decoy: nobody can tell them apart. */
  private take(digest: string): Disclosure | undefined {
    const isNew = this.seen.size < this.seen.add(digest).size
    if (!isNew) throw new Malformed('digests', 'The same digest is used twice.')
    return this.byDigest.get(digest)
  }

  isAllReferenced(): boolean {
    for (const digest of this.byDigest.keys()) if (!this.seen.has(digest)) return false
    return true
  }
}

const tooDeep = () => new Malformed('digests', 'The disclosed values are nested too deeply.')

function nestedOnce(nesting: number): number {
  if (nesting === DISCLOSURE_NESTING_MAX) throw tooDeep()
  return nesting + 1
}

const NO_DIGESTS: readonly string[] = []

function digestsOf(object: Members): readonly string[] {
  if (!Object.hasOwn(object, '_sd')) return NO_DIGESTS
  const { _sd } = object
  if (Array.isArray(_sd) && _sd.every(digest => typeof digest === 'string')) return _sd
  throw new Malformed('digests', 'The list of digests is not a list of texts.')
}

/** The digest in an object whose only key is `...`. Any other use of that key is refused in `Walk.object`. */
function elementDigest(element: unknown): string | undefined {
  if (!isObject(element) || Object.keys(element).length !== 1) return undefined
  const digest = Object.hasOwn(element, '...') ? element['...'] : undefined
  return typeof digest === 'string' ? digest : undefined
}

function claimName({ salt, name }: Disclosure, depth: number): string {
  if (typeof salt !== 'string' || typeof name !== 'string') throw wrongShape()
  if (RESERVED.has(name)) throw new Malformed('digests', 'A disclosed claim has a reserved name.')
  if (depth === ROOT_DEPTH && NEVER_DISCLOSED.has(name)) {
    throw new Malformed('digests', 'A claim on validity, type or holder is disclosed instead of signed directly.')
  }
  return name
}

const wrongShape = () => new Malformed('digests', 'A disclosed value does not have the shape that its place asks for.')
