// A DeviceResponse (ISO/IEC 18013-5 § 8.3.2.1.2.2) as presentations that answer a query: of the browser's wallet call, and of a
// phone in person. Both were decrypted with the keys of their request.
import { type Members, setMember } from '../../base/members.ts'
import { parseCbor } from '../cbor/cbor.ts'
import { parseSign1 } from '../cbor/cose.ts'
import { encodeCbor, Received } from '../cbor/encode.ts'
import { CborError, type CborItem, type CborMap } from '../cbor/item.ts'
import { cborToJson } from '../cbor/json.ts'
import { claimSetsOf } from '../dcql/credential-sets.ts'
import type { CredentialQuery, DcqlQuery } from '../dcql/dcql.ts'
import { Matching, withinSteps } from '../dcql/match.ts'
import { embeddedIn, member } from '../mdoc/issuer.ts'
import type { NextTurn } from '../turns.ts'
import { type Certificate, describeCertificate } from '../x509/x509.ts'
import { type Presented, UnreadableResponse } from './response.ts'

const DOCUMENTS_MAX = 20

/** ISO/IEC 18013-5 § 8.3.2.1.2.3. */
const STATUS_CODES = new Map([
  [10, 'general_error'],
  [11, 'decoding_error'],
  [12, 'validation_error'],
])
/** Nobody asked for these: an answer with nothing else is malformed. */
const UNASKED_MEMBERS = ['zkDocuments', 'encryptedDocuments', 'otherDocuments']

export type DeviceAnswer =
  | { kind: 'error'; code: string }
  | { kind: 'malformed'; detail: string }
  | { kind: 'presentations'; presentations: Presented[]; documents: number; matching: Matching }

/** `isList`: the request was a list that could not say "or", so each document answers for itself. */
type Reading = { query: DcqlQuery; nextTurn: NextTurn; isList?: boolean }

/** Throws an UnreadableResponse for a document that nobody asked for. */
export async function readDeviceResponse(bytes: Uint8Array, reading: Reading): Promise<DeviceAnswer> {
  try {
    return await answerIn(bytes, reading)
  } catch (error) {
    if (!(error instanceof CborError)) throw error
    return { kind: 'malformed', detail: `The answer cannot be read: ${error.message}.` }
  }
}

/** Throws CborError. */
async function answerIn(bytes: Uint8Array, { query, nextTurn, isList }: Reading): Promise<DeviceAnswer> {
  const response = parseCbor(bytes).asMap()
  if (!/^1\.\d{1,3}$/.test(member(response, 'version').asText())) throw new CborError('its version is not supported')
  const status = member(response, 'status').asUint()
  if (status !== 0) return { kind: 'error', code: STATUS_CODES.get(status) ?? 'unknown_error' }
  const documents = response.get('documents')?.asArray() ?? []
  if (documents.length > DOCUMENTS_MAX) throw new CborError('it holds too many documents')
  if (documents.length === 0) {
    if (UNASKED_MEMBERS.some(name => response.has(name)))
      throw new CborError('it holds no document of the kind that was asked for')
    return { kind: 'error', code: 'no_documents' }
  }
  const asked = isList ? query.credentials.flatMap(alternativesOf) : query.credentials
  const matching = new Matching(nextTurn)
  const candidates: Candidate[] = []
  for (const document of documents) {
    if (candidates.length > 0) await nextTurn()
    candidates.push(await candidateOf(document, asked, matching))
  }
  const presentations = isList ? listed(candidates, asked) : assign(candidates)
  if (!presentations) return { kind: 'malformed', detail: 'There are more presentations than were asked for.' }
  return { kind: 'presentations', presentations, documents: documents.length, matching }
}

/** `fits`: it has all that one of its queries asks for. */
type Candidate = { docType: string; presentation: string; queries: readonly CredentialQuery[]; fits: boolean }

/** The requests that a list has for a query: one for each set of claims. */
const alternativesOf = (query: CredentialQuery): CredentialQuery[] =>
  query.claim_sets && !query.multiple ? claimSetsOf(query).map(claims => ({ ...query, claims, claim_sets: undefined })) : [query]

/**
 * In the order of the requests. A phone may show a document for each of them: again without what it lacks says nothing. Undefined if
 * it shows more of one type than it was asked for.
 */
function listed(documents: readonly Candidate[], asked: readonly CredentialQuery[]): Presented[] | undefined {
  const telling: Candidate[] = []
  for (const [docType, alike] of Map.groupBy(documents, document => document.docType)) {
    const requests = asked.filter(query => isFor(query, docType))
    const fitting = alike.filter(({ fits }) => fits)
    if (fitting.length > requests.length && !requests.some(({ multiple }) => multiple)) return undefined
    telling.push(...(fitting.length > 0 ? fitting : alike.slice(0, 1)))
  }
  return asked.flatMap(query =>
    telling.filter(({ queries }) => queries.includes(query)).map(({ presentation }) => ({ query, presentation })),
  )
}

const isFor = ({ format, meta }: CredentialQuery, docType: string): boolean =>
  format === 'mso_mdoc' && 'doctype_value' in meta && meta.doctype_value === docType

/**
 * Each document answers at least one of its queries, and a query without `multiple` is answered by one document. Within these
 * limits every query is answered that can be. Undefined if there is no such assignment.
 */
function assign(documents: readonly Candidate[]): Presented[] | undefined {
  const answeredBy = new Map<string, Candidate>()
  /** The first free query, since wallets answer in the order of the request; else another document moves (augmenting path). */
  const place = (document: Candidate, tried: Set<string>): boolean => {
    const canBeFreed = ({ id }: CredentialQuery) => {
      const isNew = tried.size < tried.add(id).size
      return isNew && place(answeredBy.get(id)!, tried)
    }
    const chosen = document.queries.find(({ id }) => !answeredBy.has(id)) ?? document.queries.find(canBeFreed)
    if (chosen) answeredBy.set(chosen.id, document)
    return chosen !== undefined
  }
  for (const document of documents)
    if (!document.queries.some(({ multiple }) => multiple) && !place(document, new Set())) return undefined
  for (const document of documents) for (const { id } of document.queries) if (!answeredBy.has(id)) answeredBy.set(id, document)
  return documents.flatMap(document =>
    document.queries
      .filter(({ id, multiple }) => multiple || answeredBy.get(id) === document)
      .map(query => ({ query, presentation: document.presentation })),
  )
}

/**
 * A document can answer every query for its type that it satisfies. If there is none, those whose claims it has, or else the
 * first of its type, so that the failure is told. Nothing is proven yet: this only chooses the queries to judge it by.
 */
async function candidateOf(document: CborItem, asked: readonly CredentialQuery[], matching: Matching): Promise<Candidate> {
  const docType = member(document.asMap(), 'docType').asText()
  const ofType = asked.filter(query => isFor(query, docType))
  if (ofType.length === 0) throw new UnreadableResponse('the response holds a document that was not asked for')
  const issuerSigned = member(document.asMap(), 'issuerSigned').asMap()
  const shown = { format: 'mso_mdoc', type: docType, claims: claimsOf(issuerSigned) } as const
  const chain = ofType.some(query => query.trusted_authorities) ? certificatesOf(issuerSigned) : []
  const match = matching.of(shown)
  const fitting = await withinSteps(async () => {
    const satisfied: CredentialQuery[] = []
    const covered: CredentialQuery[] = []
    for (const each of ofType) {
      if ((await match.findMismatch(each, chain)) === undefined) satisfied.push(each)
      if (await match.covers(each)) covered.push(each)
    }
    return satisfied.length > 0 ? satisfied : covered
  })
  const alone = encodeCbor(
    new Map<string, string | number | Received[]>([
      ['version', '1.0'],
      ['documents', [new Received(document.bytes)]],
      ['status', 0],
    ]),
  )
  const presentation = Buffer.from(alone).toString('base64url')
  const fits = fitting !== undefined && fitting.length > 0
  return { docType, presentation, queries: fits ? fitting : ofType.slice(0, 1), fits }
}

function claimsOf(issuerSigned: CborMap): Members {
  const claims: Members = {}
  for (const [nameSpace, items] of issuerSigned.get('nameSpaces')?.asMap() ?? []) {
    const elements: Members = {}
    for (const item of items.asArray()) {
      const element = embeddedIn(item).asMap()
      setMember(elements, member(element, 'elementIdentifier').asText(), cborToJson(element.get('elementValue')?.decode()))
    }
    setMember(claims, String(nameSpace), elements)
  }
  return claims
}

const certificatesOf = (issuerSigned: CborMap): Certificate[] =>
  parseSign1(member(issuerSigned, 'issuerAuth')).x5chain.flatMap(der => describeCertificate(der) ?? [])
