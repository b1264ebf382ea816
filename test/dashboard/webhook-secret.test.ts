// The webhook secret in the dashboard, and the signatures that the delivery log can still show.
import { afterAll, describe, expect, test } from 'bun:test'
import type {
  DeliveryDetail,
  DeliveryPage,
  WebhookSecret,
  WebhookSecretState,
} from '../../src/dashboard/developers/webhooks/schema.ts'
import type { AuditRecord } from '../../src/dashboard/settings/audit/schema.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { cleanUp, type TestApp } from '../helpers/app.ts'
import { type Browser, outcome, setUpOwner } from '../helpers/dashboard.ts'
import { filesContaining } from '../helpers/files.ts'
import { type Receiver, receive, startAppFor, untilAttempted, verified } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const FORGED: Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { 'x-csrf-token': '' },
  { 'sec-fetch-site': 'cross-site' },
]
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Place = { app: TestApp; boss: Browser; receiver: Receiver; key: string; secret: string; at: string }

async function place(): Promise<Place> {
  const receiver = receive()
  const app = await startAppFor([receiver])
  const { tenant, webhookSecret } = await createTenant(app.deps, { name: 'Shop' }, 'test')
  const key = await app.key(tenant.id)
  return { app, receiver, key, secret: webhookSecret, boss: await setUpOwner(app), at: `/tenants/${tenant.id}/webhook-secret` }
}

const stateOf = async ({ boss, at }: Place) => (await boss.get<WebhookSecretState>(`${at}?environment=test`)).body

async function rotate({ boss, at }: Place): Promise<WebhookSecret> {
  const answer = await boss.post<WebhookSecret>(`${at}/rotate?environment=test`)
  expect(answer.status).toBe(200)
  return answer.body
}

/** Advances the clock, and logs in again. */
async function later({ app, boss }: Place, ms: number): Promise<void> {
  app.clock.advance(ms)
  await boss.logIn('olivia')
}

/** The id of a delivery that was just sent. */
async function send({ app, key, receiver, boss, at }: Place): Promise<string> {
  const { verification } = await verifyWith(app, key, 'adult', { body: { webhook_url: receiver.url() } })
  await untilAttempted(app, verification.id, 1)
  const path = at.replace('webhook-secret', `deliveries?environment=test&verification=${verification.id}`)
  return (await boss.get<DeliveryPage>(path)).body.data[0]?.id ?? ''
}

const detailOf = async ({ boss, at }: Place, id: string) =>
  (await boss.get<DeliveryDetail>(at.replace('webhook-secret', `deliveries/${id}?environment=test`))).body

const recordsOf = async ({ boss, at }: Place) =>
  (await boss.get<{ data: AuditRecord[] }>(at.replace('webhook-secret', 'audit?limit=100'))).body.data
    .filter(({ action }) => action.startsWith('secret.'))
    .map(({ action, actor }) => `${action} ${actor}`)
    .reverse()

/** Deliveries before a rotation, in its 24 hours, and after them. */
async function sentAroundRotation() {
  const here = await place()
  await later(here, 1000)
  const before = await send(here)
  await later(here, 1000)
  await rotate(here)
  await later(here, 1000)
  const during = await send(here)
  await later(here, DAY_MS)
  return { here, before, during, after: await send(here) }
}

const signaturesIn = (header = '') => header.split(',').filter(part => part.startsWith('v1='))

describe('the secret', () => {
  test('the secret is in no GET response, and revealing it leaves an audit record', async () => {
    const here = await place()
    const state = { created_at: '2026-03-04T12:00:00.000Z', previous_valid_until: null }
    expect(await stateOf(here)).toEqual(state)
    expect(await recordsOf(here)).toEqual([])
    const revealed = await here.boss.post<WebhookSecret>(`${here.at}/reveal?environment=test`)
    expect(revealed.body).toEqual({ webhook_secret: here.secret, ...state })
    expect(revealed.headers.get('cache-control')).toContain('no-store')
    expect(await recordsOf(here)).toEqual(['secret.revealed dashboard:olivia'])
    await here.app.stop()
    expect(here.app.logs.filter(line => line.includes(here.secret))).toEqual([])
    expect(filesContaining(here.app.dir, here.secret)).toEqual([])
  })

  test.each(['reveal', 'rotate', 'drop-previous'])('%s refuses a forged request and changes nothing', async act => {
    const here = await place()
    const { webhook_secret } = await rotate(here)
    const before = await stateOf(here)
    for (const headers of FORGED) {
      const answer = await here.boss.post(`${here.at}/${act}?environment=test`, {}, { headers })
      expect(outcome(answer)).toBe('403 csrf_refused')
      expect(answer.text).not.toContain('whsec_')
    }
    expect(await stateOf(here)).toEqual(before)
    expect(await recordsOf(here)).toEqual(['secret.rotated dashboard:olivia'])
    const revealed = await here.boss.post<WebhookSecret>(`${here.at}/reveal?environment=test`)
    expect(revealed.body.webhook_secret).toBe(webhook_secret)
  })

  test('a rotation shows the new secret once; both sign for 24 hours, to the millisecond', async () => {
    const here = await place()
    await later(here, HOUR_MS)
    const { webhook_secret, ...state } = await rotate(here)
    expect(state).toEqual({ created_at: '2026-03-04T13:00:00.000Z', previous_valid_until: '2026-03-05T13:00:00.000Z' })
    expect(webhook_secret).not.toBe(here.secret)
    expect(await stateOf(here)).toEqual(state)
    await later(here, DAY_MS - 1)
    expect(await stateOf(here)).toEqual(state)
    await send(here)
    expect(signaturesIn(here.receiver.received[0]?.headers['x-service-signature'])).toHaveLength(2)
    for (const secret of [here.secret, webhook_secret]) await verified(here.receiver.received[0]!, secret, here.app.clock.now())
    await later(here, 1)
    expect(await stateOf(here)).toEqual({ ...state, previous_valid_until: null })
    await send(here)
    expect(signaturesIn(here.receiver.received[1]?.headers['x-service-signature'])).toHaveLength(1)
    await verified(here.receiver.received[1]!, webhook_secret, here.app.clock.now())
    expect(await recordsOf(here)).toEqual(['secret.rotated dashboard:olivia'])
  })

  test('the previous secret can be dropped at once, and a repeat changes nothing', async () => {
    const here = await place()
    await later(here, 1000)
    const { webhook_secret, created_at } = await rotate(here)
    for (let i = 0; i < 2; i++) {
      const dropped = await here.boss.post<WebhookSecretState>(`${here.at}/drop-previous?environment=test`)
      expect(dropped.body).toEqual({ created_at, previous_valid_until: null })
    }
    expect(await stateOf(here)).toEqual({ created_at, previous_valid_until: null })
    await later(here, 1000)
    await send(here)
    expect(signaturesIn(here.receiver.received[0]?.headers['x-service-signature'])).toHaveLength(1)
    await verified(here.receiver.received[0]!, webhook_secret, here.app.clock.now())
    expect(await recordsOf(here)).toEqual(['secret.rotated dashboard:olivia', 'secret.dropped dashboard:olivia'])
  })
})

describe('the signature in the log', () => {
  const signatureOf = ({ message }: DeliveryDetail) => ({
    header: message?.headers['x-service-signature'],
    standard: message?.headers['webhook-signature'],
    gone: message?.secret_gone,
  })
  const received = ({ receiver }: Place, i: number) => ({
    header: receiver.received[i]?.headers['x-service-signature'],
    standard: receiver.received[i]?.headers['webhook-signature'],
    gone: false,
  })
  const GONE = { header: undefined, standard: undefined, gone: true }

  test('the log shows the signatures that were sent, while the secrets of that time are stored', async () => {
    const { here, before, during, after } = await sentAroundRotation()
    expect(signaturesIn(signatureOf(await detailOf(here, during)).header)).toHaveLength(2)
    for (const [i, id] of [before, during, after].entries())
      expect(signatureOf(await detailOf(here, id))).toEqual(received(here, i))
  })

  test('the log omits signatures once a secret of that time was dropped, and says so', async () => {
    const { here, before, during, after } = await sentAroundRotation()
    await here.boss.post(`${here.at}/drop-previous?environment=test`)
    expect(signatureOf(await detailOf(here, before))).toEqual(GONE)
    expect(signatureOf(await detailOf(here, during))).toEqual(GONE)
    expect(signatureOf(await detailOf(here, after))).toEqual(received(here, 2))
    for (const [i, id] of [before, during, after].entries())
      expect((await detailOf(here, id)).message.body).toBe(here.receiver.received[i]?.body ?? '')
  })

  test('the log omits signatures once the next rotation deleted a secret of that time', async () => {
    const here = await place()
    await later(here, 1000)
    await rotate(here)
    await later(here, 1000)
    const during = await send(here)
    expect(signatureOf(await detailOf(here, during))).toEqual(received(here, 0))
    await later(here, 1000)
    await rotate(here)
    expect(signatureOf(await detailOf(here, during))).toEqual(GONE)
  })
})
