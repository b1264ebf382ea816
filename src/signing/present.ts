import { isoUtc } from '../base/time.ts'
import { isRunningOut, type SigningCertificate, type SigningState } from './certificate.ts'

export const presentSigning = (state: SigningState, at: number) => ({
  tenant: state.owner,
  /** False for a tenant that uses the certificate of the installation. */
  is_own: state.isOwn,
  ...presentCertificate(state),
  days_left: state.daysLeft,
  expires_soon: isRunningOut(state, at),
  is_self_made: state.authority !== null,
  authority: state.authority,
  next: state.next && { ...presentCertificate(state.next), starts_at: isoUtc(state.next.startsAt) },
  pending_since: state.pendingSince === null ? null : isoUtc(state.pendingSince),
})

const presentCertificate = ({ clientId, subject, issuer, notBefore, notAfter, chain }: SigningCertificate) => ({
  client_id: clientId,
  subject,
  issuer,
  not_before: isoUtc(notBefore),
  not_after: isoUtc(notAfter),
  chain,
})
