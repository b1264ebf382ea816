import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sweepSessions, type Visit } from '../../src/people/session.ts'
import { listUsers, type UserRow } from '../../src/people/store.ts'
import { inviteUser, removeUser } from '../../src/people/users.ts'
import { startApp, startWithTenant, type TestApp } from '../helpers/app.ts'
import {
  type Browser,
  joinMember,
  openBrowser,
  outcome,
  PASSWORD,
  setUpOwner,
  startOwned,
  tokenOf,
} from '../helpers/dashboard.ts'
import { askRoute, dashboardRoutes, nameOf, QUERY } from '../helpers/dashboard-routes.ts'
import { rowsOf } from '../helpers/database.ts'

setDefaultTimeout(60_000)

const MINUTE_MS = 60_000
const OTHER = 'gravel 7 umbrella north'

type Sessions = { data: { id: string; is_current: boolean; agent: string; last_seen_at: string }[] }

async function loggedIn(app: TestApp, name = 'olivia'): Promise<Browser> {
  const browser = openBrowser(app)
  expect((await browser.logIn(name)).status).toBe(200)
  return browser
}

describe('a session', () => {
  test('a session ends after half an hour without use, at the millisecond, and use prolongs it', async () => {
    const { app, boss: browser } = await startOwned()
    app.clock.advance(30 * MINUTE_MS - 1)
    expect((await browser.get('/session')).status).toBe(200)
    app.clock.advance(30 * MINUTE_MS - 1)
    expect((await browser.get('/tenants')).status).toBe(200)
    app.clock.advance(30 * MINUTE_MS)
    expect(outcome(await browser.get('/session'))).toBe('401 not_logged_in')
  })

  test('a session ends twelve hours after its beginning, at the millisecond, whatever its use', async () => {
    const { app, boss: browser } = await startOwned()
    for (let i = 0; i < 47; i++) {
      app.clock.advance(15 * MINUTE_MS)
      expect((await browser.get('/session')).status).toBe(200)
    }
    app.clock.advance(15 * MINUTE_MS - 1)
    expect((await browser.get('/session')).status).toBe(200)
    app.clock.advance(1)
    expect(outcome(await browser.get('/session'))).toBe('401 not_logged_in')
  })

  test('every log-in starts a new session, whatever cookie it brings', async () => {
    const { app, boss: first } = await startOwned()
    const browser = openBrowser(app)
    browser.state.cookie = `__Host-session=${'A'.repeat(43)}`
    expect(outcome(await browser.get('/session'))).toBe('401 not_logged_in')
    await browser.logIn('olivia')
    expect(browser.state.cookie).not.toContain('AAAA')
    expect(browser.state.cookie).not.toBe(first.state.cookie)
    expect(browser.state.csrf).not.toBe(first.state.csrf)
  })

  test('a session ends on the server when its user logs out, and the cookie is cleared', async () => {
    const { boss: browser } = await startOwned()
    const { cookie } = browser.state
    const answer = await browser.post('/logout')
    expect(answer.headers.get('set-cookie')).toBe('__Host-session=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0')
    browser.state.cookie = cookie
    expect(outcome(await browser.get('/session'))).toBe('401 not_logged_in')
  })

  test('a user has ten sessions at most: an eleventh log-in ends the oldest', async () => {
    const app = await startApp()
    const browsers = [await setUpOwner(app)]
    for (let i = 0; i < 10; i++) {
      app.clock.advance(1)
      browsers.push(await loggedIn(app))
    }
    expect(outcome(await browsers[0]!.get('/session'))).toBe('401 not_logged_in')
    const { data } = (await browsers[1]!.get<Sessions>('/sessions')).body
    expect(data).toHaveLength(10)
    expect(data.map(({ is_current }) => is_current)).toEqual([...Array(9).fill(false), true])
    expect(data[0]?.agent).toBe('Test browser/1.0')
  })

  test('a session can be ended from another one of the same user by its id, and by nobody else', async () => {
    const { app, boss, ...shop } = await startOwned()
    const mia = await joinMember(app, shop.id, 'mia')
    app.clock.advance(1)
    const second = await loggedIn(app)
    const { data } = (await second.get<Sessions>('/sessions')).body
    expect(data.map(({ is_current }) => is_current)).toEqual([true, false])
    const id = data[1]?.id ?? ''
    expect(outcome(await mia.delete(`/sessions/${id}`))).toBe('404 not_found')
    expect((await boss.get('/session')).status).toBe(200)
    expect((await second.delete(`/sessions/${id}`)).status).toBe(200)
    expect(outcome(await boss.get('/session'))).toBe('401 not_logged_in')
    expect(outcome(await second.delete(`/sessions/${id}`))).toBe('404 not_found')
    const thief = openBrowser(app)
    thief.state.cookie = `__Host-session=${id}`
    expect(outcome(await thief.get('/session'))).toBe('401 not_logged_in')
  })

  test('signing out everywhere ends all sessions of that user only', async () => {
    const { app, ...shop } = await startWithTenant()
    const mia = await joinMember(app, shop.id, 'mia')
    const browsers = [await setUpOwnerLater(app), await loggedIn(app), await loggedIn(app)]
    const answer = await browsers[1]!.delete('/sessions')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0')
    for (const browser of [browsers[0]!, browsers[2]!]) expect(outcome(await browser.get('/session'))).toBe('401 not_logged_in')
    expect((await mia.get('/session')).status).toBe(200)
  })

  test('a password change ends all sessions of the user, and this browser gets a new one', async () => {
    const app = await startApp()
    const [browser, other] = [await setUpOwner(app), await loggedIn(app)]
    const { cookie } = browser.state
    expect(outcome(await browser.post('/password', { password: 'wrong one', new_password: OTHER }))).toBe('401 login_failed')
    expect(outcome(await browser.post('/password', { password: PASSWORD, new_password: 'short' }))).toBe('400 password_refused')
    expect((await other.get('/session')).status).toBe(200)
    expect((await browser.post('/password', { password: PASSWORD, new_password: OTHER })).status).toBe(200)
    expect(browser.state.cookie).not.toBe(cookie)
    expect((await browser.get('/session')).status).toBe(200)
    expect((await browser.post('/logout')).status).toBe(200)
    expect(outcome(await other.get('/session'))).toBe('401 not_logged_in')
    const old = openBrowser(app)
    old.state.cookie = cookie
    expect(outcome(await old.get('/session'))).toBe('401 not_logged_in')
    expect(outcome(await openBrowser(app).logIn('olivia'))).toBe('401 login_failed')
    expect((await openBrowser(app).logIn('olivia', OTHER)).status).toBe(200)
  })

  test('removing a user ends their sessions and log-in; users cannot remove themselves', async () => {
    const { app, boss, ...shop } = await startOwned()
    const mia = await joinMember(app, shop.id, 'mia')
    const ids = (await boss.get<{ data: { id: string; name: string }[] }>('/users')).body.data
    const idOf = (name: string) => ids.find(user => user.name === name)?.id ?? ''
    expect(outcome(await boss.delete(`/users/${idOf('olivia')}`))).toBe('409 own_user')
    expect((await boss.delete(`/users/${idOf('mia')}`)).status).toBe(200)
    expect(outcome(await boss.delete(`/users/${idOf('mia')}`))).toBe('404 user_not_found')
    expect(outcome(await mia.get('/session'))).toBe('401 not_logged_in')
    expect(outcome(await openBrowser(app).logIn('mia'))).toBe('401 login_failed')
  })

  test('one of two owners who remove each other at once remains', async () => {
    const { app } = await startOwned()
    const { url } = await inviteUser(app.deps, { name: 'otto', memberOf: null }, 'test')
    await openBrowser(app).post('/choose-password', { token: tokenOf(url), password: PASSWORD })
    const [olivia, otto] = await listUsers(app.deps.db)
    // Both requests were admitted before either removal.
    const remove = (own: UserRow, other: UserRow) => removeUser(app.deps, { user: own } as Visit, other.id, 'test')
    const ends = await Promise.allSettled([remove(olivia!, otto!), remove(otto!, olivia!)])
    const outcomes = ends.map(end => (end.status === 'rejected' ? end.reason.code : 'removed'))
    expect(outcomes.toSorted()).toEqual(['last_owner', 'removed'])
    expect(await listUsers(app.deps.db)).toHaveLength(1)
  })

  test('a session survives a restart, and ends for all processes at once', async () => {
    const { app, id } = await startOwned()
    const browser = await joinMember(app, id, 'mia')
    await app.stop()
    const again = await startApp({ dir: app.dir })
    const same = openBrowser(again)
    Object.assign(same.state, browser.state)
    expect((await same.get('/session')).status).toBe(200)
    const { user } = (await same.get<{ user: { id: string } }>('/session')).body
    await removeUser(again.deps, { user: { id: 'another' } } as Visit, user.id, 'test')
    expect(outcome(await same.get('/session'))).toBe('401 not_logged_in')
  })

  test('an ended session is deleted by the sweep', async () => {
    const { app } = await startOwned()
    await sweepSessions(app.deps)
    const count = () => rowsOf(app, 'SELECT id FROM dashboard_sessions').length
    expect(count()).toBe(1)
    app.clock.advance(30 * MINUTE_MS)
    await sweepSessions(app.deps)
    expect(count()).toBe(0)
  })
})

async function setUpOwnerLater(app: TestApp): Promise<Browser> {
  const { url } = await inviteUser(app.deps, { name: 'olivia', memberOf: null }, 'test')
  const browser = openBrowser(app)
  await browser.post('/choose-password', { token: url.split('=').at(-1), password: PASSWORD })
  return browser
}

describe('a fresh authentication', () => {
  const ALWAYS = [
    'POST /security/codes',
    'POST /security/codes/start',
    'DELETE /security/codes',
    'POST /security/passkeys/challenge',
    'POST /security/passkeys',
    'DELETE /security/passkeys/:id',
    'POST /security/recovery-codes',
    'PUT /security/rule',
    'POST /users',
    'PUT /users/:id/role',
    'POST /users/:id/reset',
    'DELETE /users/:id',
    'POST /trust',
    'DELETE /trust/:id',
    'POST /trust/sources',
    'DELETE /trust/sources/:id',
    'POST /trust/sources/:id/pins',
    'DELETE /trust/sources/:id/pins',
    'POST /trust/blocks',
    'DELETE /trust/blocks',
    'POST /trust/bundle',
    'POST /signing',
    'DELETE /signing',
    'DELETE /signing/next',
    'POST /signing/csr',
    'POST /registrations',
    'DELETE /registrations/:id',
    'POST /audit/export',
    'POST /tenants/:tenant/keys',
    'POST /tenants/:tenant/keys/:id/roll',
    'DELETE /tenants/:tenant/keys/:id',
    'DELETE /tenants/:tenant/verifications/:id',
    'POST /tenants/:tenant/verifications/export',
    'POST /tenants/:tenant/webhook-secret/reveal',
    'POST /tenants/:tenant/webhook-secret/rotate',
    'POST /tenants/:tenant/webhook-secret/drop-previous',
    'PUT /tenants/:tenant/webhook-endpoint',
  ]
  const LIVE_ONLY = [
    'POST /tenants/:tenant/origins',
    'DELETE /tenants/:tenant/origins',
    'POST /tenants/:tenant/devices',
    'PUT /tenants/:tenant/devices/:id',
    'POST /tenants/:tenant/devices/:id/pairing',
    'DELETE /tenants/:tenant/devices/:id',
  ]
  /** They end or renew the session of the walk. */
  const ENDING = ['POST /logout', 'DELETE /sessions', 'POST /password', 'POST /reauthenticate']
  const NOTHING = { verification: 'vs_x', delivery: 'd_x', key: 'key_x', device: 'x', template: 'own' }

  test('a fresh authentication is asked for by these routes, and by no others', async () => {
    const { app, boss, id: tenant } = await startOwned()
    app.clock.advance(5 * MINUTE_MS + 1)
    const asking = { test: new Set<string>(), live: new Set<string>() }
    for (const route of (await dashboardRoutes(app)).filter(each => !ENDING.includes(nameOf(each))))
      for (const environment of ['test', 'live'] as const) {
        const answer = await askRoute(boss, route, { ...NOTHING, tenant, environment })
        if (outcome(answer) === '403 reauthentication_required') asking[environment].add(nameOf(route))
      }
    expect([...asking.test].toSorted()).toEqual(ALWAYS.toSorted())
    expect([...asking.live].toSorted()).toEqual([...ALWAYS, ...LIVE_ONLY].toSorted())
  })

  test('an environment that is named twice does not spare the fresh authentication of a live till', async () => {
    const { app, boss, id } = await startOwned()
    app.clock.advance(5 * MINUTE_MS + 1)
    const till = { name: 'Till', allowed_templates: ['age_over_18'] }
    for (const query of ['environment=test&environment=live', 'environment=live&environment=test'])
      expect(outcome(await boss.post(`/tenants/${id}/devices?${query}`, till))).toBe('403 reauthentication_required')
  })

  test('a fresh authentication is asked for by what a body says: retention, app schemes, an unencrypted profile', async () => {
    const { app, boss, id } = await startOwned()
    app.clock.advance(5 * MINUTE_MS + 1)
    const own = { title: 'Member', query: QUERY }
    const asked = [
      await boss.put(`/tenants/${id}`, { retention_days: 30 }),
      await boss.put(`/tenants/${id}`, { app_schemes: ['shop-app'] }),
      await boss.put(`/tenants/${id}/templates/own`, { ...own, profile: 'plain' }),
      await boss.put(`/tenants/${id}/templates/own`, { ...own, profile: 'eu-av' }),
    ]
    expect(asked.map(outcome)).toEqual(Array(4).fill('403 reauthentication_required'))
    for (const profile of [null, undefined, 'haip'])
      expect((await boss.put(`/tenants/${id}/templates/own`, { ...own, profile })).status).toBe(200)
  })

  test('an authentication is fresh for five minutes to the millisecond, and the password renews it', async () => {
    const { app, boss, id } = await startOwned()
    const rotate = () => boss.post(`/tenants/${id}/webhook-secret/rotate?environment=test`)
    app.clock.advance(5 * MINUTE_MS)
    expect((await rotate()).status).toBe(200)
    app.clock.advance(1)
    expect(outcome(await rotate())).toBe('403 reauthentication_required')
    expect(outcome(await boss.post('/reauthenticate', { password: 'wrong' }))).toBe('401 login_failed')
    expect(outcome(await rotate())).toBe('403 reauthentication_required')
    const { cookie } = boss.state
    expect((await boss.post('/reauthenticate', { password: PASSWORD })).status).toBe(200)
    expect(boss.state.cookie).toBe(cookie)
    expect((await rotate()).status).toBe(200)
  })
})
