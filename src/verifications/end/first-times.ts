import type { VerificationRow } from '../store.ts'
import type { TrustedBy } from '../timeline.ts'

/** The id of the sandbox issuer's anchor. */
const SANDBOX = 'sandbox'

/**
 * True for a completed session that may be the first one of its tenant (tenants/first-times.ts). A
 * test with the sandbox wallet says nothing about real ones.
 */
export const countsAsFirst = ({ environment }: VerificationRow, trust: readonly TrustedBy[]): boolean =>
  environment === 'live' || trust.some(({ anchor }) => anchor !== SANDBOX)
