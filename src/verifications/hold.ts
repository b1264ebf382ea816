// A good answer may be held: for the redemption of its code, or at a till for the comparison of its photo. Nobody sees it until
// then, and the session is pending for everybody. Devices may not give `release`, so one hold excludes the other.
import { type Failure, NOT_COMPARED, NOT_FOLLOWED } from './failures.ts'
import { redeemableUntil } from './response-code.ts'
import type { VerificationRow } from './store.ts'

const COMPARISON_MS = 120_000

export type Held = Pick<VerificationRow, 'status' | 'respondedAt' | 'release'>

export const isHeld = ({ status, respondedAt }: Held): boolean => status === 'pending' && respondedAt !== null

export const isHeldForComparison = (row: Held): boolean => isHeld(row) && row.release === null

/** The end, exclusive, of the time to redeem or to compare. */
export const heldUntil = (respondedAt: number, { release }: Held): number =>
  release === 'on_redeem' ? redeemableUntil(respondedAt) : respondedAt + COMPARISON_MS

/** Answers at this time or earlier can no longer be compared. */
export const incomparableSince = (now: number): number => now - COMPARISON_MS

/** The failure of an answer that was held for too long. */
export const failureOfHeld = ({ release }: Held): Failure => (release === 'on_redeem' ? NOT_FOLLOWED : NOT_COMPARED)
