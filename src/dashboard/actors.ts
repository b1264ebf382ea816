import { readKeys } from '../access/keys.ts'
import type { Reading } from '../ground.ts'

/** The label of a key by the actor that stands on the record: the key's first characters. */
type ActorLabels = (tenantId: string, actor: string) => string | undefined

export async function readActorLabels(deps: Reading, tenantIds: Iterable<string>): Promise<ActorLabels> {
  const labels = new Map<string, string | undefined>()
  for (const tenantId of new Set(tenantIds))
    for (const { prefix, label } of await readKeys(deps, tenantId)) {
      const name = `${tenantId} ${prefix}`
      // Two keys may begin alike: then neither is named.
      labels.set(name, labels.has(name) ? undefined : label || undefined)
    }
  return (tenantId, actor) => labels.get(`${tenantId} ${actor}`)
}
