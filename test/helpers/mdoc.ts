// An issuer and a wallet for mdocs whose every part a test can spoil, with an encoder of its own: nothing here is from the service.
import 'reflect-metadata'
import { createHash } from 'node:crypto'
import * as x509 from '@peculiar/x509'

export class Tagged {
  constructor(
    readonly tag: number,
    readonly value: unknown,
  ) {}
}

/** Bytes that are encoded already. */
export class Raw {
  constructor(readonly bytes: Uint8Array) {}
}

export const hex = (text: string): Buffer<ArrayBuffer> => Buffer.from(text.replaceAll(' ', ''), 'hex')

export function cbor(value: unknown): Buffer<ArrayBuffer> {
  if (value instanceof Raw) return Buffer.from(value.bytes)
  if (value === null) return hex('f6')
  if (typeof value === 'boolean') return hex(value ? 'f5' : 'f4')
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)])
  if (value instanceof Tagged) return Buffer.concat([head(6, value.tag), cbor(value.value)])
  const entries = value instanceof Map ? [...value] : Object.entries(value as object)
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, member]) => [cbor(key), cbor(member)])])
}

export function head(major: number, argument: number): Buffer<ArrayBuffer> {
  const type = major << 5
  if (argument < 24) return Buffer.of(type | argument)
  if (argument < 2 ** 8) return Buffer.of(type | 24, argument)
  if (argument < 2 ** 16) return Buffer.of(type | 25, argument >> 8, argument & 255)
  const long = Buffer.alloc(argument < 2 ** 32 ? 5 : 9, type | (argument < 2 ** 32 ? 26 : 27))
  if (argument < 2 ** 32) long.writeUInt32BE(argument, 1)
  else long.writeBigUInt64BE(BigInt(argument), 1)
  return long
}

export const embedded = (value: unknown): Tagged => new Tagged(24, cbor(value))

const CURVES = {
  'P-256': { alg: -7, hash: 'SHA-256', kty: 2, crv: 1 },
  'P-384': { alg: -35, hash: 'SHA-384', kty: 2, crv: 2 },
  'P-521': { alg: -36, hash: 'SHA-512', kty: 2, crv: 3 },
  Ed25519: { alg: -8, hash: '', kty: 1, crv: 6 },
} as const
export type CurveName = keyof typeof CURVES
export type Keys = CryptoKeyPair & { curve: CurveName }

export async function makeKeys(curve: CurveName): Promise<Keys> {
  const parameters = curve === 'Ed25519' ? curve : { name: 'ECDSA', namedCurve: curve }
  return { ...((await crypto.subtle.generateKey(parameters, true, ['sign', 'verify'])) as CryptoKeyPair), curve }
}

export async function makeCertificate(keys: Keys, notBefore: string, notAfter: string): Promise<Uint8Array> {
  const signingAlgorithm = keys.curve === 'Ed25519' ? { name: 'Ed25519' } : { name: 'ECDSA', hash: CURVES[keys.curve].hash }
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=Test DS, C=UT',
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    keys,
    signingAlgorithm,
  })
  return new Uint8Array(certificate.rawData)
}

export async function coseKey({ publicKey, curve }: Keys): Promise<Map<number, unknown>> {
  const { x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  const { kty, crv } = CURVES[curve]
  const members: [number, unknown][] = [
    [1, kty],
    [-1, crv],
    [-2, Buffer.from(x!, 'base64url')],
  ]
  return new Map(y ? [...members, [-3, Buffer.from(y, 'base64url')]] : members)
}

type Sign1Change = {
  alg?: number
  protected?: Map<unknown, unknown>
  unprotected?: Map<unknown, unknown>
  isDetached?: boolean
}

export async function sign1(keys: Keys, payload: Uint8Array, change: Sign1Change = {}): Promise<unknown[]> {
  const { alg, hash } = CURVES[keys.curve]
  const headers = cbor(change.protected ?? new Map([[1, change.alg ?? alg]]))
  const parameters = keys.curve === 'Ed25519' ? 'Ed25519' : { name: 'ECDSA', hash }
  const signed = cbor(['Signature1', headers, Buffer.alloc(0), payload])
  const signature = new Uint8Array(await crypto.subtle.sign(parameters, keys.privateKey, signed))
  return [headers, change.unprotected ?? new Map(), change.isDetached ? null : payload, signature]
}

type Item = { digestID: unknown; random: Uint8Array; elementIdentifier: string; elementValue: unknown }
type NameSpaces = Record<string, Item[]>

export type Members = Record<string, unknown>

/** Changes by a test. A function gets the part that is about to be encoded, and may change it. */
export type Change = {
  issuer?: Keys
  device?: Keys
  certificates?: Uint8Array[]
  digestAlgorithm?: string
  nameSpaces?: NameSpaces
  /** The items that are sent, chosen after the digests were made. */
  returned?: (items: Record<string, unknown[]>) => void
  mso?: (mso: Members) => void
  issuerAuth?: Sign1Change
  issuerSigned?: (issuerSigned: Members) => void
  deviceNameSpaces?: unknown
  /** What the device signs instead of TRANSCRIPT. */
  transcript?: Uint8Array
  deviceAuth?: Sign1Change
  document?: (document: Members) => void
  response?: (response: Members) => void
}

export const DOC_TYPE = 'org.iso.18013.5.1.mDL'
export const NAME_SPACE = 'org.iso.18013.5.1'
export const NOW = Date.parse('2026-06-15T12:00:00Z')
export const TRANSCRIPT = cbor([null, null, ['OpenID4VPHandover', Buffer.alloc(32, 9)]])

export const date = (text: string): Tagged => new Tagged(0, text)

export const item = (digestID: number, elementIdentifier: string, elementValue: unknown): Item => ({
  digestID,
  random: Buffer.alloc(16, digestID + 1),
  elementIdentifier,
  elementValue,
})

const DEFAULT = {
  issuer: await makeKeys('P-256'),
  device: await makeKeys('P-256'),
}
const CERTIFICATE = await makeCertificate(DEFAULT.issuer, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z')

export async function makeResponse(change: Change = {}): Promise<Buffer<ArrayBuffer>> {
  const { issuer = DEFAULT.issuer, device = DEFAULT.device, certificates = [CERTIFICATE] } = change
  const {
    digestAlgorithm = 'SHA-256',
    nameSpaces = { [NAME_SPACE]: [item(0, 'family_name', 'Doe'), item(7, 'age_over_18', true)] },
  } = change
  const items = Object.fromEntries(Object.entries(nameSpaces).map(([name, list]) => [name, list.map(embedded)]))

  const mso: Members = {
    version: '1.0',
    digestAlgorithm,
    valueDigests: Object.fromEntries(
      Object.entries(nameSpaces).map(([name, list]) => [
        name,
        new Map(list.map(entry => [entry.digestID, digest(digestAlgorithm, cbor(embedded(entry)))])),
      ]),
    ),
    deviceKeyInfo: { deviceKey: await coseKey(device) },
    docType: DOC_TYPE,
    validityInfo: {
      signed: date('2026-06-01T00:00:00Z'),
      validFrom: date('2026-06-01T00:00:00Z'),
      validUntil: date('2026-07-01T00:00:00Z'),
    },
  }
  change.mso?.(mso)
  change.returned?.(items)
  const x5chain = certificates.length === 1 ? certificates[0] : certificates
  const issuerAuth = await sign1(issuer, cbor(embedded(mso)), { unprotected: new Map([[33, x5chain]]), ...change.issuerAuth })
  const issuerSigned: Members = { nameSpaces: items, issuerAuth }
  change.issuerSigned?.(issuerSigned)

  const deviceNameSpaces = embedded(change.deviceNameSpaces ?? {})
  const authentication = embedded(['DeviceAuthentication', new Raw(change.transcript ?? TRANSCRIPT), DOC_TYPE, deviceNameSpaces])
  const deviceSignature = await sign1(device, cbor(authentication), { isDetached: true, ...change.deviceAuth })
  const deviceSigned = { nameSpaces: deviceNameSpaces, deviceAuth: { deviceSignature } }
  const document: Members = { docType: DOC_TYPE, issuerSigned, deviceSigned }
  change.document?.(document)
  const response: Members = { version: '1.0', documents: [document], status: 0 }
  change.response?.(response)
  return cbor(response)
}

const digest = (algorithm: string, bytes: Uint8Array): Buffer =>
  createHash(algorithm.replace('-', '').toLowerCase()).update(bytes).digest()
