import type { Ends, Kind } from '../../../usage/kinds.ts'
import { KINDS } from '../../../usage/kinds.ts'
import { useOutcomeNames } from '../../shared/outcome.ts'

const NAMES = { verified: 'completed', refused: 'failed', declined: 'wallet_declined', expired: 'expired' } as const

/** The status by which a list is filtered. */
export const STATUS_OF = { verified: 'completed', refused: 'failed', declined: 'failed', expired: 'expired' } as const

/** The word of each kind. */
export function useKindNames(): (kind: Kind) => string {
  const names = useOutcomeNames()
  return kind => names[NAMES[kind]]
}

export const sumOf = (ends: Ends): number => KINDS.reduce((sum, kind) => sum + ends[kind], 0)
