import { describe, expect, test } from 'bun:test'
import { SCOPES } from '../../src/access/scopes.ts'
import type { Db } from '../../src/db/engine.ts'
import { sweepSessions, type Visit } from '../../src/people/session.ts'
import { listUsers, type UserRow } from '../../src/people/store.ts'
import { inviteUser, removeUser } from '../../src/people/users/users.ts'
import { startApp, startWithTenant, type TestApp, until } from '../helpers/app.ts'
import { issueAuthority, pemOf } from '../helpers/certificates.ts'
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
import { execute, isOnPostgres, rowsOf } from '../helpers/database.ts'

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
    'PUT /mail/address',
    'DELETE /mail/address',
    'POST /users/:id/mail-link',
    'POST /trust/bundle',
    'POST /signing',
    'DELETE /signing',
    'DELETE /signing/next',
    'POST /signing/csr',
    'POST /registrations',
    'DELETE /registrations/:id',
  ]
  /** Exports of both environments, and what exists in Test only. */
  const HOURLY = ['POST /audit/export', 'POST /tenants/:tenant/verifications/export', 'POST /tenants/:tenant/verifications/empty']
  /** Five minutes for live and an hour for Test. */
  const BY_ENVIRONMENT = [
    'DELETE /tenants/:tenant/verifications/:id',
    'POST /tenants/:tenant/webhook-secret/reveal',
    'POST /tenants/:tenant/webhook-secret/rotate',
    'POST /tenants/:tenant/webhook-secret/drop-previous',
    'PUT /tenants/:tenant/webhook-endpoint',
    'POST /tenants/:tenant/origins',
    'DELETE /tenants/:tenant/origins',
    'POST /tenants/:tenant/devices',
    'PUT /tenants/:tenant/devices/:id',
    'POST /tenants/:tenant/devices/:id/pairing',
    'DELETE /tenants/:tenant/devices/:id',
  ]
  /** The environment is in the body, and live here. */
  const BY_BODY = [
    'POST /trust',
    'POST /trust/sources',
    'POST /trust/blocks',
    'DELETE /trust/blocks',
    'POST /tenants/:tenant/keys',
    'POST /tenants/:tenant/clients',
    'POST /tenants/:tenant/log-in-keys/turn',
  ]
  /** The environment is that of what the path names, which does not exist here. */
  const BY_THING = [
    'DELETE /trust/:id',
    'DELETE /trust/sources/:id',
    'POST /trust/sources/:id/pins',
    'DELETE /trust/sources/:id/pins',
    'POST /tenants/:tenant/keys/:id/roll',
    'DELETE /tenants/:tenant/keys/:id',
    'PUT /tenants/:tenant/clients/:id',
    'POST /tenants/:tenant/clients/:id/secret',
    'DELETE /tenants/:tenant/clients/:id',
  ]
  /** They end or renew the session of the walk. */
  const ENDING = ['POST /logout', 'DELETE /sessions', 'POST /password', 'POST /reauthenticate']
  const NOTHING = { verification: 'vs_x', delivery: 'd_x', key: 'key_x', client: 'x', device: 'x', template: 'own' }

  const HOUR_MS = 60 * MINUTE_MS
  const WALKS = [
    ['five minutes', 5 * MINUTE_MS, 'test', [...ALWAYS, ...BY_BODY]],
    ['five minutes', 5 * MINUTE_MS, 'live', [...ALWAYS, ...BY_BODY, ...BY_ENVIRONMENT]],
    ['an hour', HOUR_MS, 'test', [...ALWAYS, ...BY_BODY, ...BY_ENVIRONMENT, ...BY_THING, ...HOURLY]],
    ['an hour', HOUR_MS, 'live', [...ALWAYS, ...BY_BODY, ...BY_ENVIRONMENT, ...BY_THING, ...HOURLY]],
  ] as const
  test.each(WALKS)(
    '%s after the last one (%d ms), these routes ask for a fresh authentication in %s, and no others',
    async (_, ms, environment, expected) => {
      const { app, boss, id: tenant } = await startOwned()
      const asking = new Set<string>()
      for (let waited = 0; waited < ms; waited += 5 * MINUTE_MS) {
        app.clock.advance(5 * MINUTE_MS)
        await boss.get('/session')
      }
      app.clock.advance(1)
      for (const route of dashboardRoutes(app).filter(each => !ENDING.includes(nameOf(each)))) {
        const answer = await askRoute(boss, route, { ...NOTHING, tenant, environment })
        if (outcome(answer) === '403 reauthentication_required') asking.add(nameOf(route))
      }
      expect([...asking].toSorted()).toEqual([...expected].toSorted())
    },
  )

  test('a live key, a live issuer and a live list ask for five minutes, and those of Test for an hour', async () => {
    const { app, boss, id } = await startOwned()
    const scopes = ['verifications:read']
    const ids: string[] = []
    for (const environment of ['live', 'test', 'test'] as const) {
      const { body } = await boss.post<{ api_key: { id: string } }>(`/tenants/${id}/keys`, {
        environment,
        scopes,
        expires_days: null,
      })
      ids.push(body.api_key.id)
    }
    const anchors: string[] = []
    for (const environment of ['live', 'test'] as const) {
      const pem = pemOf((await issueAuthority()).der)
      const { body } = await boss.post<{ data: { id: string }[] }>('/trust', { environment, pem })
      anchors.push(body.data[0]!.id)
    }
    app.clock.advance(5 * MINUTE_MS + 1)
    const [live, test, rolled] = ids
    expect(outcome(await boss.delete(`/tenants/${id}/keys/${live}`))).toBe('403 reauthentication_required')
    expect(outcome(await boss.post(`/tenants/${id}/keys/${live}/roll`, { old_expires: '1h' }))).toBe(
      '403 reauthentication_required',
    )
    expect((await boss.delete(`/tenants/${id}/keys/${test}`)).status).toBe(200)
    expect((await boss.post(`/tenants/${id}/keys/${rolled}/roll`, { old_expires: '1h' })).status).toBe(201)
    expect(outcome(await boss.delete(`/trust/${anchors[0]}`))).toBe('403 reauthentication_required')
    expect((await boss.delete(`/trust/${anchors[1]}`)).status).toBe(200)
  })

  test('an environment that is named twice does not spare the fresh authentication of a live till', async () => {
    const { app, boss, id } = await startOwned()
    app.clock.advance(5 * MINUTE_MS + 1)
    const till = { name: 'Till', allowed_templates: ['age_over_18'] }
    for (const query of ['environment=test&environment=live', 'environment=live&environment=test'])
      expect(outcome(await boss.post(`/tenants/${id}/devices?${query}`, till))).toBe('403 reauthentication_required')
  })

  test('a fresh authentication of five minutes is asked for by a body with retention or app schemes', async () => {
    const { app, boss, id } = await startOwned()
    app.clock.advance(5 * MINUTE_MS + 1)
    for (const body of [{ retention_days: 30 }, { app_schemes: ['shop-app'] }])
      expect(outcome(await boss.put(`/tenants/${id}`, body))).toBe('403 reauthentication_required')
  })

  test('an authentication is fresh for five minutes to the millisecond, and the password renews it', async () => {
    const { app, boss, id } = await startOwned()
    const rotate = () => boss.post(`/tenants/${id}/webhook-secret/rotate?environment=live`)
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

describe('a template', () => {
  const OWN = { title: 'Member', query: QUERY, rules: [{ claim: 'level', one_of: ['gold'] }] }
  const REFUSED = '403 reauthentication_required'

  async function startSaved() {
    const { app, boss, id, key, ...rest } = await startOwned()
    const save = (changes: object = {}) => boss.put(`/tenants/${id}/templates/own`, { ...OWN, ...changes })
    expect((await save()).status).toBe(200)
    return { ...rest, app, boss, id, key, save, remove: () => boss.delete(`/tenants/${id}/templates/own`) }
  }
  type Saved = Awaited<ReturnType<typeof startSaved>>

  /** What judges an answer; each of these is a change. */
  const CHANGES = [
    { rules: [] },
    { rules: null },
    { query: { credentials: [{ ...QUERY.credentials[0]!, claims: [{ path: ['name'] }] }] }, rules: null },
    { profile: 'plain' },
  ]
  const askAll = async ({ save, remove }: Saved) => {
    const answers = []
    for (const changes of CHANGES) answers.push(outcome(await save(changes)))
    return [...answers, outcome(await remove())]
  }

  const till = { name: 'Till', allowed_templates: ['own'] }
  const USES = [
    [
      'a live verification',
      async ({ app, id }: Saved) => void (await createWith(app, await app.key(id, { environment: 'live', scopes: [...SCOPES] }))),
    ],
    [
      'a live verification that is erased',
      async ({ app, id }: Saved) => {
        const key = await app.key(id, { environment: 'live', scopes: [...SCOPES] })
        const created = await createWith(app, key)
        expect((await app.call('DELETE', `/v1/verifications/${created}`, { key })).status).toBe(200)
      },
    ],
    ['a live till', async ({ boss, id }: Saved) => void (await boss.post(`/tenants/${id}/devices?environment=live`, till))],
  ] as const
  const createWith = async (app: TestApp, key: string): Promise<string> => {
    const { status, body } = await app.call<{ id: string }>('POST', '/v1/verifications', { key, body: { template: 'own' } })
    expect(status).toBe(201)
    return body.id
  }

  test.each(USES)(
    'a template that %s used is judged anew or deleted after five minutes only with a fresh authentication',
    async (_, use) => {
      const started = await startSaved()
      await use(started)
      const { app, boss, save } = started
      app.clock.advance(5 * MINUTE_MS + 1)
      expect(await askAll(started)).toEqual(Array(5).fill(REFUSED))
      // Title and purpose are free, and so is what stays the same.
      for (const changes of [{}, { title: 'Members' }, { purpose: 'The discount' }])
        expect((await save(changes)).status).toBe(200)
      expect((await boss.post('/reauthenticate', { password: PASSWORD })).status).toBe(200)
      expect((await save({ rules: [] })).status).toBe(200)
    },
  )

  test.each(['save', 'delete'] as const)('a first live use while a template is changed is seen: %s', async act => {
    const { app, boss, id, save, remove } = await startSaved()
    const { deps } = app
    const key = await app.key(id, { environment: 'live', scopes: [...SCOPES] })
    app.clock.advance(5 * MINUTE_MS + 1)
    const { write, writeSettings } = deps
    deps.writeSettings = async work => {
      // The creation has marked its template, and is committed once the change is in its write.
      const [marked, changing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      deps.write = async (work, tenant) =>
        await write(async tx => {
          await wait(tx)
          const done = await work(tx)
          marked.resolve()
          await changing.promise
          return done
        }, tenant)
      const created = createWith(app, key)
      await marked.promise
      Object.assign(deps, { write, writeSettings })
      const changed = writeSettings(async tx => {
        await wait(tx)
        return await work(tx)
      })
      const both = Promise.allSettled([created, changed])
      try {
        if (isOnPostgres) await until(async () => isWaiting(app))
      } finally {
        changing.resolve()
        await both
      }
      await created
      return await changed
    }
    expect(outcome(await (act === 'save' ? save({ rules: [] }) : remove()))).toBe(REFUSED)
    const { data } = (await boss.get<{ data: { key: string; rules: unknown }[] }>(`/tenants/${id}/templates`)).body
    expect(data.find(each => each.key === 'own')).toMatchObject({ rules: OWN.rules })
  })
  /** As long as a busy machine needs to see it wait. */
  const wait = async (tx: Db) => {
    if (!isOnPostgres) return
    for (const limit of ['lock', 'statement', 'idle_in_transaction_session']) await execute(tx, `SET LOCAL ${limit}_timeout = 0`)
  }
  const isWaiting = (app: TestApp) =>
    rowsOf(app, "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()").length > 0

  test('a template that Test alone used asks for an hour, one that nobody used for nothing but an unencrypted profile', async () => {
    const unused = await startSaved()
    const [quiet, used] = [unused, await startSaved()]
    await createWith(used.app, used.key)
    for (const { app, boss } of [quiet, used])
      for (let minutes = 0; minutes < 60; minutes += 20) {
        app.clock.advance(20 * MINUTE_MS)
        await boss.get('/session')
      }
    expect((await used.save({ rules: [] })).status).toBe(200)
    expect((await used.save()).status).toBe(200)
    for (const { app } of [quiet, used]) app.clock.advance(1)
    expect(await askAll(used)).toEqual(Array(5).fill(REFUSED))
    expect(await askAll(quiet)).toEqual(
      ['200 ', '200 ', '200 ', REFUSED, '200 '].map(each => (each.trim() === '200' ? expect.stringMatching(/^200/) : each)),
    )
    // A new one with the same key is nobody's either.
    expect((await quiet.save()).status).toBe(200)
  })

  test('a template that is made again under the key of live tills counts as theirs', async () => {
    const started = await startSaved()
    const { app, boss, id, save, remove } = started
    await boss.post(`/tenants/${id}/devices?environment=live`, till)
    expect((await remove()).status).toBe(200)
    app.clock.advance(5 * MINUTE_MS + 1)
    expect(outcome(await save())).toBe(REFUSED)
  })

  test('the record of a changed template names the changed parts, and that of a new one none', async () => {
    const { boss, id, save } = await startSaved()
    await save({ rules: [], purpose: 'The discount' })
    await save({
      rules: [],
      purpose: 'The discount',
      title: 'Members',
      profile: 'plain',
      query: { credentials: [{ ...QUERY.credentials[0]!, id: 'n' }] },
    })
    await save({
      rules: [],
      purpose: 'The discount',
      title: 'Members',
      profile: 'plain',
      query: { credentials: [{ ...QUERY.credentials[0]!, id: 'n' }] },
    })
    type Page = { data: { action: string; details: { changed?: string[] } }[] }
    const { data } = (await boss.get<Page>(`/tenants/${id}/audit?limit=20`)).body
    const saved = data.filter(({ action }) => action === 'template.saved').map(({ details }) => details.changed)
    expect(saved).toEqual([[], ['title', 'query', 'profile'], ['rules', 'purpose'], undefined])
  })
})
