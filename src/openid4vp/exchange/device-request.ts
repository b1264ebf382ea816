// A DCQL query as the DeviceRequest of ISO/IEC 18013-5, which phones are asked in person, and browsers carry to wallets as
// `org-iso-mdoc`. Values, `multiple` and purposes cannot be said in it: the answer is judged by the query itself.
import { decodeBase64url } from '../../base/base64url.ts'
import { type Cbor, Embedded, encodeCbor } from '../cbor/encode.ts'
import { claimSetsOf, withoutFormats } from '../dcql/credential-sets.ts'
import type { ClaimsQuery, CredentialQuery, DcqlQuery } from '../dcql/dcql.ts'

const DOC_REQUESTS_MAX = 20
const DOCUMENT_SETS_MAX = 50

/** Browsers refuse the whole call for these elements (web-platform-tests, digital-credentials). */
const DRIVING_LICENCE_NAMESPACE = 'org.iso.18013.5.1'
const REFUSED_ELEMENTS = new Set<unknown>(['oidc_info', 'webapi_info'])

/** Bytes of all registration certificates in one request: a longer one stands in the first document request alone. */
const REGISTRATIONS_BYTES_MAX = 48 * 1024

/** The encoded parts of a request, which readers sign. */
export type DeviceRequestParts = {
  itemsRequests: readonly Embedded[]
  info: Embedded
  isSimple: boolean
  /** The registration certificate is too long for a copy in each document request. */
  isRegistrationLong: boolean
}

/** The same for the wallet call of a browser, unless it would refuse the whole call. */
export const partsForBrowsers = (query: DcqlQuery, registration?: string): DeviceRequestParts | undefined =>
  query.credentials.some(({ format, claims }) => format === 'mso_mdoc' && claims?.some(isRefused))
    ? undefined
    : deviceRequestParts(query, registration)

/** `registration`: the certificate that goes with each document request, a JWT. Undefined for a query that cannot be asked this way. */
export function deviceRequestParts(query: DcqlQuery, registration?: string): DeviceRequestParts | undefined {
  const { credentials: known, credential_sets: sets } = withoutFormats(query, new Set(['mso_mdoc']))
  // An option that needs another format is left out whole.
  const named = new Set(sets?.flatMap(({ options }) => options.flat()))
  const credentials = sets ? known.filter(({ id }) => named.has(id)) : known
  // One request for each set of claims.
  const asked = credentials
    .filter(isAskable)
    .flatMap(credential => claimSetsOf(credential).map(claims => ({ credential, claims })))
  if (!credentials.every(isAskable) || asked.length > DOC_REQUESTS_MAX) return undefined
  const certificate = registration === undefined ? undefined : Buffer.from(registration)
  const isOnce = certificate !== undefined && certificate.length * asked.length > REGISTRATIONS_BYTES_MAX
  const itemsRequests = asked.map(
    ({ credential, claims }, place) =>
      new Embedded(itemsRequest(credential, claims, isOnce && place > 0 ? undefined : certificate)),
  )
  const placesOf = (id: string) => asked.flatMap(({ credential }, place) => (credential.id === id ? [place] : []))
  const useCases: { mandatory: boolean; documentSets: number[][] }[] = []
  for (const { options, required = true } of sets ?? [{ options: [credentials.map(({ id }) => id)] }]) {
    const documentSets: number[][] = []
    for (const option of options) {
      documentSets.push(...combinations(option.map(placesOf)))
      if (documentSets.length > DOCUMENT_SETS_MAX) return undefined
    }
    useCases.push({ mandatory: required, documentSets })
  }
  const encoded = useCases.map(useCase => new Map<string, Cbor>(Object.entries(useCase)))
  return {
    itemsRequests,
    info: new Embedded(new Map([['useCases', encoded]])),
    isSimple: itemsRequests.length === 1,
    isRegistrationLong: isOnce,
  }
}

type MdocQuery = Extract<CredentialQuery, { format: 'mso_mdoc' }>

const isAskable = (credential: CredentialQuery): credential is MdocQuery =>
  credential.format === 'mso_mdoc' && credential.claims !== undefined

/** Version 1.1 adds which of the documents are enough, and signatures over the whole. */
export type Version = '1.0' | '1.1'

type Signatures = { readerAuth?: readonly Cbor[]; readerAuthAll?: readonly Cbor[] }

/** `readerAuth`: one for each document, or none. */
export function encodeDeviceRequest(
  parts: DeviceRequestParts,
  version: Version,
  { readerAuth = [], readerAuthAll = [] }: Signatures = {},
): Uint8Array {
  const docRequests = parts.itemsRequests.map((itemsRequest, at) => {
    const docRequest = new Map<string, Cbor>([['itemsRequest', itemsRequest]])
    return readerAuth[at] ? docRequest.set('readerAuth', readerAuth[at]) : docRequest
  })
  const members = new Map<string, Cbor>([
    ['version', version],
    ['docRequests', docRequests],
  ])
  if (version === '1.1') members.set('deviceRequestInfo', parts.info)
  if (readerAuthAll.length > 0) members.set('readerAuthAll', readerAuthAll)
  return encodeCbor(members)
}

const isRefused = ({ path: [nameSpace, element] }: ClaimsQuery): boolean =>
  nameSpace === DRIVING_LICENCE_NAMESPACE && REFUSED_ELEMENTS.has(element)

function itemsRequest(
  { meta, trusted_authorities: authorities }: MdocQuery,
  claims: readonly ClaimsQuery[],
  certificate: Uint8Array | undefined,
) {
  const nameSpaces = new Map<string, Map<string, boolean>>()
  for (const { path, intent_to_retain: isRetained = false } of claims) {
    const [nameSpace, element] = path.map(String)
    const elements = nameSpaces.get(nameSpace!) ?? new Map<string, boolean>()
    nameSpaces.set(nameSpace!, elements.set(element!, isRetained))
  }
  const issuers = (authorities ?? []).filter(({ type }) => type === 'aki').flatMap(({ values }) => values.flatMap(keyIdentifier))
  const info = new Map<string, Cbor>([
    ...(issuers.length > 0 ? [['issuerIdentifiers', issuers] as const] : []),
    // ETSI TS 119 472-2, REQ-04 to 07.
    ...(certificate ? [['euWrprc', certificate] as const] : []),
  ])
  return new Map<string, Cbor>([
    ['docType', meta.doctype_value],
    ['nameSpaces', nameSpaces],
    ...(info.size > 0 ? [['requestInfo', info] as const] : []),
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
