import { apiError } from '../../../http/errors.ts'
import { actorOf, requireFresh, type Visit } from '../../../people/session.ts'
import { AnchorExists, addAnchors, presentAnchor, readAnchors, removeAnchor, TrustProblem } from '../../../trust/settings.ts'
import type { Deps } from '../../deps.ts'
import type { AddTrust, TrustAnchor } from './schema.ts'

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
