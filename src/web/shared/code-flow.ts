// A log-in by OpenID Connect, as a page without a server does it: authorization code and PKCE.
import { base64url, decodeJwt, decodeProtectedHeader } from 'jose'

const KEPT_AS = 'vidimus-log-in'

type Client = { issuer: string; id: string }

/** What the page must still know when the browser comes back. */
type Begun = Client & { redirectUri: string; verifier: string; state: string; search: string }

export type LoggedIn = { idToken: Record<string, unknown>; claims: Record<string, unknown> }
export type Learned = LoggedIn | { refusal: string }

/** Leaves the page for the log-in. */
export async function leaveToLogIn({ issuer, id }: Client, redirectUri: string): Promise<void> {
  const [verifier, state] = [secret(), secret()]
  const begun: Begun = { issuer, id, redirectUri, verifier, state, search: location.search }
  sessionStorage.setItem(KEPT_AS, JSON.stringify(begun))
  const challenge = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  const query = new URLSearchParams({
    client_id: id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    state,
    code_challenge: base64url.encode(challenge),
    code_challenge_method: 'S256',
  })
  location.assign(`${issuer}/authorize?${query}`)
}

export type Returned = { begun: Begun; query: URLSearchParams }

/** Takes the answer off the address, once. Undefined where the browser does not come back from a log-in. */
export function takeReturn(): Returned | undefined {
  const query = new URLSearchParams(location.search)
  const kept = query.has('iss') ? sessionStorage.getItem(KEPT_AS) : null
  if (kept === null) return undefined
  sessionStorage.removeItem(KEPT_AS)
  const begun = JSON.parse(kept) as Begun
  history.replaceState(null, '', `${location.pathname}${begun.search}`)
  return { begun, query }
}

/** Redeems the code, and fetches the claims. */
export async function learn({ begun, query }: Returned): Promise<Learned> {
  const { issuer, id, redirectUri, verifier, state } = begun
  const refusal = query.get('error')
  if (query.get('state') !== state || query.get('iss') !== issuer) return { refusal: 'state, iss' }
  if (refusal !== null) return { refusal: query.get('error_description') ?? refusal }
  const form = {
    grant_type: 'authorization_code',
    code: query.get('code') ?? '',
    redirect_uri: redirectUri,
    client_id: id,
    code_verifier: verifier,
  }
  const token = await (await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form) })).json()
  if (token.error) return { refusal: token.error_description ?? token.error }
  const headers = { authorization: `Bearer ${token.access_token}` }
  const claims = await (await fetch(`${issuer}/userinfo`, { headers })).json()
  return { idToken: { ...decodeProtectedHeader(token.id_token), ...decodeJwt(token.id_token) }, claims }
}

const secret = () => base64url.encode(crypto.getRandomValues(new Uint8Array(32)))
