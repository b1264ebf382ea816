import { X509Certificate } from 'node:crypto'
import { type Found, ok, problem, someOf, warning } from '../db/check.ts'
import { EXPIRY_WARNING_DAYS, SigningProblem, type SigningState, signingState } from '../signing/certificate.ts'
import { hostOf } from '../signing/keys.ts'
import { askedBy } from '../templates/minimise.ts'
import { readTemplates } from '../templates/read.ts'
import { isoUtc } from '../time.ts'
import { presentAnchor, readAnchors } from '../trust/settings.ts'
import { isLocalList } from '../trust/status.ts'
import { readTemplatesInUse } from '../verifications/figures.ts'
import { whyUnreachable } from './reach.ts'
import type { Scene } from './scene.ts'

const HOSTS_MAX = 5

/** Whether the name that wallets are given for this service is in the certificate that proves it (OpenID4VP 1.0 § 5.9.3). */
export async function checkClientId({ deps }: Scene): Promise<Found> {
  const { clientIdPrefix, profile } = deps.config.wallet
  const state = await stateOf(deps)
  if (!state) return notYet()
  const host = hostOf(deps.config.publicUrl)
  if (clientIdPrefix === 'x509_hash') return ok(`Wallets know this service by the hash of its certificate; profile ${profile}.`)
  if (new X509Certificate(state.chain).checkHost(host, { subject: 'never', wildcards: false }))
    return ok(`Wallets know this service as ${host}, and its certificate says so; profile ${profile}.`)
  return problem(
    `VIDIMUS_CLIENT_ID is x509_san_dns, but the signing certificate is not for ${host}: wallets will refuse it.`,
    'Have "vidimus signing csr" signed and import it, or set VIDIMUS_CLIENT_ID=x509_hash.',
  )
}

async function stateOf(deps: Scene['deps']): Promise<SigningState | undefined> {
  try {
    return await signingState(deps)
  } catch (error) {
    if (error instanceof SigningProblem) return undefined
    throw error
  }
}

const notYet = (): Found => problem('There is no signing key yet.', 'Start the service once: the first start makes it.')

export async function checkSigning({ deps, liveTenants }: Scene): Promise<Found> {
  const state = await stateOf(deps)
  if (!state) return notYet()
  const { daysLeft, authority } = state
  const renew = 'Renew it with "vidimus signing csr" and "vidimus signing import".'
  if (daysLeft < 0) return problem('The certificate that wallets see has expired: they refuse every request.', renew)
  if (daysLeft < EXPIRY_WARNING_DAYS) return warning(`The certificate that wallets see ends in ${daysLeft} days.`, renew)
  if (authority && (await liveTenants).length > 0) {
    return warning(
      'The certificate that wallets see was made here: only wallets that have its authority trust it.',
      'Have "vidimus signing csr" signed by an authority that your wallets trust.',
    )
  }
  return ok(`The certificate that wallets see is valid for ${daysLeft} more days.`)
}

/** For each template that is asked for in earnest, somebody must be trusted to answer it. */
export async function checkAnchors({ deps, liveTenants }: Scene): Promise<Found> {
  const tenants = await liveTenants
  if (tenants.length === 0) return ok('There are no live keys yet, and test sessions trust the sandbox issuer.')
  const at = deps.now()
  const anchors = (await readAnchors(deps)).map(presentAnchor).filter(({ environment }) => environment === 'live')
  const current = anchors.filter(({ not_after }) => not_after > isoUtc(at))
  if (current.length === 0)
    return problem(
      'No issuer is trusted for live sessions: every one will fail.',
      'Add one: vidimus trust add FILE.pem --env live',
    )
  const uncovered = (await Promise.all(tenants.map(tenant => uncoveredOf(deps, tenant.id, current)))).flat()
  const [first] = uncovered
  if (first) {
    const keys = [...new Set(uncovered.map(({ key }) => key))]
    return warning(
      `No issuer is trusted in live for what ${someOf(keys)} asks for.`,
      `Add one: vidimus trust add FILE.pem --env live --for ${first.type}`,
    )
  }
  const soon = isoUtc(at + EXPIRY_WARNING_DAYS * 86_400_000)
  const ending = anchors.filter(({ not_after }) => not_after < soon).map(({ label }) => label)
  if (ending.length) return warning(`Trusted certificates end soon or have ended: ${someOf(ending)}.`, 'Get current ones.')
  return ok(`${current.length} issuer ${current.length === 1 ? 'certificate is' : 'certificates are'} trusted for live sessions.`)
}

type Anchors = { trusted_for: string | null }[]

/** Of a tenant's own templates, and of the built-in ones that it used lately: nobody needs issuers for all of those. */
async function uncoveredOf(deps: Scene['deps'], tenantId: string, anchors: Anchors): Promise<{ key: string; type: string }[]> {
  const inUse = new Set(await readTemplatesInUse(deps.db, tenantId))
  const templates = (await readTemplates(deps, tenantId)).filter(({ key, isBuiltin }) => !isBuiltin || inUse.has(key))
  return templates.flatMap(({ key, query }) => {
    const types = askedBy(query).flatMap(asked => asked.types)
    const isCovered = anchors.some(({ trusted_for }) => trusted_for === null || types.includes(trusted_for))
    return isCovered ? [] : [{ key, type: types[0] ?? '' }]
  })
}

/** Only the service itself knows which lists it has read: they are kept in its memory. */
export async function checkStatusLists({ deps, isServer }: Scene): Promise<Found> {
  if (!isServer) return ok('Which status lists the service reads is seen in the dashboard, under Settings, Health.')
  const isHere = (uri: string) => uri.startsWith(`${deps.config.publicUrl}/`)
  const isLocal = isLocalList(deps.config, isHere)
  const isOwn = (uri: string) => isHere(uri) || isLocal(uri, 'test')
  const lists = [...deps.status.known(), ...deps.crls.known()].filter(uri => !isOwn(uri))
  const origins = [...new Set(lists.map(uri => new URL(uri).origin))].slice(0, HOSTS_MAX)
  if (origins.length === 0) return ok('No credential with a status list was seen yet.')
  const reasons = await Promise.all(origins.map(async origin => ({ origin, why: await whyUnreachable(deps, origin) })))
  const missed = reasons.filter(({ why }) => why !== undefined).map(({ origin, why }) => `${origin} (${why})`)
  if (missed.length) {
    return problem(
      `Status or revocation lists cannot be read from ${someOf(missed)}: documents that name them may be refused.`,
      'Let this machine connect there: firewall, DNS, proxy; for an authority of your own, VIDIMUS_EXTRA_CA.',
    )
  }
  return ok(`The hosts of the status and revocation lists in use can be reached: ${someOf(origins)}.`)
}
