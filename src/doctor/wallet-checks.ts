import { type Found, ok, problem, someOf, warning } from '../db/check.ts'
import { EXPIRY_WARNING_DAYS } from '../signing/certificate.ts'
import { askedBy } from '../templates/minimise.ts'
import { readTemplates } from '../templates/read.ts'
import { isoUtc } from '../time.ts'
import { presentAnchor, readAnchors } from '../trust/settings.ts'
import { isLocalList } from '../trust/status.ts'
import { readTemplatesInUse } from '../verifications/figures.ts'
import { whyUnreachable } from './reach.ts'
import type { Scene } from './scene.ts'

const HOSTS_MAX = 5

/** Each template used in live needs a trusted issuer. */
export async function checkAnchors({ deps, liveTenants }: Scene): Promise<Found> {
  const tenants = await liveTenants
  if (tenants.length === 0) return ok('There are no live keys yet; test sessions trust the sandbox issuer.')
  const at = deps.now()
  const anchors = (await readAnchors(deps)).map(presentAnchor).filter(({ environment }) => environment === 'live')
  const current = anchors.filter(({ not_after }) => not_after > isoUtc(at))
  if (current.length === 0)
    return problem(
      'No issuer is trusted for live sessions: every session will fail.',
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
  if (ending.length)
    return warning(`Trusted certificates expire soon or have expired: ${someOf(ending)}.`, 'Import current ones.')
  return ok(`${current.length} issuer ${current.length === 1 ? 'certificate is' : 'certificates are'} trusted for live sessions.`)
}

type Anchors = { trusted_for: string | null }[]

/**
 * A tenant's own templates, and the built-in ones it used lately: nobody needs issuers for all of
 * those.
 */
async function uncoveredOf(deps: Scene['deps'], tenantId: string, anchors: Anchors): Promise<{ key: string; type: string }[]> {
  const inUse = new Set(await readTemplatesInUse(deps.db, tenantId))
  const templates = (await readTemplates(deps, tenantId)).filter(({ key, isBuiltin }) => !isBuiltin || inUse.has(key))
  return templates.flatMap(({ key, query }) => {
    const types = askedBy(query).flatMap(asked => asked.types)
    const isCovered = anchors.some(({ trusted_for }) => trusted_for === null || types.includes(trusted_for))
    return isCovered ? [] : [{ key, type: types[0] ?? '' }]
  })
}

/** The lists in use are in the memory of the service, so a command cannot check them. */
export async function checkStatusLists({ deps, isServer }: Scene): Promise<Found> {
  if (!isServer) return ok('Only the service can check the status lists it uses: see the dashboard under Settings, Health.')
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
      'Let this machine connect there (firewall, DNS, proxy); for a private authority, set VIDIMUS_EXTRA_CA.',
    )
  }
  return ok(`The hosts of the status and revocation lists in use can be reached: ${someOf(origins)}.`)
}
