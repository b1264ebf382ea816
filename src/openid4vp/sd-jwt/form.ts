// The compact form of an SD-JWT (RFC 9901 § 4): `JWT~disclosure~…~disclosure~` and, last, the key
// binding JWT or nothing. A reader of our own, here and in disclosures.ts: @sd-jwt/core,
// which the sandbox uses, accepts lenient base64 and doubled or unreferenced disclosures, and loses
// claims with odd names (test/openid4vp/sd-jwt.test.ts compares the two). Each part is decoded
// once; only the text as received is ever hashed or verified.
import { hash } from 'node:crypto'
import { decodeBase64urlInto } from '../../base/base64url.ts'
import { parseJson } from '../../base/json.ts'
import { Lru } from '../../base/lru.ts'
import { isObject, type Members } from '../../base/members.ts'
import { ELEMENTS_MAX, TOO_MANY_ELEMENTS } from '../credential.ts'

const PRESENTATION_CHARS_MAX = 256 * 1024
const DISCLOSURES_MAX = 500
export const JSON_DEPTH_MAX = 32

/** Tokens with the same header may share the object. */
export type Token = { text: string; header: Readonly<Members>; payload: Members }

export type Disclosure = {
  digest: string
  salt: unknown
  /** Undefined for an array element. */
  name: unknown
  value: unknown
}

export type DecodedSdJwt = {
  /** Payload and disclosures may hold a LargeNumber. */
  jwt: Token
  disclosures: Disclosure[]
  keyBinding: Token | undefined
  /** Expected in the key binding: the hash of everything up to and including the last `~` (RFC 9901 § 4.3.1). */
  sdHash: string
}

/** Stops the reading of a presentation. The message is for the merchant. */
export class Malformed extends Error {
  override name = 'Malformed'
  constructor(
    readonly check: 'format' | 'digests',
    detail: string,
  ) {
    super(detail)
  }
}

const HEADERS_KEPT_MAX = 256
const KEPT_HEADER_CHARS_MAX = 8192

export class SdJwtDecoder {
  /**
   * Keyed by their text; never changed. Credentials of one issuer share a header, and so do the key
   * bindings of one kind of wallet.
   */
  private readonly headers = new Lru<Members>({ countMax: HEADERS_KEPT_MAX })
  /** Scratch space: each part is decoded here, and only its text is kept. */
  private readonly part = new Uint8Array(PRESENTATION_CHARS_MAX)

  /** Throws `Malformed`. */
  decode(presentation: string): DecodedSdJwt {
    const { jwtText, disclosureTexts, keyBindingText } = splitWithinLimits(presentation)
    const budget = { left: ELEMENTS_MAX }
    const claims: Limits = { depthMax: JSON_DEPTH_MAX, keepsLargeNumbers: true, budget }
    const jwt = this.jwt(jwtText, claims)
    const contents: unknown[][] = []
    for (const text of disclosureTexts) contents.push(this.disclosure(text, claims))
    const keyBinding = keyBindingText ? this.jwt(keyBindingText, LIMITS) : undefined
    const algorithm = hashOf(jwt.payload._sd_alg)
    return {
      jwt,
      disclosures: contents.map((content, index) => readDisclosure(disclosureTexts[index]!, content, algorithm)),
      keyBinding,
      sdHash: hash(algorithm, presentation.slice(0, presentation.length - keyBindingText.length), 'base64url'),
    }
  }

  // An empty signature passes here, so that `alg: none` is reported as a missing signature.
  private jwt(text: string, limits: Limits): Token {
    const [headerText = '', payloadText = '', signature, ...rest] = text.split('.')
    if (signature !== undefined && rest.length === 0 && decodeBase64urlInto(this.part, signature) !== undefined) {
      const known = this.headers.get(headerText)
      const header = known ?? this.json(headerText, LIMITS)
      const payload = isObject(header) ? this.json(payloadText, limits) : undefined
      if (isObject(header) && isObject(payload)) {
        if (!known && headerText.length <= KEPT_HEADER_CHARS_MAX) this.headers.set(headerText, header)
        return { text, header, payload }
      }
    }
    throw tooMany(limits) ?? new Malformed('format', 'It is not an SD-JWT in compact form with well-formed JSON.')
  }

  private disclosure(text: string, limits: Limits): unknown[] {
    const content = this.json(text, limits)
    if (!Array.isArray(content))
      throw tooMany(limits) ?? new Malformed('digests', 'A disclosed value is not written as a well-formed disclosure.')
    return content
  }

  private json(encoded: string, limits: Limits): unknown {
    const length = decodeBase64urlInto(this.part, encoded)
    if (length === undefined) return undefined
    try {
      return parseJson(UTF_8.decode(this.part.subarray(0, length)), limits)
    } catch {
      // The exact fault does not matter to the caller.
      return undefined
    }
  }
}

function splitWithinLimits(presentation: string) {
  if (presentation.length > PRESENTATION_CHARS_MAX) throw new Malformed('format', 'The credential is larger than 256 KiB.')
  const [jwtText = '', ...rest] = presentation.split('~', DISCLOSURES_MAX + 3)
  const keyBindingText = rest.pop()
  if (keyBindingText === undefined) throw new Malformed('format', 'It is not an SD-JWT in compact form.')
  if (rest.length > DISCLOSURES_MAX) throw new Malformed('format', `More than ${DISCLOSURES_MAX} values are disclosed.`)
  return { jwtText, disclosureTexts: rest, keyBindingText }
}

type Limits = Parameters<typeof parseJson>[1]
const LIMITS: Limits = { depthMax: JSON_DEPTH_MAX, valuesMax: ELEMENTS_MAX }

const tooMany = ({ budget }: Limits): Malformed | undefined =>
  budget && budget.left < 0 ? new Malformed('format', `The credential cannot be read: ${TOO_MANY_ELEMENTS}.`) : undefined

// A byte order mark is kept, and then refused as JSON.
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

// RFC 9901 § 4.1.1: case-sensitive names of the IANA registry. Weak ones and SHA-3 are not supported.
const HASHES = new Map<unknown, string>([
  ['sha-256', 'sha256'],
  ['sha-384', 'sha384'],
  ['sha-512', 'sha512'],
])

function hashOf(alg: unknown = 'sha-256'): string {
  const name = HASHES.get(alg)
  if (!name) throw new Malformed('digests', 'The credential uses a hash algorithm that is not supported.')
  return name
}

function readDisclosure(text: string, parts: unknown[], algorithm: string): Disclosure {
  const [salt, name, value] = parts.length === 2 ? [parts[0], undefined, parts[1]] : parts
  if (parts.length !== 2 && parts.length !== 3)
    throw new Malformed('format', 'A disclosed value has neither two nor three parts.')
  return { digest: hash(algorithm, text, 'base64url'), salt, name, value }
}
