// Verbs that read before they write, on two connections: the second act comes between the read and the write of the first.
import { expect } from 'bun:test'
import { rollKey } from '../../src/access/keys.ts'
import { listKeys } from '../../src/access/store.ts'
import { refreshDevice } from '../../src/devices/refresh.ts'
import { registerDevice } from '../../src/devices/register.ts'
import { revokeDevice } from '../../src/devices/revoke.ts'
import { admitGuess, recordWrongGuess } from '../../src/guesses/pairing.ts'
import { beginSession, changePassword } from '../../src/people/log-in/login.ts'
import type { Passwords } from '../../src/people/log-in/passwords.ts'
import { admitAttempt } from '../../src/people/log-in/throttle.ts'
import type { Visit } from '../../src/people/session.ts'
import { findUserByName } from '../../src/people/store.ts'
import { rotateWebhookSecret } from '../../src/tenants/webhook-secret.ts'
import { cancelVerification } from '../../src/verifications/end/cancel.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { eraseVerification } from '../../src/verifications/erasure/erase.ts'
import { readEvents, recordShown } from '../../src/verifications/timeline.ts'
import { createVerification, startApp, type TestApp } from '../helpers/app.ts'
import { FIRST_CHANGE, inTheMiddle } from '../helpers/barrier.ts'
import { startOwned } from '../helpers/dashboard.ts'
import { rowsOf } from '../helpers/database.ts'
import { pair, TILL } from '../helpers/devices.ts'
import { postgresOnly } from '../helpers/engines.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const onPostgres = postgresOnly('SQLite has one writer')

const BY = { actor: 'test', requestId: 'req_1' }

async function startShop(options?: Parameters<typeof startApp>[0]) {
  const app = await startApp(options)
  const { id: tenantId, key } = await app.tenant()
  return { app, key, owner: { tenantId, environment: 'test' as const } }
}

const statusOf = (app: TestApp, id: string) =>
  rowsOf<{ status: string }>(app, 'SELECT status FROM verification_sessions WHERE id = ?', id)[0]?.status

onPostgres('a sweep in the middle of a cancellation leaves the session as it was cancelled', async () => {
  const { app, key, owner } = await startShop()
  const { id } = await createVerification(app, key, { ttl_seconds: 60 })
  const later = app.clock.now() + 61_000
  await inTheMiddle(
    app,
    deps => cancelVerification(deps, owner, id, BY),
    deps => sweepExpired({ ...deps, now: () => later }),
  )
  expect(statusOf(app, id)).toBe('failed')
})

onPostgres('of two erasures, one in the middle of the other, one finds nothing', async () => {
  const { app, key, owner } = await startShop()
  const { id } = await createVerification(app, key)
  const erase = (deps: TestApp['deps']) => eraseVerification(deps, owner, 'test', id)
  const [one, two] = await inTheMiddle(app, erase, erase)
  expect(one).toMatchObject({ deleted: { verification_sessions: 1 } })
  expect(two).toBe('refused: session_not_found')
})

onPostgres('an erasure in the middle of a cancellation leaves nothing of the session', async () => {
  const { app, key, owner } = await startShop()
  const { id } = await createVerification(app, key)
  const [, erased] = await inTheMiddle(
    app,
    deps => cancelVerification(deps, owner, id, BY),
    deps => eraseVerification(deps, owner, 'test', id),
  )
  expect(erased).toMatchObject({ deleted: { verification_sessions: 1 } })
  for (const table of ['verification_results', 'verification_events', 'webhook_deliveries'])
    expect([table, rowsOf(app, `SELECT 1 FROM ${table} WHERE verification_id = ?`, id)]).toEqual([table, []])
})

onPostgres('a revocation in the middle of a refresh ends both tokens, and neither act deadlocks', async () => {
  const { app, key, owner } = await startShop()
  const { device, refresh_token } = await pair(app, key)
  const [, revoked] = await inTheMiddle(
    app,
    deps => refreshDevice(deps, { client: '192.0.2.1', token: refresh_token, idempotencyKey: undefined }),
    deps => revokeDevice(deps, owner, device.id, 'test'),
    // Its token is spent by then.
    { before: /^update "devices"/i },
  )
  expect(revoked).toMatchObject({ id: device.id })
  expect(await app.deps.metrics.render()).not.toContain('code="40P01"')
  expect(rowsOf(app, 'SELECT 1 FROM device_tokens WHERE revoked_at IS NULL AND device_id = ?', device.id)).toEqual([])
})

onPostgres('a refresh in the middle of a revocation gets no new pair', async () => {
  const { app, key, owner } = await startShop()
  const { device, refresh_token } = await pair(app, key)
  const [, refreshed] = await inTheMiddle(
    app,
    deps => revokeDevice(deps, owner, device.id, 'test'),
    deps => refreshDevice(deps, { client: '192.0.2.1', token: refresh_token, idempotencyKey: undefined }),
  )
  expect(refreshed).toBe('refused: invalid_refresh_token')
  expect(rowsOf(app, 'SELECT 1 FROM device_tokens WHERE revoked_at IS NULL AND device_id = ?', device.id)).toEqual([])
})

onPostgres('two registrations, one in the middle of the other, have different times', async () => {
  const { app, owner } = await startShop()
  const register = (deps: TestApp['deps']) => registerDevice(deps, owner, TILL, 'test')
  await inTheMiddle(app, register, register, { before: FIRST_CHANGE })
  const times = rowsOf<{ created_at: number }>(app, 'SELECT DISTINCT created_at FROM devices')
  expect(times).toHaveLength(2)
})

onPostgres('two wrong guesses, one in the middle of the other, are both counted', async () => {
  const { app } = await startShop({ rateLimitScale: 1 })
  const guess = (deps: TestApp['deps']) => deps.write(tx => recordWrongGuess(deps, tx, '192.0.2.1'))
  await guess(app.deps)
  await inTheMiddle(app, guess, guess, { before: /^update/i })
  const [row] = rowsOf<{ failed_at: string }>(app, 'SELECT failed_at FROM pairing_guesses')
  expect(JSON.parse(row!.failed_at)).toHaveLength(3)
})

onPostgres('the 20th wrong guess locks a network out, though it comes in the middle of the 19th', async () => {
  const { app } = await startShop({ rateLimitScale: 1 })
  const client = '192.0.2.1'
  const guess = (deps: TestApp['deps']) => deps.write(tx => recordWrongGuess(deps, tx, client))
  for (let i = 0; i < 18; i++) await guess(app.deps)
  await inTheMiddle(app, guess, guess, { before: /^update/i })
  expect(await admitGuess(app.deps, client).catch(error => error.code)).toBe('rate_limit_exceeded')
})

onPostgres('of two log-ins, one in the middle of the other, one has to wait when only one attempt is left', async () => {
  const { app } = await startShop({ rateLimitScale: 1 })
  const attempt = async (deps: TestApp['deps']) => {
    const { count } = await admitAttempt(deps, { account: 'anna', user: undefined, client: '192.0.2.1' })
    await count()
    return 'admitted'
  }
  // The third wrong password is the first one with a wait after it.
  for (let i = 0; i < 2; i++) await attempt(app.deps)
  expect(await inTheMiddle(app, attempt, attempt)).toEqual(['admitted', 'refused: rate_limit_exceeded'])
})

onPostgres('a password that is changed in the middle of a log-in ends its session', async () => {
  const { app } = await startOwned()
  const user = (await findUserByName(app.deps.db, 'olivia'))!
  const browser = { client: '192.0.2.1', address: '192.0.2.1', agent: null, origin: null, cookies: null }
  const passwords = { hash: async () => 'another', verify: async () => true } as unknown as Passwords
  const visit = { user, session: { id: 'ses_open' } } as Visit
  const [begun] = await inTheMiddle(
    app,
    deps => beginSession(deps, user, browser, { method: 'password' }),
    deps => changePassword(deps, passwords, visit, { password: 'old', new_password: 'tall-ship-7-lanterns' }, browser),
  )
  expect(begun).toMatchObject({ user: { id: user.id } })
  // That of the browser that changed it.
  expect(rowsOf(app, 'SELECT 1 FROM dashboard_sessions WHERE user_id = ?', user.id)).toHaveLength(1)
})

onPostgres('a key that is rolled in the middle of its rolling has one successor', async () => {
  const { app, owner } = await startShop()
  const before = await listKeys(app.deps.db, owner.tenantId)
  const roll = (deps: TestApp['deps']) => rollKey(deps, before[0]!.id, '1h', 'test')
  await inTheMiddle(app, roll, roll, { before: FIRST_CHANGE })
  expect(await listKeys(app.deps.db, owner.tenantId)).toHaveLength(before.length + 1)
})

onPostgres('two rotations, one in the middle of the other, leave one current webhook secret', async () => {
  const { app, owner } = await startShop()
  const rotate = (deps: TestApp['deps']) => rotateWebhookSecret(deps, owner, 'test')
  await inTheMiddle(app, rotate, rotate, { before: /^insert into "webhook_secrets"/i })
  const current = rowsOf(app, "SELECT 1 FROM webhook_secrets WHERE valid_until IS NULL AND environment = 'test'")
  expect(current).toHaveLength(1)
})

onPostgres('an erasure in the middle of showing a page leaves no event of it', async () => {
  const { app, key, owner } = await startShop()
  const { id } = await createVerification(app, key)
  const [, erased] = await inTheMiddle(
    app,
    deps => recordShown(deps, { id, ...owner }),
    deps => eraseVerification(deps, owner, 'test', id),
    { before: FIRST_CHANGE },
  )
  expect(erased).toMatchObject({ deleted: { verification_sessions: 1 } })
  expect(rowsOf(app, 'SELECT 1 FROM verification_events WHERE verification_id = ?', id)).toEqual([])
})

onPostgres('an answer in the middle of showing a page comes after it in the timeline', async () => {
  const { app, key, owner } = await startShop()
  const { id, wallet_uri } = await createVerification(app, key)
  const holder = await holderOf(app)
  await inTheMiddle(
    app,
    deps => recordShown(deps, { id, ...owner }),
    () => answerWith(app, holder, wallet_uri ?? ''),
    { before: FIRST_CHANGE },
  )
  const events = await readEvents(app.deps, { id, ...owner })
  expect(events.map(({ event }) => event)).toEqual(['qr_shown', 'request_fetched', 'response_posted'])
})

onPostgres('a page that is shown twice at once leaves one event', async () => {
  const { app, key, owner } = await startShop()
  const { id } = await createVerification(app, key)
  const show = (deps: TestApp['deps']) => recordShown(deps, { id, ...owner })
  await inTheMiddle(app, show, show, { before: FIRST_CHANGE })
  expect(rowsOf(app, "SELECT 1 FROM verification_events WHERE event = 'qr_shown'")).toHaveLength(1)
})
