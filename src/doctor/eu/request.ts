// The requests that a session of a template would get, made in memory: nothing is stored or sent.
import { newNonce, newVerificationId } from '../../base/ids.ts'
import { apiError } from '../../http/errors.ts'
import type { DcqlQuery } from '../../openid4vp/dcql/dcql.ts'
import type { DcProtocol } from '../../openid4vp/exchange/dc-request.ts'
import { partsForBrowsers } from '../../openid4vp/exchange/device-request.ts'
import { resolveTemplate, withPurpose } from '../../templates/resolve.ts'
import { readOrigins } from '../../tenants/origins.ts'
import type { Owner } from '../../tenants/settings.ts'
import { type AskingSession, registrationFor } from '../../verifications/exchange/asked.ts'
import { newEntry } from '../../verifications/exchange/dc-entries.ts'
import { dataOf, protocolsOf } from '../../verifications/exchange/dc-request.ts'
import { signedRequest } from '../../verifications/exchange/request.ts'
import { newResponseKey } from '../../verifications/exchange/response-key.ts'
import { furtherLinks, toldPurpose, toldQuery, walletLinks } from '../../verifications/present.ts'
import { TTL_SECONDS_DEFAULT } from '../../verifications/schema.ts'
import type { Deps } from '../deps.ts'

export type Sample = {
  template: string
  query: DcqlQuery
  links: string[]
  /** The request object that a link leads to. */
  redirect: string
  /** What browsers are offered. */
  protocols: readonly DcProtocol[]
  /** The request object of `openid4vp-v1-signed`, where it is offered. */
  browser: string | undefined
  /** Phones in person are asked the same. */
  annexC: AnnexC | undefined
}

export type AnnexC = { deviceRequest: string; encryptionInfo: string; origin: string }

/** Undefined for the EU age app, which is no EU wallet. */
export async function sampleOf(deps: Deps, owner: Owner, template: string): Promise<Sample | undefined> {
  const { tenantId } = owner
  const resolved = await resolveTemplate(deps.db, tenantId, template)
  if (!resolved) throw apiError('unknown_template', { message: `There is no template ${template}.` })
  const session: AskingSession = {
    ...(await deps.identity(tenantId)),
    id: newVerificationId(deps.random),
    tenantId,
    template,
    templateVersion: resolved.version,
    profile: resolved.profile ?? deps.config.wallet.profile,
    nonce: newNonce(deps.random),
    state: newNonce(deps.random),
    expiresAt: deps.now() + TTL_SECONDS_DEFAULT * 1000,
  }
  if (session.profile === 'eu-av') return undefined
  const query = await toldQuery(deps.db, session, withPurpose(resolved.query, toldPurpose(session, resolved)))
  const { d: _, ...key } = newResponseKey(deps)
  const encryptionKey = session.profile === 'haip' ? key : undefined
  const registration = await registrationFor(deps, session, query)
  const asked = { query, registration, device: partsForBrowsers(query, registration) }
  const [listed] = await readOrigins(deps, owner)
  const origin = listed?.origin ?? URL.parse(deps.config.publicUrl)?.origin ?? ''
  const protocols = await protocolsOf(deps, session, asked)
  const entry = newEntry(deps, origin, protocols)
  const dataFor = (protocol: DcProtocol) => dataOf(deps, session, asked, entry, protocol)
  const { wallet_uri: main = '' } = await walletLinks(deps, session, { secrets: {}, query: async () => query })
  return {
    template,
    query,
    links: [main, ...furtherLinks(deps, session)],
    redirect: await signedRequest(deps, session, { query, asked: query, encryptionKey }),
    protocols,
    browser: protocols.includes('openid4vp-v1-signed')
      ? ((await dataFor('openid4vp-v1-signed')) as { request: string }).request
      : undefined,
    annexC: asked.device && { ...((await dataFor('org-iso-mdoc')) as AnnexC), origin },
  }
}
