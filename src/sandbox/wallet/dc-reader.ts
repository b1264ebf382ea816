// Readers' signatures over a whole DeviceRequest (ISO/IEC 18013-5, second edition). A request may
// have none; a wrong one is refused.
import { importX509 } from 'jose'
import { fromBase64, toBase64 } from '../bytes.ts'
import { type Cbor, decodeCbor, embedded, encodeCbor } from '../cbor.ts'
import { COSE_X5CHAIN } from '../cose.ts'
import { readCertificate } from '../der.ts'
import { demand } from './request.ts'

/** 1.0.18013.5.1.6 in DER (ISO/IEC 18013-5 Annex B.1.7). */
const READER_PURPOSE = [6, 7, 0x28, 0x81, 0x8c, 0x5d, 5, 1, 6].join()

export async function checkReaders(deviceRequest: string, transcript: Cbor): Promise<void> {
  const request = decodeCbor(fromBase64(deviceRequest)) as ReadonlyMap<string, Cbor>
  const all = request.get('readerAuthAll')
  if (all === undefined) return
  demand(Array.isArray(all) && all.length > 0 && request.get('version') === '1.1', 'readerAuthAll is of another form')
  const asked = (request.get('docRequests') as ReadonlyMap<string, Cbor>[]).map(each => each.get('itemsRequest')!)
  const info = request.get('deviceRequestInfo') ?? null
  const signed = encodeCbor(embedded(['ReaderAuthenticationAll', transcript, asked, info]))
  for (const sign1 of all) await checkReader(sign1, signed)
}

async function checkReader(sign1: Cbor, signed: Uint8Array): Promise<void> {
  demand(Array.isArray(sign1) && sign1.length === 4, 'a reader signature is no COSE_Sign1')
  const [header, unprotected, payload, signature] = sign1 as [Uint8Array, ReadonlyMap<number, Cbor>, Cbor, Uint8Array]
  demand((decodeCbor(header) as ReadonlyMap<number, Cbor>).get(1) === -7, 'a reader signs with another algorithm than ES256')
  demand(payload === null, 'a reader signature holds its payload')
  const chain = [unprotected.get(COSE_X5CHAIN)].flat() as Uint8Array[]
  demand(chain.length > 0 && chain.every(each => each instanceof Uint8Array), 'a reader signature has no certificate')
  const [leaf] = chain.map(toBase64)
  demand(!readCertificate(leaf!).isSelfIssued, 'the certificate of a reader is self-signed')
  demand([...chain[0]!].join().includes(READER_PURPOSE), 'the certificate of a reader has another purpose')
  const key = await importX509(`-----BEGIN CERTIFICATE-----\n${leaf}\n-----END CERTIFICATE-----`, 'ES256')
  const bytes = encodeCbor(['Signature1', header, new Uint8Array(), signed])
  const isValid = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, Uint8Array.from(signature), bytes)
  demand(isValid, 'the signature of a reader is wrong')
}
