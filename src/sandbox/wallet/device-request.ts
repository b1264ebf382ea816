// A DeviceRequest (ISO/IEC 18013-5) read as a wallet does: which documents are asked for, and which of the holder's answer.
import { type Cbor, decodeCbor, Tag } from '../cbor.ts'
import type { Credential, MdocCredential, Place } from '../credential.ts'
import { demand } from './request.ts'

export type DeviceRequest = {
  version: '1.0' | '1.1'
  documents: { docType: string; places: Place[] /** Encoded, as signed. */; items: Tag; readerAuth?: Cbor }[]
  /** Absent in version 1.0: everything is asked for. */
  useCases?: UseCase[]
  info?: Cbor
  readerAuthAll?: Cbor
}

type UseCase = { mandatory: boolean; documentSets: number[][] }
export type ChosenDocument = { credential: MdocCredential; places: Place[] }

type CborObject = ReadonlyMap<string | number, Cbor>

/** By use cases, or in version 1.0 one of each type that the holder has. Undefined if these credentials cannot answer. */
export function chooseDocuments(
  { documents, useCases }: DeviceRequest,
  credentials: readonly Credential[],
): ChosenDocument[] | undefined {
  const held = documents.map(asked => answerTo(asked, credentials))
  if (!useCases) {
    const types = held.map(each => each?.credential.type)
    const chosen = held.filter((each, place) => each && types.indexOf(types[place]) === place) as ChosenDocument[]
    return chosen.length > 0 ? chosen : undefined
  }
  const chosen = new Set<number>()
  for (const { mandatory, documentSets } of useCases) {
    const set = documentSets.find(places => places.every(place => held[place] !== undefined))
    if (!set && mandatory) return undefined
    for (const place of set ?? []) chosen.add(place)
  }
  return [...chosen].map(place => held[place]!)
}

type Asked = DeviceRequest['documents'][number]

function answerTo({ docType, places }: Asked, credentials: readonly Credential[]): ChosenDocument | undefined {
  const credential = credentials.find(
    (one): one is MdocCredential =>
      one.format === 'mso_mdoc' &&
      one.type === docType &&
      places.every(([space, element]) => one.items.some(({ at }) => at[0] === space && at[1] === element)),
  )
  return credential && { credential, places }
}

export function readDeviceRequest(bytes: Uint8Array): DeviceRequest {
  const request = asMap(decodeCbor(bytes))
  const version = request.get('version')
  demand(version === '1.0' || version === '1.1', 'the version of the DeviceRequest is unknown')
  const docRequests = request.get('docRequests')
  demand(Array.isArray(docRequests) && docRequests.length > 0, 'the DeviceRequest asks for nothing')
  const documents = (docRequests as Cbor[]).map(readDocRequest)
  const info = request.get('deviceRequestInfo')
  demand(info !== undefined || version === '1.0', 'a DeviceRequest of version 1.1 has use cases')
  const readerAuthAll = request.get('readerAuthAll')
  if (info === undefined) return { version, documents, readerAuthAll }
  const useCases = (embeddedMap(info).get('useCases') as readonly Cbor[]).map(useCase => ({
    mandatory: asMap(useCase).get('mandatory') === true,
    documentSets: asMap(useCase).get('documentSets') as number[][],
  }))
  return { version, documents, useCases, info, readerAuthAll }
}

function readDocRequest(docRequest: Cbor): Asked {
  const members = asMap(docRequest)
  const items = members.get('itemsRequest')
  const asked = embeddedMap(items)
  const [docType, nameSpaces] = [asked.get('docType'), asMap(asked.get('nameSpaces'))]
  demand(typeof docType === 'string' && nameSpaces.size > 0, 'an ItemsRequest names no type or no element')
  const places = [...nameSpaces].flatMap(([space, elements]) =>
    [...asMap(elements).keys()].map(element => [space, element] as Place),
  )
  return { docType, places, items: items as Tag, readerAuth: members.get('readerAuth') }
}

function embeddedMap(item: Cbor | undefined): CborObject {
  demand(item instanceof Tag && item.tag === 24, 'a part of the DeviceRequest lacks tag 24')
  return asMap(decodeCbor((item as Tag).value as Uint8Array))
}

function asMap(item: Cbor | undefined): CborObject {
  demand(item instanceof Map, 'a part of the DeviceRequest is no map')
  return item as CborObject
}
