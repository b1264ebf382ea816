// The file that brings trust to a machine without internet: a compact JWS with EdDSA. Its key is derived from the
// installation's root key for this purpose only. Whether a signer may bring something new is decided in bundle.ts.
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { FormatRegistry, type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { decodeBase64url } from '../../base/base64url.ts'
import { sha256Hex } from '../../base/hash.ts'
import { parseJson } from '../../base/json.ts'
import { isObject } from '../../base/members.ts'
import { isUtcInstant } from '../../base/time.ts'
import { TrustProblem } from '../settings.ts'

export const BUNDLE_BYTES_MAX = 16 * 1024 * 1024
const TYP = 'vidimus-trust-bundle+jwt'
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/
const JSON_LIMITS = { depthMax: 8, valuesMax: 200_000 }
/** The head of a key without attributes (RFC 8410 § 7); the 32 bytes of the key follow. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

FormatRegistry.Set('bundle-hex', value => /^[0-9a-f]{64}$/.test(value))
FormatRegistry.Set('bundle-time', isUtcInstant)
FormatRegistry.Set('bundle-text', value => !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(value))
FormatRegistry.Set('bundle-base64', value => Buffer.from(value, 'base64').toString('base64') === value)
const Fingerprint = Type.String({ format: 'bundle-hex' })
const Time = Type.String({ format: 'bundle-time' })
const Label = Type.String({ format: 'bundle-text', minLength: 1, maxLength: 200 })
const Name = Type.String({ format: 'bundle-text', minLength: 1, maxLength: 500 })
const Pem = Type.String({ maxLength: 20_000 })
const Environment = Type.Union([Type.Literal('test'), Type.Literal('live')])

const Source = Type.Object({
  environment: Environment,
  kind: Type.Union([Type.Literal('vical'), Type.Literal('etsi-xml'), Type.Literal('lote')]),
  use: Type.Union([Type.Literal('issuers'), Type.Literal('relying_party')]),
  label: Label,
  location: Type.Optional(Name),
  types: Type.Optional(Type.Array(Name, { maxItems: 50 })),
  service_type: Type.Optional(Name),
  mode: Type.Optional(Type.Union([Type.Literal('iso'), Type.Literal('pkix')])),
  grace_seconds: Type.Optional(Type.Integer({ minimum: 0 })),
  pins: Type.Array(Type.Object({ fingerprint: Fingerprint, certificate: Type.Optional(Pem) }), { maxItems: 8 }),
  /** The list as its operator signed it. */
  list: Type.String({ format: 'bundle-base64' }),
})

const Anchor = Type.Object({
  environment: Environment,
  pem: Pem,
  trusted_for: Type.Union([Name, Type.Null()]),
  mode: Type.Union([Type.Literal('auto'), Type.Literal('iso'), Type.Literal('pkix')]),
  crl: Type.Optional(Type.Union([Type.Literal('off'), Type.Literal('warn'), Type.Literal('require')])),
  /** `both` if it is missing. */
  use: Type.Optional(Type.Union([Type.Literal('documents'), Type.Literal('status')])),
  label: Label,
})

const Block = Type.Object({ environment: Environment, fingerprint: Fingerprint, reason: Name })

/** As its issuer signed it. */
const Revocation = Type.Object({
  uri: Name,
  media: Type.Union([
    Type.Literal('statuslist+jwt'),
    Type.Literal('statuslist+cwt'),
    Type.Literal('identifierlist+cwt'),
    Type.Literal('crl'),
  ]),
  fetched_at: Time,
  bytes: Type.String({ format: 'bundle-base64' }),
})

/** Members that a later version adds are ignored. */
const Content = Type.Object({
  version: Type.Literal(1),
  made_at: Time,
  made_by: Label,
  sources: Type.Array(Source, { maxItems: 64 }),
  anchors: Type.Array(Anchor, { maxItems: 2000 }),
  blocks: Type.Array(Block, { maxItems: 10_000 }),
  /** Missing in bundles of 0.1.0. */
  revocation: Type.Optional(Type.Array(Revocation, { maxItems: 200 })),
})

export type BundleContent = Static<typeof Content>
export type BundledSource = Static<typeof Source>
export type BundledAnchor = Static<typeof Anchor>
export type BundledBlock = Static<typeof Block>
export type BundledRevocation = Static<typeof Revocation>

export type OpenedBundle = {
  content: BundleContent
  /** SHA-256 of the key that the file names, in hex; empty if it names none. */
  signer: string
  /** Without it nobody knows who made the file. */
  isSigned: boolean
}

export function signBundle(seed: Uint8Array, content: BundleContent): Uint8Array {
  const { privateKey, x, kid } = bundleKeys(seed)
  const header = { alg: 'EdDSA', typ: TYP, kid, jwk: { kty: 'OKP', crv: 'Ed25519', x } }
  const signed = `${encode(header)}.${encode(content)}`
  return Buffer.from(`${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}\n`)
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

export const bundleSignerOf = (seed: Uint8Array): string => bundleKeys(seed).kid

function bundleKeys(seed: Uint8Array) {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, x, kid: sha256Hex(Buffer.from(x, 'base64url')) }
}

/** Throws a TrustProblem unless it is a bundle. One whose signature does not hold may still carry good lists. */
export function openBundle(bytes: Uint8Array): OpenedBundle {
  if (bytes.length > BUNDLE_BYTES_MAX)
    throw new TrustProblem(`the bundle is larger than ${BUNDLE_BYTES_MAX / 1024 / 1024} MiB; export one environment by itself`)
  const text = Buffer.from(bytes).toString('latin1').trimEnd()
  const [, header = '', payload = '', signature = ''] = COMPACT.exec(text) ?? []
  const head = readPart(header)
  if (!isObject(head) || head.typ !== TYP)
    throw new TrustProblem('this is no trust bundle; "vidimus trust bundle export" makes one')
  const content = readPart(payload)
  if (!Value.Check(Content, content))
    throw new TrustProblem('the bundle is damaged, or of a version that is not known here; export it again')
  const key = keyOf(head)
  const isSigned = key !== undefined && isSignedBy(key, `${header}.${payload}`, signature)
  return { content, signer: key?.kid ?? '', isSigned }
}

function readPart(part: string): unknown {
  const bytes = decodeBase64url(part)
  try {
    return bytes && parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes), JSON_LIMITS)
  } catch {
    // A damaged part is refused like one of another form.
    return undefined
  }
}

/** Undefined unless the header names an Ed25519 key by its digest. */
function keyOf({ alg, kid, jwk }: Record<string, unknown>): { x: string; kid: string } | undefined {
  const x = isObject(jwk) && jwk.kty === 'OKP' && jwk.crv === 'Ed25519' ? jwk.x : undefined
  const raw = typeof x === 'string' ? decodeBase64url(x) : undefined
  return alg === 'EdDSA' && typeof x === 'string' && raw?.length === 32 && sha256Hex(raw) === kid ? { x, kid } : undefined
}

function isSignedBy({ x }: { x: string }, signed: string, signature: string): boolean {
  const value = decodeBase64url(signature)
  if (!value) return false
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, Buffer.from(signed), key, value)
  } catch {
    // Not a point of the curve.
    return false
  }
}
