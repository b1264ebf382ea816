// Refusals in the words of OAuth (RFC 6749, 6750), which /token and /userinfo answer with.
import type { Reporting } from '../ground.ts'
import { ApiError } from '../http/errors.ts'

type Endpoint = 'authorize' | 'token' | 'userinfo'

export class OAuthError extends Error {
  override name = 'OAuthError'
  constructor(
    readonly error: string,
    readonly description: string,
    readonly status = 400,
    readonly headers: Record<string, string> = {},
  ) {
    super(error)
  }
}

export const NOT_STORED = { 'cache-control': 'no-store', pragma: 'no-cache' }

type Told = { error: string; endpoint: Endpoint; tenant: string; client?: string | undefined }

export function reportRefusal({ log, metrics }: Reporting, { error, endpoint, tenant, client }: Told): void {
  metrics.count('vidimus_oidc_refusals_total', { endpoint, error })
  log.info(`oidc.${endpoint}_refused`, { error_code: error, tenant, ...(client && { detail: client }) })
}

/** Too large a body is refused as everywhere. */
export function asOAuthError(error: unknown): never {
  if (error instanceof ApiError && error.status === 400) throw new OAuthError('invalid_request', error.message)
  throw error
}

/** The answer of an endpoint, or its refusal. */
export async function answering(deps: Reporting, told: Omit<Told, 'error'>, answer: () => Promise<object>): Promise<Response> {
  try {
    return Response.json(await answer(), { headers: NOT_STORED })
  } catch (refusal) {
    if (!(refusal instanceof OAuthError)) throw refusal
    const { error, description, status, headers } = refusal
    reportRefusal(deps, { ...told, error })
    return Response.json({ error, error_description: description }, { status, headers: { ...NOT_STORED, ...headers } })
  }
}
