// A passkey on a device of our own: what a browser and its authenticator send for an ES256 key (WebAuthn).
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'
import { Encoder } from 'cbor-x'
import type { NewPasskey, PasskeyAnswer, PasskeyCreation, PasskeyRequest } from '../../src/people/security-schema.ts'

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_KEY = 0x40

/** The shortest forms, as CTAP2 wants them. */
const cbor = new Encoder({ variableMapSize: true, useRecords: false, mapsAsObjects: false })

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest()
const base64url = (data: Uint8Array) => Buffer.from(data).toString('base64url')

type Slip = { origin?: string; flags?: number; count?: number; rpId?: string; challenge?: string }

export function newAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  let count = 0
  let handle = ''

  const clientData = (type: string, challenge: string, { origin: at = origin }: Slip) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: at, crossOrigin: false }))

  function data(rpId: string, flags: number, signatures: number, key: Uint8Array = Buffer.alloc(0)) {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(signatures)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter, key])
  }

  const coseKey = () =>
    cbor.encode(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]),
    )

  return {
    id: base64url(id),
    create({ challenge, rp, user }: PasskeyCreation, slip: Slip = {}): NewPasskey {
      handle = user.id
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, id, coseKey()])
      const authData = data(slip.rpId ?? rp.id, slip.flags ?? USER_PRESENT | USER_VERIFIED | HAS_KEY, 0, attested)
      return {
        id: base64url(id),
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', slip.challenge ?? challenge, slip)),
          attestationObject: base64url(cbor.encode({ fmt: 'none', attStmt: {}, authData })),
          transports: ['internal'],
        },
      }
    },
    answer({ challenge, rpId }: PasskeyRequest, slip: Slip = {}): PasskeyAnswer {
      const authData = data(slip.rpId ?? rpId, slip.flags ?? USER_PRESENT | USER_VERIFIED, slip.count ?? ++count)
      const client = clientData('webauthn.get', slip.challenge ?? challenge, slip)
      const signature = createSign('sha256')
        .update(Buffer.concat([authData, sha256(client)]))
        .sign(privateKey)
      return {
        id: base64url(id),
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(authData),
          signature: base64url(signature),
          ...(handle !== '' && { userHandle: handle }),
        },
      }
    },
  }
}
