// The wallet's answer, from form to presentations. An answer that does not belong to this session
// is refused and leaves the session as it is: noise must not end it. A correctly addressed error
// does end it; anybody who scans the QR code can read its `state`.
import { equalConstantTime } from '../../base/hash.ts'
import { parseJson } from '../../base/json.ts'
import type { CredentialQuery, DcqlQuery } from '../dcql/dcql.ts'
import type { Matching } from '../dcql/match.ts'
import { decryptJwe, hasOtherName, readJweHeader } from './jwe.ts'

const JWE_CHARS_MAX = 1_000_000
const JWE_HEADER_CHARS_MAX = 8192
/**
 * The largest query is answered by 400 presentations. A megabyte of names would take longer to
 * parse than the rest of an answer.
 */
const JSON_LIMITS = { depthMax: 32, valuesMax: 10_000 }
const PRESENTATIONS_MAX = 20
const ERROR_CODE = /^[a-z_]{1,64}$/

/** Logged: a closed list, so that nothing of an answer can get into it. */
type UnreadableReason =
  | 'no phone was asked'
  | 'state is missing or of another session'
  | 'the encrypted response cannot be decrypted'
  | 'the encrypted response cannot be read'
  | 'the encrypted response is not a JWE in compact form'
  | 'the encrypted response is too large'
  | 'the header has a parameter that is not accepted'
  | 'the request was never fetched'
  | 'the response holds a credential id that was not asked for'
  | 'the response holds a document that was not asked for'
  | 'the response is encrypted to another key'
  | 'the response is missing or too large'
  | 'the response is not a JSON object'
  | 'the response is not base64url without padding'
  | 'the response must be encrypted'
  | 'the response was not encrypted for this request'
  | 'the session message cannot be read'
  | 'the session message has neither data nor a known status'
  | 'the session message is of another session'
  | 'there is neither a vp_token nor an error'
  | 'this origin was not asked by this protocol'
  | 'vp_token is not valid JSON'

/** Not an answer to this session: status 400, and the session does not change. */
export class UnreadableResponse extends Error {
  override name = 'UnreadableResponse'
  constructor(
    readonly reason: UnreadableReason,
    options?: ErrorOptions,
  ) {
    super(reason, options)
  }
}

export type ResponseKey = { kid: string; privateKey: CryptoKey }

export type Awaited = {
  state: string
  query: DcqlQuery /** Absent where an unencrypted answer was asked for. */
  key?: ResponseKey
}

export type WalletResponse =
  | { kind: 'error'; code: string; encrypted: boolean }
  | { kind: 'malformed'; detail: string; encrypted: boolean }
  | { kind: 'presentations'; presentations: Presented[]; encrypted: boolean; matching?: Matching }

/** One presentation and the part of the query it claims to answer. */
export type Presented = { query: CredentialQuery; presentation: string }

export async function readResponse(form: ReadonlyMap<string, string>, { state, query, key }: Awaited): Promise<WalletResponse> {
  const encrypted = form.get('response')
  const parameters = encrypted !== undefined && key ? await openJwe(encrypted, key) : plainParameters(form, key !== undefined)
  if (typeof parameters.state !== 'string' || !equalConstantTime(parameters.state, state))
    throw new UnreadableResponse('state is missing or of another session')
  const isEncrypted = encrypted !== undefined && key !== undefined
  if (parameters.error !== undefined) return { kind: 'error', code: walletErrorCode(parameters.error), encrypted: isEncrypted }
  if (parameters.vp_token === undefined) throw new UnreadableResponse('there is neither a vp_token nor an error')
  return { ...readVpToken(query, parameters.vp_token), encrypted: isEncrypted }
}

type Parameters = { state?: unknown; vp_token?: unknown; error?: unknown }

/** OpenID4VP 1.0 § 8.3. */
export async function openJwe(text: string, { kid, privateKey }: ResponseKey): Promise<Parameters> {
  if (text.length > JWE_CHARS_MAX || text.indexOf('.') > JWE_HEADER_CHARS_MAX)
    throw new UnreadableResponse('the encrypted response is too large')
  const header = readJweHeader(text)
  if (!header) throw new UnreadableResponse('the encrypted response is not a JWE in compact form')
  if (header.kid !== kid) throw new UnreadableResponse('the response is encrypted to another key')
  if (hasOtherName(header)) throw new UnreadableResponse('the header has a parameter that is not accepted')
  const plaintext = await decryptJwe(text, privateKey)
  if (!plaintext) throw new UnreadableResponse('the encrypted response cannot be decrypted')
  try {
    return asObject(parseJson(UTF_8.decode(plaintext), JSON_LIMITS))
  } catch (error) {
    if (error instanceof UnreadableResponse) throw error
    throw new UnreadableResponse('the encrypted response cannot be read', { cause: error })
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** A wallet that cannot encrypt may send an error in the clear (§ 8.3.1), but no presentation if encryption was requested. */
function plainParameters(form: ReadonlyMap<string, string>, encryptionAsked: boolean): Parameters {
  const [state, error, vpToken] = [form.get('state'), form.get('error'), form.get('vp_token')]
  if (error !== undefined) return { state, error }
  if (encryptionAsked) throw new UnreadableResponse('the response must be encrypted')
  return { state, vp_token: vpToken === undefined ? undefined : parsePlain(vpToken) }
}

function parsePlain(text: string): unknown {
  try {
    return parseJson(text, JSON_LIMITS)
  } catch (error) {
    throw new UnreadableResponse('vp_token is not valid JSON', { cause: error })
  }
}

function asObject(value: unknown): Parameters {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new UnreadableResponse('the response is not a JSON object')
  return value
}

/** The wallet's own code is stored only if it has the form of one. */
export const walletErrorCode = (error: unknown): string =>
  typeof error === 'string' && ERROR_CODE.test(error) ? error : 'unknown_error'

type VpToken = { kind: 'malformed'; detail: string } | { kind: 'presentations'; presentations: Presented[] }

/** § 8.1: credential query id → non-empty array of presentations; more than one only if the query allows it. */
export function readVpToken(query: DcqlQuery, vpToken: unknown): VpToken {
  if (vpToken === null || typeof vpToken !== 'object' || Array.isArray(vpToken)) {
    return { kind: 'malformed', detail: 'The vp_token is not an object of presentations by credential id.' }
  }
  const presentations: Presented[] = []
  for (const [id, entries] of Object.entries(vpToken)) {
    const asked = query.credentials.find(credential => credential.id === id)
    if (!asked) throw new UnreadableResponse('the response holds a credential id that was not asked for')
    if (!Array.isArray(entries) || entries.length === 0 || !entries.every(entry => typeof entry === 'string')) {
      return { kind: 'malformed', detail: 'Each credential must be answered by an array with one or more presentations.' }
    }
    if (entries.length > 1 && !asked.multiple)
      return { kind: 'malformed', detail: 'There are more presentations than were asked for.' }
    if (entries.length > PRESENTATIONS_MAX)
      return { kind: 'malformed', detail: `There are more than ${PRESENTATIONS_MAX} presentations for one part of the query.` }
    presentations.push(...entries.map(presentation => ({ query: asked, presentation })))
  }
  return { kind: 'presentations', presentations }
}
