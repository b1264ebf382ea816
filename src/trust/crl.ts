import { callOut } from '../egress/client.ts'
import { CRL_BYTES_MAX } from '../openid4vp/crl.ts'
import type { FetchCrl } from '../openid4vp/crl-check.ts'
import type { Deps } from './deps.ts'
import { whyMissed } from './status.ts'

const LIMITS = { resolveMs: 2000, connectMs: 3000, totalMs: 5000, answerBytes: CRL_BYTES_MAX }

/** Fetches a revocation list over http or https: it is signed (RFC 5280 § 4.2.1.13). The sandbox issuer's own comes without a network. */
export function crlFetcher({
  egress,
  resolve,
  sandbox,
  now,
  metrics,
}: Pick<Deps, 'egress' | 'resolve' | 'sandbox' | 'now' | 'metrics'>): FetchCrl {
  return async url => {
    const { issuer } = await sandbox()
    if (url === issuer.crlUri) return { ok: true, body: await issuer.crl(now()) }
    const answer = await callOut(egress, resolve, {
      url,
      method: 'GET',
      headers: { accept: 'application/pkix-crl' },
      limits: LIMITS,
      onLargeAnswer: 'fail',
    })
    const isGood = answer.ok && answer.status === 200
    metrics.count('vidimus_crl_fetches_total', { outcome: isGood ? 'good' : 'failed' })
    if (!answer.ok) return { ok: false, reason: clauseOf(whyMissed(answer)) }
    return isGood ? { ok: true, body: answer.body } : { ok: false, reason: `its address answered ${answer.status}` }
  }
}

const clauseOf = ({ reason, remedy }: ReturnType<typeof whyMissed>): string =>
  remedy === undefined ? reason : `${reason}. ${remedy.replace(/\.$/, '')}`
