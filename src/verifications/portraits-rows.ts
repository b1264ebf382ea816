// Portraits for several nodes: rows of an unlogged table, which is in no log, replica or base backup. They end with
// their session, after 15 minutes, and with a crash of the database.
import type { Db } from '../db/engine.ts'
import type { Ground } from '../ground.ts'
import { SALT_BYTES } from '../seal.ts'
import { deletePortrait, deletePortraitsUntil, findPortrait, insertPortrait } from './portrait-store.ts'
import { mayHaveHad, PORTRAIT_MS, type Portraits } from './portraits.ts'

type RowsDeps = Pick<Ground, 'db' | 'now' | 'random' | 'sealer'> & { light: Db }

export function portraitsInRows({ db, light, now, random, sealer }: RowsDeps): Portraits {
  return {
    async keep(tx, { id, tenantId, sessionKey }, result) {
      const salt = Buffer.from(random(SALT_BYTES))
      const sealed = sealer.seal({ ...PLACE, tenant: tenantId, row: id, salt, sessionKey }, JSON.stringify(result))
      await insertPortrait(tx, { verificationId: id, tenantId, keptUntil: now() + PORTRAIT_MS, salt, sealed })
    },
    async show({ id, tenantId, template, sessionKey }, stored) {
      if (!mayHaveHad({ template: template ?? undefined, credentials: stored.credentials })) return stored
      const found = await findPortrait(db, { id, tenantId }, now())
      if (!found) return stored
      return JSON.parse(sealer.open({ ...PLACE, tenant: tenantId, row: id, salt: found.salt, sessionKey }, found.sealed))
    },
    isGone: async (tenantId, verification) =>
      mayHaveHad(verification) && !(await findPortrait(db, { id: verification.id, tenantId }, now())),
    forget: deletePortrait,
    sweep: () => deletePortraitsUntil(light, now()),
  }
}

const PLACE = { table: 'portraits', column: 'sealed' }
