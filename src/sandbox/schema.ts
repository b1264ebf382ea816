import { Type } from '@sinclair/typebox'
import { Timestamp } from '../http/schema.ts'
import type { Credential } from './credential.ts'
import { PERSONAS, type PersonaId } from './personas.ts'

const Coordinate = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', maxLength: 43 })

/** The private key stays in the wallet. */
export const IssueDocuments = Type.Object(
  {
    persona: Type.Unsafe<PersonaId>(Type.Union(Object.keys(PERSONAS).map(id => Type.Literal(id)))),
    holder_key: Type.Object(
      { kty: Type.Literal('EC'), crv: Type.Literal('P-256'), x: Coordinate, y: Coordinate },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
export type IssueDocuments = typeof IssueDocuments.static

export const IssuedDocuments = Type.Object(
  {
    credentials: Type.Array(Type.Unsafe<Credential>(Type.Unknown())),
    public_url: Type.String({ description: 'What this service calls itself in its requests.' }),
    now: Timestamp,
  },
  { additionalProperties: false },
)
export type IssuedDocuments = typeof IssuedDocuments.static
