// What a phone in person does wrong on purpose, by name: steps of its answer that are taken another way.
import { createCipheriv, createHmac } from 'node:crypto'
import { flipLastBit, sha256 } from '../../src/sandbox/bytes.ts'
import { type Cbor, cborMap, decodeCbor, encodeCbor, Tag } from '../../src/sandbox/cbor.ts'
import { coseSign1 } from '../../src/sandbox/cose.ts'
import type { PrivateJwk } from '../../src/sandbox/es256.ts'
import type { Mutations } from '../../src/sandbox/mutations.ts'
import { agree, newEphemeralKey, readCurveKey } from '../../src/sandbox/phone/curves.ts'
import { saltOf, sessionKeys } from '../../src/sandbox/phone/session.ts'
import { derive, iv } from '../sandbox/foreign-reader.ts'

export type Mac = true | 'flipped' | 'short_tag' | 'other_alg' | 'with_payload' | 'beside_signature' | 'tagged'

export type PhoneCheats = {
  /** Possession is proven by a MAC: as it should be (`tagged` is good, too), or with one thing wrong. */
  mac?: Mac
  /** The MAC is made with a new key on the reader's curve. */
  macCurve?: boolean
  transcriptEngagement?: Uint8Array
  transcriptReaderKey?: Uint8Array
  handoverNotNull?: boolean
  /** The session's keys come from that transcript, too. */
  keysToo?: boolean
  /** They come from a transcript that is not in a byte string with tag 24. */
  saltUntagged?: boolean
  ivCounter?: number
  /** The identifier of the reader instead of the phone's. */
  ivRole?: boolean
  /** Encrypted with the key of the reader, or with half of a key. */
  skSwapped?: boolean
  skHalf?: boolean
  gcmAad?: Uint8Array
  /** Encrypted instead of a DeviceResponse. */
  plaintext?: Uint8Array
  statusOnly?: number
  statusWithData?: number
  /** Members of SessionData to add or replace. */
  members?: ReadonlyMap<string, Cbor>
}

/** The handover after a touch: the message that was selected, and no request. */
const NFC_HANDOVER: Cbor = [Uint8Array.of(0x91, 2), null]

/** Any mutations, with those of a phone by their names. */
export function cheats(named: PhoneCheats & Mutations): Mutations {
  const { transcriptEngagement, transcriptReaderKey, handoverNotNull } = named
  const handover = handoverNotNull ? NFC_HANDOVER : null
  const isOther = transcriptEngagement ?? transcriptReaderKey ?? handover
  return {
    ...named,
    ...(isOther && { transcriptParts: [transcriptEngagement, transcriptReaderKey, handover] }),
    ...(named.mac && { prove: (authentication, by) => proveByMac(authentication, by, named) }),
    async seal(response, { key, readerKey, transcript, keys }) {
      const salt = named.saltUntagged ? await sha256(encodeCbor(transcript)) : await saltOf(transcript)
      const used = named.keysToo || named.saltUntagged ? await sessionKeys(key, readerKey, salt) : keys
      const whole = named.skSwapped ? used.reader : used.device
      const nonce = iv(named.ivRole ? 0 : 1, named.ivCounter ?? 1)
      const cipher = named.skHalf
        ? createCipheriv('aes-128-gcm', whole.slice(0, 16), nonce)
        : createCipheriv('aes-256-gcm', whole, nonce)
      if (named.gcmAad) cipher.setAAD(named.gcmAad)
      const sealed = [cipher.update(named.plaintext ?? response), cipher.final(), cipher.getAuthTag()]
      return Uint8Array.from(Buffer.concat(sealed))
    },
    sessionData(members) {
      if (named.statusOnly !== undefined) return cborMap({ status: named.statusOnly })
      return new Map([...members, ...cborMap({ status: named.statusWithData }), ...(named.members ?? [])])
    },
  }
}

const HMAC_256_256 = 5
const HMAC_256_64 = 4

type By = { transcript: Cbor; key: PrivateJwk }

/** The members of DeviceAuth, over DeviceAuthentication (ISO/IEC 18013-5, 9.1.3.5). */
export async function proveByMac(
  authentication: Uint8Array,
  { transcript, key }: By,
  { mac, macCurve }: PhoneCheats = {},
): Promise<Record<string, Cbor>> {
  const [, readerKeyBytes] = transcript as [Tag, Tag]
  const readerKey = readCurveKey(decodeCbor(readerKeyBytes.value as Uint8Array))
  const own = macCurve ? await newEphemeralKey(readerKey.crv) : key
  const macKey = derive(await agree(own, readerKey), await saltOf(transcript), 'EMacKey')
  const header = encodeCbor(new Map([[1, mac === 'other_alg' ? HMAC_256_64 : HMAC_256_256]]))
  const authenticated = encodeCbor(['MAC0', header, new Uint8Array(), authentication])
  const tag = cheatedTag(Uint8Array.from(createHmac('sha256', macKey).update(authenticated).digest()), mac)
  const deviceMac: Cbor = [header, new Map(), mac === 'with_payload' ? authentication : null, tag]
  return {
    deviceMac: mac === 'tagged' ? new Tag(deviceMac, 17) : deviceMac,
    ...(mac === 'beside_signature' && {
      deviceSignature: await coseSign1({ key, payload: authentication, isDetached: true }),
    }),
  }
}

function cheatedTag(tag: Uint8Array<ArrayBuffer>, mac: PhoneCheats['mac']): Uint8Array {
  if (mac === 'flipped') return flipLastBit(tag)
  if (mac === 'short_tag') return tag.slice(0, -1)
  return mac === 'other_alg' ? tag.slice(0, 8) : tag
}
