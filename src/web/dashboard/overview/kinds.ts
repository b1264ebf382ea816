import type { Ends, Kind } from '../../../usage/kinds.ts'
import { useOutcomeNames } from '../../shared/outcome.ts'

/** The parts of a bar from bottom to top. */
export const KINDS = ['verified', 'refused', 'declined', 'expired'] as const satisfies readonly Kind[]

const NAMES = { verified: 'completed', refused: 'failed', declined: 'wallet_declined', expired: 'expired' } as const

/** The status by which a list is filtered. */
export const STATUS_OF = { verified: 'completed', refused: 'failed', declined: 'failed', expired: 'expired' } as const

/** The word of each kind. */
export function useKindNames(): (kind: Kind) => string {
  const names = useOutcomeNames()
  return kind => names[NAMES[kind]]
}

export const sumOf = (ends: Ends): number => KINDS.reduce((sum, kind) => sum + ends[kind], 0)
