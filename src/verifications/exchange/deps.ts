import type { StatusChecker } from '../../openid4vp/status/list.ts'
import type { CrlChecker } from '../../openid4vp/trust/crl-check.ts'
import type { Verifier } from '../../openid4vp/verify.ts'
import type { RequestSigners } from '../../signing/keys.ts'
import type { Readers } from '../../signing/readers.ts'
import type { Registrations } from '../../signing/registration-choice.ts'
import type { Anchors } from '../../trust/anchors.ts'
import type { Deps as VerificationDeps } from '../deps.ts'

export type Deps = VerificationDeps & {
  requestSigner: RequestSigners
  readers: Readers
  anchors: Anchors
  verifier: Verifier
  status: StatusChecker
  crls: CrlChecker
  /** A JWT for wallets; undefined without VIDIMUS_REGISTRATION_CERT. */
  registrationCertificate: string | undefined
  registrations: Registrations
}
