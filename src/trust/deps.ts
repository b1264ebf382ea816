import type { Audited } from '../audit/deps.ts'
import type { Ground } from '../ground.ts'
import type { TrustAnchor } from '../openid4vp/trust/trust.ts'

export type Deps = Ground & Audited & Testing

/** Knows the sandbox, for test sessions. */
export type Testing = { sandbox: () => Promise<TestIssuer> }

/** The sandbox issuer, which test sessions trust. Its lists are read without a network. */
type TestIssuer = {
  anchor: TrustAnchor
  issuer: {
    statusListUri: string
    statusListToken(at: number): Promise<string>
    identifierListUri: string
    identifierList(at: number): Promise<Uint8Array>
    crlUri: string
    crl(at: number): Promise<Uint8Array>
  }
}
