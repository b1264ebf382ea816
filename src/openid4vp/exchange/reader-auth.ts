// Reader authentication (ISO/IEC 18013-5 § 9.1.4): a reader signs each document that is asked for, or, since the second edition, all
// that is asked, over the session transcript. That names the origin of a page, or the keys of one engagement, so a signature is of
// use there only.

import { signDetached } from '../cbor/cose.ts'
import { type Cbor, Embedded, encodeCbor, Received } from '../cbor/encode.ts'
import { type DeviceRequestParts, encodeDeviceRequest, type Version } from './device-request.ts'

/** ISO/IEC 18013-5 Annex B.1.7: the purpose of a certificate that reads mdocs. */
export const READER_PURPOSE = '1.0.18013.5.1.6'

/** The chain is DER, leaf first, without the root. */
export type Reader = { privateKey: CryptoKey; chain: readonly Uint8Array[] }

/** `each` signs every document, since wallets refuse several identities there; `all` sign the whole. */
export type Signatories = { each?: Reader; all: readonly Reader[] }

/** Version 1.0 asks for one document. Several of them, or a signature over the whole, need 1.1, where iOS 26 expects use cases always. */
export async function requestForBrowsers(
  parts: DeviceRequestParts,
  transcript: Uint8Array,
  signatories: Signatories,
): Promise<Uint8Array> {
  const version = parts.isSimple && signatories.all.length === 0 ? '1.0' : '1.1'
  return await signedRequest(parts, transcript, signatories, version)
}

type Phone = { takesUseCases: boolean; takesReaderAuthAll: boolean }

/** A phone that knows no use cases is asked in 1.0, where all documents are asked for at once. */
export async function requestInPerson(
  parts: DeviceRequestParts,
  transcript: Uint8Array,
  { each, all }: Signatories,
  { takesUseCases, takesReaderAuthAll }: Phone,
): Promise<{ request: Uint8Array; version: Version }> {
  const version = takesUseCases && !parts.isSimple ? '1.1' : '1.0'
  const signatories = { each, all: version === '1.1' && takesReaderAuthAll ? all : [] }
  return { request: await signedRequest(parts, transcript, signatories, version), version }
}

async function signedRequest(
  parts: DeviceRequestParts,
  transcript: Uint8Array,
  { each, all }: Signatories,
  version: Version,
): Promise<Uint8Array> {
  const { itemsRequests: asked, info } = parts
  const signed = (signature: Cbor[]) => encodeCbor(new Embedded(signature))
  const whole = signed(['ReaderAuthenticationAll', new Received(transcript), asked, info])
  const [readerAuth, readerAuthAll] = await Promise.all([
    Promise.all(
      each ? asked.map(document => sign(each, signed(['ReaderAuthentication', new Received(transcript), document]))) : [],
    ),
    Promise.all(all.map(reader => sign(reader, whole))),
  ])
  return encodeDeviceRequest(parts, version, { readerAuth, readerAuthAll })
}

const sign = ({ privateKey, chain }: Reader, bytes: Uint8Array): Promise<Cbor> => signDetached(privateKey, chain, bytes)
