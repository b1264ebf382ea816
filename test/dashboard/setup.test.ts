// The first run, and one-time links.
import { describe, expect, test } from 'bun:test'
import type { Db } from '../../src/db/engine.ts'
import type { Deps } from '../../src/people/deps.ts'
import { createPasswords } from '../../src/people/log-in/passwords.ts'
import { choosePassword, readLink } from '../../src/people/users/links.ts'
import { openSetup } from '../../src/people/users/setup.ts'
import { inviteUser, resetUser } from '../../src/people/users/users.ts'
import { type ErrorBody, startApp, startWithTenant, type TestApp, until } from '../helpers/app.ts'
import { joinMember, openBrowser, outcome, PASSWORD, setUpOwner, startOwned, tokenOf } from '../helpers/dashboard.ts'
import { editRows, rowsOf } from '../helpers/database.ts'
import { filesContaining } from '../helpers/files.ts'
import { useRealPasswords } from '../helpers/passwords.ts'

const HOUR_MS = 3_600_000

const link = async (app: TestApp): Promise<string> => tokenOf(await openSetup(app.deps))
const owner = (token: string, name = 'olivia') => ({ token, name, password: PASSWORD })

const ENTRANCE = { accepts_passwords: true, passkey_origin: 'https://verify.example' }

describe('the set-up', () => {
  test('the set-up creates an owner and logs them in', async () => {
    const { app, ...tenant } = await startWithTenant()
    const browser = openBrowser(app)
    expect((await browser.get('/entrance')).body as unknown).toEqual({ needs_setup: true, ...ENTRANCE })
    const answer = await browser.post('/setup', owner(await link(app)))
    expect(answer.status).toBe(201)
    expect(answer.body as unknown).toMatchObject({
      user: { name: 'olivia', is_owner: true },
      tenants: [{ id: tenant.id, name: 'Shop' }],
    })
    expect((await browser.get('/users')).status).toBe(200)
    expect((await browser.get('/entrance')).body as unknown).toEqual({ needs_setup: false, ...ENTRANCE })
  })

  test('the link is of the public address, with 256 bits behind the #, and null once there is an owner', async () => {
    const app = await startApp()
    expect(await openSetup(app.deps)).toMatch(/^https:\/\/verify\.example\/dashboard#setup=[\w-]{43}$/)
    await setUpOwner(app)
    expect(await openSetup(app.deps)).toBeNull()
  })

  test('the set-up stays open until an owner has a password', async () => {
    const { app, ...tenant } = await startWithTenant()
    const isOpen = async () => (await openSetup(app.deps)) !== null
    const needsSetup = async () => (await openBrowser(app).get<{ needs_setup: boolean }>('/entrance')).body.needs_setup
    await inviteUser(app.deps, { name: 'bob', memberOf: tenant.id }, 'test')
    const ivan = await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
    expect([await isOpen(), await needsSetup()]).toEqual([true, true])
    await joinMember(app, tenant.id, 'mia')
    // Somebody can log in now, and must see the log-in form.
    expect([await isOpen(), await needsSetup()]).toEqual([true, false])
    const token = await link(app)
    expect(outcome(await openBrowser(app).post('/setup', owner(token, 'bob')))).toBe('409 name_taken')
    expect((await openBrowser(app).post('/setup', owner(token))).status).toBe(201)
    expect(await isOpen()).toBe(false)
    expect((await openBrowser(app).post('/choose-password', { token: tokenOf(ivan.url), password: PASSWORD })).status).toBe(200)
  })

  test('an invited owner who chooses a password ends the set-up and its printed link', async () => {
    const app = await startApp()
    const token = await link(app)
    const { url } = await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
    expect((await openBrowser(app).post('/choose-password', { token: tokenOf(url), password: PASSWORD })).status).toBe(200)
    expect(await openSetup(app.deps)).toBeNull()
    expect(outcome(await openBrowser(app).post('/setup', owner(token)))).toBe('404 setup_unavailable')
  })

  test('the invitation of a tenant’s user cannot be used as a set-up link', async () => {
    const { app, ...tenant } = await startWithTenant()
    const { url } = await inviteUser(app.deps, { name: 'bob', memberOf: tenant.id }, 'test')
    expect(outcome(await openBrowser(app).post('/setup', owner(tokenOf(url), 'eve')))).toBe('404 setup_unavailable')
    expect((await openBrowser(app).post('/choose-password', { token: tokenOf(url), password: PASSWORD })).status).toBe(200)
  })

  test('the set-up answers 404 for every token once there is an owner', async () => {
    const app = await startApp()
    const token = await link(app)
    await setUpOwner(app)
    for (const late of [token, 'A'.repeat(43)])
      expect(outcome(await openBrowser(app).post('/setup', owner(late, 'eve')))).toBe('404 setup_unavailable')
    const { url } = await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
    expect(outcome(await openBrowser(app).post('/setup', owner(tokenOf(url), 'eve')))).toBe('404 setup_unavailable')
  })

  test('a used set-up link does not work again, even after its user was removed', async () => {
    const app = await startApp()
    const token = await link(app)
    await openBrowser(app).post('/setup', owner(token))
    editRows(app, 'DELETE FROM dashboard_sessions')
    editRows(app, 'DELETE FROM dashboard_networks')
    editRows(app, 'DELETE FROM dashboard_users')
    expect(outcome(await openBrowser(app).post('/setup', owner(token)))).toBe('404 setup_unavailable')
  })

  test('a set-up link works for one hour, to the millisecond', async () => {
    const app = await startApp()
    const token = await link(app)
    app.clock.advance(HOUR_MS)
    expect(outcome(await openBrowser(app).post('/setup', owner(token)))).toBe('404 setup_unavailable')
    expect(outcome(await openBrowser(app).post('/link', { token }))).toBe('404 link_unavailable')
    app.clock.advance(-1)
    expect((await openBrowser(app).post('/link', { token })).body as unknown).toEqual({
      kind: 'setup',
      expires_at: new Date(app.clock.now() + 1).toISOString(),
    })
    expect((await openBrowser(app).post('/setup', owner(token))).status).toBe(201)
  })

  test('a new start replaces the set-up link of the previous start', async () => {
    const app = await startApp()
    const first = await link(app)
    const second = await link(app)
    expect(outcome(await openBrowser(app).post('/setup', owner(first)))).toBe('404 setup_unavailable')
    expect((await openBrowser(app).post('/setup', owner(second))).status).toBe(201)
  })

  test('one of 20 simultaneous set-ups wins, and there is one user', async () => {
    const app = await startApp()
    const token = await link(app)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => openBrowser(app).post('/setup', owner(token, `person${i}`))),
    )
    expect(answers.map(outcome).toSorted()).toEqual(['201', ...Array(19).fill('404 setup_unavailable')])
    const winner = answers.findIndex(({ status }) => status === 201)
    const browser = openBrowser(app)
    expect((await browser.logIn(`person${winner}`)).status).toBe(200)
    expect((await browser.get<{ data: unknown[] }>('/users')).body.data).toHaveLength(1)
  })

  describe('at the real cost of a password', () => {
    useRealPasswords()

    test('the set-up is refused when somebody became an owner while its password was hashed', async () => {
      const app = await startApp({ rateLimitScale: 1 })
      const token = await link(app)
      // Two are worked on at once: the set-up waits behind four, with everything looked at before. A log-in is counted before its hash.
      const busy = [1, 2, 3, 4].map(i => openBrowser(app).logIn(`nobody${i}`))
      await until(async () => rowsOf(app.dir, 'SELECT 1 FROM login_failures').length === busy.length)
      const answer = openBrowser(app).post('/setup', owner(token))
      await Promise.race(busy)
      await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
      editRows(app, "UPDATE dashboard_users SET password = 'chosen' WHERE name = 'ivan'")
      expect(outcome(await answer)).toBe('404 setup_unavailable')
      await Promise.all(busy)
    })
  })

  test('a refused password leaves the set-up link valid', async () => {
    const app = await startApp()
    const token = await link(app)
    const refused = await openBrowser(app).post('/setup', { ...owner(token), password: 'short' })
    expect(outcome(refused)).toBe('400 password_refused')
    expect((await openBrowser(app).post('/setup', owner(token))).status).toBe(201)
  })

  test('a user name is 2 to 64 lower-case characters', async () => {
    const app = await startApp()
    const token = await link(app)
    for (const name of ['Olivia', 'o', 'o o', '-dash', 'x'.repeat(65), 'a\nb', ''])
      expect(outcome(await openBrowser(app).post('/setup', owner(token, name)))).toBe('400 invalid_request')
    expect((await openBrowser(app).post('/setup', owner(token, 'o.livia+shop@example.com'))).status).toBe(201)
  })

  test('a link’s token is in no file and no log, before or after its use', async () => {
    const app = await startApp()
    const token = await link(app)
    expect(filesContaining(app.dir, token)).toEqual([])
    const browser = openBrowser(app)
    await browser.post('/setup', owner(token))
    const cookie = browser.state.cookie?.split('=')[1] ?? ''
    expect(cookie).toMatch(/^[\w-]{43}$/)
    const { url } = await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
    await app.stop()
    for (const secret of [token, cookie, PASSWORD, tokenOf(url), browser.state.csrf ?? '']) {
      expect(filesContaining(app.dir, secret)).toEqual([])
      expect(app.logs.join('\n')).not.toContain(secret)
    }
  })
})

function beforeSecondRead(db: Db, act: () => void): Db {
  let reads = 0
  return new Proxy(db, {
    get(target, name) {
      if (name === 'select' && ++reads === 2) act()
      return Reflect.get(target, name)
    },
  })
}

describe('an invitation', () => {
  test('a link whose user is removed while it is read is unavailable', async () => {
    const app = await startApp()
    const passwords = createPasswords()
    const browser = { client: '', address: '', agent: null, origin: null, cookies: null }
    const uses = [
      (deps: Deps, token: string) => readLink(deps, token),
      (deps: Deps, token: string) => choosePassword(deps, passwords, { token, password: PASSWORD }, browser),
    ]
    for (const use of uses) {
      const { url } = await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
      const db = beforeSecondRead(app.deps.db, () => {
        editRows(app, 'DELETE FROM dashboard_links')
        expect(editRows(app, "DELETE FROM dashboard_users WHERE name = 'ivan'")).toBe(1)
      })
      await expect(use({ ...app.deps, db }, tokenOf(url))).rejects.toMatchObject({ status: 404, code: 'link_unavailable' })
    }
  })

  test('an invitation lets its user choose a password once, and see one tenant only', async () => {
    const app = await startApp()
    const [shop, bakery] = [await app.tenant(), await app.tenant({ name: 'Bakery' })]
    const boss = await setUpOwner(app)
    const invited = await boss.post<{ url: string; user: { status: string } }>('/users', { name: 'mia', tenant: shop.id })
    expect([invited.status, invited.body.user.status]).toEqual([201, 'invited'])
    const token = tokenOf(invited.body.url)
    expect((await openBrowser(app).post('/link', { token })).body as unknown).toMatchObject({ kind: 'invitation', name: 'mia' })

    const mia = openBrowser(app)
    const answer = await mia.post('/choose-password', { token, password: PASSWORD })
    expect(answer.body as unknown).toMatchObject({ user: { name: 'mia', is_owner: false }, tenants: [{ id: shop.id }] })
    expect(outcome(await openBrowser(app).post('/choose-password', { token, password: PASSWORD }))).toBe('404 link_unavailable')
    expect((await mia.get(`/tenants/${shop.id}/keys`)).status).toBe(200)
    expect(outcome(await mia.get(`/tenants/${bakery.id}/keys`))).toBe('404 tenant_not_found')
    expect(outcome(await mia.get('/users'))).toBe('403 owner_required')
    expect((await mia.get<{ data: { id: string }[] }>('/tenants')).body.data.map(({ id }) => id)).toEqual([shop.id])
    const { data } = (await boss.get<{ data: { name: string; status: string; tenant: unknown }[] }>('/users')).body
    expect(data.find(({ name }) => name === 'mia')).toMatchObject({ status: 'active', tenant: { id: shop.id, name: 'Shop' } })
  })

  test('an invitation for a taken name or an unknown tenant is refused', async () => {
    const { app, boss, ...shop } = await startOwned()
    expect(outcome(await boss.post('/users', { name: 'olivia', tenant: shop.id }))).toBe('409 name_taken')
    expect(outcome(await boss.post('/users', { name: 'mia', tenant: 'ten_0000000000000000' }))).toBe('404 tenant_not_found')
  })

  test('an invitation works for three days, to the millisecond', async () => {
    const app = await startApp()
    const { url } = await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
    const choice = { token: tokenOf(url), password: PASSWORD }
    app.clock.advance(72 * HOUR_MS)
    expect(outcome(await openBrowser(app).post('/choose-password', choice))).toBe('404 link_unavailable')
    app.clock.advance(-1)
    expect((await openBrowser(app).post('/choose-password', choice)).status).toBe(200)
  })
})

describe('a reset', () => {
  test('a reset leaves the old password working until it is used; then every session ends', async () => {
    const { app, ...shop } = await startWithTenant()
    const mia = await joinMember(app, shop.id, 'mia')
    const id = (await mia.get<{ user: { id: string } }>('/session')).body.user.id
    const { url } = await resetUser(app.deps, id, 'test')
    const second = openBrowser(app)
    expect((await second.logIn('mia')).status).toBe(200)
    const token = tokenOf(url)
    expect((await openBrowser(app).post('/link', { token })).body as unknown).toMatchObject({ kind: 'reset', name: 'mia' })
    const third = openBrowser(app)
    const other = 'gravel 7 umbrella north'
    expect((await third.post('/choose-password', { token, password: other })).status).toBe(200)
    for (const old of [mia, second]) expect(outcome(await old.get('/session'))).toBe('401 not_logged_in')
    expect((await third.get('/session')).status).toBe(200)
    expect(outcome(await openBrowser(app).logIn('mia'))).toBe('401 login_failed')
    expect((await openBrowser(app).logIn('mia', other)).status).toBe(200)
  })

  test('one of many simultaneous uses of a reset link chooses the password', async () => {
    const { app, ...shop } = await startWithTenant()
    const mia = await joinMember(app, shop.id, 'mia')
    const id = (await mia.get<{ user: { id: string } }>('/session')).body.user.id
    const { url } = await resetUser(app.deps, id, 'test')
    const passwords = Array.from({ length: 8 }, (_, i) => `gravel ${i} umbrella north`)
    const answers = await Promise.all(
      passwords.map(password => openBrowser(app).post('/choose-password', { token: tokenOf(url), password })),
    )
    expect(answers.map(outcome).toSorted()).toEqual(['200', ...Array(7).fill('404 link_unavailable')])
    const winner = passwords[answers.findIndex(({ status }) => status === 200)] ?? ''
    expect((await openBrowser(app).logIn('mia', winner)).status).toBe(200)
  })

  test('a reset replaces earlier links, and a changed password voids them all', async () => {
    const { app, boss } = await startOwned()
    const id = (await boss.get<{ user: { id: string } }>('/session')).body.user.id
    const first = await resetUser(app.deps, id, 'test')
    const second = await resetUser(app.deps, id, 'test')
    const choose = (url: string) =>
      openBrowser(app).post<ErrorBody>('/choose-password', { token: tokenOf(url), password: PASSWORD })
    expect(outcome(await choose(first.url))).toBe('404 link_unavailable')
    expect((await boss.post('/password', { password: PASSWORD, new_password: 'gravel 7 umbrella north' })).status).toBe(200)
    expect(outcome(await choose(second.url))).toBe('404 link_unavailable')
  })
})
