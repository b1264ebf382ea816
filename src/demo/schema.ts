// Data for the demo's page beyond what any merchant reads with a key.
import { Type } from '@sinclair/typebox'
import { RegisterDevice } from '../devices/schema.ts'
import { Timestamp } from '../http/schema.ts'
import { Finding, Verification } from '../verifications/schema.ts'

export const DemoData = Type.Object(
  { shop: Type.String(), key: Type.String(), commands: Type.Array(Type.String()) },
  { additionalProperties: false },
)
export type DemoData = typeof DemoData.static

/** Where one logs in with a wallet. */
export const DemoClub = Type.Object({ issuer: Type.String(), id: Type.String() }, { additionalProperties: false })
export type DemoClub = typeof DemoClub.static

export const NewDemoTill = Type.Object({ name: RegisterDevice.properties.name }, { additionalProperties: false })

export const DemoTill = Type.Object({ device: Type.String(), pairing_code: Type.String() }, { additionalProperties: false })
export type DemoTill = typeof DemoTill.static

const DemoMoment = Type.Object(
  {
    at: Timestamp,
    event: Type.Union([
      Type.Literal('created'),
      Type.Literal('request_fetched'),
      Type.Literal('in_person_requested'),
      Type.Literal('response_posted'),
      Type.Literal('webhook_received'),
    ]),
  },
  { additionalProperties: false },
)
export type DemoMoment = typeof DemoMoment.static

export const DemoSession = Type.Object(
  {
    verification: Verification,
    is_judged: Type.Boolean(),
    moments: Type.Array(DemoMoment),
    checks: Type.Array(Finding, { description: 'Of the answer, in their order, passed ones included.' }),
    webhook: Type.Optional(
      Type.Object(
        { headers: Type.Record(Type.String(), Type.String()), body: Type.String() },
        { additionalProperties: false, description: 'As it came, and verified.' },
      ),
    ),
  },
  { additionalProperties: false },
)
export type DemoSession = typeof DemoSession.static

export const DemoAudit = Type.Object(
  { ok: Type.Boolean(), count: Type.Integer(), head: Type.String() },
  { additionalProperties: false },
)
export type DemoAudit = typeof DemoAudit.static
