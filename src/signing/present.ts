import { isoUtc } from '../time.ts'
import { EXPIRY_WARNING_DAYS, type SigningState } from './certificate.ts'

export const presentSigning = ({ clientId, subject, issuer, notAfter, daysLeft, chain, authority }: SigningState) => ({
  client_id: clientId,
  subject,
  issuer,
  not_after: isoUtc(notAfter),
  days_left: daysLeft,
  expires_soon: daysLeft < EXPIRY_WARNING_DAYS,
  is_self_made: authority !== null,
  chain,
  authority,
})
