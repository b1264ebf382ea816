// Possession proven by a MAC that the reader could have made itself (ISO/IEC 18013-5, 9.1.3.5).
import { flipLastBit } from '../bytes.ts'
import { type Cbor, encodeCbor, Tag } from '../cbor.ts'
import { coseSign1 } from '../cose.ts'
import type { PrivateJwk } from '../es256.ts'
import type { Mutations } from '../mutations.ts'
import { agree, newEphemeralKey, type Point } from './curves.ts'
import { derive } from './session.ts'

const HMAC_256_256 = 5
const HMAC_256_64 = 4

type Proving = { key: PrivateJwk; readerKey: Point; salt: Uint8Array<ArrayBuffer>; mutations: Mutations }

/** The members of DeviceAuth, over DeviceAuthentication. */
export async function proveByMac(authentication: Uint8Array, proving: Proving): Promise<Record<string, Cbor>> {
  const { key, mutations } = proving
  const header = encodeCbor(new Map([[1, mutations.mac === 'other_alg' ? HMAC_256_64 : HMAC_256_256]]))
  const tag = cheatedTag(await macTag(header, authentication, proving), mutations.mac)
  const deviceMac: Cbor = [header, new Map(), mutations.mac === 'with_payload' ? authentication : null, tag]
  return {
    deviceMac: mutations.mac === 'tagged' ? new Tag(deviceMac, 17) : deviceMac,
    ...(mutations.mac === 'beside_signature' && {
      deviceSignature: await coseSign1({ key, payload: authentication, isDetached: true }),
    }),
  }
}

async function macTag(header: Uint8Array, payload: Uint8Array, { key, readerKey, salt, mutations }: Proving) {
  const own = mutations.macCurve ? await newEphemeralKey(readerKey.crv) : key
  const macKey = await derive(await agree(own, readerKey), salt, 'EMacKey')
  const hmac = await crypto.subtle.importKey('raw', macKey, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', hmac, encodeCbor(['MAC0', header, new Uint8Array(), payload])))
}

function cheatedTag(tag: Uint8Array<ArrayBuffer>, mac: Mutations['mac']): Uint8Array {
  if (mac === 'flipped') return flipLastBit(tag)
  if (mac === 'short_tag') return tag.slice(0, -1)
  return mac === 'other_alg' ? tag.slice(0, 8) : tag
}
