// A reader of ISO/IEC 18013-5 for the phone of the sandbox, by node:crypto and @owf/mdoc.
import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHash,
  createHmac,
  createPublicKey,
  hkdfSync,
  verify,
} from 'node:crypto'
import { DeviceEngagement, DeviceResponse, EReaderKey, SessionTranscript } from '@owf/mdoc'
import { type Cbor, decodeCbor, type Tag } from '../../src/sandbox/cbor.ts'
import { cbor, embedded, Raw, Tagged } from '../helpers/mdoc.ts'

const CURVES = {
  'P-256': { id: 1, name: 'prime256v1', bytes: 32 },
  'P-384': { id: 2, name: 'secp384r1', bytes: 48 },
  'P-521': { id: 3, name: 'secp521r1', bytes: 66 },
} as const
export type ReaderCurve = keyof typeof CURVES

export const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

export const derive = (secret: Uint8Array, salt: Uint8Array, info: string) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, 32))

export const iv = (identifier: number, counter: number) => {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32BE(identifier, 4)
  bytes.writeUInt32BE(counter, 8)
  return bytes
}

export function seal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

export function unseal(key: Uint8Array, nonce: Uint8Array, message: Uint8Array, aad?: Uint8Array): Buffer {
  const cipher = createDecipheriv(key.length === 16 ? 'aes-128-gcm' : 'aes-256-gcm', key, nonce)
  if (aad) cipher.setAAD(aad)
  cipher.setAuthTag(message.slice(-16))
  return Buffer.concat([cipher.update(message.slice(0, -16)), cipher.final()])
}

export const itemsRequest = (docType: string, elements: Record<string, string[]>) =>
  embedded({
    docType,
    nameSpaces: Object.fromEntries(
      Object.entries(elements).map(([space, names]) => [space, Object.fromEntries(names.map(name => [name, false]))]),
    ),
  })

/** A session with the phone that shows this code. */
export function readCode(code: string, curve: ReaderCurve = 'P-256') {
  const engagement = Buffer.from(code.replace('mdoc:', ''), 'base64url')
  const members = decodeCbor(engagement) as Map<number, Cbor>
  const [, keyBytes] = members.get(1) as [number, Tag]
  const deviceKey = decodeCbor(keyBytes.value as Uint8Array) as Map<number, Uint8Array | boolean>
  const { id, name, bytes } = CURVES[curve]
  const own = createECDH(name)
  const point = own.generateKeys()
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)]
  const readerKey = cbor(
    new Map<number, unknown>([
      [1, 2],
      [-1, id],
      [-2, x],
      [-3, y],
    ]),
  )
  const transcriptBytes = cbor([new Tagged(24, engagement), new Tagged(24, readerKey), null])
  const salt = hash(cbor(new Tagged(24, transcriptBytes)))
  const [theirX, theirY] = [deviceKey.get(-2) as Uint8Array, deviceKey.get(-3)!]
  const devicePoint = typeof theirY === 'boolean' ? [Buffer.of(theirY ? 3 : 2), theirX] : [Buffer.of(4), theirX, theirY]
  const secret = own.computeSecret(Buffer.concat(devicePoint))
  const keys = { reader: derive(secret, salt, 'SKReader'), device: derive(secret, salt, 'SKDevice') }
  return {
    members,
    /** That of @owf/mdoc, which reads no compressed points. */
    transcript: () =>
      SessionTranscript.forQrHandover({
        deviceEngagement: DeviceEngagement.decode(Uint8Array.from(engagement)),
        eReaderKey: EReaderKey.decode(Uint8Array.from(readerKey)),
      }),
    transcriptBytes,
    keys,
    /** SessionEstablishment with this DeviceRequest. */
    establish: (deviceRequest: unknown) =>
      cbor({
        eReaderKey: new Tagged(24, readerKey),
        data: seal(keys.reader, iv(0, 1), deviceRequest instanceof Uint8Array ? deviceRequest : cbor(deviceRequest)),
      }),
    /** The DeviceResponse in a SessionData. */
    open: (message: Uint8Array) => unseal(keys.device, iv(1, 1), (decodeCbor(message) as Map<string, Uint8Array>).get('data')!),
    /** Whether the device proved possession of the key in the MSO over this session, by which member. */
    proofOf(response: Uint8Array, at = 0): 'deviceSignature' | 'deviceMac' | 'wrong' {
      const document = DeviceResponse.decode(Uint8Array.from(response)).documents![at]!
      const { deviceSigned, issuerSigned, docType } = document
      const nameSpaces = new Raw(deviceSigned.deviceNamespaces.encode({ asDataItem: true }))
      const authentication = cbor(embedded(['DeviceAuthentication', new Raw(transcriptBytes), docType, nameSpaces]))
      const jwk = issuerSigned.issuerAuth.mobileSecurityObject.deviceKeyInfo.deviceKey.jwk as JsonWebKey
      const { deviceSignature, deviceMac } = deviceSigned.deviceAuth
      if (deviceSignature) {
        const signed = cbor(['Signature1', cbor(new Map([[1, -7]])), Buffer.alloc(0), authentication])
        const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const }
        return verify('sha256', signed, key, deviceSignature.signature) ? 'deviceSignature' : 'wrong'
      }
      const holderPoint = Buffer.concat([Buffer.of(4), Buffer.from(jwk.x!, 'base64url'), Buffer.from(jwk.y!, 'base64url')])
      const macKey = derive(own.computeSecret(holderPoint), salt, 'EMacKey')
      const mac = createHmac('sha256', macKey)
        .update(cbor(['MAC0', cbor(new Map([[1, 5]])), Buffer.alloc(0), authentication]))
        .digest()
      return mac.equals(deviceMac!.tag) ? 'deviceMac' : 'wrong'
    },
  }
}
