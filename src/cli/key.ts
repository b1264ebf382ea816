import {
  createKey,
  EXPIRY_DAYS,
  type MintedKey,
  ROLL_GRACE_MS,
  type RollGrace,
  readKeys,
  revokeKey,
  rollKey,
} from '../access/keys.ts'
import { presentKey } from '../access/present.ts'
import { DEFAULT_SCOPES, SCOPES } from '../access/scopes.ts'
import { type Answer, argument, defineCommand, listing } from './command.ts'
import { ENV, listOf, oneOf, optional, shortText, TENANT } from './flags.ts'
import { ACTOR, CommandError } from './output.ts'
import { withDeps, withTenant } from './with-deps.ts'

const LABEL_CHARS_MAX = 100
const GRACES = Object.keys(ROLL_GRACE_MS) as RollGrace[]
const KEY_ID = argument('id', 'ID', 'the key id')

export const command = defineCommand(
  {
    summary: 'create, list, roll and revoke API keys',
    subcommands: {
      create: {
        flags: {
          tenant: TENANT,
          env: ENV,
          scopes: optional(
            listOf(oneOf(SCOPES, 'SCOPE')),
            `of ${SCOPES.join(', ')}; without this flag a key gets all but verifications:delete`,
          ),
          'expires-days': optional(oneOf(EXPIRY_DAYS)),
          label: optional(shortText('TEXT', LABEL_CHARS_MAX)),
        },
      },
      list: { flags: { tenant: TENANT } },
      revoke: { argument: KEY_ID },
      roll: {
        argument: KEY_ID,
        flags: { 'old-expires': optional(oneOf(GRACES), 'how long the old key keeps working (24h by default)') },
      },
    },
    about: `The key is printed once; only its hash is kept. Rolling makes a successor with the same rights, and
the old key keeps working for a while.`,
    example: 'vidimus key create --tenant ten_… --env test --label "web shop"',
  },
  {
    async create({ tenant: tenantId, env: environment, scopes = DEFAULT_SCOPES, expiresDays, label = '' }, shell) {
      const wanted = { tenantId, environment, scopes, expiresDays, label, actor: ACTOR }
      return withTenant(shell, tenantId, async deps => showOnce(await createKey(deps, wanted), deps.now()))
    },

    async list({ tenant }, shell) {
      const keys = await withTenant(shell, tenant, async deps =>
        (await readKeys(deps, tenant)).map(row => presentKey(row, deps.now())),
      )
      return listing(keys, {
        ID: key => key.id,
        PREFIX: key => `${key.prefix}…`,
        LABEL: key => key.label,
        EXPIRES: key => (key.revoked_at === null ? (key.expires_at ?? 'never') : 'revoked'),
        SCOPES: key => key.scopes.join(','),
      })
    },

    async revoke({ id }, shell) {
      const key = await withDeps(shell, async deps => {
        const row = await revokeKey(deps, id, ACTOR)
        return row && presentKey(row, deps.now())
      })
      if (!key) throw unknownKey(id)
      return { json: key, text: `Key ${id} (${key.prefix}…) is revoked.` }
    },

    async roll({ id, oldExpires = '24h' }, shell) {
      return withDeps(shell, async deps => {
        const minted = await rollKey(deps, id, oldExpires, ACTOR)
        if (!minted) throw unknownKey(id)
        return showOnce(minted, deps.now())
      })
    },
  },
)

function showOnce({ row, key }: MintedKey, now: number): Answer {
  const presented = presentKey(row, now)
  const { id, scopes, expires_at } = presented
  return {
    json: { ...presented, key },
    text: `${key}

This is the only time the key ${id} is shown. Scopes: ${scopes.join(', ')}. Expires: ${expires_at ?? 'never'}.`,
  }
}

const unknownKey = (id: string) =>
  new CommandError(`there is no valid key ${id}; "vidimus key list --tenant ID" shows a tenant's keys`)
