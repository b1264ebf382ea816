// What follows the establishment of a session: SessionData, in either direction (ISO/IEC 18013-5 § 9.1.1.4).
import { parseCbor } from '../openid4vp/cbor/cbor.ts'
import { encodeCbor } from '../openid4vp/cbor/encode.ts'
import { CborError } from '../openid4vp/cbor/item.ts'

type SessionData = { data?: Uint8Array; status?: number }

const ITEMS_MAX = 100

/** Undefined for anything else. Unknown members are ignored. */
export function readSessionData(message: Uint8Array): SessionData | undefined {
  try {
    const members = parseCbor(message, { itemsMax: ITEMS_MAX }).asMap()
    return { data: members.get('data')?.asBytes(), status: members.get('status')?.asUint() }
  } catch (error) {
    if (error instanceof CborError) return undefined
    throw error
  }
}

/** The code of a message that is nothing but a status; undefined for an unknown one. */
export const sessionError = (status: number | undefined): string | undefined => STATUS_CODES.get(status)

const STATUS_CODES = new Map<number | undefined, string>([
  [10, 'session_encryption_error'],
  [11, 'cbor_decoding_error'],
  [20, 'session_terminated'],
])

/** { "status": 20 }: what we send after the answer, unless the phone ended the session in it. */
export const SESSION_TERMINATION: Uint8Array = encodeCbor(new Map([['status', 20]]))
