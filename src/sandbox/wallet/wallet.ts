// A wallet that speaks OpenID4VP 1.0 from the other side, for tests, benchmarks and the page in the
// browser. It shares only the types of a query with the verifier, and reads and writes credentials
// with libraries, so that an error of one is not an error of both.
import type { Credential, Holder } from '../credential.ts'
import { newPrivateJwk } from '../es256.ts'
import type { Mutations, VpToken } from '../mutations.ts'
import { PERSONAS } from '../personas.ts'
import { presentMdoc } from './mdoc.ts'
import { type Fetch, type FetchOptions, fetchRequest, type PresentationRequest } from './request.ts'
import { buildResponse, type WalletResponse } from './response.ts'
import { presentSdJwt } from './sd-jwt.ts'
import { type Selection, selectCredentials } from './select.ts'

export type { Credential, Holder } from '../credential.ts'
export { newPrivateJwk, publicJwk } from '../es256.ts'
export type { Mutations, VpToken } from '../mutations.ts'
export { readPresentation, type Shown } from './read-presentation.ts'
export { type Fetch, fetchRequest, type PresentationRequest, parseWalletUri, RequestRefused, type WalletUri } from './request.ts'
export type { WalletResponse } from './response.ts'
export { type Selection, selectCredentials } from './select.ts'

export type AnswerOptions = {
  /** In milliseconds. */
  now: number
  /** Default: A256GCM, if the verifier accepts it. */
  enc?: 'A128GCM' | 'A256GCM'
  /** Selects the credentials that may be presented; by default all. */
  accept?: (credential: Credential) => boolean
  /** In addition to those of the persona. */
  mutations?: Mutations
}

/** `body` is the response of the verifier: JSON, or text. */
export type Exchange = {
  request: PresentationRequest
  response: WalletResponse
  status: number
  body: unknown
  redirectUri: string | undefined
}

/** No credential of the holder answers the query. */
class NothingFits extends Error {
  override name = 'NothingFits'
}

/** The whole exchange: fetch the request, check it, answer or decline, post. */
export async function present(
  walletUri: string,
  holder: Holder,
  { fetch, ...options }: AnswerOptions & FetchOptions & { fetch: Fetch },
): Promise<Exchange> {
  const request = await fetchRequest(walletUri, fetch, options)
  const canAnswer = options.mutations?.replay !== undefined || choose(request, holder, options) !== undefined
  const isAnswered = canAnswer && !PERSONAS[holder.persona].declines
  const response = isAnswered ? await answer(request, holder, options) : await decline(request, options.mutations)
  return { request, response, ...(await post(response, fetch)) }
}

/** The holder's answer, ready to be posted. */
export async function answer(request: PresentationRequest, holder: Holder, options: AnswerOptions): Promise<WalletResponse> {
  return buildResponse(request, await responseMembers(request, holder, options), mutationsOf(holder, options))
}

/** Members of the response, which are encrypted. */
export async function responseMembers(
  request: PresentationRequest,
  holder: Holder,
  options: AnswerOptions,
): Promise<{ vp_token?: unknown }> {
  const mutations = mutationsOf(holder, options)
  const token = mutations.replay ?? (await vpToken(request, holder, { ...options, mutations }))
  return shaped(token, mutations.vpTokenShape)
}

/** For a refusal and for a missing document: the verifier cannot tell them apart (OpenID4VP 1.0 § 8.5). */
export const decline = (request: PresentationRequest, mutations: Mutations = {}): Promise<WalletResponse> =>
  buildResponse(request, { error: 'access_denied', error_description: 'The holder declined.' }, mutations)

/** One presentation for each credential query that is answered. */
export async function vpToken(request: PresentationRequest, holder: Holder, options: AnswerOptions): Promise<VpToken> {
  const selections = choose(request, holder, options)
  if (!selections) throw new NothingFits(`no document of the persona ${holder.persona} answers the query`)
  const mutations = mutationsOf(holder, options)
  const key = mutations.otherKey ? await newPrivateJwk() : holder.deviceKey
  const presentations = selections.map(async ({ id, credential, places }) => {
    const presenting = { places, request, key, now: options.now, mutations }
    const text = credential.format === 'mso_mdoc' ? presentMdoc(credential, presenting) : presentSdJwt(credential, presenting)
    return [id, [mutations.presentation?.(await text, id) ?? (await text)]] as const
  })
  return Object.fromEntries(await Promise.all(presentations))
}

const choose = ({ query }: PresentationRequest, { credentials }: Holder, { accept }: AnswerOptions): Selection[] | undefined =>
  selectCredentials(query, accept ? credentials.filter(accept) : credentials)

const mutationsOf = ({ persona }: Holder, { enc, mutations }: AnswerOptions): Mutations => ({
  ...(enc && { enc }),
  ...PERSONAS[persona].cheat,
  ...mutations,
})

function shaped(token: VpToken, shape: Mutations['vpTokenShape']): { vp_token?: unknown } {
  const entries = Object.entries(token)
  switch (shape) {
    case undefined:
      return { vp_token: token }
    case 'bare_string':
      return { vp_token: Object.fromEntries(entries.map(([id, [first]]) => [id, first])) }
    case 'array':
      return { vp_token: entries.flatMap(([, presentations]) => presentations) }
    case 'empty_array':
      return { vp_token: Object.fromEntries(entries.map(([id]) => [id, []])) }
    case 'json_text':
      return { vp_token: JSON.stringify(token) }
    case 'unknown_id':
      return { vp_token: Object.fromEntries(entries.map(([id, presentations]) => [`${id}_unknown`, presentations])) }
    case 'absent':
      return {}
  }
}

export type Answered = Pick<Exchange, 'status' | 'body' | 'redirectUri'>

/** Posts the answer to the verifier. */
export async function post({ form, responseUri }: WalletResponse, fetch: Fetch): Promise<Answered> {
  const answered = await fetch(responseUri, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  })
  const text = await answered.text()
  const body = parsed(text)
  const redirectUri = (body as { redirect_uri?: string } | null)?.redirect_uri
  return { status: answered.status, body, redirectUri }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
