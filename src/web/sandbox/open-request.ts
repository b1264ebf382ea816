// The request behind a wallet link: only of this service, of a test session that is still pending.
import { fetchRequest, type PresentationRequest, parseWalletUri, RequestRefused } from '../../sandbox/wallet/wallet.ts'
import type { HostedVerification } from '../../verifications/schema.ts'
import { ApiFailure, callApi } from '../shared/api.ts'
import { serviceUrl } from '../shared/base.ts'

const PROBLEMS = [
  'unasked',
  'unreadable',
  'foreign',
  'gone',
  'live',
  'answered',
  'cancelled',
  'expired',
  'distrusted',
  'busy',
  'unreachable',
] as const

/** `detail` is the wallet's own reason. */
export type Problem = { kind: (typeof PROBLEMS)[number]; detail?: string }

export class CannotOpen extends Error {
  constructor(readonly problem: Problem) {
    super(problem.kind)
  }
}

/** The service's public URL, which may differ from this page's origin, and its clock. */
export type Service = { publicUrl: string; aheadMs: number }

export type OpenedRequest = { session: HostedVerification; request: PresentationRequest }

export const now = ({ aheadMs }: Service): number => Date.now() + aheadMs

export async function openRequest(walletUri: string, service: Service): Promise<OpenedRequest> {
  const session = await readSession(sessionIdOf(walletUri, service))
  if (session.environment === 'live') throw new CannotOpen({ kind: 'live' })
  if (session.status === 'expired') throw new CannotOpen({ kind: 'expired' })
  if (session.reason === 'cancelled') throw new CannotOpen({ kind: 'cancelled' })
  if (session.status !== 'pending' || session.answered) throw new CannotOpen({ kind: 'answered' })
  try {
    return { session, request: await fetchRequest(walletUri, fetchHere(service), { now: now(service) }) }
  } catch (error) {
    throw new CannotOpen(
      error instanceof RequestRefused ? { kind: 'distrusted', detail: error.message } : { kind: 'unreachable' },
    )
  }
}

export async function readSession(id: string): Promise<HostedVerification> {
  try {
    return await callApi<HostedVerification>(`v/${encodeURIComponent(id)}/data`)
  } catch (error) {
    throw new CannotOpen({ kind: problemOf(error) })
  }
}

export function problemOf(error: unknown): Problem['kind'] {
  if (!(error instanceof ApiFailure)) return 'unreachable'
  return error.status === 404 ? 'gone' : 'busy'
}

/** The same service at this page's origin, the only one that the policy allows to call. */
export const fetchHere =
  ({ publicUrl }: Service) =>
  (url: string, init?: RequestInit): Promise<Response> =>
    fetch(serviceUrl(url.slice(publicUrl.length + 1)), init)

function sessionIdOf(walletUri: string, { publicUrl }: Service): string {
  const address = addressOf(walletUri)
  const path = address.startsWith(`${publicUrl}/`) ? address.slice(publicUrl.length) : ''
  const id = /^\/wallet\/(?:request|response)\/(\w+)(?:\?[\w=&]*)?$/.exec(path)?.[1]
  if (!id) throw new CannotOpen({ kind: 'foreign', detail: URL.canParse(address) ? new URL(address).host : undefined })
  return id
}

/** The path of the request, or of its answer. */
function addressOf(walletUri: string): string {
  try {
    const link = parseWalletUri(walletUri)
    return link.kind === 'reference' ? link.requestUri : String(link.parameters.response_uri)
  } catch (error) {
    throw new CannotOpen({ kind: 'unreadable', detail: (error as Error).message })
  }
}
