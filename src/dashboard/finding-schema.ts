import { Type } from '@sinclair/typebox'
import { Exactly } from '../http/wire.ts'

/** The page makes a sentence of code and values. */
export const FindingOf = <Of extends { code: string; values: object }>() =>
  Exactly({ code: Type.Unsafe<Of['code']>(Type.String()), values: Type.Unsafe<Of['values']>(Type.Object({})) })
