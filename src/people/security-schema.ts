// Requests and responses about second factors and sign-ins. Members of passkeys are spelled as WebAuthn's own JSON.
import { Type } from '@sinclair/typebox'
import { PlainText, Text, Timestamp } from '../http/schema.ts'
import { Exactly, Limit, Nullable, OneOf } from '../http/wire.ts'

const Base64Url = (maxLength: number) => Type.String({ pattern: '^[A-Za-z0-9_-]+$', minLength: 1, maxLength })
/** At most 1023 bytes (WebAuthn § 5.8.3). */
const CredentialId = Base64Url(1400)
const PASSKEY_BYTES_MAX = 24_000

export const PasskeyPath = Type.Object({ id: CredentialId })

export const PasskeyAnswer = Exactly({
  id: CredentialId,
  response: Exactly({
    clientDataJSON: Base64Url(4000),
    authenticatorData: Base64Url(4000),
    signature: Base64Url(4000),
    userHandle: Type.Optional(Base64Url(200)),
  }),
})
export type PasskeyAnswer = typeof PasskeyAnswer.static

const NewPasskey = Exactly({
  id: CredentialId,
  response: Exactly({
    clientDataJSON: Base64Url(4000),
    attestationObject: Base64Url(PASSKEY_BYTES_MAX),
    transports: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z-]{1,20}$' }), { maxItems: 8 })),
  }),
})
export type NewPasskey = typeof NewPasskey.static
export const AddPasskey = Exactly({ label: PlainText({ minLength: 1, maxLength: 60 }), passkey: NewPasskey })
export type AddPasskey = typeof AddPasskey.static

const Descriptor = Exactly({
  type: Type.Literal('public-key'),
  id: Type.String(),
  transports: Type.Array(Type.String()),
})
/** PublicKeyCredentialRequestOptionsJSON. */
export const PasskeyRequest = Exactly({
  challenge: Type.String(),
  rpId: Type.String(),
  timeout: Type.Integer(),
  userVerification: Type.Literal('required'),
  allowCredentials: Type.Array(Descriptor),
})
export type PasskeyRequest = typeof PasskeyRequest.static
/** PublicKeyCredentialCreationOptionsJSON. */
export const PasskeyCreation = Exactly({
  challenge: Type.String(),
  rp: Exactly({ id: Type.String(), name: Type.String() }),
  user: Exactly({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  timeout: Type.Integer(),
  attestation: Type.Literal('none'),
  pubKeyCredParams: Type.Array(Exactly({ type: Type.Literal('public-key'), alg: Type.Integer() })),
  excludeCredentials: Type.Array(Descriptor),
  authenticatorSelection: Exactly({ residentKey: Type.Literal('required'), userVerification: Type.Literal('required') }),
})
export type PasskeyCreation = typeof PasskeyCreation.static

/** A one-time code of six digits, or a recovery code. */
const Code = Text({ minLength: 6, maxLength: 32 })
export const OneTimeCode = Exactly({ code: Code })
const Ticket = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

/** The password was right, and a second factor is asked for. */
export const HalfLogin = Exactly({
  /** Works for five minutes and five attempts. */
  ticket: Type.String(),
  expires_at: Timestamp,
  has_codes: Type.Boolean(),
  /** Null without passkeys, or where they cannot be used. */
  passkey: Nullable(PasskeyRequest),
})
export type HalfLogin = typeof HalfLogin.static
/** Exactly one of `code` and `passkey`. */
export const CompleteLogin = Exactly({
  ticket: Ticket,
  code: Type.Optional(Code),
  passkey: Type.Optional(PasskeyAnswer),
})
/** The ways, beside the password, to prove one's identity again. */
export const Confirmation = Exactly({ has_codes: Type.Boolean(), passkey: Nullable(PasskeyRequest) })
export const PasskeyLogin = Exactly({ passkey: PasskeyAnswer })

export const Security = Exactly({
  /** The time since which one-time codes are in use; null without them. */
  codes_since: Nullable(Timestamp),
  passkeys: Type.Array(
    Exactly({ id: Type.String(), label: Type.String(), created_at: Timestamp, last_used_at: Nullable(Timestamp) }),
  ),
  recovery_codes_left: Type.Integer({ minimum: 0 }),
  /** Everybody needs a second factor. */
  is_required: Type.Boolean(),
  /** The origin that passkeys work at; null where the public address is no host name with https. */
  passkey_origin: Nullable(Type.String()),
})
export type Security = typeof Security.static
/** Recovery codes are shown once. */
export const WithRecoveryCodes = Exactly({ security: Security, recovery_codes: Nullable(Type.Array(Type.String())) })
export type WithRecoveryCodes = typeof WithRecoveryCodes.static
/** The secret for an authenticator app; it counts once a first code was right. */
export const CodeSecret = Exactly({ secret: Type.String(), uri: Type.String() })
export const FactorRule = Exactly({ is_required: Type.Boolean() })

export const SignInFilter = Exactly({
  before: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,14}$' })),
  limit: Limit,
})
export const SignIn = Exactly({
  at: Timestamp,
  outcome: OneOf('signed_in', 'unknown_name', 'wrong_password', 'wrong_second_factor', 'wrong_passkey'),
  /** The name that was typed, which may be unknown. */
  name: Type.String(),
  method: Type.String(),
  network: Type.String(),
  agent: Type.String(),
})
export type SignIn = typeof SignIn.static
export const SignInPage = Exactly({ data: Type.Array(SignIn), next_before: Nullable(Type.Integer()) })
