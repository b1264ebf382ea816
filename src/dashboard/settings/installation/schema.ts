import { Type } from '@sinclair/typebox'
import { Exactly, OneOf } from '../../../http/wire.ts'

/** Settings from the environment of the service. */
export const Installation = Exactly({
  version: Type.String(),
  public_url: Type.String(),
  /** `local`: this machine only. `plain`: without TLS. */
  address: OneOf('local', 'plain', 'secure'),
  /** Some shop has a live key: what is not set up is missing then. */
  has_live_keys: Type.Boolean(),
  wallet_profile: OneOf('haip', 'plain'),
  wallet_scheme: Type.String(),
  client_id_prefix: OneOf('x509_hash', 'x509_san_dns'),
  has_registration_certificate: Type.Boolean(),
  egress_allow: Type.Array(Type.String()),
  webhook_delays_ms: Type.Array(Type.Integer()),
})
export type Installation = typeof Installation.static
