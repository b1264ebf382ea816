// Reader authentication for a whole DeviceRequest (ISO/IEC 18013-5, second edition): each reader signs all that is asked, over
// the session transcript. That names the origin, so a signature is of use to one page only.

import { signDetached } from '../cbor/cose.ts'
import { type Cbor, Embedded, encodeCbor, Received } from '../cbor/encode.ts'
import type { DeviceRequestParts } from './device-request.ts'

/** ISO/IEC 18013-5 Annex B.1.7: the purpose of a certificate that reads mdocs. */
export const READER_PURPOSE = '1.0.18013.5.1.6'

/** The chain is DER, leaf first, without the root. */
export type Reader = { privateKey: CryptoKey; chain: readonly Uint8Array[] }

export async function readerAuthAll(
  { itemsRequests, info }: DeviceRequestParts,
  transcript: Uint8Array,
  readers: readonly Reader[],
): Promise<Cbor[]> {
  const signed = encodeCbor(new Embedded(['ReaderAuthenticationAll', new Received(transcript), itemsRequests, info]))
  return await Promise.all(readers.map(({ privateKey, chain }) => signDetached(privateKey, chain, signed)))
}
