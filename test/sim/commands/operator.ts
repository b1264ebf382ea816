import fc from 'fast-check'
import { revokeKey, rollKey } from '../../../src/access/keys.ts'
import { sweepTokens } from '../../../src/devices/expire.ts'
import { rotateWebhookSecret } from '../../../src/tenants/webhook-secret.ts'
import { sweepExpired } from '../../../src/verifications/end/expire.ts'
import { sweepRetention } from '../../../src/verifications/erasure/retain.ts'
import { replayById } from '../../../src/webhooks/replay.ts'
import { command } from '../command.ts'
import { same } from '../expect.ts'
import {
  DAY,
  type Environment,
  expireFetched,
  forgetOld,
  forgetTokens,
  HOUR,
  replay,
  rotate,
  SCOPES,
  type Scope,
} from '../model.ts'
import { addKey } from '../start.ts'

const ACTOR = 'operator'

type NewKey = { environment: 'test' | 'live'; scopes: Scope[]; expiresDays?: 30 }

export const mintKey = command<NewKey>({
  weight: 1,
  args: fc.record({
    environment: fc.constantFrom('test' as const, 'live' as const),
    scopes: fc.subarray([...SCOPES]),
    expiresDays: fc.constantFrom(undefined, 30 as const),
  }) as fc.Arbitrary<NewKey>,
  can: ({ keys }) => keys.length < 6,
  run: addKey,
})

export const revokeAKey = command<{ key: number }>({
  weight: 1,
  // Never the first two: without them there would be little to see.
  args: fc.record({ key: fc.integer({ min: 2, max: 5 }) }),
  can: ({ keys }, { key }) => keys[key] !== undefined,
  async run({ world, model }, { key: place }) {
    const key = model.keys[place]!
    same((await revokeKey(world.app.deps, key.id, ACTOR))?.id, key.id, 'a key can be revoked again')
    if (!key.isRevoked) model.audited++
    key.isRevoked = true
  },
})

const GRACES = { now: 0, '1h': HOUR, '24h': DAY } as const

export const rollAKey = command<{ key: number; grace: keyof typeof GRACES }>({
  weight: 1,
  args: fc.record({ key: fc.integer({ min: 2, max: 5 }), grace: fc.constantFrom('now' as const, '1h' as const, '24h' as const) }),
  can: ({ keys }, { key }) => keys[key] !== undefined && keys.length < 8,
  async run({ world, model }, { key: place, grace }) {
    const key = model.keys[place]!
    const isDead = key.isRevoked || (key.expiresAt !== null && key.expiresAt <= model.now)
    const minted = await rollKey(world.app.deps, key.id, grace, ACTOR).catch(({ code }) => code)
    same(minted === undefined, isDead, 'a dead key is not rolled')
    if (isDead) return
    same(minted === 'key_rolled', key.isRolled === true, 'a key is rolled once')
    if (key.isRolled) return
    const expiresAt = key.expiresAt === null ? null : model.now + (key.expiresAt - key.createdAt)
    model.keys.push({ ...key, id: minted.row.id, secret: minted.key, createdAt: model.now, expiresAt })
    key.expiresAt = Math.min(key.expiresAt ?? Number.POSITIVE_INFINITY, model.now + GRACES[grace])
    key.isRolled = true
    model.audited++
  },
})

export const rotateSecret = command<{ environment: Environment }>({
  weight: 1,
  args: fc.record({ environment: fc.constantFrom('test', 'live') }),
  async run({ world, model, tenantId }, { environment }) {
    rotate(model, environment, (await rotateWebhookSecret(world.app.deps, { tenantId, environment }, ACTOR)).webhookSecret)
  },
})

export const replayOne = command<{ delivery: number }>({
  weight: 2,
  args: fc.record({ delivery: fc.nat(4) }),
  can: ({ sessions }) => sessions.some(({ delivery }) => delivery && delivery.id !== ''),
  async run({ world, model, tenantId }, { delivery: pick }) {
    const owed = model.sessions.flatMap(({ delivery }) => (delivery && delivery.id !== '' ? [delivery] : []))
    const delivery = owed[pick % owed.length]!
    same((await replayById(world.app.deps, tenantId, { id: delivery.id }, { actor: ACTOR })).length, 1, 'replayed')
    replay(model, delivery)
  },
})

/** Periodic jobs change nothing that a caller reads, except retention, which erases. */
export const sweep = command<object>({
  weight: 1,
  args: fc.constant({}),
  async run({ world, model, told }) {
    const { deps } = world.app
    const there = model.sessions.filter(({ isErased }) => !isErased)
    expireFetched(model)
    forgetOld(model)
    const forgotten = there.filter(({ isErased }) => isErased)
    for (const { id } of forgotten) told({ fact: 'erasing', id })
    await sweepExpired(deps)
    await sweepTokens(deps)
    forgetTokens(model)
    await sweepRetention(deps)
    for (const { id } of forgotten) told({ fact: 'erased', id })
    await deps.write(tx => deps.audit.checkpoint(tx, deps.now()))
  },
})
