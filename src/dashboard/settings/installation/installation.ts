import { version } from '../../../../package.json' with { type: 'json' }
import { addressKind } from '../../../doctor/address.ts'
import { examine } from '../../../doctor/examine.ts'
import { hasLiveKeys } from '../../../doctor/scene.ts'
import { apiError } from '../../../http/errors.ts'
import { actorOf, requireFresh, type Visit } from '../../../people/session.ts'
import { isoUtc } from '../../../time.ts'
import { AnchorExists, addAnchors, presentAnchor, readAnchors, removeAnchor, TrustProblem } from '../../../trust/settings.ts'
import type { Deps } from '../../deps.ts'
import type { AddTrust, Health, Installation, TrustAnchor } from '../../settings-schema.ts'

/** An examination reads the whole database, so it runs no more often than this. */
const AGAIN_MS = 10_000

/** Settings from the environment of the service; the dashboard cannot change them. */
export const readInstallation = async ({ config, registrationCertificate, ...deps }: Deps): Promise<Installation> => ({
  version,
  public_url: config.publicUrl,
  address: addressKind(config.publicUrl),
  has_live_keys: await hasLiveKeys(deps),
  wallet_profile: config.wallet.profile,
  wallet_scheme: config.wallet.scheme,
  client_id_prefix: config.wallet.clientIdPrefix,
  has_registration_certificate: registrationCertificate !== undefined,
  egress_allow: config.egressAllow.map(({ address, prefix, port }) => `${address}/${prefix}:${port}`),
  webhook_delays_ms: config.webhookDelaysMs,
})

/** One examination at a time, shared by all callers; a call too soon gets the last one again. */
export function createExamination(deps: Deps): () => Promise<Health> {
  let last: { at: number; health: Promise<Health> } | undefined

  async function look(at: number): Promise<Health> {
    return { checked_at: isoUtc(at), checks: await examine(deps, true) }
  }

  return () => {
    const at = deps.now()
    if (!last || at - last.at >= AGAIN_MS) last = { at, health: look(at) }
    return last.health
  }
}

/** Anchors that were added one by one; those of lists are on their list's page. */
export async function readTrust(deps: Deps): Promise<{ data: TrustAnchor[] }> {
  return { data: (await readAnchors(deps)).filter(({ sourceId }) => sourceId === null).map(presentAnchor) }
}

export async function addTrust(deps: Deps, visit: Visit, { trusted_for, ...anchor }: AddTrust): Promise<{ data: TrustAnchor[] }> {
  requireFresh(visit, deps.now(), anchor.environment)
  try {
    const added = await addAnchors(deps, { ...anchor, trustedFor: trusted_for }, actorOf(visit.user))
    return { data: added.map(presentAnchor) }
  } catch (error) {
    if (error instanceof AnchorExists) throw apiError('invalid_request', { message: `pem: ${error.message}; remove it first` })
    throw error instanceof TrustProblem ? apiError('invalid_request', { message: `pem: ${error.message}` }) : error
  }
}

export async function removeTrust(deps: Deps, visit: Visit, id: string): Promise<void> {
  const anchor = (await readAnchors(deps)).find(each => each.id === id)
  if (!anchor) throw apiError('anchor_not_found')
  requireFresh(visit, deps.now(), anchor.environment)
  const isRemoved = await removeAnchor(deps, id, actorOf(visit.user)).catch(error => {
    throw error instanceof TrustProblem ? apiError('invalid_request', { message: error.message }) : error
  })
  if (!isRemoved) throw apiError('anchor_not_found')
}
