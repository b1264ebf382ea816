import type { Db } from '../db/engine.ts'
import { SALT_BYTES } from '../seal.ts'
import type { Deps } from './deps.ts'
import { deleteEndpoint, findEndpoint, insertEndpoint, type Owner } from './store.ts'

/** The receiver of results whose sessions were created without a `webhook_url`. */
export async function readEndpoint({ sealer }: Pick<Deps, 'sealer'>, db: Db, owner: Owner): Promise<string | undefined> {
  const row = await findEndpoint(db, owner)
  return row && sealer.open(placeOf(owner, row.salt), row.sealed)
}

/** Keeps a URL that may be called, or, with null, none. On record is that there is another one: the URL may hold a token. */
export async function keepEndpoint(
  deps: Pick<Deps, 'writeSettings' | 'now' | 'random' | 'sealer' | 'audit'>,
  owner: Owner,
  url: string | null,
  actor: string,
): Promise<void> {
  const at = deps.now()
  const { tenantId, environment } = owner
  const salt = Buffer.from(deps.random(SALT_BYTES))
  const sealed = url === null ? undefined : deps.sealer.seal(placeOf(owner, salt), url)
  await deps.writeSettings(async tx => {
    const had = await deleteEndpoint(tx, owner)
    if (sealed) await insertEndpoint(tx, { ...owner, salt, sealed, createdAt: at })
    else if (!had) return
    const action = sealed ? 'endpoint.set' : 'endpoint.removed'
    await deps.audit.append(tx, { at, tenantId, actor, action, subjectId: tenantId, details: { environment } })
  })
}

const placeOf = ({ tenantId, environment }: Owner, salt: Uint8Array) => ({
  tenant: tenantId,
  table: 'webhook_endpoints',
  column: 'sealed',
  row: environment,
  salt,
})
