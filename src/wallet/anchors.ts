import type { Deps } from '../deps.ts'
import type { TrustAnchor } from '../openid4vp/trust.ts'
import { listAnchors } from './store.ts'

/** Whose signatures count: the operator's anchors for this environment and, in test sessions, the sandbox issuer's. */
export async function trustAnchors(deps: Pick<Deps, 'db' | 'sandbox'>, environment: 'test' | 'live'): Promise<TrustAnchor[]> {
  const rows = await listAnchors(deps.db, environment)
  const own = rows.map(({ id, certificate, mode, trustedFor, label }) => ({
    id,
    certificate: derOf(certificate),
    mode,
    trustedFor,
    label,
    isSandbox: false,
  }))
  return environment === 'test' ? [...own, (await deps.sandbox()).anchor] : own
}

const derOf = (pem: string): Uint8Array => Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64')
