// Failures without a wallet's answer, or after an answer that was not redeemed.
export type Failure = { code: string; message: string }

export const CANCELLED: Failure = { code: 'cancelled', message: 'The session was cancelled before a wallet answered.' }

export const NOT_FOLLOWED: Failure = {
  code: 'redirect_not_followed',
  message: 'A wallet answered, but its response code was not redeemed within 10 minutes; what was presented is deleted.',
}
