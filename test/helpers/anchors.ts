import type { TrustAnchor } from '../../src/openid4vp/trust/trust.ts'
import type { Issued } from './certificates.ts'

/** An anchor that the operator added, for every document; `over` replaces members. */
export const anchorOf = ({ der }: Pick<Issued, 'der'>, over: Partial<TrustAnchor> = {}): TrustAnchor => ({
  id: 'anchor',
  certificate: der,
  mode: 'pkix',
  crl: null,
  trustedFor: null,
  label: 'Test',
  isSandbox: false,
  use: 'both',
  ...over,
})
