// A process that is killed leaves its files as they are at that moment. So they are copied before and after every statement that
// writes, and a service is started on each copy that differs: nothing is half done, and whoever asks again gets what is theirs.
import { expect } from 'bun:test'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { phoneOf } from '../../../scripts/persona-phone.ts'
import { createKey, revokeKey } from '../../../src/access/keys.ts'
import { removeClient } from '../../../src/oidc/clients.ts'
import type { NewClient } from '../../../src/oidc/schema.ts'
import { decline } from '../../../src/sandbox/wallet/wallet.ts'
import { rotateWebhookSecret } from '../../../src/tenants/webhook-secret.ts'
import { sweepExpired } from '../../../src/verifications/end/expire.ts'
import { sweepHeld } from '../../../src/verifications/end/release.ts'
import { checkInvariants } from '../../invariants/check.ts'
import { type Answer, createVerification, startApp, type TestApp, temporaryDir, until } from '../app.ts'
import { rowsOf } from '../database.ts'
import { enroll, pair, refresh, register } from '../devices.ts'
import { codeIn, formOf, openSession, type Party, postTo } from '../exchange.ts'
import { answerOf, eventsOf, hasEntry, pass, readOf, readPhone, scan } from '../in-person.ts'
import {
  answerIn,
  answerLogin,
  type Begun,
  begin,
  comeBack,
  exchange,
  logIn,
  makeClient,
  openBrowser,
  userinfo,
} from '../oidc.ts'
import { logOf, receive, startAppFor } from '../receiver.ts'
import { holderOf } from '../wallet.ts'
import { watchWrites } from './watch-writes.ts'

const DATABASE = ['vidimus.db', 'vidimus.db-wal', 'backups/erasures.log']

export type Shop = Party & { id: string }
type Killed = { name: string; dir: string }

export type Act = {
  name: string
  start?: () => Promise<TestApp>
  /** Makes what is needed, and gives what is killed and how it is asked again; that must answer one of these. */
  prepare: (shop: Shop) => Promise<{ act: () => Promise<unknown>; again: (shop: Shop) => Promise<unknown> }>
}

/** Runs the act once, and copies the directory at each moment at which a kill would leave it different. */
export async function killWithin({ prepare, start = startApp }: Act, before: (shop: Shop) => Promise<unknown> = async () => {}) {
  let tell = (_: string) => {}
  const unwatch = watchWrites(point => tell(point))
  const app = await start()
  const { id, key } = await app.tenant()
  const shop = { app, id, key }
  await before(shop)
  const { act, again } = await prepare(shop)
  const killed: Killed[] = []
  const points: string[] = []
  let last = ''
  tell = point => {
    points.push(point)
    const state = DATABASE.map(name => contentOf(join(app.dir, name))).join()
    if (state === last) return
    last = state
    const dir = temporaryDir()
    cpSync(app.dir, dir, { recursive: true, filter: path => !/-shm$|\.lock$|ballast$/.test(path) })
    killed.push({ name: point, dir })
  }
  await act()
  tell = () => {}
  unwatch()
  await app.stop()
  return { shop, killed, again, points, now: app.clock.now() }
}

const contentOf = (file: string) => (existsSync(file) ? Bun.hash(readFileSync(file)) : 0n)

/** A service on what the kill left is sound, before and after it was asked again. */
export async function expectWhole(act: Act, { shop, again, now }: Awaited<ReturnType<typeof killWithin>>, { name, dir }: Killed) {
  const options = { dir, now: now + 1 }
  const app = await (act.start ? startAppFor([receiver], options) : startApp(options))
  expect([name, (await checkInvariants(dir)).violations]).toEqual([name, []])
  await again({ ...shop, app })
  expect([name, (await checkInvariants(dir)).violations]).toEqual([name, []])
  await app.stop()
}

const expectOneOf = (answer: Answer, statuses: number[]) => expect(statuses).toContain(answer.status)

const receiver = receive()
const HOOK = { webhook_url: receiver.url() }
const startSending = () => startAppFor([receiver], { config: { webhookDelaysMs: [0, 60_000] } })

export const ACTS: Act[] = [
  {
    name: 'a creation',
    async prepare(shop) {
      const create = ({ app, key }: Shop) =>
        app.call<{ id: string }>('POST', '/v1/verifications', {
          key,
          body: { template: 'age_over_18', purpose: 'to sell a bottle', ...HOOK },
          headers: { 'idempotency-key': 'one' },
        })
      return {
        act: () => create(shop),
        async again(later) {
          expectOneOf(await create(later), [201])
          const { body } = await later.app.call<{ verifications_created: number }>('GET', '/v1/usage', { key: later.key })
          expect(body.verifications_created).toBe(1)
        },
      }
    },
  },
  {
    name: 'the fetch of a request',
    async prepare(shop) {
      const { id } = await createVerification(shop.app, shop.key)
      const fetchIt = ({ app }: Shop) => app.call('GET', `/wallet/request/${id}`)
      return { act: () => fetchIt(shop), again: async later => expectOneOf(await fetchIt(later), [200]) }
    },
  },
  {
    name: 'an answer of a wallet',
    async prepare(shop) {
      const session = await openSession(shop, { ...HOOK, redirect_url: 'https://shop.example/done' })
      const form = await formOf(session, await holderOf(shop.app))
      return {
        act: () => postTo(session, form),
        async again({ app, key }) {
          expectOneOf(await postTo({ ...session, app }, form), [200, 409])
          const { body } = await app.call<{ status: string; claims: object }>('GET', `/v1/verifications/${session.created.id}`, {
            key,
          })
          expect([body.status, body.claims]).toEqual(['completed', { age_over_18: true }])
          expect(logOf(app, session.created.id).deliveries).toHaveLength(1)
        },
      }
    },
  },
  {
    name: 'a delivery',
    start: startSending,
    async prepare(shop) {
      const session = await openSession(shop, HOOK)
      const { form } = await decline(session.request)
      const { id } = session.created
      const isDelivered = (app: TestApp) => logOf(app, id).delivery?.status === 'delivered'
      return {
        async act() {
          await postTo(session, form)
          await until(async () => isDelivered(shop.app))
        },
        async again({ app }) {
          await postTo({ ...session, app }, form)
          await until(async () => {
            app.clock.advance(1000)
            return isDelivered(app)
          })
          expect(receiver.received.filter(({ body }) => body.includes(id)).length).toBeGreaterThan(0)
        },
      }
    },
  },
  {
    name: 'the scan of a phone',
    async prepare(shop) {
      const { id } = await createVerification(shop.app, shop.key)
      const { code } = await phoneOf(await holderOf(shop.app))
      let told: string
      return {
        async act() {
          told = (await scan(shop, id, code)).body.message
        },
        async again(later) {
          const wasKept = hasEntry(later.app, id)
          const { status, body } = await scan(later, id, code)
          expect([status, eventsOf(later.app, id)]).toEqual([200, ['in_person_requested']])
          // One key never encrypts two texts.
          expect(body.message === told).toBe(wasKept)
        },
      }
    },
  },
  {
    name: 'an answer of a phone that was read in person',
    async prepare(shop) {
      const { id, answer } = await readPhone(shop, await holderOf(shop.app), HOOK)
      return {
        act: () => pass(shop, id, answer),
        async again(later) {
          expectOneOf(await pass(later, id, answer), [200, 409])
          expect(await readOf(later, id)).toMatchObject({ status: 'completed', claims: { age_over_18: true } })
          expect(hasEntry(later.app, id)).toBe(false)
          expect(logOf(later.app, id).deliveries).toHaveLength(1)
        },
      }
    },
  },
  {
    name: 'the refusal of a phone',
    async prepare(shop) {
      const { id, answer } = await readPhone(shop, await holderOf(shop.app, 'declines'))
      return {
        act: () => pass(shop, id, answer),
        async again(later) {
          const wasKept = hasEntry(later.app, id)
          expectOneOf(await pass(later, id, answer), [wasKept ? 200 : 400])
          expect(eventsOf(later.app, id).filter(event => event === 'in_person_error')).toHaveLength(1)
          // A phone is scanned anew.
          const { answer: other } = await answerOf(later, id, await holderOf(later.app))
          expectOneOf(await pass(later, id, other), [200])
        },
      }
    },
  },
  {
    name: 'the beginning of a log-in',
    async prepare(shop) {
      const party = await clientOf(shop)
      return {
        act: () => begin(party),
        async again(later) {
          const { answer, tokens } = await logIn({ ...party, app: later.app })
          expect([answer.error, tokens.status]).toEqual([undefined, 200])
          // Each has its verification.
          const alone = `SELECT 1 FROM verification_sessions AS s WHERE NOT EXISTS (SELECT 1 FROM oidc_logins WHERE verification_id = s.id)`
          expect(rowsOf(later.app, alone)).toEqual([])
        },
      }
    },
  },
  {
    name: 'the return of a log-in',
    async prepare(shop) {
      const party = await clientOf(shop)
      const begun = await begin(party)
      const response = await answerLogin(party, begun)
      return {
        act: () => comeBack(begun, response),
        async again({ app }) {
          const answer = await comeBack(at(app, begun), response)
          // Its code was lost with the answer.
          if (answer.status === 400) return expect(stepsOf(app, begun.id)).toEqual(['login_returned', 'code_issued'])
          const { code } = answerIn(answer.body.location)
          expectOneOf(await exchange({ ...party, app }, { code, verifier: begun.verifier }), [200])
        },
      }
    },
  },
  {
    name: 'the return of a log-in whose answer was held',
    async prepare(shop) {
      const party = await clientOf(shop, { cross_device: 'refused' })
      const begun = await begin(party)
      const response = await answerLogin(party, begun)
      return {
        act: () => comeBack(begun, response),
        async again({ app, key }) {
          const { status } = await comeBack(at(app, begun), response)
          expect([200, 400]).toContain(status)
          expect((await readOf({ app, key }, begun.id)).status).toBe('completed')
          expect(stepsOf(app, begun.id)).toEqual(['login_returned', 'code_issued'])
        },
      }
    },
  },
  {
    name: 'the end of a log-in that the customer gave up',
    async prepare(shop) {
      const begun = await begin(await clientOf(shop))
      return {
        act: () => comeBack(begun),
        async again({ app, key }) {
          const { status, body } = await comeBack(at(app, begun))
          expect(status === 200 ? answerIn(body.location).error : status).toBeOneOf(['access_denied', 400])
          expect((await readOf({ app, key }, begun.id)).error?.code).toBe('cancelled')
          expect(stepsOf(app, begun.id)).toEqual(['login_refused'])
        },
      }
    },
  },
  {
    name: 'the exchange of a code for tokens',
    async prepare(shop) {
      const party = await clientOf(shop)
      const begun = await begin(party)
      const { code } = answerIn((await comeBack(begun, await answerLogin(party, begun))).body.location)
      const trade = (app: TestApp) => exchange({ ...party, app }, { code, verifier: begun.verifier })
      return {
        act: () => trade(shop.app),
        async again({ app }) {
          const wasIssued = stepsOf(app, begun.id).includes('token_issued')
          const { status, body } = await trade(app)
          expect(status).toBe(wasIssued ? 400 : 200)
          if (status === 200) expectOneOf(await userinfo({ ...party, app }, body.access_token), [200])
          expectOneOf(await trade(app), [400])
        },
      }
    },
  },
  {
    name: 'the removal of a client',
    async prepare(shop) {
      const party = await clientOf(shop)
      const { tokens } = await logIn(party)
      const remove = ({ deps }: TestApp) => removeClient(deps, party.client.id, 'test')
      return {
        act: () => remove(shop.app),
        async again({ app }) {
          await remove(app).catch(({ code }) => expect(code).toBe('client_not_found'))
          expectOneOf(await userinfo({ ...party, app }, tokens.body.access_token), [401])
        },
      }
    },
  },
  {
    name: 'a redemption',
    async prepare(shop) {
      const session = await openSession(shop, { redirect_url: 'https://shop.example/done' })
      const { body } = await postTo(session, (await decline(session.request)).form)
      const response_code = codeIn(body)
      const redeem = ({ app, key }: Shop) =>
        app.call('POST', `/v1/verifications/${session.created.id}/redeem`, { key, body: { response_code } })
      return {
        act: () => redeem(shop),
        async again(later) {
          expectOneOf(await redeem(later), [200, 404])
          expectOneOf(await redeem(later), [404])
        },
      }
    },
  },
  {
    name: 'a cancellation',
    async prepare(shop) {
      const { id } = await createVerification(shop.app, shop.key, HOOK)
      const cancel = ({ app, key }: Shop) => app.call('POST', `/v1/verifications/${id}/cancel`, { key })
      return {
        act: () => cancel(shop),
        async again(later) {
          expectOneOf(await cancel(later), [200])
          expect(logOf(later.app, id).deliveries).toHaveLength(1)
        },
      }
    },
  },
  {
    name: 'a redemption that releases a held answer',
    async prepare(shop) {
      const held = await holdAnswer(shop)
      const redeem = ({ app, key }: Shop) => app.call('POST', `${held.path}/redeem`, { key, body: { response_code: held.code } })
      return {
        act: () => redeem(shop),
        async again(later) {
          expectOneOf(await redeem(later), [200, 404])
          const { body } = await later.app.call<{ status: string; claims: object }>('GET', held.path, { key: later.key })
          expect([body.status, body.claims]).toEqual(['completed', { age_over_18: true }])
          expect(logOf(later.app, held.id).deliveries).toHaveLength(1)
        },
      }
    },
  },
  {
    name: 'a comparison that completes a held answer',
    async prepare(shop) {
      const till = await pair(shop.app, shop.key, { allowed_templates: ['age_over_18_photo'] })
      const session = await openSession({ ...shop, key: till.access_token }, { template: 'age_over_18_photo' })
      await postTo(session, await formOf(session, await holderOf(shop.app)))
      const path = `/v1/verifications/${session.created.id}`
      const compare = ({ app }: Shop) =>
        app.call('POST', `${path}/comparison`, { key: till.access_token, body: { same_person: true } })
      return {
        act: () => compare(shop),
        async again(later) {
          expectOneOf(await compare(later), [200, 409])
          const { body } = await later.app.call<{ status: string; claims: object }>('GET', path, { key: later.key })
          expect([body.status, body.claims]).toEqual(['completed', { age_over_18: true }])
        },
      }
    },
  },
  {
    name: 'the sweep of a held answer that nobody redeemed',
    async prepare(shop) {
      const held = await holdAnswer(shop)
      shop.app.clock.advance(600_000)
      return {
        act: () => sweepHeld(shop.app.deps),
        async again({ app, key }) {
          app.clock.set(Math.max(app.clock.now(), shop.app.clock.now()))
          await sweepHeld(app.deps)
          const { body } = await app.call<{ status: string; error: { code: string } }>('GET', held.path, { key })
          expect([body.status, body.error.code]).toEqual(['failed', 'redirect_not_followed'])
          expect(logOf(app, held.id).deliveries).toHaveLength(1)
        },
      }
    },
  },
  {
    name: 'an erasure',
    async prepare(shop) {
      const session = await openSession(shop, HOOK)
      await postTo(session, (await decline(session.request)).form)
      const path = `/v1/verifications/${session.created.id}`
      const erase = ({ app, key }: Shop) => app.call('DELETE', path, { key })
      return {
        act: () => erase(shop),
        async again(later) {
          expectOneOf(await erase(later), [200, 404])
          expectOneOf(await later.app.call('GET', path, { key: later.key }), [404])
        },
      }
    },
  },
  {
    name: 'a sweep of what has expired',
    async prepare(shop) {
      const { id } = await createVerification(shop.app, shop.key)
      shop.app.clock.advance(3_600_000)
      return {
        act: () => sweepExpired(shop.app.deps),
        async again({ app }) {
          await sweepExpired(app.deps)
          expect((await app.call<{ status: string }>('GET', `/v1/verifications/${id}/status`)).body.status).toBe('expired')
        },
      }
    },
  },
  {
    name: 'a registration of a device',
    prepare: async shop => ({
      act: () => register(shop.app, shop.key),
      again: ({ app, key }) => register(app, key),
    }),
  },
  {
    name: 'an enrolment',
    async prepare(shop) {
      const { pairing_code } = await register(shop.app, shop.key)
      const claim = ({ app }: Shop) => enroll(app, pairing_code, 'one')
      return { act: () => claim(shop), again: async later => expectOneOf(await claim(later), [200]) }
    },
  },
  {
    name: 'a rotation of tokens',
    async prepare(shop) {
      const { refresh_token } = await pair(shop.app, shop.key)
      const rotate = ({ app }: Shop) => refresh(app, refresh_token, 'one')
      return {
        act: () => rotate(shop),
        async again(later) {
          const { status, body } = await rotate(later)
          expect(status).toBe(200)
          expectOneOf(await later.app.call('GET', '/v1/usage', { key: body.access_token }), [200])
        },
      }
    },
  },
  {
    name: 'the reuse of a spent token',
    async prepare(shop) {
      const { refresh_token, access_token } = await pair(shop.app, shop.key)
      await refresh(shop.app, refresh_token)
      return {
        act: () => refresh(shop.app, refresh_token),
        async again({ app }) {
          expectOneOf(await refresh(app, refresh_token), [400])
          expectOneOf(await app.call('GET', '/v1/usage', { key: access_token }), [401])
        },
      }
    },
  },
  {
    name: 'a revocation of a device',
    async prepare(shop) {
      const { device, access_token } = await pair(shop.app, shop.key)
      const revoke = ({ app, key }: Shop) => app.call('DELETE', `/v1/devices/${device.id}`, { key })
      return {
        act: () => revoke(shop),
        async again(later) {
          expectOneOf(await revoke(later), [200])
          expectOneOf(await later.app.call('GET', '/v1/usage', { key: access_token }), [401])
        },
      }
    },
  },
  {
    name: 'a revocation of a key',
    async prepare(shop) {
      const scopes = ['verifications:read'] as const
      const made = { tenantId: shop.id, environment: 'test', scopes, actor: 'test' } as const
      const { row, key } = await createKey(shop.app.deps, made)
      return {
        act: () => revokeKey(shop.app.deps, row.id, 'test'),
        async again({ app }) {
          await revokeKey(app.deps, row.id, 'test')
          expectOneOf(await app.call('GET', '/v1/usage', { key }), [401])
        },
      }
    },
  },
  {
    name: 'a rotation of the webhook secret',
    prepare: async shop => ({
      act: () => rotateWebhookSecret(shop.app.deps, { tenantId: shop.id, environment: 'test' }, 'test'),
      again: ({ app, id }) => rotateWebhookSecret(app.deps, { tenantId: id, environment: 'test' }, 'test'),
    }),
  },
]

/** A good answer that waits for its code. */
async function holdAnswer(shop: Shop): Promise<{ id: string; path: string; code: string }> {
  const session = await openSession(shop, { ...HOOK, redirect_url: 'https://shop.example/done', release: 'on_redeem' })
  const { body } = await postTo(session, await formOf(session, await holderOf(shop.app)))
  const { id } = session.created
  const code = codeIn(body)
  return { id, path: `/v1/verifications/${id}`, code }
}

const clientOf = ({ app, id }: Shop, settings?: Partial<NewClient>) => makeClient({ app, tenant: id }, settings)

/** The same browser finds the service that was started again. */
const at = (app: TestApp, { browser, returnPath }: Begun): Pick<Begun, 'browser' | 'returnPath'> => {
  const moved = openBrowser(app)
  for (const [name, kept] of browser.jar) moved.jar.set(name, kept)
  return { browser: moved, returnPath }
}

/** After its beginning. */
const stepsOf = (app: TestApp, id: string): string[] => eventsOf(app, id).filter(event => /^(login_re|code_|token_)/.test(event))
