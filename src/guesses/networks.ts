// Networks from which a tenant's key, till or dashboard session was used lately. When strangers use
// up all guesses of pairing codes, these can still pair a till. Stored with the day as two HMACs, of the
// network and of the network with the tenant.

import { hmacSha256With } from '../base/hash.ts'
import { describeFailure } from '../base/log.ts'
import type { Ground, Writing } from '../ground.ts'
import { deleteNetworksSeenBy, findNetwork, keepNetwork } from './store.ts'

const DAY_MS = 86_400_000
export const KNOWN_MS = 30 * DAY_MS
const REMEMBERED_MAX = 10_000

const useOf = (client: string, tenantId: string): string => `${tenantId} ${client}`

export type Networks = {
  /** The HMAC that stands for the client's network in the database. */
  nameOf(client: string): string
  /** Records that a tenant authenticated. */
  note(client: string, tenantId: string): void
  /** True if this tenant, or any, authenticated from there lately. */
  isKnown(client: string, tenantId?: string): Promise<boolean>
}

export function createNetworks({ db, write, now, sealer, log }: Ground): Networks {
  const hmac = hmacSha256With(sealer.key('network'))
  const notedAt = new Map<string, number>()
  const nameOf = (client: string) => hmac(client).toString('hex')

  return {
    nameOf,
    note(client, tenantId) {
      const at = now()
      const use = useOf(client, tenantId)
      if (at - (notedAt.get(use) ?? Number.NEGATIVE_INFINITY) < DAY_MS) return
      if (notedAt.size >= REMEMBERED_MAX) notedAt.clear()
      notedAt.set(use, at)
      // Not awaited: no answer depends on it.
      write(async tx => {
        for (const network of [nameOf(client), nameOf(use)]) await keepNetwork(tx, network, { at, seenBy: at - DAY_MS })
      }).catch(error => {
        notedAt.delete(use)
        log.warn('network.not_recorded', { failure: describeFailure(error) })
      })
    },
    async isKnown(client, tenantId) {
      const seenAt = await findNetwork(db, nameOf(tenantId === undefined ? client : useOf(client, tenantId)))
      return seenAt !== undefined && seenAt > now() - KNOWN_MS
    },
  }
}

export async function sweepNetworks({ write, now }: Writing): Promise<void> {
  await write(tx => deleteNetworksSeenBy(tx, now() - KNOWN_MS))
}
