// Key binding (RFC 9901 § 4.3 and § 7.3, OpenID4VP 1.0 § B.3.6): the wallet holds the key of the
// credential and signed this presentation, for this request, just now.
import { equalConstantTime } from '../../base/hash.ts'
import { isObject, type Members } from '../../base/members.ts'
import { CLOCK_SKEW_MS, type Expected } from '../credential.ts'
import type { DecodedSdJwt, Token } from './form.ts'
import { importPublicJwk, isSignedBy, otherAlgorithm } from './jws.ts'

const AGE_MS_MAX = 5 * 60_000

/** The first problem, as a sentence for the merchant. */
export async function findKeyBindingProblem(sdJwt: DecodedSdJwt, expected: Expected): Promise<string | undefined> {
  const { jwt, keyBinding, sdHash } = sdJwt
  if (!keyBinding) return 'The wallet did not prove that it holds the key of the credential.'
  const { header, payload } = keyBinding
  if (header.typ !== 'kb+jwt') return 'The proof of possession is not a key binding.'
  if (header.crit !== undefined) return 'The proof of possession asks for an extension that is not supported.'
  return (
    (await findSignatureProblem(keyBinding, jwt.payload.cnf)) ??
    findRequestProblem(payload, expected) ??
    findTimeProblem(payload, expected) ??
    (payload.sd_hash === sdHash ? undefined : 'The proof of possession was made for other disclosed values.')
  )
}

// HAIP 1.0 § 6.1: the key itself, in `cnf.jwk`. No other confirmation method is accepted.
async function findSignatureProblem({ text, header }: Token, cnf: unknown): Promise<string | undefined> {
  const jwk = isObject(cnf) ? cnf.jwk : undefined
  if (!isObject(jwk)) return 'The credential names no key of its holder.'
  const key = await importPublicJwk(jwk)
  if (!key) return 'The key of the holder is not of a kind that is accepted.'
  const algorithm = otherAlgorithm(header.alg, key)
  if (algorithm) return `The proof of possession must name ${algorithm}, the algorithm of the holder's key.`
  if (await isSignedBy({ text, alg: header.alg, key })) return undefined
  return 'The proof of possession is not signed with the key of the holder.'
}

function findRequestProblem({ nonce, aud }: Members, expected: Expected): string | undefined {
  if (typeof nonce !== 'string' || !equalConstantTime(nonce, expected.nonce)) {
    return 'The proof of possession was made for another request.'
  }
  // A single string: RFC 9901 § 4.3.
  if (aud === expected.audience) return undefined
  const { mistakenAudience } = expected
  return mistakenAudience && aud === mistakenAudience.audience
    ? mistakenAudience.detail
    : 'The proof of possession was made for another verifier.'
}

function findTimeProblem({ iat, exp, nbf }: Members, { now, createdAt }: Expected): string | undefined {
  if (typeof iat !== 'number') return 'The proof of possession does not say when it was made.'
  const madeAt = iat * 1000
  if (madeAt > now + CLOCK_SKEW_MS) return 'The proof of possession is dated in the future.'
  if (!(madeAt >= now - AGE_MS_MAX)) return 'The proof of possession is too old.'
  if (madeAt < createdAt - CLOCK_SKEW_MS) return 'The proof of possession is older than the request.'
  if (exp !== undefined && !(typeof exp === 'number' && now < exp * 1000 + CLOCK_SKEW_MS)) {
    return 'The proof of possession has expired.'
  }
  if (nbf !== undefined && !(typeof nbf === 'number' && now >= nbf * 1000 - CLOCK_SKEW_MS)) {
    return 'The proof of possession is not valid yet.'
  }
}
