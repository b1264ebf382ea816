import { Type } from '@sinclair/typebox'
import { EXPIRY_DAYS } from '../../../access/keys.ts'
import { PlainText, Timestamp } from '../../../http/schema.ts'
import { Environment, Exactly, ListOf, Nullable, OneOf } from '../../../http/wire.ts'
import { LABEL_CHARS_MAX } from '../../schema.ts'

const Label = PlainText({ maxLength: LABEL_CHARS_MAX })
const Scope = OneOf('verifications:create', 'verifications:read', 'verifications:delete', 'devices:manage')

export const ApiKey = Exactly({
  id: Type.String(),
  /** The first 12 characters. */
  prefix: Type.String(),
  environment: Environment,
  label: Type.String(),
  scopes: Type.Array(Scope),
  status: OneOf('active', 'expired', 'revoked'),
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
  /** Rounded down to the hour; null before the first use. */
  last_used_at: Nullable(Timestamp),
  revoked_at: Nullable(Timestamp),
})
export type ApiKey = typeof ApiKey.static
export const ApiKeyList = ListOf(ApiKey)

export const CreateKey = Exactly({
  environment: Environment,
  scopes: Type.Array(Scope, { minItems: 1, maxItems: 4, uniqueItems: true }),
  label: Type.Optional(Label),
  /** Null never expires. */
  expires_days: Nullable(Type.Union(EXPIRY_DAYS.map(days => Type.Literal(days)))),
})
export type CreateKey = typeof CreateKey.static

export const RollKey = Exactly({ old_expires: OneOf('now', '1h', '24h', '7d') })

/** The only response with the key itself. */
export const MintedKey = Exactly({ key: Type.String(), api_key: ApiKey })
