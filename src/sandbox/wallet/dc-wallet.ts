// The wallet behind a browser's own wallet call (W3C Digital Credentials). The origin comes from the platform, never from
// the request.
import { fromBase64, toBase64Url } from '../bytes.ts'
import { type Cbor, cborMap, decodeCbor, encodeCbor } from '../cbor.ts'
import type { Credential, Holder, Place } from '../credential.ts'
import type { Mutations } from '../mutations.ts'
import { PERSONAS } from '../personas.ts'
import { chooseDocuments, type DeviceRequest, readDeviceRequest } from './device-request.ts'
import { sealHpke } from './hpke-seal.ts'
import { handover, isoTranscript, presentDocuments } from './mdoc.ts'
import { checkReaders } from './reader.ts'
import {
  checkClientId,
  checkFormats,
  checkTimes,
  demand,
  encryptionOf,
  isObject,
  isText,
  isUrlSafe,
  type Members,
  type PresentationRequest,
  verifySignature,
} from './request.ts'
import { encrypt } from './response.ts'
import { selectCredentials } from './select.ts'
import { type AnswerOptions, responseMembers } from './wallet.ts'

export type DcRequest = { protocol: string; data: unknown }
export type DcAnswer = { protocol: string; data: Record<string, unknown> }

/** No request is of a protocol that this wallet speaks, or no document answers. */
export class NothingToShow extends Error {
  override name = 'NothingToShow'
}

type Asking = { requests: readonly DcRequest[]; origin: string }

/** A checked request of a page. */
export type PageRequest = {
  protocol: keyof typeof READERS
  /** Credentials and claims to share; undefined if no credential answers the request. */
  select: (credentials: readonly Credential[]) => { credential: Credential; places: readonly Place[] }[] | undefined
  answer: (holder: Holder, options: AnswerOptions) => Promise<DcAnswer>
}

/** Reads the first request that it understands, as the matchers of platforms do. */
export async function readPage({ requests, origin }: Asking, now: number): Promise<PageRequest> {
  const request = requests.find(({ protocol }) => Object.hasOwn(READERS, protocol))
  if (!request) throw new NothingToShow('no request is of a protocol that this wallet speaks')
  demand(isObject(request.data), 'data is no object')
  const protocol = request.protocol as keyof typeof READERS
  const { select, dataOf } = await READERS[protocol](request.data, origin, now)
  const answer = async (holder: Holder, options: AnswerOptions) => {
    const mutations = { ...PERSONAS[holder.persona].cheat, ...options.mutations }
    return { protocol, data: await dataOf(holder, { ...options, mutations }) }
  }
  return { protocol, select, answer }
}

/** Reads, and answers. */
export const answerPage = async (asking: Asking, holder: Holder, options: AnswerOptions): Promise<DcAnswer> =>
  (await readPage(asking, options.now)).answer(holder, options)

type Answering = AnswerOptions & { mutations: Mutations }
type Read = Pick<PageRequest, 'select'> & { dataOf: (holder: Holder, options: Answering) => Promise<Record<string, unknown>> }

const READERS = {
  'openid4vp-v1-unsigned': async (data: Members, origin: string) => {
    demand(data.client_id === undefined, 'an unsigned request names a client_id (OpenID4VP 1.0 § A.2)')
    demand(data.expected_origins === undefined, 'an unsigned request names expected_origins')
    return openId(readOpenId(data, origin))
  },
  'openid4vp-v1-signed': async ({ request }: Members, origin: string, now: number) => {
    demand(isText(request), 'there is no signed request')
    const { parameters, leaf } = await verifySignature(request)
    checkTimes(parameters, now)
    const origins = parameters.expected_origins
    demand(Array.isArray(origins) && origins.includes(origin), 'expected_origins lacks the page that asks (OpenID4VP 1.0 § A.2)')
    const read = readOpenId(parameters, origin)
    demand(isText(parameters.client_id), 'a signed request names no client_id')
    await checkClientId(read, leaf)
    return openId(read)
  },
  'org-iso-mdoc': readIso,
}

const openId = (request: PresentationRequest): Read => ({
  select: credentials => selectCredentials(request.query, credentials),
  dataOf: (holder, options) => answerOpenId(request, holder, options),
})

/** OpenID4VP 1.0 Appendix A. */
function readOpenId(parameters: Members, origin: string): PresentationRequest {
  const { client_id, response_type, response_mode, nonce, dcql_query, client_metadata } = parameters
  demand(response_type === 'vp_token', 'response_type is not vp_token')
  demand(response_mode === 'dc_api.jwt', 'response_mode is not dc_api.jwt (HAIP 1.0 § 5.2)')
  for (const name of ['state', 'response_uri', 'redirect_uri'])
    demand(parameters[name] === undefined, `${name} has no meaning through a browser`)
  demand(isUrlSafe(nonce) && nonce.length >= 22, 'the nonce has less than 128 bits or foreign characters')
  demand(isObject(dcql_query) && Array.isArray(dcql_query.credentials), 'there is no DCQL query')
  demand(isObject(client_metadata), 'there is no client_metadata')
  const query = dcql_query as unknown as PresentationRequest['query']
  checkFormats(query, client_metadata)
  return {
    clientId: isText(client_id) ? client_id : '',
    responseMode: response_mode,
    responseUri: '',
    nonce,
    state: undefined,
    query,
    encryption: encryptionOf(client_metadata),
    parameters,
    page: { origin },
  }
}

async function answerOpenId(request: PresentationRequest, holder: Holder, options: Answering): Promise<Record<string, unknown>> {
  const { mutations } = options
  const members = PERSONAS[holder.persona].declines ? { error: 'access_denied' } : await responseMembers(request, holder, options)
  const sent = { ...members, ...mutations.responseClaims }
  return mutations.plain ? sent : { response: await encrypt(request.encryption!, sent, mutations) }
}

/** ISO/IEC TS 18013-7 Annex C. */
async function readIso({ deviceRequest, encryptionInfo }: Members, origin: string): Promise<Read> {
  demand(isText(deviceRequest) && isText(encryptionInfo), 'deviceRequest or encryptionInfo is missing')
  demand(/^[\w-]+$/.test(deviceRequest), 'deviceRequest is not base64url without padding')
  const request = readDeviceRequest(fromBase64(deviceRequest))
  await checkReaders(request, await isoTranscript(encryptionInfo, origin))
  const asked = { request, encryptionInfo, point: readEncryptionInfo(encryptionInfo), origin }
  return {
    select: credentials => chooseDocuments(request, credentials),
    dataOf: (holder, options) => answerIso(asked, holder, options),
  }
}

type IsoAsked = { request: DeviceRequest; encryptionInfo: string; point: Uint8Array; origin: string }

async function answerIso({ request, encryptionInfo, point, origin }: IsoAsked, holder: Holder, { accept, mutations }: Answering) {
  const chosen = chooseDocuments(request, accept ? holder.credentials.filter(accept) : holder.credentials)
  const isDeclined = PERSONAS[holder.persona].declines
  if (!chosen && !isDeclined) throw new NothingToShow(`no document of the persona ${holder.persona} answers the request`)
  const signedOver = mutations.handover
    ? await handover(...mutations.handover)
    : await isoTranscript(encryptionInfo, mutations.transcriptOrigin ?? origin)
  const plaintext = await presentDocuments(isDeclined ? [] : chosen!, { holder, transcript: signedOver, mutations })
  const transcript = await isoTranscript(mutations.sealedInfo ?? encryptionInfo, mutations.sealedOrigin ?? origin)
  const sealed = await sealHpke(mutations.recipientPoint ?? point, {
    plaintext,
    info: encodeCbor(transcript),
    aad: mutations.hpkeAad,
  })
  return { response: toBase64Url(encodeCbor(['dcapi', cborMap(sealed)])) }
}

/** ["dcapi", {nonce, recipientPublicKey}] */
function readEncryptionInfo(text: string): Uint8Array {
  demand(/^[\w-]+$/.test(text), 'encryptionInfo is not base64url without padding')
  const [name, parameters] = decodeCbor(fromBase64(text)) as [Cbor, ReadonlyMap<string, Cbor>]
  demand(name === 'dcapi' && parameters instanceof Map, 'encryptionInfo is of another form')
  const [nonce, key] = [parameters.get('nonce'), parameters.get('recipientPublicKey')]
  demand(nonce instanceof Uint8Array && nonce.length >= 16, 'the nonce has less than 128 bits')
  demand(key instanceof Map && key.get(1) === 2 && key.get(-1) === 1, 'the key is not on P-256')
  const [x, y] = [key.get(-2), key.get(-3)]
  demand(x instanceof Uint8Array && y instanceof Uint8Array, 'the key is no point')
  return Uint8Array.from([4, ...x, ...y])
}
