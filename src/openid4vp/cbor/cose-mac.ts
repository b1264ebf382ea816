// COSE_Mac0 (RFC 9052 § 6.2) with HMAC 256/256 over a payload that is not in it, as ISO/IEC 18013-5 § 9.1.3.5 uses it.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { encodeCbor } from './encode.ts'
import { CborError, type CborItem } from './item.ts'

const MAC0_TAG = 17
const TAG_BYTES = 32
/** {1: 5}: nothing else is protected, so nothing critical is overlooked. */
const PROTECTED = Buffer.from('a10105', 'hex')
const NO_EXTERNAL_DATA = new Uint8Array()

/** Accepts tagged and untagged input. Never throws: anything else is not valid. */
export function verifyMac0(item: CborItem, key: Uint8Array, detachedPayload: Uint8Array): boolean {
  const tag = tagOf(item)
  if (tag?.length !== TAG_BYTES) return false
  const authenticated = encodeCbor(['MAC0', PROTECTED, NO_EXTERNAL_DATA, detachedPayload])
  return timingSafeEqual(createHmac('sha256', key).update(authenticated).digest(), tag)
}

function tagOf(item: CborItem): Uint8Array | undefined {
  try {
    const [headers, unprotected, payload, tag, ...more] = (item.tag === undefined ? item : item.asTagged(MAC0_TAG)).asArray()
    const isAsExpected = headers && PROTECTED.equals(headers.asBytes()) && unprotected?.isMap && payload?.isNull
    return isAsExpected && more.length === 0 ? tag?.asBytes() : undefined
  } catch (error) {
    if (error instanceof CborError) return undefined
    throw error
  }
}
