import type { Random } from '../../base/ids.ts'
import type { IdentifierReference } from './identifier-list.ts'
import type { StatusReference } from './status-list.ts'

/** The part of a document that does not depend on its format. Times in milliseconds. */
export type Issuance = {
  random: Random
  issuer: string
  validity: { signed: number; from: number; until: number }
  status: StatusReference | undefined
  /** Instead of the place in a status list, where the format knows it. */
  identifier: IdentifierReference | undefined
}
