import { X509Certificate } from 'node:crypto'
import { type Found, ok, problem, someOf, warning } from '../db/check.ts'
import { describeCertificate } from '../openid4vp/x509.ts'
import { brokenRules } from '../signing/access-profile.ts'
import { isRunningOut, lifeOf, SigningProblem, type SigningState, signingStates } from '../signing/certificate.ts'
import { isForHost, leadsTo } from '../signing/import.ts'
import { certificatesOf, hostOf } from '../signing/keys.ts'
import { readAccessAuthorities } from '../trust/sources.ts'
import type { Scene } from './scene.ts'

const HOUR_MS = 3_600_000

/** The client id that wallets see must be in the signing certificate (OpenID4VP 1.0 § 5.9.3). */
export async function checkClientId({ deps }: Scene): Promise<Found> {
  const { clientIdPrefix, profile } = deps.config.wallet
  const states = await statesOf(deps)
  if (!states) return notYet()
  const host = hostOf(deps.config.publicUrl)
  if (clientIdPrefix === 'x509_hash') return ok(`Wallets know this service by the hash of its certificate; profile ${profile}.`)
  const other = states.find(({ chain }) => !isForHost(new X509Certificate(chain), host))
  if (!other) return ok(`Wallets know this service as ${host}, and its certificate says so; profile ${profile}.`)
  return problem(
    `VIDIMUS_CLIENT_ID is x509_san_dns, but the signing certificate${ofOwner(other)} is not for ${host}: wallets will refuse it.`,
    'Have "vidimus signing csr" signed and import it, or set VIDIMUS_CLIENT_ID=x509_hash.',
  )
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

export const notYet = (): Found => problem('There is no signing key yet.', 'Start the service once: the first start creates it.')

const ofOwner = ({ owner }: SigningState): string => (owner === null ? '' : ` of tenant ${owner}`)

export async function checkSigning({ deps, liveTenants }: Scene): Promise<Found> {
  const states = await statesOf(deps)
  if (!states) return notYet()
  const at = deps.now()
  const ending = findEnding(states, at)
  if (ending) return ending
  const [installation] = states
  if (installation.authority && (await liveTenants).some(({ id }) => !states.some(({ owner }) => owner === id))) {
    return warning(
      'The certificate that wallets see was issued by this service: only wallets that have its authority trust it.',
      'Have "vidimus signing csr" signed by an authority that your wallets trust.',
    )
  }
  const flaws = await flawsOf(deps, states)
  if (flaws.length > 0)
    return warning(
      `EU wallets may refuse the certificate that they see: ${someOf(flaws)}.`,
      'Ask the authority that issued it; for a chain that holds too much, import it again.',
    )
  return ok(`The certificate that wallets see is valid for ${timeLeft(installation, at)}${othersOf(states)}.`)
}

/** The worst first. */
function findEnding(states: SigningState[], at: number): Found | undefined {
  const renew = 'Renew it with "vidimus signing csr" and "vidimus signing import".'
  const ended = states.find(state => lifeOf(state, at) === 'ended')
  if (ended) return problem(`The certificate that wallets see${ofOwner(ended)} has expired: they refuse every request.`, renew)
  const urgent = states.find(state => lifeOf(state, at) === 'urgent' && isRunningOut(state, at))
  const soon = states.find(state => isRunningOut(state, at))
  const sentence = (state: SigningState) => `The certificate that wallets see${ofOwner(state)} expires in ${timeLeft(state, at)}.`
  if (urgent) return problem(sentence(urgent), renew)
  return soon && warning(sentence(soon), renew)
}

function timeLeft({ notAfter }: SigningState, at: number): string {
  const hours = Math.floor((notAfter - at) / HOUR_MS)
  return hours >= 48 ? `${Math.floor(hours / 24)} days` : `${hours} hours`
}

const othersOf = ([, ...others]: SigningState[]): string =>
  others.length > 0 ? `; ${others.length} ${others.length === 1 ? 'tenant has' : 'tenants have'} their own` : ''

/** Of imported certificates, against ETSI TS 119 411-8 and the loaded list of access authorities. */
async function flawsOf(deps: Scene['deps'], states: SigningState[]): Promise<string[]> {
  const authorities = await readAccessAuthorities(deps)
  return states.flatMap(state => {
    if (state.authority) return []
    const chain = certificatesOf(state.chain).map(base64 => new X509Certificate(Buffer.from(base64, 'base64')))
    const leaf = describeCertificate(chain[0]!.raw)
    const listed = new Set(authorities.map(pem => new X509Certificate(pem).fingerprint256))
    const flaws = [
      ...(leaf ? brokenRules(leaf) : []),
      ...(chain.some(({ fingerprint256 }) => listed.has(fingerprint256)) ? ['a listed authority inside the chain'] : []),
      ...(authorities.length > 0 && !leadsTo(chain, authorities) ? ['no path to an access authority on the loaded list'] : []),
    ]
    return flaws.map(flaw => `${flaw}${ofOwner(state)}`)
  })
}
