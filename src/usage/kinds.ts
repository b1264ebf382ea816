/** What an end was for the shop. */
export const KINDS = ['verified', 'refused', 'declined', 'expired'] as const
export type Kind = (typeof KINDS)[number]

/** Nobody answered, redeemed or compared in time. */
const UNDECIDED = ['expired', 'redirect_not_followed', 'not_compared']

/** Undefined for what is no end, and for a session that the shop itself stopped. */
export function kindOf(outcome: string): Kind | undefined {
  if (outcome === 'created' || outcome === 'cancelled') return undefined
  if (outcome === 'completed') return 'verified'
  if (outcome === 'wallet_declined') return 'declined'
  return UNDECIDED.includes(outcome) ? 'expired' : 'refused'
}

export type Ends = Record<Kind, number>

export const noEnds = (): Ends => ({ verified: 0, refused: 0, declined: 0, expired: 0 })
