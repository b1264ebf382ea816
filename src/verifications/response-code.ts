import { sha256Hex } from '../base/hash.ts'
import { newNonce, type Random } from '../base/ids.ts'

const RESPONSE_CODE_MS = 600_000

/** The end, exclusive, of the response codes of an answer, including those made later. */
export const redeemableUntil = (respondedAt: number): number => respondedAt + RESPONSE_CODE_MS

/** Answers at this time or earlier can no longer be redeemed. */
export const unredeemableSince = (now: number): number => now - RESPONSE_CODE_MS

export const newResponseCode = (random: Random): string => newNonce(random)

/** Columns of the session: the hash of the code, and its end. */
export const storedResponseCode = (code: string, respondedAt: number) => ({
  responseCodeHash: sha256Hex(code),
  responseCodeExpiresAt: redeemableUntil(respondedAt),
})
