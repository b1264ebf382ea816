// Failures without a wallet's answer, or after an answer that was good.
export type Failure = { code: string; message: string }

export const CANCELLED: Failure = { code: 'cancelled', message: 'The session was cancelled before a wallet answered.' }

export const NOT_FOLLOWED: Failure = {
  code: 'redirect_not_followed',
  message: 'A wallet answered, but its response code was not redeemed within 10 minutes; what was presented is deleted.',
}

export const NOT_SAME_PERSON: Failure = {
  code: 'not_same_person',
  message: 'The document is good, but the customer is not the person on its photo.',
}

export const NOT_COMPARED: Failure = {
  code: 'not_compared',
  message: 'A wallet answered, but nobody compared its photo within 120 seconds; what was presented is deleted.',
}

/** The failures of an answer that was held for too long. */
const OVERDUE = ['redirect_not_followed', 'not_compared'] as const

export const isOverdue = (code: string | undefined): code is (typeof OVERDUE)[number] => OVERDUE.some(each => each === code)
