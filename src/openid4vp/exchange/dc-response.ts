// The answer of the browser's wallet call, posted to us by a page. As in response.ts, an answer
// that does not belong to this request is refused and changes nothing. Errors do not end a session
// here: nothing ties them to the holder.
import { decodeBase64url } from '../../base/base64url.ts'
import type { Members } from '../../base/members.ts'
import { parseCbor } from '../cbor/cbor.ts'
import { CborError } from '../cbor/item.ts'
import type { DcqlQuery } from '../dcql/dcql.ts'
import { member } from '../mdoc/issuer.ts'
import type { NextTurn } from '../turns.ts'
import { readDeviceResponse } from './device-response.ts'
import { type HpkeKey, openHpke } from './hpke.ts'
import { openJwe, type ResponseKey, readVpToken, UnreadableResponse, type WalletResponse, walletErrorCode } from './response.ts'
import { isoDcApiTranscript } from './session-transcript.ts'

const RESPONSE_CHARS_MAX = 1_000_000

/** OpenID4VP 1.0 § A.3. `state` is not looked at: it is not defined there. */
export async function readOpenIdAnswer(
  data: Members,
  { query, key }: { query: DcqlQuery; key: ResponseKey },
): Promise<WalletResponse> {
  if (data.error !== undefined) return { kind: 'error', code: walletErrorCode(data.error), encrypted: false }
  if (data.vp_token !== undefined) throw new UnreadableResponse('the response must be encrypted')
  const parameters = await openJwe(responseIn(data), key)
  if (parameters.error !== undefined) return { kind: 'error', code: walletErrorCode(parameters.error), encrypted: true }
  if (parameters.vp_token === undefined) throw new UnreadableResponse('there is neither a vp_token nor an error')
  return { ...readVpToken(query, parameters.vp_token), encrypted: true }
}

type IsoRequest = { query: DcqlQuery; key: HpkeKey; encryptionInfo: string; origin: string; nextTurn: NextTurn }

/** ISO/IEC TS 18013-7 Annex C. Another origin, key or request ends at the decryption: `info` binds them. */
export async function readIsoAnswer(
  data: Members,
  { query, key, encryptionInfo, origin, nextTurn }: IsoRequest,
): Promise<WalletResponse> {
  const sealed = readSealed(responseIn(data))
  const plaintext = await openHpke(key, { ...sealed, info: isoDcApiTranscript(encryptionInfo, origin) })
  if (!plaintext) throw new UnreadableResponse('the response was not encrypted for this request')
  return { ...(await readDeviceResponse(plaintext, { query, nextTurn })), encrypted: true }
}

function responseIn({ response }: Members): string {
  if (typeof response !== 'string' || response.length > RESPONSE_CHARS_MAX)
    throw new UnreadableResponse('the response is missing or too large')
  return response
}

/** ["dcapi", {enc, cipherText}] */
function readSealed(text: string): { enc: Uint8Array; cipherText: Uint8Array } {
  const bytes = decodeBase64url(text)
  if (!bytes) throw new UnreadableResponse('the response is not base64url without padding')
  try {
    const [name, sealed, ...more] = parseCbor(bytes).asArray()
    if (name?.asText() !== 'dcapi' || !sealed || more.length > 0) throw new CborError('not an encrypted response')
    const members = sealed.asMap()
    return { enc: member(members, 'enc').asBytes(), cipherText: member(members, 'cipherText').asBytes() }
  } catch (error) {
    throw new UnreadableResponse('the encrypted response cannot be read', { cause: error })
  }
}
