import type { Deps } from '../deps.ts'
import { Lru } from '../openid4vp/lru.ts'
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

/** They are few, and asked for with every answer. */
const known = new Lru<Uint8Array>({ countMax: 1000 })

function derOf(pem: string): Uint8Array {
  const der = known.get(pem) ?? Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64')
  known.set(pem, der)
  return der
}
