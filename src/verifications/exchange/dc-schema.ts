import { Type } from '@sinclair/typebox'

const PROTOCOLS_MAX = 8
const PROTOCOL_CHARS_MAX = 64
const ORIGIN_CHARS_MAX = 255

const Protocols = Type.Optional(
  Type.Array(Type.String({ maxLength: PROTOCOL_CHARS_MAX }), {
    maxItems: PROTOCOLS_MAX,
    description: 'What the browser takes; unknown names are ignored. All, if left out.',
  }),
)
const Origin = Type.String({
  minLength: 1,
  maxLength: ORIGIN_CHARS_MAX,
  description: 'The origin of the page or app that asks, one of those that the shop has listed.',
})
const Protocol = Type.Union(
  [Type.Literal('openid4vp-v1-signed'), Type.Literal('openid4vp-v1-unsigned'), Type.Literal('org-iso-mdoc')],
  { description: 'The name that browsers know it by.' },
)
const Data = Type.Record(Type.String(), Type.Unknown(), { description: 'As the browser takes and gives it.' })

/** The body that a page sends. */
export const PageRequest = Type.Object({ protocols: Protocols }, { additionalProperties: false, $id: 'DcPageRequest' })
/** The same from a server, which says who asks. */
export const ServerRequest = Type.Object(
  { origin: Origin, protocols: Protocols },
  { additionalProperties: false, $id: 'DcServerRequest' },
)

/** A browser may add `id` and `type`. */
const ANSWER = {
  protocol: Protocol,
  data: Data,
  id: Type.Optional(Type.Unknown({ description: 'Ignored.' })),
  type: Type.Optional(Type.Unknown({ description: 'Ignored.' })),
}
export const PageAnswer = Type.Object(ANSWER, { additionalProperties: false, $id: 'DcPageAnswer' })
export const ServerAnswer = Type.Object({ origin: Origin, ...ANSWER }, { additionalProperties: false, $id: 'DcServerAnswer' })

export const DcRequests = Type.Object(
  {
    origin: Type.String({ description: 'The origin that the requests are for.' }),
    environment: Type.Union([Type.Literal('test'), Type.Literal('live')]),
    expires_at: Type.String({ format: 'date-time' }),
    requests: Type.Array(Type.Object({ protocol: Protocol, data: Data }, { additionalProperties: false }), {
      description:
        'For `navigator.credentials.get({digital: {requests}})`, the preferred first; empty if it cannot be asked this way.',
    }),
  },
  { additionalProperties: false, $id: 'DcRequests' },
)
export type DcRequests = typeof DcRequests.static

export const DcAnswered = Type.Object(
  {
    status: Type.Union([Type.Literal('completed'), Type.Literal('failed'), Type.Literal('pending')], {
      description:
        '`pending` with `wallet_error`: the page may ask again. Without: the answer is recorded, and its photo is compared at the till.',
    }),
    response_code: Type.Optional(
      Type.String({ description: 'Redeemed once, within 600 seconds, it proves that the answer came from this page.' }),
    ),
    redirect_uri: Type.Optional(Type.String({ description: 'Where the page goes next, if the session has a redirect_url.' })),
    wallet_error: Type.Optional(Type.String({ description: 'Why the wallet does not answer.' })),
  },
  { additionalProperties: false, $id: 'DcAnswered' },
)
export type DcAnswered = typeof DcAnswered.static
