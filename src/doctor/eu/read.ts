// Reads requests as a wallet would: from their bytes, and from nothing that made them.
import { verify, X509Certificate } from 'node:crypto'
import { isObject, type Members } from '../../base/members.ts'
import { parseCbor } from '../../openid4vp/cbor/cbor.ts'
import { parseSign1, sigStructure } from '../../openid4vp/cbor/cose.ts'
import { Embedded, encodeCbor, Received } from '../../openid4vp/cbor/encode.ts'
import type { CborItem } from '../../openid4vp/cbor/item.ts'
import { holderOf, type Registration, readRegistration } from '../../openid4vp/exchange/registration.ts'
import { isoDcApiTranscript } from '../../openid4vp/exchange/session-transcript.ts'
import type { AnnexC } from './request.ts'

export type RequestObject = {
  header: Members
  claims: Members
  chain: X509Certificate[]
  /** By the first certificate of the chain. */
  isSigned: boolean
  /** The registration certificate in it, and the organisation that its holder must be. */
  paper: (Registration & { form: 'jwt' | 'base64url'; holder: string }) | undefined
}

const EMBEDDED = 24
const X5CHAIN = 33

export function readRequestObject(jws: string): RequestObject {
  const [header, claims] = jws.split('.', 2).map(membersOf) as [Members, Members]
  const chain = listOf(header.x5c).map(der => new X509Certificate(Buffer.from(String(der), 'base64')))
  const end = jws.lastIndexOf('.')
  const isSigned = isSignedBy(chain[0], Buffer.from(jws.slice(0, end)), Buffer.from(jws.slice(end + 1), 'base64url'))
  return { header, claims, chain, isSigned, paper: paperIn(claims) }
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function membersOf(part: string): Members {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
  return isObject(value) ? value : {}
}

const isSignedBy = (signer: X509Certificate | undefined, bytes: Uint8Array, signature: Uint8Array): boolean =>
  signer !== undefined && verify('sha256', bytes, { key: signer.publicKey, dsaEncoding: 'ieee-p1363' }, signature)

function paperIn({ verifier_info: info }: Members): RequestObject['paper'] {
  const [first] = listOf(info)
  if (!isObject(first)) return undefined
  const data = String(first.data)
  const form = data.includes('.') ? 'jwt' : 'base64url'
  try {
    const jwt = form === 'jwt' ? data : Buffer.from(data, 'base64url').toString()
    const registration = readRegistration(jwt)
    return { ...registration, form, holder: holderOf(registration) }
  } catch {
    return undefined
  }
}

export type DocRequest = {
  docType: string
  /** `euWrprc` of ETSI TS 119 472-2. */
  certificate: Uint8Array | undefined
  /** Who signed this very document for this origin; undefined where nobody did. */
  signer: X509Certificate | undefined
}

export function readDocRequests({ deviceRequest, encryptionInfo, origin }: AnnexC): DocRequest[] {
  const transcript = new Received(isoDcApiTranscript(encryptionInfo, origin))
  const request = parseCbor(Buffer.from(deviceRequest, 'base64url')).asMap()
  return request
    .get('docRequests')!
    .asArray()
    .map(each => {
      const document = each.asMap()
      const asked = document.get('itemsRequest')!
      const items = asked.asTagged(EMBEDDED).embedded().asMap()
      const signed = encodeCbor(new Embedded(['ReaderAuthentication', transcript, new Received(asked.bytes)]))
      return {
        docType: items.get('docType')!.asText(),
        certificate: items.get('requestInfo')?.asMap().get('euWrprc')?.asBytes(),
        signer: signerOf(document.get('readerAuth'), signed),
      }
    })
}

/** The chain is in the unprotected header (REQ-03). */
function signerOf(item: CborItem | undefined, bytes: Uint8Array): X509Certificate | undefined {
  if (!item) return undefined
  const { unprotected, x5chain, protectedBytes, payload, signature } = parseSign1(item)
  const leaf = unprotected.has(X5CHAIN) && payload === null && x5chain[0] ? new X509Certificate(x5chain[0]) : undefined
  return isSignedBy(leaf, sigStructure(protectedBytes, bytes), signature) ? leaf : undefined
}
