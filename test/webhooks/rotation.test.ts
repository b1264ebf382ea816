import { afterAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { verifyAudit } from '../../src/audit/verify.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { dropPreviousSecret, readWebhookSecrets, rotateWebhookSecret } from '../../src/tenants/webhook-secret.ts'
import { cleanUp, NOON, type TestApp } from '../helpers/app.ts'
import { actionsIn, editSettings } from '../helpers/database.ts'
import { filesContaining } from '../helpers/files.ts'
import { declined, type Received, receive, startAppFor, untilAttempted, verified } from '../helpers/receiver.ts'

afterAll(cleanUp)

const DAY_MS = 86_400_000

const testOf = (tenantId: string) => ({ tenantId, environment: 'test' }) as const
const liveOf = (tenantId: string) => ({ tenantId, environment: 'live' }) as const

async function startShop() {
  const receiver = receive()
  const app = await startAppFor([receiver])
  const { tenant, webhookSecret: first, webhookSecretLive: firstLive } = await createTenant(app.deps, { name: 'Shop' }, 'test')
  const keys = { test: await app.key(tenant.id), live: await app.key(tenant.id, { environment: 'live' }) }
  return {
    app,
    receiver,
    id: tenant.id,
    first,
    firstLive,
    rotate: async () => (await rotateWebhookSecret(app.deps, testOf(tenant.id), 'test')).webhookSecret,
    /** A message that is sent now. */
    async message(environment: 'test' | 'live' = 'test'): Promise<Received> {
      const id = await declined({ app, key: keys[environment] }, receiver.url())
      await untilAttempted(app, id, 1)
      return receiver.received.at(-1)!
    },
  }
}

/** The header as these secrets, in this order, make it. */
const signatureOf = ({ body }: Received, at: number, secrets: string[]) => {
  const t = Math.floor(at / 1000)
  return [`t=${t}`, ...secrets.map(secret => `v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`)].join(',')
}

const standardSignatureOf = ({ body, headers }: Received, secrets: string[]) =>
  secrets
    .map(secret => createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64')))
    .map(hmac => hmac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64'))
    .map(mac => `v1,${mac}`)
    .join(' ')

function expectSigned(message: Received, at: number, secrets: string[]): void {
  expect(message.headers['x-service-signature']).toBe(signatureOf(message, at, secrets))
  expect(message.headers['webhook-signature']).toBe(standardSignatureOf(message, secrets))
}

const refusedBy = (message: Received, secret: string, at: number) =>
  verified(message, secret, at).then(
    () => undefined,
    error => error.code,
  )

test('outside a rotation there is exactly one signature', async () => {
  const { message, first } = await startShop()
  expectSigned(await message(), NOON, [first])
})

describe('the 24 hours after a rotation', () => {
  test('both secrets sign, the new one first, and each of them verifies', async () => {
    const { message, first, rotate } = await startShop()
    const second = await rotate()
    expect(second).toMatch(/^whsec_[A-Za-z0-9+/]{40}$/)
    expect(second).not.toBe(first)
    const signed = await message()
    expectSigned(signed, NOON, [second, first])
    for (const secret of [first, second]) expect((await verified(signed, secret, NOON)).type).toBe('verification.failed')
  })

  test('to the millisecond: two signatures up to the last one, one from then on', async () => {
    const { app, message, first, rotate } = await startShop()
    const second = await rotate()
    for (const [at, secrets] of [
      [NOON + DAY_MS - 1, [second, first]],
      [NOON + DAY_MS, [second]],
      [NOON + 2 * DAY_MS, [second]],
    ] as const) {
      app.clock.set(at)
      const signed = await message()
      expectSigned(signed, at, [...secrets])
      expect(await refusedBy(signed, first, at)).toBe(secrets.length === 2 ? undefined : 'no_match')
    }
  })

  test('another rotation drops the oldest secret at once, and the overlap begins again', async () => {
    const { app, message, first, rotate } = await startShop()
    const second = await rotate()
    app.clock.advance(DAY_MS / 2)
    const third = await rotate()
    const signed = await message()
    expectSigned(signed, NOON + DAY_MS / 2, [third, second])
    expect(await refusedBy(signed, first, NOON + DAY_MS / 2)).toBe('no_match')
    app.clock.set(NOON + 1.5 * DAY_MS - 1)
    expectSigned(await message(), app.clock.now(), [third, second])
    app.clock.set(NOON + 1.5 * DAY_MS)
    expectSigned(await message(), app.clock.now(), [third])
  })

  test('a rotation after the overlap of the one before leaves the last two', async () => {
    const { app, message, rotate } = await startShop()
    const second = await rotate()
    app.clock.advance(3 * DAY_MS)
    const third = await rotate()
    expectSigned(await message(), app.clock.now(), [third, second])
  })

  test('the previous secret can be dropped: it stops signing at once, and then there is none to drop', async () => {
    const { app, id, message, first, rotate } = await startShop()
    expect(await dropPreviousSecret(app.deps, testOf(id), 'test')).toBe(false)
    const second = await rotate()
    expect(await readWebhookSecrets(app.deps, testOf(id))).toEqual({
      current: second,
      previous: { secret: first, validUntil: NOON + DAY_MS },
    })
    expect(await dropPreviousSecret(app.deps, testOf(id), 'test')).toBe(true)
    expectSigned(await message(), NOON, [second])
    expect(await readWebhookSecrets(app.deps, testOf(id))).toEqual({ current: second })
    expect(await dropPreviousSecret(app.deps, testOf(id), 'test')).toBe(false)
  })
})

test('an attempt is signed with what is valid then, not with what was when the message became due', async () => {
  const { app, receiver, id, first, rotate } = await startShop()
  receiver.answer(() => new Response(null, { status: 500 }))
  const verification = await declined({ app, key: await app.key(id) }, receiver.url())
  await untilAttempted(app, verification, 1)
  const second = await rotate()
  app.clock.advance(10_000)
  await untilAttempted(app, verification, 2)
  app.clock.advance(DAY_MS)
  await untilAttempted(app, verification, 3)
  const [one, two, three] = receiver.received
  expectSigned(one!, NOON, [first])
  expectSigned(two!, NOON + 10_000, [second, first])
  expectSigned(three!, NOON + 10_000 + DAY_MS, [second])
})

test('one tenant rotates for itself: what another does neither drops its secrets nor ends them sooner', async () => {
  const { app, message, first, rotate } = await startShop()
  const other = await createTenant(app.deps, { name: 'Bar' }, 'test')
  await rotateWebhookSecret(app.deps, testOf(other.tenant.id), 'test')
  expectSigned(await message(), NOON, [first])
  const second = await rotate()
  await rotateWebhookSecret(app.deps, testOf(other.tenant.id), 'test')
  await dropPreviousSecret(app.deps, testOf(other.tenant.id), 'test')
  app.clock.advance(DAY_MS / 2)
  expectSigned(await message(), app.clock.now(), [second, first])
  const third = await rotate()
  app.clock.advance(DAY_MS - 1)
  expectSigned(await message(), app.clock.now(), [third, second])
})

describe('each environment has a secret of its own', () => {
  test('a test result is signed with the test secret alone, and a live one with the live secret alone', async () => {
    const { app, message, first, firstLive } = await startShop()
    expect(firstLive).not.toBe(first)
    const fromTest = await message()
    app.clock.advance(1)
    const fromLive = await message('live')
    expectSigned(fromTest, NOON, [first])
    expectSigned(fromLive, NOON, [firstLive])
    expect(await refusedBy(fromTest, firstLive, NOON)).toBe('no_match')
    expect(await refusedBy(fromLive, first, NOON)).toBe('no_match')
  })

  test('rotating or dropping one leaves the other as it is', async () => {
    const { app, id, message, firstLive, rotate } = await startShop()
    const second = await rotate()
    expectSigned(await message('live'), NOON, [firstLive])
    const { webhookSecret: secondLive } = await rotateWebhookSecret(app.deps, liveOf(id), 'test')
    expect(await dropPreviousSecret(app.deps, testOf(id), 'test')).toBe(true)
    app.clock.advance(1)
    expectSigned(await message('live'), NOON, [secondLive, firstLive])
    app.clock.advance(1)
    expectSigned(await message(), NOON, [second])
    expect(await readWebhookSecrets(app.deps, testOf(id))).toEqual({ current: second })
  })

  test('a row whose environment was changed in the database opens in neither', async () => {
    const { app, id } = await startShop()
    editSettings(app, "UPDATE webhook_secrets SET environment = CASE environment WHEN 'test' THEN 'live' ELSE 'test' END")
    for (const owner of [testOf(id), liveOf(id)]) expect(readWebhookSecrets(app.deps, owner)).rejects.toThrow()
  })
})

test('rotations and drops are in the audit chain, and no secret is in a file or in the log', async () => {
  const { app, id, first, rotate } = await startShop()
  const second = await rotate()
  const third = await rotate()
  await dropPreviousSecret(app.deps, testOf(id), 'test')
  await dropPreviousSecret(app.deps, testOf(id), 'test')
  expect(actionsOf(app)).toEqual(['secret.rotated', 'secret.rotated', 'secret.dropped'])
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  for (const secret of [first, second, third]) {
    const encoded = secret.slice('whsec_'.length)
    expect(filesContaining(app.dir, encoded)).toEqual([])
    expect(filesContaining(app.dir, Buffer.from(encoded, 'base64'))).toEqual([])
    expect(app.logs.join()).not.toContain(encoded)
  }
})

const actionsOf = (app: TestApp): string[] => actionsIn(app).filter(action => action.startsWith('secret.'))
