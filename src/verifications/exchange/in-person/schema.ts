import { type TProperties, Type } from '@sinclair/typebox'
import { Timestamp } from '../../../http/schema.ts'
import { OneOf } from '../../../http/wire.ts'

const Named = <Members extends TProperties>($id: string, members: Members) =>
  Type.Object(members, { additionalProperties: false, $id })

const Base64url = (description: string) => Type.String({ description: `In base64url. ${description}` })

const TRANSPORTS = ['ble_peripheral_server', 'ble_central_client', 'nfc'] as const

/** The body of a caller that scanned the code of a phone. */
export const ScannedCode = Named('ScannedCode', {
  engagement: Type.String({
    description: 'The text of the code, as scanned: `mdoc:` and the DeviceEngagement in base64url.',
    examples: [
      'mdoc:owBjMS4wAYIB2BhYS6QBAiABIVggaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpYiWCBP40Li_hp_m47n60p8D54WK84zV2sxXs7LtkBoN79R9QKBgwIBowD1AfQKUAARIjNEVWZ3iJmqu8zd7v8',
    ],
  }),
  transports: Type.Optional(
    Type.Array(OneOf(...TRANSPORTS, 'other'), {
      minItems: 1,
      uniqueItems: true,
      description:
        'What the caller can do, named by the part of the phone; all, if left out. `other` is a transport of its own, which is never refused.',
    }),
  ),
})

const Transport = Type.Object(
  {
    type: OneOf(...TRANSPORTS),
    service: Type.Optional(Type.String({ format: 'uuid', description: 'Of the GATT service.' })),
    psm: Type.Optional(Type.Integer({ minimum: 1, description: 'Of L2CAP, if the phone named one.' })),
    ident: Type.Optional(Base64url('The value of the characteristic Ident, by which the phone knows its reader.')),
  },
  { additionalProperties: false },
)

export const InPersonRequest = Named('InPersonRequest', {
  message: Base64url('SessionEstablishment, for the phone. The same for a repeat: it is never encrypted twice.'),
  transports: Type.Array(Transport, { description: 'What phone and caller can both do, the preferred first.' }),
  expires_at: Timestamp,
})
export type InPersonRequest = typeof InPersonRequest.static

/** The body of a caller to whom the phone answered. */
export const PhoneMessage = Named('PhoneMessage', {
  message: Base64url('SessionData, as the phone sent it; at most 1,000,000 characters.'),
})

export const InPersonAnswered = Named('InPersonAnswered', {
  status: {
    ...OneOf('completed', 'failed', 'pending'),
    description:
      '`pending` with `wallet_error`: nothing was shared, and the phone may be scanned again. Without: the answer is recorded, and its photo is compared at the till.',
  },
  wallet_error: Type.Optional(Type.String({ description: 'Why the wallet does not answer.' })),
  message: Type.Optional(Base64url('What to send to the phone now: the end of the session. Absent if the phone ended it.')),
})
export type InPersonAnswered = typeof InPersonAnswered.static

/** The body of a caller whose transport failed. */
export const TransportFailure = Named('TransportFailure', {
  code: OneOf(
    'no_bluetooth',
    'not_chosen',
    'not_connected',
    'wrong_service',
    'write_failed',
    'bad_chunk',
    'too_large',
    'lost',
    'timed_out',
  ),
})
export type TransportFailure = typeof TransportFailure.static
