// The wallet call of browsers (W3C Digital Credentials), for the hosted page, the element and the SDK.
// Imports nothing: it is bundled into the pages of shops.

export type DcRequest = { protocol: string; data: Record<string, unknown> }
export type DcAnswer = DcRequest

/** The response of POST /wallet/dc/request/{id}. */
export type Prepared = {
  origin: string
  environment: 'test' | 'live'
  expires_at: string
  /** The preferred first, never empty. */
  requests: readonly DcRequest[]
}

/** The response of POST /wallet/dc/response/{id}. */
export type DcOutcome = {
  /** `pending` with `wallet_error`: nothing has changed, and the page may ask again. Without: the till compares the photo. */
  status: 'completed' | 'failed' | 'pending'
  response_code?: string
  redirect_uri?: string
  wallet_error?: string
}

const PROTOCOLS = ['openid4vp-v1-signed', 'openid4vp-v1-unsigned', 'org-iso-mdoc']
const ISO = 'org-iso-mdoc'
const FEATURE = 'digital-credentials-get'
/** A browser itself waits for minutes, or for ever. */
const ANSWER_MS = 30_000

/** Only Chromium knows it. */
type FeaturePolicy = { features: () => string[]; allowsFeature: (name: string) => boolean }

/** False in a frame: engines do not agree whose origin counts there. */
export function canAsk(): boolean {
  const policy = (document as { featurePolicy?: FeaturePolicy }).featurePolicy
  const isForbidden = policy?.features().includes(FEATURE) && !policy.allowsFeature(FEATURE)
  return typeof DigitalCredential !== 'undefined' && isSecureContext && self === top && !isForbidden
}

/** Called before the tap, which lasts five seconds. Undefined if this browser or this session cannot be asked. */
export async function prefetch(base: string, sessionId: string, signal?: AbortSignal): Promise<Prepared | undefined> {
  if (!canAsk()) return undefined
  // A filter, no proof: Chromium allows any name.
  const { userAgentAllowsProtocol: allows } = DigitalCredential as { userAgentAllowsProtocol?: (name: string) => boolean }
  const protocols = PROTOCOLS.filter(name => allows?.(name) ?? true)
  return protocols.length > 0 ? fetchRequests(base, sessionId, { protocols, signal }) : undefined
}

type Asking = { protocols?: readonly string[]; signal?: AbortSignal }

/** The requests, whatever this browser can do: the sandbox takes all of them. */
export async function fetchRequests(
  base: string,
  sessionId: string,
  { protocols, signal }: Asking = {},
): Promise<Prepared | undefined> {
  try {
    const prepared = await post<Prepared>(base, `request/${encodeURIComponent(sessionId)}`, { protocols }, signal)
    return prepared.requests.length > 0 ? prepared : undefined
  } catch {
    return undefined
  }
}

/** Opens the browser's dialog; call it in the handler of a tap. Rejects as `navigator.credentials.get` does. */
export async function ask({ requests }: Pick<Prepared, 'requests'>, signal: AbortSignal): Promise<DcAnswer> {
  const get = (digital: { requests: readonly DcRequest[] }) =>
    navigator.credentials.get({ mediation: 'required', digital, signal } as CredentialRequestOptions)
  const iso = requests.filter(({ protocol }) => protocol === ISO)
  const given = await get({ requests }).catch(error => {
    // An engine that knows one protocol refuses the whole call for another's name.
    if (error instanceof TypeError && iso.length > 0 && iso.length < requests.length) return get({ requests: iso })
    throw error
  })
  const { protocol, data } = given as DigitalCredential
  return { protocol, data: typeof data === 'string' ? JSON.parse(data) : data }
}

/** Refused by the service, with the status of its response. */
export class Refused extends Error {
  override name = 'Refused'

  constructor(readonly status: number) {
    super(`answered ${status}`)
  }
}

/** Hands the answer in. Throws Refused, or what `fetch` throws. */
export const send = (base: string, sessionId: string, { protocol, data }: DcAnswer): Promise<DcOutcome> =>
  post(base, `response/${encodeURIComponent(sessionId)}`, { protocol, data })

async function post<Body>(base: string, path: string, body: object, signal = AbortSignal.timeout(ANSWER_MS)): Promise<Body> {
  const response = await fetch(`${base.replace(/\/$/, '')}/wallet/dc/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
    // On our own page, its cookie: a log-in belongs to the browser that began it.
    credentials: 'same-origin',
  })
  if (!response.ok) throw new Refused(response.status)
  return response.json()
}
