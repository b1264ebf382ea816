// A DeviceRequest (ISO/IEC 18013-5) read as a wallet does: which documents are asked for, and which of the holder's answer.
import { fromBase64 } from '../bytes.ts'
import { type Cbor, decodeCbor, Tag } from '../cbor.ts'
import type { Credential, MdocCredential, Place } from '../credential.ts'
import { demand } from './request.ts'

type DocumentRequest = { docType: string; places: Place[] }
type UseCase = { mandatory: boolean; documentSets: number[][] }
type ChosenDocument = { credential: MdocCredential; places: Place[] }

type CborObject = ReadonlyMap<string | number, Cbor>

/** Undefined if these credentials cannot answer. */
export function chooseDocuments(deviceRequest: string, credentials: readonly Credential[]): ChosenDocument[] | undefined {
  const { asked, useCases } = readDeviceRequest(deviceRequest)
  const held = asked.map(request => answerTo(request, credentials))
  const chosen = new Set<number>()
  for (const { mandatory, documentSets } of useCases) {
    const set = documentSets.find(places => places.every(place => held[place] !== undefined))
    if (!set && mandatory) return undefined
    for (const place of set ?? []) chosen.add(place)
  }
  return [...chosen].map(place => held[place]!)
}

function answerTo({ docType, places }: DocumentRequest, credentials: readonly Credential[]): ChosenDocument | undefined {
  const credential = credentials.find(
    (one): one is MdocCredential =>
      one.format === 'mso_mdoc' &&
      one.type === docType &&
      places.every(([space, element]) => one.items.some(({ at }) => at[0] === space && at[1] === element)),
  )
  return credential && { credential, places }
}

function readDeviceRequest(text: string): { asked: DocumentRequest[]; useCases: UseCase[] } {
  demand(/^[\w-]+$/.test(text), 'deviceRequest is not base64url without padding')
  const request = asMap(decodeCbor(fromBase64(text)))
  const version = request.get('version')
  demand(version === '1.0' || version === '1.1', 'the version of the DeviceRequest is unknown')
  const docRequests = request.get('docRequests')
  demand(Array.isArray(docRequests) && docRequests.length > 0, 'the DeviceRequest asks for nothing')
  const asked = docRequests.map(docRequest => readItems(asMap(docRequest as Cbor).get('itemsRequest')))
  const info = request.get('deviceRequestInfo')
  if (info === undefined) {
    demand(version === '1.0', 'a DeviceRequest of version 1.1 has use cases')
    return { asked, useCases: [{ mandatory: true, documentSets: [asked.map((_, place) => place)] }] }
  }
  const useCases = (embeddedMap(info).get('useCases') as readonly Cbor[]).map(useCase => ({
    mandatory: asMap(useCase).get('mandatory') === true,
    documentSets: asMap(useCase).get('documentSets') as number[][],
  }))
  return { asked, useCases }
}

function readItems(item: Cbor | undefined): DocumentRequest {
  const items = embeddedMap(item)
  const [docType, nameSpaces] = [items.get('docType'), asMap(items.get('nameSpaces'))]
  demand(typeof docType === 'string' && nameSpaces.size > 0, 'an ItemsRequest names no type or no element')
  const places = [...nameSpaces].flatMap(([space, elements]) =>
    [...asMap(elements).keys()].map(element => [space, element] as Place),
  )
  return { docType, places }
}

function embeddedMap(item: Cbor | undefined): CborObject {
  demand(item instanceof Tag && item.tag === 24, 'a part of the DeviceRequest lacks tag 24')
  return asMap(decodeCbor((item as Tag).value as Uint8Array))
}

function asMap(item: Cbor | undefined): CborObject {
  demand(item instanceof Map, 'a part of the DeviceRequest is no map')
  return item as CborObject
}
