import { Type } from '@sinclair/typebox'
import { Environment, Exactly, ListOf, OneOf } from '../../../http/wire.ts'
import { Client, ClientChanges, NewClient, SigningKey } from '../../../oidc/schema.ts'

export const ClientList = ListOf(Client)
export const CreateClient = Type.Composite([Exactly({ environment: Environment }), NewClient], { additionalProperties: false })
export type CreateClient = typeof CreateClient.static
/** `confirm`: everybody who has logged in gets another name. */
export const ChangeClient = Type.Composite([Exactly({ confirm: Type.Optional(Type.Literal('rename')) }), ClientChanges], {
  additionalProperties: false,
})
export type ChangeClient = typeof ChangeClient.static
export const RollSecret = Exactly({ old_expires: OneOf('now', '1h', '24h', '7d') })
/** The only responses with a secret. */
export const ClientWithSecret = Type.Composite([Client, Exactly({ client_secret: Type.Optional(Type.String()) })], {
  additionalProperties: false,
})
export const RemovedClient = Exactly({ id: Type.String(), removed: Type.Literal(true) })
export const SigningKeys = ListOf(SigningKey)
/** `drop_old`: after a leak. */
export const TurnKeys = Exactly({ environment: Environment, drop_old: Type.Boolean() })
export type TurnKeys = typeof TurnKeys.static
