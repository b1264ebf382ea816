// ISO/IEC 18013-5, second edition, § 12.3.6.4. Nothing is stored: these identifiers are revoked, and a revoked document gets one
// of them when it is issued.
import type { Random } from '../../base/ids.ts'
import { type Cbor, cborMap, encodeCbor } from '../cbor.ts'
import { COSE_X5CHAIN, coseSign1, coseTagged } from '../cose.ts'
import type { Signing } from './status-list.ts'

const REVOKED = 1024
const TTL_SECONDS = 300
const LIFETIME_SECONDS = 3600

export type IdentifierReference = { id: Uint8Array; uri: string }

export function newRevokedIdentifier(uri: string, random: Random): IdentifierReference {
  const [high = 0, low = 0] = random(2)
  return { id: identifier((high * 256 + low) % REVOKED), uri }
}

const identifier = (number: number): Uint8Array => Uint8Array.from(Buffer.from(`revoked ${number}`))

export async function identifierListCwt({ signer, uri, now }: Signing): Promise<Uint8Array<ArrayBuffer>> {
  const iat = Math.floor(now / 1000)
  const revoked = Array.from({ length: REVOKED }, (_, number) => [identifier(number), new Map()] as const)
  const claims = new Map<number, Cbor>([
    [2, uri],
    [4, iat + LIFETIME_SECONDS],
    [6, iat],
    [65534, TTL_SECONDS],
    [65530, cborMap({ identifiers: new Map<Uint8Array, Cbor>(revoked) })],
  ])
  const protectedHeader = new Map<number, Cbor>([
    [16, 'application/identifierlist+cwt'],
    [COSE_X5CHAIN, Buffer.from(signer.certificate, 'base64')],
  ])
  return coseTagged(await coseSign1({ key: signer.key, payload: encodeCbor(claims), protectedHeader }))
}
