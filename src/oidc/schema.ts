import { Type } from '@sinclair/typebox'
import { PlainText, VisibleText } from '../http/schema.ts'
import { Environment, Exactly, Nullable, OneOf } from '../http/wire.ts'

export const REDIRECT_URI_CHARS_MAX = 2048

const settings = {
  name: VisibleText({ minLength: 1, maxLength: 64, description: 'Shown to customers.' }),
  redirect_uris: Type.Array(Type.String(), { minItems: 1, maxItems: 20 }),
  templates: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 20, uniqueItems: true }),
  auth: OneOf('client_secret', 'none'),
  id_token_alg: OneOf('RS256', 'ES256'),
  pkce: OneOf('required', 'optional'),
  subject: Type.String({ pattern: '^(session|claim:[\\w.:-]{1,64})$' }),
  purpose: Nullable(PlainText({ minLength: 1, maxLength: 300 })),
  id_token_claims: Type.Boolean(),
  cross_device: OneOf('allowed', 'refused'),
  logins_per_hour: Type.Integer({ minimum: 1, maximum: 100_000 }),
  keep_results: Type.Boolean(),
}

export const ClientChanges = Type.Partial(Exactly(settings))
export type ClientChanges = typeof ClientChanges.static

/** What is left out has its default. */
export const NewClient = Type.Composite(
  [Type.Partial(Exactly(settings)), Type.Pick(Exactly(settings), ['name', 'redirect_uris', 'templates'])],
  { additionalProperties: false },
)
export type NewClient = typeof NewClient.static

export const Client = Exactly({
  id: Type.String(),
  environment: Environment,
  issuer: Type.String(),
  ...settings,
  purpose: Type.Optional(Type.String()),
  secrets: Type.Array(Exactly({ prefix: Type.String(), created_at: Type.String(), expires_at: Nullable(Type.String()) })),
  last_login_at: Type.Optional(Type.String()),
  last_refusal: Type.Optional(Exactly({ at: Type.String(), reason: Type.String(), redirect_uri: Type.Optional(Type.String()) })),
  created_at: Type.String(),
})
export type Client = typeof Client.static

export const SigningKey = Exactly({
  kid: Type.String(),
  alg: OneOf('RS256', 'ES256'),
  use_from: Type.String(),
  use_until: Nullable(Type.String()),
  remove_at: Nullable(Type.String()),
})
export type SigningKey = typeof SigningKey.static
