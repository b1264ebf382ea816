// Shapes that the schemas of several entries share.
import { Type } from '@sinclair/typebox'

export const LABEL_CHARS_MAX = 100

export const TenantPath = Type.Object({ tenant: Type.String({ minLength: 1, maxLength: 64 }) })
export const TenantItemPath = Type.Object({
  tenant: Type.String({ minLength: 1, maxLength: 64 }),
  id: Type.String({ minLength: 1, maxLength: 64 }),
})
