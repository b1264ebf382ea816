// Codes of phones that are read in person, whose every part a test can spoil, with the encoder of the mdoc helper.
import {
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
} from 'node:crypto'
import { decodeCbor, type Tag } from '../../src/sandbox/cbor.ts'
import { cbor, coseKey, embedded, type Keys, makeKeys, Tagged } from './mdoc.ts'

export const SERVICE = Buffer.from('00112233445566778899aabbccddeeff', 'hex')
export const SERVICE_TEXT = '00112233-4455-6677-8899-aabbccddeeff'

export const PERIPHERAL = new Map<number, unknown>([
  [0, true],
  [1, false],
  [10, SERVICE],
])
export const CENTRAL = new Map<number, unknown>([
  [0, false],
  [1, true],
  [11, SERVICE],
])

export const ble = (options: Map<number, unknown>): unknown[] => [2, 1, options]

/** Members by their number: what is undefined is left out. */
export type Code = { version?: unknown; security?: unknown; methods?: unknown; more?: [unknown, unknown][] }

export function code({ version = '1.0', security, methods = [ble(PERIPHERAL)], more = [] }: Code): Buffer<ArrayBuffer> {
  const members: [unknown, unknown][] = [[0, version], [1, security], [2, methods], ...more]
  return cbor(new Map(members.filter(([, value]) => value !== undefined)))
}

export const securityOf = async (keys: Keys): Promise<unknown[]> => [1, embedded(await coseKey(keys))]

export const textOf = (bytes: Uint8Array): string => `mdoc:${Buffer.from(bytes).toString('base64url')}`

/** A phone that shows a code, with node:crypto and the encoder of the mdoc helper. */
export type Phone = { keys: Keys; bytes: Uint8Array; text: string }

export async function makePhone(curve: 'P-256' | 'P-384' | 'P-521' = 'P-256', change: Code = {}): Promise<Phone> {
  const keys = await makeKeys(curve)
  const bytes = code({ security: await securityOf(keys), ...change })
  return { keys, bytes, text: textOf(bytes) }
}

/** Parts of a session that a test can spoil. */
export type PhoneChange = {
  transcript?: (readerKeyBytes: Uint8Array) => unknown
  salt?: Uint8Array
  skDevice?: (keys: { skReader: Buffer; skDevice: Buffer }) => Buffer
  iv?: string
  aad?: Buffer
  cipher?: 'aes-256-gcm' | 'aes-128-gcm'
}

export type PhoneSession = {
  transcript: Buffer
  salt: Buffer
  request: Buffer
  readerKeyBytes: Uint8Array
  readerKey: JsonWebKey
  seal: (response: Uint8Array) => Buffer
}

/** What a phone makes of our first message. */
export async function takeEstablishment(
  { keys, bytes }: Phone,
  message: Uint8Array,
  change: PhoneChange = {},
): Promise<PhoneSession> {
  const established = decodeCbor(message) as Map<string, Tag | Uint8Array>
  if ([...established.keys()].join() !== 'eReaderKey,data') throw new Error('not a SessionEstablishment')
  const readerKeyBytes = (established.get('eReaderKey') as Tag).value as Uint8Array
  const key = decodeCbor(readerKeyBytes) as Map<number, number | Uint8Array>
  const text = (label: number) => Buffer.from(key.get(label) as Uint8Array).toString('base64url')
  const readerKey = { kty: 'EC', crv: keys.curve, x: text(-2), y: text(-3) }
  const transcript = cbor(
    change.transcript?.(readerKeyBytes) ?? [new Tagged(24, bytes), new Tagged(24, Buffer.from(readerKeyBytes)), null],
  )
  const salt = change.salt
    ? Buffer.from(change.salt)
    : createHash('sha256')
        .update(cbor(new Tagged(24, transcript)))
        .digest()
  const privateKey = createPrivateKey({
    key: (await crypto.subtle.exportKey('jwk', keys.privateKey)) as JsonWebKey,
    format: 'jwk',
  })
  const secret = diffieHellman({ privateKey, publicKey: createPublicKey({ key: readerKey, format: 'jwk' }) })
  const derive = (info: string) => Buffer.from(hkdfSync('sha256', secret, salt, info, 32))
  const [skReader, skDevice] = [derive('SKReader'), derive('SKDevice')]
  const data = Buffer.from(established.get('data') as Uint8Array)
  const decipher = createDecipheriv('aes-256-gcm', skReader, Buffer.from('000000000000000000000001', 'hex'))
  decipher.setAuthTag(data.subarray(-16))
  const spoilt = change.transcript !== undefined || change.salt !== undefined
  const request = spoilt ? Buffer.alloc(0) : Buffer.concat([decipher.update(data.subarray(0, -16)), decipher.final()])
  const seal = (response: Uint8Array) => {
    const chosen = change.skDevice?.({ skReader, skDevice }) ?? skDevice
    const name = change.cipher ?? 'aes-256-gcm'
    const sealing = createCipheriv(
      name,
      chosen.subarray(0, name === 'aes-128-gcm' ? 16 : 32),
      Buffer.from(change.iv ?? '000000000000000100000001', 'hex'),
    ) as CipherGCM
    if (change.aad) sealing.setAAD(change.aad)
    return Buffer.concat([sealing.update(response), sealing.final(), sealing.getAuthTag()])
  }
  return { transcript, salt, request, readerKeyBytes, readerKey, seal }
}
