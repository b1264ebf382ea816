import { Type } from '@sinclair/typebox'
import { Text, Timestamp, VISIBLE } from '../http/schema.ts'
import { Exactly, OneOf } from '../http/wire.ts'

export const PAIRING_TTL_SECONDS = { minimum: 60, maximum: 86_400 }
export const PAIRING_TTL_SECONDS_DEFAULT = 900
export const NAME_CHARS_MAX = 64
export const TEMPLATES_MAX = 20
export const TEMPLATE_CHARS_MAX = 64

const Name = Text({
  minLength: 1,
  maxLength: NAME_CHARS_MAX,
  documented: { pattern: VISIBLE },
  description: 'Your label for it; the actor in the audit trail. In one line, with something to be seen.',
  examples: ['Till 1'],
})

const TemplateKey = Text({ minLength: 1, maxLength: TEMPLATE_CHARS_MAX, examples: ['age_over_18'] })

export const Device = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Name,
    status: Type.Union([Type.Literal('pending'), Type.Literal('active'), Type.Literal('revoked')]),
    allowed_templates: Type.Array(TemplateKey, { description: 'The only templates it may create verifications with.' }),
    created_at: Timestamp,
    pairing_expires_at: Type.Optional(Timestamp),
    enrolled_at: Type.Optional(Timestamp),
    last_seen_at: Type.Optional(Timestamp),
    revoked_at: Type.Optional(Timestamp),
  },
  { additionalProperties: false, $id: 'Device' },
)
export type Device = typeof Device.static

/** How the till's page may ask a phone: by its QR code, in person, and through the browser's own wallet call. */
const WAYS = ['qr', 'in_person', 'dc_api'] as const
const Ways = Type.Array(OneOf(...WAYS), { minItems: 1, uniqueItems: true })
export type Way = (typeof WAYS)[number]

export const waysOf = ({ ways }: { ways: Way[] | null }): Way[] => ways ?? [...WAYS]

const AllowedTemplates = Type.Array(TemplateKey, {
  minItems: 1,
  maxItems: TEMPLATES_MAX,
  description: 'A template may be named before it exists.',
})

const PairingTtl = Type.Optional(
  Type.Integer({
    ...PAIRING_TTL_SECONDS,
    documented: { default: PAIRING_TTL_SECONDS_DEFAULT },
    description: 'How long the pairing code works.',
  }),
)

export const RegisterDevice = Type.Object(
  { name: Name, allowed_templates: AllowedTemplates, pairing_ttl_seconds: PairingTtl },
  {
    additionalProperties: false,
    $id: 'RegisterDevice',
    examples: [{ name: 'Till 1', allowed_templates: ['age_over_18'] }],
  },
)
export type RegisterDevice = typeof RegisterDevice.static

export const ChangeDevice = Type.Object(
  { name: Type.Optional(Name), allowed_templates: Type.Optional(AllowedTemplates) },
  {
    additionalProperties: false,
    $id: 'ChangeDevice',
    minProperties: 1,
    examples: [{ name: 'Till at the door', allowed_templates: ['age_over_18', 'age_over_21'] }],
  },
)
export type ChangeDevice = typeof ChangeDevice.static

/** The same for the dashboard, which knows of the ways to ask. */
export const TillDevice = Exactly({ ...Device.properties, ways: Ways })
export type TillDevice = typeof TillDevice.static
export const RegisterTill = Exactly({ ...RegisterDevice.properties, ways: Type.Optional(Ways) })
export type RegisterTill = typeof RegisterTill.static
export const ChangeTill = Exactly({ ...ChangeDevice.properties, ways: Type.Optional(Ways) })
export type ChangeTill = typeof ChangeTill.static

export const PairDevice = Type.Object(
  { pairing_ttl_seconds: PairingTtl },
  { additionalProperties: false, $id: 'PairDevice', description: 'The body may be left out.' },
)
export type PairDevice = typeof PairDevice.static

export const RegisteredDevice = Type.Object(
  {
    device: Device,
    pairing_code: Type.String({ description: 'Shown only here; its hash alone is kept.', examples: ['VD-7K3M-9QZX'] }),
  },
  { additionalProperties: false, $id: 'RegisteredDevice' },
)

export const DeviceList = Type.Object({ data: Type.Array(Device) }, { additionalProperties: false, $id: 'DeviceList' })

/** The format is only documented: an id that is not a UUID is 404, like any unknown id. */
export const DeviceId = Type.Object({ id: Type.String({ minLength: 1, documented: { format: 'uuid' } }) })

export const EnrollDevice = Type.Object(
  {
    pairing_code: Text({
      minLength: 1,
      maxLength: 32,
      description: 'As somebody typed it: case, dashes, spaces and look-alike letters are forgiven.',
      examples: ['VD-7K3M-9QZX'],
    }),
  },
  { additionalProperties: false, $id: 'EnrollDevice' },
)

export const RefreshDevice = Type.Object(
  { refresh_token: Type.String({ minLength: 1, description: 'It works once; a second use revokes the device.' }) },
  { additionalProperties: false, $id: 'RefreshDevice' },
)

export const TokenPair = Type.Object(
  {
    access_token: Type.String({ description: 'Begins vd_; sent as Authorization: Bearer <ACCESS_TOKEN>.' }),
    refresh_token: Type.String({ description: 'Begins vdr_. Store it before you use the other one.' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ exclusiveMinimum: 0, description: 'Seconds until the access token expires.' }),
    refresh_expires_in: Type.Integer({ exclusiveMinimum: 0, description: 'Seconds until the refresh token expires.' }),
    device: Device,
  },
  { additionalProperties: false, $id: 'DeviceTokenPair' },
)
export type TokenPair = typeof TokenPair.static

/** The till's own settings, for its page. */
export const Till = Type.Object(
  {
    name: Type.String(),
    environment: Type.Union([Type.Literal('test'), Type.Literal('live')]),
    tenant: Type.String(),
    ways: Ways,
    templates: Type.Array(
      Type.Object(
        {
          key: Type.String(),
          title: Type.Optional(
            Type.Object(
              { en: Type.String(), de: Type.String() },
              { additionalProperties: false, description: 'Absent while there is no such template.' },
            ),
          ),
          in_person: Type.Optional(Type.Boolean({ description: 'Phones can be asked for it in person.' })),
          ruled: Type.Optional(Type.Array(Type.String(), { description: 'The claims that the service itself has judged.' })),
          age_over: Type.Optional(Type.Integer({ description: 'What a yes proves, in years.' })),
        },
        { additionalProperties: false },
      ),
    ),
    now: Timestamp,
  },
  { additionalProperties: false },
)
export type Till = typeof Till.static
