import type { Calling, Reporting } from '../../ground.ts'
import type { FetchCrl } from '../../openid4vp/trust/crl-check.ts'
import { CRL_BYTES_MAX } from '../../openid4vp/x509/crl.ts'
import type { Testing } from '../deps.ts'
import { fetchList } from './fetch-list.ts'

const WANTED = {
  accept: 'application/pkix-crl',
  bytesMax: CRL_BYTES_MAX,
  metric: 'vidimus_crl_fetches_total',
} as const

/** Plain http is allowed: a list is signed (RFC 5280 § 4.2.1.13). The test issuer's is local. */
export function crlFetcher(deps: Calling & Reporting & Testing): FetchCrl {
  return async url => {
    const { issuer } = await deps.sandbox()
    if (url === issuer.crlUri) return { ok: true, body: await issuer.crl(deps.now()) }
    const fetched = await fetchList(deps, { url, ...WANTED })
    if (fetched.ok) return { ok: true, body: fetched.body }
    const { reason, remedy } = fetched
    return { ok: false, reason: remedy === undefined ? reason : `${reason}. ${remedy.replace(/\.$/, '')}` }
  }
}
