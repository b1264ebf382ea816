import type { Setting } from '../audit/deps.ts'
import { SALT_BYTES } from '../base/seal.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Sealing, Unsealing } from '../ground.ts'
import { deleteEndpoint, findEndpoint, type Owner, upsertEndpoint } from './store.ts'

/** The receiver of results whose sessions were created without a `webhook_url`. */
export async function readEndpoint({ sealer }: Unsealing, db: Db, owner: Owner): Promise<string | undefined> {
  const row = await findEndpoint(db, owner)
  return row && sealer.open(SEALED.webhookEndpoint(owner, row.salt), row.sealed)
}

/** Null removes it. The audit record does not contain the URL, which may hold a token. */
export async function keepEndpoint(deps: Sealing & Setting, owner: Owner, url: string | null, actor: string): Promise<void> {
  const at = deps.now()
  const { tenantId, environment } = owner
  const salt = Buffer.from(deps.random(SALT_BYTES))
  const sealed = url === null ? undefined : deps.sealer.seal(SEALED.webhookEndpoint(owner, salt), url)
  await deps.writeSettings(async tx => {
    if (sealed) await upsertEndpoint(tx, { ...owner, salt, sealed, createdAt: at })
    else if (!(await deleteEndpoint(tx, owner))) return
    const action = sealed ? 'endpoint.set' : 'endpoint.removed'
    await deps.audit.append(tx, { at, tenantId, actor, action, subjectId: tenantId, details: { environment } })
  })
}
