import { X509Certificate } from 'node:crypto'
import { found, notSetUp, ok, problem, warning } from '../db/check.ts'
import { describeCertificate } from '../openid4vp/x509/x509.ts'
import { type BrokenRule, brokenRules } from '../signing/access-profile.ts'
import { isRunningOut, lifeOf, type SigningState, signingStates } from '../signing/certificate.ts'
import { isForHost, leadsTo } from '../signing/import.ts'
import { certificatesOf, hostOf } from '../signing/keys.ts'
import { SigningProblem } from '../signing/problem.ts'
import { readAccessAuthorities } from '../trust/lists/sources.ts'
import type { Scene } from './scene.ts'

const HOUR_MS = 3_600_000

/** The client id that wallets see must be in the signing certificate (OpenID4VP 1.0 § 5.9.3). */
export async function checkClientId({ deps }: Scene) {
  const { clientIdPrefix, profile } = deps.config.wallet
  const states = await statesOf(deps)
  if (!states) return notYet()
  const host = hostOf(deps.config.publicUrl)
  if (clientIdPrefix === 'x509_hash') return ok('client_id_hash', { profile })
  const other = states.find(({ chain }) => !isForHost(new X509Certificate(chain), host))
  return other ? problem('client_id_other', { host, owner: other.owner }) : ok('client_id_named', { host, profile })
}

/** Certificates in use, the installation's first; undefined before the first start. */
export async function statesOf(deps: Scene['deps']): Promise<[SigningState, ...SigningState[]] | undefined> {
  try {
    const [installation, ...tenants] = await signingStates(deps)
    return [installation!, ...tenants.filter(({ isOwn }) => isOwn)]
  } catch (error) {
    if (error instanceof SigningProblem) return undefined
    throw error
  }
}

export const notYet = () => problem('no_signing_key')

export async function checkSigning({ deps, liveTenants }: Scene) {
  const states = await statesOf(deps)
  if (!states) return notYet()
  const at = deps.now()
  const ending = findEnding(states, at)
  if (ending) return ending
  const [installation] = states
  const isSeen = (await liveTenants).some(({ id }) => !states.some(({ owner }) => owner === id))
  if (installation.authority && isSeen) return warning('signing_self_made')
  const flaws = await flawsOf(deps, states)
  if (flaws.length > 0) return warning('signing_flawed', { flaws })
  if (installation.authority && states.length === 1) return notSetUp('signing_self_made')
  return ok('signing_good', { hours: hoursLeft(installation, at), others: states.length - 1 })
}

/** The worst first. */
function findEnding(states: SigningState[], at: number) {
  const ended = states.find(state => lifeOf(state, at) === 'ended')
  if (ended) return problem('signing_ended', { owner: ended.owner })
  const urgent = states.find(state => lifeOf(state, at) === 'urgent' && isRunningOut(state, at))
  const soon = urgent ?? states.find(state => isRunningOut(state, at))
  return soon && found(urgent ? 'problem' : 'warning')('signing_ending', { owner: soon.owner, hours: hoursLeft(soon, at) })
}

const hoursLeft = ({ notAfter }: SigningState, at: number): number => Math.floor((notAfter - at) / HOUR_MS)

export type Flaw = BrokenRule | 'listed_inside' | 'no_path'

/** Of imported certificates, against ETSI TS 119 411-8 and the loaded list of access authorities. */
async function flawsOf(deps: Scene['deps'], states: SigningState[]): Promise<{ flaw: Flaw; owner: string | null }[]> {
  const authorities = await readAccessAuthorities(deps)
  return states.flatMap(({ authority, chain: pem, owner }) => {
    if (authority) return []
    const chain = certificatesOf(pem).map(base64 => new X509Certificate(Buffer.from(base64, 'base64')))
    const leaf = describeCertificate(chain[0]!.raw)
    const listed = new Set(authorities.map(each => new X509Certificate(each).fingerprint256))
    const flaws: Flaw[] = [
      ...(leaf ? brokenRules(leaf) : []),
      ...(chain.some(({ fingerprint256 }) => listed.has(fingerprint256)) ? ['listed_inside' as const] : []),
      ...(authorities.length > 0 && !leadsTo(chain, authorities) ? ['no_path' as const] : []),
    ]
    return flaws.map(flaw => ({ flaw, owner }))
  })
}
