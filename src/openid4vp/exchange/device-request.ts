// A DCQL query as the DeviceRequest of ISO/IEC 18013-5, which browsers carry to wallets as `org-iso-mdoc`. Values, `multiple`
// and purposes cannot be said in it: the answer is judged by the query itself.
import { decodeBase64url } from '../../base/base64url.ts'
import { type Cbor, Embedded, encodeCbor } from '../cbor/encode.ts'
import { withoutFormats } from '../dcql/credential-sets.ts'
import type { ClaimsQuery, CredentialQuery, DcqlQuery } from '../dcql/dcql.ts'

const DOC_REQUESTS_MAX = 20
const DOCUMENT_SETS_MAX = 50

/** Browsers refuse the whole call for these elements (web-platform-tests, digital-credentials). */
const DRIVING_LICENCE_NAMESPACE = 'org.iso.18013.5.1'
const REFUSED_ELEMENTS = new Set<unknown>(['oidc_info', 'webapi_info'])

/** The encoded parts of a request, which readers sign. */
export type DeviceRequestParts = { itemsRequests: readonly Embedded[]; info: Embedded; isSimple: boolean }

/** Undefined for a query that cannot be asked this way. */
export function deviceRequestParts(query: DcqlQuery): DeviceRequestParts | undefined {
  const { credentials, credential_sets: sets } = withoutFormats(query, new Set(['mso_mdoc']))
  const itemsRequests: Embedded[] = []
  /** The places of each query's alternatives among the requests. */
  const places = new Map<string, number[]>()
  for (const credential of credentials) {
    const alternatives = alternativesOf(credential)
    if (!alternatives) return undefined
    const first = itemsRequests.length
    places.set(
      credential.id,
      alternatives.map((_, index) => first + index),
    )
    itemsRequests.push(...alternatives)
    if (itemsRequests.length > DOC_REQUESTS_MAX) return undefined
  }
  const useCases: { mandatory: boolean; documentSets: number[][] }[] = []
  for (const { options, required = true } of sets ?? [{ options: [credentials.map(({ id }) => id)] }]) {
    const documentSets: number[][] = []
    for (const option of options) {
      documentSets.push(...combinations(option.map(id => places.get(id) ?? [])))
      if (documentSets.length > DOCUMENT_SETS_MAX) return undefined
    }
    useCases.push({ mandatory: required, documentSets })
  }
  const encoded = useCases.map(useCase => new Map<string, Cbor>(Object.entries(useCase)))
  return {
    itemsRequests,
    info: new Embedded(new Map([['useCases', encoded]])),
    isSimple: itemsRequests.length === 1,
  }
}

/**
 * Version 1.0 asks for one document. Several of them, or a reader's identity, need 1.1, where iOS 26 expects use cases always.
 */
export function encodeDeviceRequest(parts: DeviceRequestParts, readerAuthAll: readonly Cbor[] = []): Uint8Array {
  const { itemsRequests, info, isSimple } = parts
  const docRequests = itemsRequests.map(itemsRequest => new Map([['itemsRequest', itemsRequest]]))
  const hasReader = readerAuthAll.length > 0
  const members: [string, Cbor][] = [
    ['version', isSimple && !hasReader ? '1.0' : '1.1'],
    ['docRequests', docRequests],
  ]
  if (!isSimple || hasReader) members.push(['deviceRequestInfo', info])
  if (hasReader) members.push(['readerAuthAll', readerAuthAll])
  return encodeCbor(new Map(members))
}

/** One request for each set of claims; undefined where a query has none, or names what browsers refuse. */
function alternativesOf(credential: CredentialQuery): Embedded[] | undefined {
  const { format, claims, claim_sets: sets } = credential
  if (format !== 'mso_mdoc' || !claims || claims.some(isRefused)) return undefined
  const byId = new Map(claims.map(claim => [claim.id, claim]))
  const choices = sets?.map(ids => ids.flatMap(id => byId.get(id) ?? [])) ?? [claims]
  return choices.map(choice => new Embedded(itemsRequest(credential.meta.doctype_value, choice, credential)))
}

const isRefused = ({ path: [nameSpace, element] }: ClaimsQuery): boolean =>
  nameSpace === DRIVING_LICENCE_NAMESPACE && REFUSED_ELEMENTS.has(element)

function itemsRequest(docType: string, claims: readonly ClaimsQuery[], { trusted_authorities: authorities }: CredentialQuery) {
  const nameSpaces = new Map<string, Map<string, boolean>>()
  for (const { path, intent_to_retain: isRetained = false } of claims) {
    const [nameSpace, element] = path.map(String)
    const elements = nameSpaces.get(nameSpace!) ?? new Map<string, boolean>()
    nameSpaces.set(nameSpace!, elements.set(element!, isRetained))
  }
  const issuers = (authorities ?? []).filter(({ type }) => type === 'aki').flatMap(({ values }) => values.flatMap(keyIdentifier))
  return new Map<string, Cbor>([
    ['docType', docType],
    ['nameSpaces', nameSpaces],
    ...(issuers.length > 0 ? [['requestInfo', new Map([['issuerIdentifiers', issuers]])] as const] : []),
  ])
}

const keyIdentifier = (text: string): Uint8Array[] => {
  const bytes = decodeBase64url(text)
  return bytes ? [bytes] : []
}

/** One of each list: at most one more than are allowed. */
function combinations(lists: readonly number[][]): number[][] {
  let found: number[][] = [[]]
  for (const list of lists) {
    found = found.flatMap(begun => list.map(place => [...begun, place]))
    if (found.length > DOCUMENT_SETS_MAX) break
  }
  return found
}
