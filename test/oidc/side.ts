// What a provider answers to one of the requests, in a few words.
import { createHash } from 'node:crypto'
import {
  type AuthorizeCase,
  type ClientName,
  LOOPBACK,
  type Params,
  REDIRECT,
  STATE,
  type TokenCase,
  VERIFIER,
} from './differential-cases.ts'
import type { Client } from './provider.ts'

export type Side = {
  issuer: string
  authorizeUrl: string
  tokenUrl: string
  clients: Record<ClientName, Client>
  /** True if the customer is now asked. */
  isBegun(location: string): boolean
  /** A code that nobody used, for REDIRECT or LOOPBACK; with the challenge of VERIFIER, or without one. */
  newCode(client: ClientName, withChallenge: boolean): Promise<string>
}

export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')

const NO_CHALLENGE = { code_challenge: undefined, code_challenge_method: undefined }

const redirectOf = (client: ClientName) => (client === 'public' ? LOOPBACK : REDIRECT)

const authorizeParams = (client: ClientName, changes: Params): Params => ({
  client_id: '$CLIENT',
  redirect_uri: redirectOf(client),
  response_type: 'code',
  scope: 'openid',
  state: STATE,
  nonce: 'the-nonce',
  code_challenge: '$CHALLENGE',
  code_challenge_method: 'S256',
  ...changes,
})

/** The request of a log-in as usual. */
export const usualRequest = (side: Side, client: ClientName, withChallenge: boolean): string =>
  `${side.authorizeUrl}?${formOf(side, client, authorizeParams(client, withChallenge ? {} : NO_CHALLENGE))}`

function formOf({ clients }: Side, client: ClientName, params: Params, code = ''): URLSearchParams {
  const { id } = clients[client]
  const values: Record<string, string> = {
    CLIENT: id,
    OTHER_ENVIRONMENT: id.includes('_test_') ? id.replace('_test_', '_live_') : `${id}-live`,
    CHALLENGE,
    CODE: code,
  }
  const filled = (text: string) =>
    text.replace(/\$(CLIENT|OTHER_ENVIRONMENT|CHALLENGE|CODE)(_IN_CAPITALS)?/, (_, name: string, inCapitals?: string) => {
      const value = values[name] ?? ''
      return inCapitals ? value.toUpperCase() : value
    })
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(params))
    for (const each of value === undefined ? [] : [value].flat()) form.append(name, filled(each))
  return form
}

export async function authorize(
  side: Side,
  { client = 'secret', params = {}, method = 'GET', type }: AuthorizeCase,
): Promise<string> {
  const form = formOf(side, client, authorizeParams(client, params))
  const isForm = method === 'POST'
  const response = await fetch(isForm ? side.authorizeUrl : `${side.authorizeUrl}?${form}`, {
    method,
    redirect: 'manual',
    ...(isForm && {
      body: type === 'application/json' ? JSON.stringify(Object.fromEntries(form)) : form.toString(),
      headers: { 'content-type': type ?? 'application/x-www-form-urlencoded' },
    }),
  })
  const location = response.headers.get('location') ?? ''
  await response.arrayBuffer()
  if (response.status >= 400) return `page ${response.status}`
  if (side.isBegun(location)) return 'begun'
  const { origin, pathname, searchParams, hash } = new URL(location)
  if (![REDIRECT, LOOPBACK].includes(`${origin}${pathname}`) && client !== 'public') return `led to ${origin}`
  const answer = hash ? new URLSearchParams(hash.slice(1)) : searchParams
  const wanted = [params.state].flat()[0] ?? ('state' in params ? null : STATE)
  return [
    answer.get('error'),
    hash ? 'in the fragment' : '',
    (answer.get('state') ?? '') === (wanted ?? '') ? '' : 'another state',
    answer.get('iss') === side.issuer ? '' : 'without iss',
  ]
    .filter(Boolean)
    .join(', ')
}

const basic = (id: string, secret: string) =>
  Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')

function clientAuth(
  { clients }: Side,
  name: ClientName,
  way: TokenCase['auth'] = 'post',
): { params: Params; authorization?: string } {
  const { id, secret = 'no-secret' } = clients[name]
  switch (way) {
    case 'post':
      return { params: { client_id: id, client_secret: secret } }
    case 'post, wrong':
      return { params: { client_id: id, client_secret: `${secret}x` } }
    case 'none':
      return { params: { client_id: id } }
    case 'basic':
      return { params: {}, authorization: `Basic ${basic(id, secret)}` }
    case 'basic, lower case':
      return { params: {}, authorization: `basic ${basic(id, secret)}` }
    case 'basic, wrong':
      return { params: {}, authorization: `Basic ${basic(id, `${secret}x`)}` }
    case 'basic, unknown':
      return { params: {}, authorization: `Basic ${basic('unknown', secret)}` }
    case 'basic, broken':
      return { params: {}, authorization: `Basic ${btoa(id)}` }
    case 'both':
      return { params: { client_id: id, client_secret: secret }, authorization: `Basic ${basic(id, secret)}` }
  }
}

export async function exchange(side: Side, asked: TokenCase): Promise<string> {
  const { client = 'secret', codeOf = client, withoutChallenge = false } = asked
  const code = await side.newCode(codeOf, !withoutChallenge)
  if (asked.after) await tokenRequest(side, code, { ...asked.after, name: 'before' }, client)
  return await tokenRequest(side, code, asked, client)
}

async function tokenRequest(side: Side, code: string, asked: TokenCase, owner: ClientName): Promise<string> {
  const { client = owner, auth, params = {}, method = 'POST', type = 'application/x-www-form-urlencoded' } = asked
  const { params: named, authorization } = clientAuth(side, client, auth)
  const usual = { grant_type: 'authorization_code', code: '$CODE', redirect_uri: redirectOf(owner), code_verifier: VERIFIER }
  const form = formOf(side, client, { ...usual, ...named, ...params }, code)
  const body = type === 'application/json' ? JSON.stringify(Object.fromEntries(form)) : form.toString()
  const response = await fetch(method === 'GET' ? `${side.tokenUrl}?${form}` : side.tokenUrl, {
    method,
    headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
    ...(method !== 'GET' && { body: new TextEncoder().encode(body) }),
  })
  const text = await response.text()
  const error = errorIn(text)
  const challenged = response.status === 401 && response.headers.get('www-authenticate')?.startsWith('Basic') ? ', Basic' : ''
  return `${response.status}${error ? ` ${error}` : ''}${challenged}`
}

/** Ours of other paths and methods have the envelope of the API. */
function errorIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: string | { code: string } }
    return typeof error === 'object' ? error.code : (error ?? '')
  } catch {
    return ''
  }
}
