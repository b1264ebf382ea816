// Readers' signatures over each document that is asked for (ISO/IEC 18013-5, 9.1.4) and over the whole DeviceRequest (second
// edition). A request may have none; a wrong one is refused.
import { importX509 } from 'jose'
import { toBase64 } from '../bytes.ts'
import { type Cbor, decodeCbor, embedded, encodeCbor } from '../cbor.ts'
import { COSE_X5CHAIN } from '../cose.ts'
import { readCertificate } from '../der.ts'
import type { DeviceRequest } from './device-request.ts'
import { demand } from './request.ts'

/** 1.0.18013.5.1.6 in DER (ISO/IEC 18013-5 Annex B.1.7), and the extension that names purposes. */
const READER_PURPOSE = [6, 7, 0x28, 0x81, 0x8c, 0x5d, 5, 1, 6].join()
const EXTENDED_KEY_USAGE = [6, 3, 0x55, 0x1d, 0x25].join()

/** Names of those who signed, each once. */
export async function checkReaders(
  { version, documents, info = null, readerAuthAll: all }: DeviceRequest,
  transcript: Cbor,
): Promise<string[]> {
  const signing = documents.filter(({ readerAuth }) => readerAuth !== undefined)
  demand(signing.length === 0 || signing.length === documents.length, 'a reader signs some of the documents only')
  const names = await Promise.all(
    signing.map(({ readerAuth, items }) => checkReader(readerAuth!, ['ReaderAuthentication', transcript, items])),
  )
  demand(new Set(names).size < 2, 'the documents are signed by different readers')
  if (all === undefined) return [...new Set(names)]
  demand(Array.isArray(all) && all.length > 0 && version === '1.1', 'readerAuthAll is of another form')
  const whole: Cbor = ['ReaderAuthenticationAll', transcript, documents.map(({ items }) => items), info]
  for (const sign1 of all as Cbor[]) names.push(await checkReader(sign1, whole))
  return [...new Set(names)]
}

async function checkReader(sign1: Cbor, signed: Cbor): Promise<string> {
  demand(Array.isArray(sign1) && sign1.length === 4, 'a reader signature is no COSE_Sign1')
  const [header, unprotected, payload, signature] = sign1 as [Uint8Array, ReadonlyMap<number, Cbor>, Cbor, Uint8Array]
  demand((decodeCbor(header) as ReadonlyMap<number, Cbor>).get(1) === -7, 'a reader signs with another algorithm than ES256')
  demand(payload === null, 'a reader signature holds its payload')
  const chain = [unprotected.get(COSE_X5CHAIN)].flat() as Uint8Array[]
  demand(chain.length > 0 && chain.every(each => each instanceof Uint8Array), 'a reader signature has no certificate')
  const [leaf] = chain.map(toBase64)
  const { isSelfIssued, subject } = readCertificate(leaf!)
  demand(!isSelfIssued, 'the certificate of a reader is self-signed')
  const der = [...chain[0]!].join()
  // Access certificates name no purpose (ETSI TS 119 411-8).
  demand(der.includes(READER_PURPOSE) || !der.includes(EXTENDED_KEY_USAGE), 'the certificate of a reader has another purpose')
  const key = await importX509(`-----BEGIN CERTIFICATE-----\n${leaf}\n-----END CERTIFICATE-----`, 'ES256')
  const bytes = encodeCbor(['Signature1', header, new Uint8Array(), encodeCbor(embedded(signed))])
  const isValid = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, Uint8Array.from(signature), bytes)
  demand(isValid, 'the signature of a reader is wrong')
  return subject
}
