import { sha256Hex } from '../hash.ts'
import { newNonce, type Random } from '../ids.ts'

const RESPONSE_CODE_MS = 600_000

/** From this time on, inclusive, no response code of an answer is taken, whenever that code was made. */
export const redeemableUntil = (respondedAt: number): number => respondedAt + RESPONSE_CODE_MS

/** Answers of that time or earlier can no longer be redeemed. */
export const unredeemableSince = (now: number): number => now - RESPONSE_CODE_MS

/** A fresh code for the redirect. */
export const newResponseCode = (random: Random): string => newNonce(random)

/** The columns of a session that hold its code: the hash alone, and its end. */
export const storedResponseCode = (code: string, respondedAt: number) => ({
  responseCodeHash: sha256Hex(code),
  responseCodeExpiresAt: redeemableUntil(respondedAt),
})
