// Every error a caller can get: code, status, and the default message (interface part 7).

const API_ERRORS = {
  invalid_request: [400, 'The request does not match the schema.'],
  invalid_idempotency_key: [
    400,
    'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces; a UUID is a good choice.',
  ],
  invalid_api_key: [401, 'Send a valid API key as "Authorization: Bearer <API_KEY>".'],
  api_key_expired: [401, 'This API key is past its deadline; create a new one.'],
  metrics_token_required: [
    401,
    '/metrics answers this machine itself. From another one, or through a proxy, send VIDIMUS_METRICS_TOKEN as "Authorization: Bearer <TOKEN>".',
  ],
  origin_not_allowed: [
    403,
    'This origin may not ask for this session; an owner adds it with "vidimus origin add" or in the settings of the shop.',
  ],
  insufficient_scope: [403, 'The API key lacks a scope.'],
  not_found: [404, 'There is no such route; /docs/api lists all of them.'],
  invalid_pairing_code: [400, 'This pairing code is not valid; make a new one for the device.'],
  invalid_refresh_token: [400, 'This refresh token is not valid; pair the device again.'],
  invalid_engagement: [400, 'This is not the code that a wallet shows to be read in person.'],
  invalid_wallet_response: [400, 'This is not a readable answer to this session.'],
  session_not_found: [404, 'No verification with this id.'],
  invalid_response_code: [404, 'This response code is wrong, was redeemed before, or is of another session.'],
  device_not_found: [404, 'No device with this id.'],
  method_not_allowed: [405, 'This route does not answer that method; see the Allow header.'],
  idempotency_key_in_flight: [
    409,
    'The first request with this Idempotency-Key is still running; repeat it after Retry-After seconds.',
  ],
  device_revoked: [409, 'This device is revoked; register it again.'],
  session_already_responded: [409, 'A wallet has already answered this session.'],
  session_expired: [410, 'This session has expired; start a new one.'],
  payload_too_large: [413, 'The body is too large.'],
  uri_too_long: [414, 'The address is longer than 4096 characters.'],
  unknown_template: [422, 'There is no template with this key; GET /v1/templates lists those of your tenant.'],
  engagement_not_supported: [422, 'This phone cannot be read with what the caller can do.'],
  not_askable_in_person: [
    422,
    'This query asks for credentials that phones do not show in person (SD-JWT VC); show the QR code, or ask through the browser.',
  ],
  invalid_webhook_url: [422, 'This webhook_url may not be called.'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used with another body; choose a new key for a new request.'],
  rate_limit_exceeded: [429, 'Too many requests; try again after Retry-After seconds.'],
  quota_exceeded: [429, "Today's verifications are used up; the count starts again at UTC midnight."],
  internal_error: [500, 'Something failed on our side; the request id helps support to find it.'],
  not_ready: [503, 'The service cannot write at the moment.'],
} as const satisfies Record<string, readonly [number, string]>

/** Returned to our own pages only. */
export const PAGE_ERRORS = {
  list_refused: [400, 'This list is not accepted.'],
  password_refused: [400, 'Choose another password.'],
  code_refused: [400, 'This code is wrong. Check the clock of the phone, and enter the newest code.'],
  passkey_refused: [400, 'This passkey could not be added; try again.'],
  passkey_unavailable: [409, 'Passkeys work only at the public address of this service, if that is a host name with https.'],
  not_logged_in: [401, 'Log in first.'],
  login_failed: [401, 'Name or password is wrong.'],
  login_expired: [401, 'This took too long, or too many codes were wrong; log in again.'],
  second_factor_failed: [401, 'This code or passkey is wrong, or was used before.'],
  passkey_failed: [401, 'This passkey is not known here, or its answer is wrong.'],
  owner_required: [403, 'Only an owner of this installation may do that.'],
  second_factor_required: [403, 'Set up a second factor first; the owners of this installation require one.'],
  viewer_refused: [403, 'Your role lets you look, not change; an owner can give you another.'],
  reauthentication_required: [403, 'Prove again who you are first.'],
  csrf_refused: [403, 'This request did not come from the dashboard itself; reload the page and try again.'],
  https_required: [
    403,
    'Passwords are not taken over plain http: open the dashboard over https, or on this machine itself as http://localhost.',
  ],
  setup_unavailable: [404, 'This set-up link does not work: it was used, it is too old, or an owner exists already.'],
  link_unavailable: [404, 'This link does not work any more: ask for a new one.'],
  tenant_not_found: [404, 'No tenant with this id.'],
  user_not_found: [404, 'No user with this id.'],
  delivery_not_found: [404, 'No delivery with this id.'],
  endpoint_not_found: [404, 'No webhook endpoint is set in this environment.'],
  key_not_found: [404, 'No key with this id.'],
  template_not_found: [404, 'No template with this key.'],
  anchor_not_found: [404, 'No trust anchor with this id.'],
  source_not_found: [404, 'No trust list with this id.'],
  registration_not_found: [404, 'No registration certificate with this id.'],
  name_taken: [409, 'There is a user with this name already.'],
  shop_name_taken: [
    409,
    'Another shop of this installation has this name, or one that looks the same; choose another, such as one with its street.',
  ],
  client_not_found: [404, 'No log-in client with this id.'],
  invalid_redirect_uri: [422, 'This redirect address cannot be registered.'],
  too_many_clients: [409, 'There are 50 log-in clients in this environment already; remove one first.'],
  rename_needed: [
    409,
    'Another subject gives everybody who logs in with this client a new name, which may be a new account; confirm it with the word "rename".',
  ],
  login_not_found: [400, 'This log-in was begun in another browser, or has ended. Go back to that one, or begin again.'],
  key_rolled: [409, 'This key was rolled already; roll its successor.'],
  codes_exist: [409, 'One-time codes are set up already; remove them first.'],
  no_second_factor: [409, 'Set up a second factor first.'],
  too_many_passkeys: [409, 'You have ten passkeys already; remove one first.'],
  last_owner: [409, 'This is the only owner who can log in; make another one first.'],
  mail_not_set_up: [409, 'This service sends no mail; its operator sets VIDIMUS_SMTP_URL and VIDIMUS_MAIL_FROM.'],
  no_mail_address: [409, 'Enter your mail address and confirm it first.'],
  own_user: [409, 'You cannot remove yourself; another owner can.'],
  builtin_template: [409, 'This is a built-in template, which stays as it is; choose another key.'],
  template_changed: [409, 'The template was saved or deleted since it was read; read it again.'],
  examples_under_way: [409, 'Examples are being made for this shop already; try again in half a minute.'],
  delivery_under_way: [409, 'This delivery is being sent right now; try again in a few seconds.'],
} as const satisfies Record<string, readonly [number, string]>

export const ERRORS = { ...API_ERRORS, ...PAGE_ERRORS }

/** Conditions that share a code in the interface; the caller reads this message whatever the status. */
const WIRE_CODE: Partial<Record<ErrorCode, string>> = { payload_too_large: 'invalid_request', uri_too_long: 'invalid_request' }

export type ErrorCode = keyof typeof ERRORS

/** Said by our own pages in the language of their reader. */
type Reason = { code: string; values: object }

type Details = { message?: string; reason?: Reason; retryAfter?: number; headers?: Record<string, string>; cause?: unknown }

export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly wireCode: string
  readonly headers: Record<string, string>
  readonly reason: Reason | undefined
  constructor(
    readonly code: ErrorCode,
    { message, reason, retryAfter, headers = {}, cause }: Details = {},
  ) {
    super(message ?? ERRORS[code][1], { cause })
    this.status = ERRORS[code][0]
    this.wireCode = WIRE_CODE[code] ?? code
    this.reason = reason
    this.headers = retryAfter === undefined ? headers : { ...headers, 'retry-after': String(retryAfter) }
  }
}

export const apiError = (code: ErrorCode, details?: Details): ApiError => new ApiError(code, details)

/** Every code has an address in the handbook: a page and its row there. */
export const addressInHandbook = (code: string): string =>
  `docs/${code in PAGE_ERRORS ? 'page-errors' : 'troubleshooting'}#${code}`

export const envelope = (code: string, message: string, reason?: Reason) => ({
  error: { code, message, ...(reason && { reason }) },
})
