// The compact form of an SD-JWT (RFC 9901 § 4): `JWT~disclosure~…~disclosure~` and, last, the key binding JWT or nothing.
// @sd-jwt/core decodes it. Before that, everything it takes too lightly is refused here: sizes, characters outside base64url, text
// that is not UTF-8, doubled names, a missing `~`. Only the text as received is ever hashed or verified.
import { hash } from 'node:crypto'
import { SDJwt } from '@sd-jwt/core'
import { assertStrictJson } from './strict-json.ts'

const PRESENTATION_CHARS_MAX = 256 * 1024
const DISCLOSURES_MAX = 200
// A portrait is one disclosure: that of the EU reference PID takes 33 KiB.
const DISCLOSURE_CHARS_MAX = 64 * 1024
export const JSON_DEPTH_MAX = 32

export type Members = Record<string, unknown>
export type Token = { text: string; header: Members; payload: Members }

export type Disclosure = {
  digest: string
  salt: unknown
  /** Undefined for an array element. */
  name: unknown
  value: unknown
}

export type DecodedSdJwt = {
  jwt: Token
  disclosures: Disclosure[]
  keyBinding: Token | undefined
  /** What a key binding must name: the hash of everything up to and including the last `~` (RFC 9901 § 4.3.1). */
  sdHash: string
}

/** Ends the reading of a presentation. The message is for the merchant. */
export class Malformed extends Error {
  constructor(
    readonly check: 'format' | 'digests',
    detail: string,
  ) {
    super(detail)
  }
}

/** Throws `Malformed`, or whatever the library throws. */
export async function decodeSdJwt(presentation: string): Promise<DecodedSdJwt> {
  const { jwtText, disclosureTexts, keyBindingText } = splitWithinLimits(presentation)
  assertJwt(jwtText)
  for (const text of disclosureTexts) assertDisclosure(text)
  if (keyBindingText) assertJwt(keyBindingText)

  const decoded = await SDJwt.fromEncode(presentation, hasher)
  const jwt = asToken(jwtText, decoded.jwt)
  const alg = jwt.payload._sd_alg === undefined ? 'sha-256' : jwt.payload._sd_alg
  return {
    jwt,
    disclosures: await Promise.all((decoded.disclosures ?? []).map(disclosure => asDisclosure(disclosure, String(alg)))),
    keyBinding: keyBindingText ? asToken(keyBindingText, decoded.kbJwt) : undefined,
    sdHash: digestBytes(presentation.slice(0, presentation.length - keyBindingText.length), alg).toString('base64url'),
  }
}

function splitWithinLimits(presentation: string) {
  if (presentation.length > PRESENTATION_CHARS_MAX) throw new Malformed('format', 'The credential is larger than 256 KiB.')
  const [jwtText = '', ...rest] = presentation.split('~')
  const keyBindingText = rest.pop()
  if (keyBindingText === undefined) throw new Malformed('format', 'It is not an SD-JWT in compact form.')
  if (rest.length > DISCLOSURES_MAX) throw new Malformed('format', `More than ${DISCLOSURES_MAX} values are disclosed.`)
  if (rest.some(text => text.length > DISCLOSURE_CHARS_MAX))
    throw new Malformed('format', 'A disclosed value is larger than 64 KiB.')
  return { jwtText, disclosureTexts: rest, keyBindingText }
}

// An empty signature passes here, so that `alg: none` is named as what it is: not signed.
function assertJwt(text: string): void {
  const [header = '', payload = '', signature, ...rest] = text.split('.')
  const isJwt =
    signature !== undefined && rest.length === 0 && bytesOf(signature) && isStrictJson(header) && isStrictJson(payload)
  if (!isJwt) throw new Malformed('format', 'It is not an SD-JWT in compact form with well-formed JSON.')
}

// The library would take a string of two characters, or an object with a `length`, for an array.
function assertDisclosure(text: string): void {
  if (!isStrictJson(text, '[')) throw new Malformed('digests', 'A disclosed value is not written as a well-formed disclosure.')
}

function isStrictJson(text: string, opening: '{' | '[' = '{'): boolean {
  const bytes = bytesOf(text)
  if (!bytes) return false
  try {
    const json = UTF_8.decode(bytes)
    assertStrictJson(json, { depthMax: JSON_DEPTH_MAX })
    return json.trimStart().startsWith(opening)
  } catch {
    // Which of the faults it is helps nobody.
    return false
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** RFC 7515 § 2: base64url without padding; and without stray bits at the end, or one signature could be written in four ways. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

// RFC 9901 § 4.1.1: names of the IANA registry, case-sensitive. The weak ones and SHA-3 are not supported.
const HASHES = new Map<unknown, string>([
  ['sha-256', 'sha256'],
  ['sha-384', 'sha384'],
  ['sha-512', 'sha512'],
])

const hasher = (text: string | ArrayBuffer, alg: string): Buffer => digestBytes(String(text), alg)

function digestBytes(text: string, alg: unknown): Buffer {
  const name = HASHES.get(alg)
  if (!name) throw new Malformed('digests', 'The credential uses a hash algorithm that is not supported.')
  return hash(name, text, 'buffer')
}

function asToken(text: string, jwt: { header?: unknown; payload?: unknown } | undefined): Token {
  if (!isObject(jwt?.header) || !isObject(jwt.payload)) throw new Malformed('format', 'It is not an SD-JWT in compact form.')
  return { text, header: jwt.header, payload: jwt.payload }
}

type LibraryDisclosure = NonNullable<SDJwt['disclosures']>[number]

async function asDisclosure(disclosure: LibraryDisclosure, alg: string): Promise<Disclosure> {
  const { salt, key: name, value } = disclosure
  return { digest: await disclosure.digest({ hasher, alg }), salt, name, value }
}

export const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)
