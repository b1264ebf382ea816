// The error codes that each operation of the API may return, for the OpenAPI document.
import type { DocumentDecoration } from 'elysia'
import { ERRORS, type ErrorCode } from './errors.ts'

/** Codes that every route may return with this status. */
const COMMON: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_api_key',
  'api_key_expired',
  'insufficient_scope',
  'payload_too_large',
  'uri_too_long',
  'rate_limit_exceeded',
  'internal_error',
  'not_ready',
]
const IDEMPOTENT: readonly ErrorCode[] = ['invalid_idempotency_key', 'idempotency_key_in_flight', 'idempotency_key_reused']
const CHARGED: readonly ErrorCode[] = ['quota_exceeded']

/** Codes of one operation; they replace the common code of their status. */
const OWN: Readonly<Record<string, readonly ErrorCode[]>> = {
  createVerification: ['unknown_template', 'invalid_webhook_url'],
  getVerification: ['session_not_found'],
  eraseVerification: ['session_not_found'],
  cancelVerification: ['session_not_found', 'session_already_responded', 'session_expired'],
  getComparison: ['session_not_found', 'session_already_responded'],
  decideComparison: ['session_not_found', 'session_already_responded'],
  redeemResponseCode: ['invalid_response_code'],
  changeDevice: ['device_not_found', 'device_revoked'],
  pairDevice: ['device_not_found', 'device_revoked'],
  revokeDevice: ['device_not_found'],
  enrollDevice: ['invalid_request', 'invalid_pairing_code'],
  refreshDevice: ['invalid_request', 'invalid_refresh_token'],
  getVerificationStatus: ['session_not_found'],
  watchVerification: ['session_not_found'],
  getRequestObject: ['session_not_found', 'session_already_responded', 'session_expired'],
  postRequestObject: ['session_not_found', 'session_already_responded', 'session_expired'],
  getMetrics: ['metrics_token_required'],
  postWalletResponse: ['invalid_wallet_response', 'session_not_found', 'session_already_responded', 'session_expired'],
  postDcRequest: ['origin_not_allowed', 'session_not_found', 'session_already_responded', 'session_expired'],
  postDcResponse: [
    'invalid_wallet_response',
    'origin_not_allowed',
    'session_not_found',
    'session_already_responded',
    'session_expired',
  ],
  createDcRequest: [
    'insufficient_scope',
    'origin_not_allowed',
    'session_not_found',
    'session_already_responded',
    'session_expired',
  ],
  createDcResponse: [
    'invalid_wallet_response',
    'insufficient_scope',
    'origin_not_allowed',
    'session_not_found',
    'session_already_responded',
    'session_expired',
  ],
  createInPersonRequest: [
    'invalid_request',
    'invalid_engagement',
    'session_not_found',
    'session_already_responded',
    'session_expired',
    'not_askable_in_person',
    'engagement_not_supported',
  ],
  createInPersonResponse: ['invalid_wallet_response', 'session_not_found', 'session_already_responded', 'session_expired'],
  reportInPersonFailure: ['session_not_found'],
}

export function codesOf(status: number, { operationId = '', access }: DocumentDecoration): ErrorCode[] {
  const withStatus = (codes: readonly ErrorCode[]) => codes.filter(code => ERRORS[code][0] === status)
  const own = withStatus(OWN[operationId] ?? [])
  return [
    ...(own.length > 0 ? own : withStatus(COMMON)),
    ...(access?.idempotent ? withStatus(IDEMPOTENT) : []),
    ...(access?.budget === 'create' ? withStatus(CHARGED) : []),
  ]
}
