// Networks from which somebody authenticated lately. When strangers use up all guesses of pairing
// codes, these can still pair a till. Stored as an HMAC, with the day.

import type { Ground } from '../ground.ts'
import { hmacSha256With } from '../hash.ts'
import { describeFailure } from '../log.ts'
import { deleteNetworksSeenBy, findNetwork, keepNetwork } from './store.ts'

const DAY_MS = 86_400_000
const KNOWN_MS = 30 * DAY_MS
const REMEMBERED_MAX = 10_000

export type Networks = {
  /** The HMAC that stands for the client's network in the database. */
  nameOf(client: string): string
  /** Records a successful authentication. */
  note(client: string): void
  isKnown(client: string): Promise<boolean>
}

export function createNetworks({
  db,
  write,
  now,
  sealer,
  log,
}: Pick<Ground, 'db' | 'write' | 'now' | 'sealer' | 'log'>): Networks {
  const hmac = hmacSha256With(sealer.key('network'))
  const notedAt = new Map<string, number>()
  const nameOf = (client: string) => hmac(client).toString('hex')

  return {
    nameOf,
    note(client) {
      const at = now()
      if (at - (notedAt.get(client) ?? Number.NEGATIVE_INFINITY) < DAY_MS) return
      if (notedAt.size >= REMEMBERED_MAX) notedAt.clear()
      notedAt.set(client, at)
      // Not awaited: it matters on a later day.
      write(tx => keepNetwork(tx, nameOf(client), { at, seenBy: at - DAY_MS })).catch(error => {
        notedAt.delete(client)
        log.warn('network.not_recorded', { failure: describeFailure(error) })
      })
    },
    async isKnown(client) {
      const seenAt = await findNetwork(db, nameOf(client))
      return seenAt !== undefined && seenAt > now() - KNOWN_MS
    },
  }
}

export async function sweepNetworks({ write, now }: Pick<Ground, 'write' | 'now'>): Promise<void> {
  await write(tx => deleteNetworksSeenBy(tx, now() - KNOWN_MS))
}
