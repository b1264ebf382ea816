import type { TrustSource } from '../../../dashboard/trust-schema.ts'

/** The fingerprint of a signer that is not pinned: the message of the refusal names it. */
export const unknownSigner = (failure: TrustSource['failure']): string | undefined =>
  failure?.code === 'signer_unknown' ? failure.message.match(/\b[0-9a-f]{64}\b/)?.[0] : undefined
