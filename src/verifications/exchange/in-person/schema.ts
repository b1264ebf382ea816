import { Type } from '@sinclair/typebox'
import { Timestamp } from '../../../http/schema.ts'

const Base64url = (description: string) => Type.String({ description: `In base64url. ${description}` })

/** The body of a caller that scanned the code of a phone. */
export const ScannedCode = Type.Object(
  {
    engagement: Type.String({
      description: 'The text of the code, as scanned: `mdoc:` and the DeviceEngagement in base64url.',
      examples: [
        'mdoc:owBjMS4wAYIB2BhYS6QBAiABIVggaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpYiWCBP40Li_hp_m47n60p8D54WK84zV2sxXs7LtkBoN79R9QKBgwIBowD1AfQKUAARIjNEVWZ3iJmqu8zd7v8',
      ],
    }),
    transports: Type.Optional(
      Type.Array(
        Type.Union([
          Type.Literal('ble_peripheral_server'),
          Type.Literal('ble_central_client'),
          Type.Literal('nfc'),
          Type.Literal('other'),
        ]),
        {
          minItems: 1,
          uniqueItems: true,
          description:
            'What the caller can do, named by the part of the phone; all, if left out. `other` is a transport of its own, which is never refused.',
        },
      ),
    ),
  },
  { additionalProperties: false, $id: 'ScannedCode' },
)

export const InPersonRequest = Type.Object(
  {
    message: Base64url('SessionEstablishment, for the phone. The same for a repeat: it is never encrypted twice.'),
    transports: Type.Array(
      Type.Object(
        {
          type: Type.Union([Type.Literal('ble_peripheral_server'), Type.Literal('ble_central_client'), Type.Literal('nfc')]),
          service: Type.Optional(Type.String({ format: 'uuid', description: 'Of the GATT service.' })),
          psm: Type.Optional(Type.Integer({ minimum: 1, description: 'Of L2CAP, if the phone named one.' })),
          ident: Type.Optional(Base64url('The value of the characteristic Ident, by which the phone knows its reader.')),
        },
        { additionalProperties: false },
      ),
      { description: 'What phone and caller can both do, the preferred first.' },
    ),
    expires_at: Timestamp,
  },
  { additionalProperties: false, $id: 'InPersonRequest' },
)
export type InPersonRequest = typeof InPersonRequest.static

/** The body of a caller to whom the phone answered. */
export const PhoneMessage = Type.Object(
  { message: Base64url('SessionData, as the phone sent it; at most 1,000,000 characters.') },
  { additionalProperties: false, $id: 'PhoneMessage' },
)

export const InPersonAnswered = Type.Object(
  {
    status: Type.Union([Type.Literal('completed'), Type.Literal('failed'), Type.Literal('pending')], {
      description:
        '`pending` with `wallet_error`: nothing was shared, and the phone may be scanned again. Without: the answer is recorded, and its photo is compared at the till.',
    }),
    wallet_error: Type.Optional(Type.String({ description: 'Why the wallet does not answer.' })),
    message: Type.Optional(Base64url('What to send to the phone now: the end of the session. Absent if the phone ended it.')),
  },
  { additionalProperties: false, $id: 'InPersonAnswered' },
)
export type InPersonAnswered = typeof InPersonAnswered.static

/** The body of a caller whose transport failed. */
export const TransportFailure = Type.Object(
  {
    code: Type.Union([
      Type.Literal('no_bluetooth'),
      Type.Literal('not_chosen'),
      Type.Literal('not_connected'),
      Type.Literal('wrong_service'),
      Type.Literal('write_failed'),
      Type.Literal('bad_chunk'),
      Type.Literal('too_large'),
      Type.Literal('lost'),
      Type.Literal('timed_out'),
    ]),
  },
  { additionalProperties: false, $id: 'TransportFailure' },
)
export type TransportFailure = typeof TransportFailure.static
