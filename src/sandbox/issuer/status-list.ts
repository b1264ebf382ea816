// Token Status List. Nothing is stored: odd indexes are revoked, even ones are not, and a document gets one of them when it is
// issued. A verifier that reads the bits in the wrong order gets every answer wrong.
import type { Random } from '../../base/ids.ts'
import { type Cbor, cborMap, encodeCbor } from '../cbor.ts'
import { COSE_X5CHAIN, coseSign1, coseTagged } from '../cose.ts'
import { signJwt } from '../es256.ts'
import type { Party } from './certificates.ts'

const BYTES = 4096
const REVOKED_ARE_ODD = 0b1010_1010
const TTL_SECONDS = 300
const LIFETIME_SECONDS = 3600

export type StatusReference = { idx: number; uri: string }

export function newStatusReference(uri: string, { isRevoked, random }: { isRevoked: boolean; random: Random }): StatusReference {
  const [high = 0, low = 0] = random(2)
  const pair = (high * 256 + low) % (BYTES * 4)
  return { idx: pair * 2 + (isRevoked ? 1 : 0), uri }
}

export type Signing = { signer: Party; uri: string; now: number }

export function statusListJwt({ signer, uri, now }: Signing): Promise<string> {
  const iat = Math.floor(now / 1000)
  return signJwt(
    signer.key,
    { typ: 'statuslist+jwt', x5c: [signer.certificate] },
    {
      sub: uri,
      iat,
      exp: iat + LIFETIME_SECONDS,
      ttl: TTL_SECONDS,
      status_list: { bits: 1, lst: compressedList().toString('base64url') },
    },
  )
}

export async function statusListCwt({ signer, uri, now }: Signing): Promise<Uint8Array<ArrayBuffer>> {
  const iat = Math.floor(now / 1000)
  const claims = new Map<number, Cbor>([
    [2, uri],
    [6, iat],
    [4, iat + LIFETIME_SECONDS],
    [65534, TTL_SECONDS],
    [65533, cborMap({ bits: 1, lst: compressedList() })],
  ])
  const protectedHeader = new Map<number, Cbor>([
    [16, 'application/statuslist+cwt'],
    [COSE_X5CHAIN, Buffer.from(signer.certificate, 'base64')],
  ])
  return coseTagged(await coseSign1({ key: signer.key, payload: encodeCbor(claims), protectedHeader }))
}

// Not imported: the start of the service would wait for it.
const compressedList = (): Buffer =>
  process.getBuiltinModule('node:zlib').deflateSync(new Uint8Array(BYTES).fill(REVOKED_ARE_ODD), { level: 9 })
