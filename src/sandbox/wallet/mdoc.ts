import { calculateJwkThumbprint } from 'jose'
import { flipLastBit, fromBase64, sha256, toBase64Url } from '../bytes.ts'
import { type Cbor, cborMap, decodeCbor, embedded, encodeCbor } from '../cbor.ts'
import { coseSign1, type Sign1, withFlippedSignature } from '../cose.ts'
import type { Holder, MdocCredential, MdocItem, Place } from '../credential.ts'
import { newPrivateJwk, type PrivateJwk } from '../es256.ts'
import type { Mutations } from '../mutations.ts'
import type { ChosenDocument } from './device-request.ts'
import type { PresentationRequest } from './request.ts'

type Presenting = Signing & { places: readonly Place[] }

type Signing = { transcript: Cbor; key: PrivateJwk; mutations: Mutations }

/** A DeviceResponse with one document (HAIP 5.3.1), base64url (OpenID4VP 1.0 § B.2.5). */
export async function presentMdoc(
  credential: MdocCredential,
  { request, ...presenting }: Omit<Presenting, 'transcript'> & { request: PresentationRequest },
): Promise<string> {
  const { mutations } = presenting
  const transcript = await sessionTranscript(request, mutations)
  const document = await presentDocument(credential, { ...presenting, transcript })
  return toBase64Url(
    deviceResponse(
      Array.from({ length: mutations.documentCount ?? 1 }, () => document),
      mutations,
    ),
  )
}

/** A DeviceResponse with what was chosen of the holder's. */
export async function presentDocuments(
  chosen: readonly ChosenDocument[],
  { holder, transcript, mutations }: { holder: Holder; transcript: Cbor; mutations: Mutations },
): Promise<Uint8Array<ArrayBuffer>> {
  const key = mutations.otherKey ? await newPrivateJwk() : holder.deviceKey
  const documents = chosen.map(({ credential, places }) => presentDocument(credential, { places, transcript, key, mutations }))
  return deviceResponse([...(await Promise.all(documents)), ...(mutations.moreDocuments ?? [])], mutations)
}

const deviceResponse = (documents: readonly Cbor[], mutations: Mutations): Uint8Array<ArrayBuffer> =>
  encodeCbor(
    cborMap({
      version: mutations.deviceResponseVersion ?? '1.0',
      documents,
      status: mutations.deviceResponseStatus ?? 0,
    }),
  )

async function presentDocument(credential: MdocCredential, { places, ...signing }: Presenting): Promise<Cbor> {
  const { mutations } = signing
  const docType = mutations.docType ?? credential.type
  const issuerAuth = decodeCbor(fromBase64(credential.issuerAuth)) as Sign1
  return cborMap({
    docType,
    issuerSigned: cborMap({
      nameSpaces: nameSpacesOf(cheatedItems(credential, places, mutations)),
      issuerAuth: mutations.issuerSignatureFlip ? withFlippedSignature(issuerAuth) : issuerAuth,
    }),
    deviceSigned: mutations.deviceAuth === 'absent' ? undefined : await deviceSigned(docType, signing),
  })
}

/** OpenID4VP 1.0 § B.2.6.1. The texts are exactly those of the request. */
async function sessionTranscript(request: PresentationRequest, mutations: Mutations): Promise<Cbor> {
  const { page } = request
  if (mutations.handover) return handover(...mutations.handover)
  const nonce = mutations.transcriptNonce ?? request.nonce
  const thumbprint = mutations.thumbprint === undefined ? await thumbprintOf(request, mutations) : mutations.thumbprint
  if (page && !mutations.redirectTranscript)
    return handover('OpenID4VPDCAPIHandover', [mutations.transcriptOrigin ?? page.origin, nonce, thumbprint])
  const [clientId, responseUri] = [
    mutations.transcriptClientId ?? request.clientId,
    mutations.transcriptResponseUri ?? request.responseUri,
  ]
  return handover('OpenID4VPHandover', [clientId, nonce, thumbprint, responseUri])
}

/** ISO/IEC TS 18013-7 Annex C. */
export const isoTranscript = (encryptionInfo: string, origin: string): Promise<Cbor> =>
  handover('dcapi', [encryptionInfo, origin])

export const handover = async (name: string, info: Cbor): Promise<Cbor> => [null, null, [name, await sha256(encodeCbor(info))]]

/** Thumbprint of the key that the answer is encrypted to; null without encryption. */
async function thumbprintOf({ encryption }: PresentationRequest, { plain }: Mutations): Promise<Uint8Array | null> {
  return encryption && !plain ? fromBase64(await calculateJwkThumbprint(encryption.key, 'sha256')) : null
}

async function deviceSigned(docType: string, signing: Signing): Promise<Cbor> {
  const { transcript, mutations } = signing
  const claims = Object.entries(mutations.deviceClaims ?? {}).map(([name, elements]) => [name, cborMap(elements)] as const)
  const nameSpaces = embedded(new Map<string, Cbor>(claims))
  const authentication = encodeCbor(embedded(['DeviceAuthentication', transcript, docType, nameSpaces]))
  return cborMap({ nameSpaces, deviceAuth: await deviceAuth(authentication, signing) })
}

async function deviceAuth(authentication: Uint8Array, { key, transcript, mutations }: Signing): Promise<Cbor> {
  if (mutations.deviceAuth === 'empty') return new Map()
  if (mutations.deviceAuth === 'mac') {
    // HMAC 256/256 with an invented tag: the request did not announce it.
    return cborMap({ deviceMac: [encodeCbor(new Map([[1, 5]])), new Map(), null, new Uint8Array(32)] })
  }
  if (mutations.prove) return cborMap(await mutations.prove(authentication, { key, transcript }))
  const signature = await coseSign1({ key, payload: authentication, isDetached: true })
  return cborMap({ deviceSignature: mutations.holderSignatureFlip ? withFlippedSignature(signature) : signature })
}

function cheatedItems({ items, claims }: MdocCredential, places: readonly Place[], mutations: Mutations): MdocItem[] {
  const wanted = mutations.dropDisclosure ? places.slice(1) : places
  const isWanted = ({ at }: MdocItem) => wanted.some(([namespace, element]) => namespace === at[0] && element === at[1])
  const shown = items.filter(isWanted)
  const { tamperClaim, extraDisclosure, repeatDisclosure } = mutations
  const claimOf = ({ at: [namespace, element] }: MdocItem) => (claims[namespace] as Record<string, unknown>)[element]
  const target = shown.find(item => typeof claimOf(item) === 'boolean') ?? shown[0]
  const presented = shown.map(item => (tamperClaim && item === target ? tampered(item) : item))
  if (extraDisclosure) presented.push(...items.filter(item => !isWanted(item)).slice(0, 1))
  if (repeatDisclosure) presented.push(...presented.slice(0, 1))
  return presented
}

/** The value is at the end of an item: flipping its last bit changes the boolean, letter or digit, and leaves valid CBOR. */
const tampered = (item: MdocItem): MdocItem => ({ ...item, encoded: toBase64Url(flipLastBit(fromBase64(item.encoded))) })

function nameSpacesOf(items: readonly MdocItem[]): Cbor | undefined {
  if (items.length === 0) return undefined
  const nameSpaces = new Map<string, Cbor[]>()
  for (const { at, encoded } of items) {
    nameSpaces.set(at[0], [...(nameSpaces.get(at[0]) ?? []), decodeCbor(fromBase64(encoded))])
  }
  return nameSpaces
}
