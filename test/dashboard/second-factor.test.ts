import { describe, expect, test } from 'bun:test'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { startCodes } from '../../src/people/factors/factors.ts'
import { codeOfStep } from '../../src/people/factors/one-time-code.ts'
import { finish } from '../../src/people/log-in/login.ts'
import type { HalfLogin, PasskeyCreation, PasskeyRequest, Security, WithRecoveryCodes } from '../../src/people/security-schema.ts'
import type { Visit } from '../../src/people/session.ts'
import { findUser, type UserRow } from '../../src/people/store.ts'
import { inviteUser, resetUser } from '../../src/people/users/users.ts'
import { startApp, type TestApp } from '../helpers/app.ts'
import { newAuthenticator } from '../helpers/authenticator.ts'
import { bytesOf, codeAt, STEP_MS } from '../helpers/authenticator-app.ts'
import {
  type Browser,
  joinMember,
  ORIGIN,
  openBrowser,
  outcome,
  PASSWORD,
  setUpOwner,
  startOwned,
  tokenOf,
} from '../helpers/dashboard.ts'
import { rowsOf } from '../helpers/database.ts'
import { examine } from '../helpers/doctor.ts'
import { filesContaining } from '../helpers/files.ts'

const MINUTE_MS = 60_000

/** Sets up one-time codes; gives the app's code of a later step. */
async function addCodes(app: TestApp, browser: Browser) {
  const { secret } = (await browser.post<{ secret: string; uri: string }>('/security/codes')).body
  const codeIn = (steps: number) => codeAt(secret, app.clock.now() + steps * STEP_MS)
  const started = await browser.post<WithRecoveryCodes>('/security/codes/start', { code: await codeIn(0) })
  expect(started.status).toBe(200)
  return { codeIn, secret, recovery: started.body.recovery_codes ?? [] }
}

async function addPasskey(browser: Browser, label = 'Laptop') {
  const device = newAuthenticator(ORIGIN)
  const options = (await browser.post<PasskeyCreation>('/security/passkeys/challenge')).body
  const added = await browser.post<WithRecoveryCodes>('/security/passkeys', { label, passkey: device.create(options) })
  expect(added.status).toBe(201)
  return { device, recovery: added.body.recovery_codes }
}

async function halfIn(app: TestApp, name = 'olivia') {
  const browser = openBrowser(app)
  const answer = await browser.post<HalfLogin>('/login', { name, password: PASSWORD })
  expect(answer.status).toBe(202)
  expect(answer.headers.get('set-cookie')).toBeNull()
  return { browser, half: answer.body }
}

const second = (browser: Browser, { ticket }: HalfLogin, proof: object) =>
  browser.post('/login/second-factor', { ticket, ...proof })

describe('one-time codes', () => {
  const SECRET = Buffer.from('12345678901234567890')
  // RFC 6238 appendix B, SHA-1: the last six of its eight digits.
  test.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('RFC 6238: at %d seconds the code is %s', async (seconds, code) => {
    expect(await codeOfStep(SECRET, Math.floor(seconds / 30))).toBe(code)
  })

  test('a code is asked for after the password, counts one step early and late, and counts once', async () => {
    const { app, boss } = await startOwned()
    const { codeIn } = await addCodes(app, boss)
    const { browser, half } = await halfIn(app)
    expect(half).toMatchObject({ has_codes: true, passkey: null })
    expect(outcome(await browser.get('/session'))).toBe('401 not_logged_in')
    // The one that started them was taken.
    for (const steps of [0, -1, 2])
      expect(outcome(await second(browser, half, { code: await codeIn(steps) }))).toBe('401 second_factor_failed')
    const code = await codeIn(1)
    expect((await second(browser, half, { code })).status).toBe(200)
    expect((await browser.get('/session')).status).toBe(200)
    expect(outcome(await second(openBrowser(app), half, { code: await codeIn(1) }))).toBe('401 login_expired')
    const again = await halfIn(app)
    expect(outcome(await second(again.browser, again.half, { code }))).toBe('401 second_factor_failed')
    app.clock.advance(3 * STEP_MS)
    expect((await second(again.browser, again.half, { code: await codeIn(-1) })).status).toBe(200)
  })

  test('of two log-ins with one code, and of two with one recovery code, one wins', async () => {
    const { app, boss } = await startOwned()
    const { codeIn, recovery } = await addCodes(app, boss)
    for (const code of [await codeIn(1), recovery[0]]) {
      const halves = [await halfIn(app), await halfIn(app), await halfIn(app)]
      const answers = await Promise.all(halves.map(({ browser, half }) => second(browser, half, { code })))
      expect(answers.map(outcome).toSorted()).toEqual(['200', '401 second_factor_failed', '401 second_factor_failed'])
    }
    const { half } = await halfIn(app)
    const [one, two] = recovery.slice(1)
    const same = await Promise.all([one, two].map(code => second(openBrowser(app), half, { code })))
    expect(same.map(({ status }) => status).toSorted()).toEqual([200, 401])
  })

  test('a ticket ends after five minutes and after five wrong codes', async () => {
    const { app, boss } = await startOwned()
    const { recovery } = await addCodes(app, boss)
    const { browser, half } = await halfIn(app)
    app.clock.advance(5 * MINUTE_MS)
    expect(outcome(await second(browser, half, { code: recovery[0] }))).toBe('401 login_expired')
    const again = await halfIn(app)
    for (let i = 0; i < 5; i++)
      expect(outcome(await second(again.browser, again.half, { code: '000000' }))).toBe('401 second_factor_failed')
    expect(outcome(await second(again.browser, again.half, { code: recovery[0] }))).toBe('401 login_expired')
  })

  test('wrong codes make the next ones wait, and a right password does not shorten that', async () => {
    const app = await startApp({ rateLimitScale: 1 })
    const boss = await setUpOwner(app)
    const { recovery } = await addCodes(app, boss)
    const guess = async (code: string | undefined = '000000') => {
      const { browser, half } = await halfIn(app)
      return outcome(await second(browser, half, { code }))
    }
    for (let i = 0; i < 3; i++) expect(await guess()).toBe('401 second_factor_failed')
    expect(await guess(recovery[0])).toBe('429 rate_limit_exceeded')
    app.clock.advance(1000)
    expect(await guess()).toBe('401 second_factor_failed')
    app.clock.advance(2000)
    expect(await guess(recovery[0])).toBe('200')
    expect(await guess()).toBe('401 second_factor_failed')
  })

  test('a new password ends log-ins that began with the old one, by the settings and by a link', async () => {
    const { app, boss } = await startOwned()
    const { recovery } = await addCodes(app, boss)
    const { user } = (await boss.get<{ user: { id: string } }>('/session')).body
    const first = await halfIn(app)
    const before = await findUser(app.deps.db, user.id)
    expect((await boss.post('/password', { password: PASSWORD, new_password: 'gravel 7 umbrella north' })).status).toBe(200)
    expect(outcome(await second(first.browser, first.half, { code: recovery[0] }))).toBe('401 login_expired')
    // As when the old password was checked before the change, and its ticket is made after it.
    const stranger = { client: '', address: '', agent: null, origin: null, cookies: null }
    expect(await finish(app.deps, before as UserRow, stranger, 'password')).toBeUndefined()
    const later = await openBrowser(app).post<HalfLogin>('/login', { name: 'olivia', password: 'gravel 7 umbrella north' })
    const { url } = await resetUser(app.deps, user.id, 'test')
    const chosen = await openBrowser(app).post<HalfLogin>('/choose-password', { token: tokenOf(url), password: PASSWORD })
    expect(outcome(await second(openBrowser(app), later.body, { code: recovery[0] }))).toBe('401 login_expired')
    expect((await second(openBrowser(app), chosen.body, { code: recovery[0] })).status).toBe(200)
  })

  test('codes that are in use are not started again, and no code starts a secret drawn after it', async () => {
    const { app, boss } = await startOwned()
    const drawn = async () => bytesOf((await boss.post<{ secret: string }>('/security/codes')).body.secret)
    const codeFor = async (secret: Uint8Array) => codeOfStep(secret, Math.floor(app.clock.now() / STEP_MS))
    const start = async (secret: Uint8Array) => outcome(await boss.post('/security/codes/start', { code: await codeFor(secret) }))
    const old = await drawn()
    const { user } = (await boss.get<{ user: { id: string } }>('/session')).body
    const before = { user: await findUser(app.deps.db, user.id) } as Visit
    const secret = await drawn()
    // As when the second draw happens while the first code is being checked.
    await expect(startCodes(app.deps, before, await codeFor(old))).rejects.toMatchObject({ code: 'code_refused' })
    expect(await start(old)).toBe('400 code_refused')
    expect(await start(secret)).toBe('200')
    expect(await start(secret)).toBe('409 codes_exist')
    await expect(startCodes(app.deps, before, await codeFor(old))).rejects.toMatchObject({ code: 'codes_exist' })
  })

  test('ten recovery codes come with the first factor, work once in any spelling, and go with the last', async () => {
    const { app, boss } = await startOwned()
    const { recovery } = await addCodes(app, boss)
    expect(new Set(recovery).size).toBe(10)
    expect(recovery[0]).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/)
    const { browser, half } = await halfIn(app)
    expect((await second(browser, half, { code: ` ${recovery[0]?.toLowerCase().replace('-', ' ')} ` })).status).toBe(200)
    expect((await boss.get<Security>('/security')).body).toMatchObject({ recovery_codes_left: 9 })
    // It replaces a lost factor at the log-in, and confirms nothing within a session.
    expect(outcome(await boss.post('/reauthenticate', { code: recovery[1] }))).toBe('401 second_factor_failed')
    expect((await boss.get<Security>('/security')).body).toMatchObject({ recovery_codes_left: 9 })
    const { recovery: none } = await addPasskey(boss)
    expect(none).toBeNull()
    const renewed = await boss.post<WithRecoveryCodes>('/security/recovery-codes')
    expect(renewed.body.recovery_codes).toHaveLength(10)
    const old = await halfIn(app)
    expect(outcome(await second(old.browser, old.half, { code: recovery[1] }))).toBe('401 second_factor_failed')
    await boss.delete('/security/codes')
    const { passkeys } = (await boss.get<Security>('/security')).body
    const left = await boss.delete<Security>(`/security/passkeys/${passkeys[0]?.id}`)
    expect(left.body).toMatchObject({ codes_since: null, passkeys: [], recovery_codes_left: 0 })
    expect((await openBrowser(app).logIn('olivia')).status).toBe(200)
  })

  test('neither the secret nor a recovery code is in a file, a log or a later answer', async () => {
    const { app, boss } = await startOwned()
    const { secret, recovery } = await addCodes(app, boss)
    const texts = await Promise.all(
      ['/security', '/session', '/users', '/security/sign-ins', '/sign-ins', '/audit'].map(path => boss.get(path)),
    )
    await app.stop()
    const hidden = [
      secret,
      Buffer.from(bytesOf(secret)).toString('base64'),
      ...recovery,
      ...recovery.map(code => code.replace('-', '')),
    ]
    for (const text of hidden) {
      expect(filesContaining(app.dir, text)).toEqual([])
      expect([...app.logs, ...texts.map(each => each.text)].filter(each => each.includes(text))).toEqual([])
    }
  })

  test('a link to a new password spares no second factor, and a reset on the command line takes it away', async () => {
    const { app, boss } = await startOwned()
    await addCodes(app, boss)
    const { user } = (await boss.get<{ user: { id: string } }>('/session')).body
    const choose = (url: string) =>
      openBrowser(app).post('/choose-password', { token: tokenOf(url), password: 'gravel 7 umbrella north' })
    const kept = await resetUser(app.deps, user.id, 'test')
    expect((await choose(kept.url)).status).toBe(202)
    expect(outcome(await boss.get('/session'))).toBe('401 not_logged_in')
    const taken = await resetUser(app.deps, user.id, 'test', { takesFactors: true })
    expect((await choose(taken.url)).status).toBe(200)
    expect(rowsOf(app, 'SELECT * FROM recovery_codes')).toEqual([])
  })

  test('a reset that takes second factors ends the old password and every session at once', async () => {
    const { app, boss } = await startOwned()
    await addCodes(app, boss)
    const { user } = (await boss.get<{ user: { id: string } }>('/session')).body
    const { url } = await resetUser(app.deps, user.id, 'test', { takesFactors: true })
    expect(outcome(await openBrowser(app).logIn('olivia'))).toBe('401 login_failed')
    expect(outcome(await boss.get('/session'))).toBe('401 not_logged_in')
    expect((await openBrowser(app).get('/entrance')).body as unknown).toMatchObject({ needs_setup: false })
    const linked = openBrowser(app)
    expect((await linked.post('/link', { token: tokenOf(url) })).body as unknown).toMatchObject({ kind: 'reset' })
    expect((await linked.post('/choose-password', { token: tokenOf(url), password: PASSWORD })).status).toBe(200)
  })

  test('a reset of somebody who never joined stays an invitation', async () => {
    const { app } = await startOwned()
    const { user } = await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
    const { url } = await resetUser(app.deps, user.id, 'test', { takesFactors: true })
    expect((await openBrowser(app).post('/link', { token: tokenOf(url) })).body as unknown).toMatchObject({ kind: 'invitation' })
  })
})

describe('passkeys', () => {
  test('a passkey logs in alone, answers for the second factor, and renews an old authentication', async () => {
    const { app, boss } = await startOwned()
    const { device, recovery } = await addPasskey(boss)
    expect(recovery).toHaveLength(10)
    const alone = openBrowser(app)
    const asked = (await alone.post<PasskeyRequest>('/login/passkey/challenge')).body
    expect(asked).toMatchObject({ rpId: 'verify.example', userVerification: 'required', allowCredentials: [] })
    expect((await alone.post('/login/passkey', { passkey: device.answer(asked) })).status).toBe(200)
    const { browser, half } = await halfIn(app)
    expect(half.passkey?.allowCredentials).toMatchObject([{ id: device.id }])
    expect((await second(browser, half, { passkey: device.answer(half.passkey!) })).status).toBe(200)
    app.clock.advance(6 * MINUTE_MS)
    expect(outcome(await boss.post('/security/recovery-codes'))).toBe('403 reauthentication_required')
    const { passkey } = (await boss.post<{ passkey: PasskeyRequest }>('/reauthenticate/challenge')).body
    expect((await boss.post('/reauthenticate', { passkey: device.answer(passkey) })).status).toBe(200)
    expect((await boss.post('/security/recovery-codes')).status).toBe(200)
  })

  test('a passkey, alone or as the second step, and the code of a known browser pass the spent budgets of a network', async () => {
    const app = await startApp({ rateLimitScale: 1, config: { trustedProxies: parseNetworks('127.0.0.1') } })
    const from = '192.0.2.1'
    const boss = await setUpOwner(app, 'olivia', from)
    const { device } = await addPasskey(boss)
    const { codeIn } = await addCodes(app, boss)
    expect((await boss.post('/logout')).status).toBe(200)
    for (let i = 0; i < 20; i++) expect(outcome(await openBrowser(app, { from }).logIn(`x${i}`))).toBe('401 login_failed')
    for (let i = 0; i < 100; i++) await app.deps.guesses.take('login-all', '')
    const alone = openBrowser(app, { from })
    const asked = (await alone.post<PasskeyRequest>('/login/passkey/challenge')).body
    const wrong = newAuthenticator(ORIGIN).answer(asked)
    expect(outcome(await alone.post('/login/passkey', { passkey: wrong }))).toBe('429 rate_limit_exceeded')
    expect((await alone.post('/login/passkey', { passkey: device.answer(asked) })).status).toBe(200)
    // The first step, with the password, needs the cookie.
    for (const proof of ['passkey', 'code'] as const) {
      const half = (await boss.post<HalfLogin>('/login', { name: 'olivia', password: PASSWORD })).body
      const given = proof === 'code' ? { code: await codeIn(1) } : { passkey: device.answer(half.passkey!) }
      const browser = openBrowser(app, { from })
      if (proof === 'code') browser.state.known = boss.state.known
      expect((await second(browser, half, given)).status).toBe(200)
    }
  })

  test('an answer counts once, for its purpose, its site and its time, with a verified user and a growing count', async () => {
    const { app, boss } = await startOwned()
    const { device } = await addPasskey(boss)
    const ask = async () => (await openBrowser(app).post<PasskeyRequest>('/login/passkey/challenge')).body
    const send = async (passkey: unknown) => outcome(await openBrowser(app).post('/login/passkey', { passkey }))
    const good = device.answer(await ask())
    const both = await Promise.all([send(good), send(good)])
    expect(both.toSorted()).toEqual(['200', '401 passkey_failed'])
    const old = await ask()
    const { passkey: confirm } = (await boss.post<{ passkey: PasskeyRequest }>('/reauthenticate/challenge')).body
    const refused = [
      device.answer(await ask(), { origin: 'https://evil.example' }),
      device.answer(await ask(), { rpId: 'evil.example' }),
      device.answer(await ask(), { flags: 0x01 }),
      device.answer(await ask(), { count: 1 }),
      device.answer(await ask(), { challenge: Buffer.alloc(38).toString('base64url') }),
      device.answer(confirm),
      newAuthenticator(ORIGIN).answer(await ask()),
      { ...device.answer(await ask()), response: { ...device.answer(await ask()).response, userHandle: 'AAAA' } },
    ]
    for (const [i, answer] of refused.entries()) expect([i, await send(answer)]).toEqual([i, '401 passkey_failed'])
    const { browser, half } = await halfIn(app)
    const crossed = [
      boss.post('/reauthenticate', { passkey: device.answer(half.passkey!) }),
      second(browser, half, { passkey: device.answer(confirm) }),
    ]
    expect((await Promise.all(crossed)).map(outcome)).toEqual(['401 second_factor_failed', '401 second_factor_failed'])
    app.clock.advance(5 * MINUTE_MS)
    expect(await send(device.answer(old))).toBe('401 passkey_failed')
    expect(await send(device.answer(await ask()))).toBe('200')
  })

  test('an answer of a passkey without a count does not count again after a new password', async () => {
    const { app, boss } = await startOwned()
    const { device } = await addPasskey(boss)
    const { passkey } = (await boss.post<{ passkey: PasskeyRequest }>('/reauthenticate/challenge')).body
    const answer = device.answer(passkey, { count: 0 })
    const confirm = async () => outcome(await boss.post('/reauthenticate', { passkey: answer }))
    expect(await confirm()).toBe('200')
    expect((await boss.post('/password', { password: PASSWORD, new_password: 'gravel 7 umbrella north' })).status).toBe(200)
    expect(await confirm()).toBe('401 second_factor_failed')
    const { user } = (await boss.get<{ user: { id: string } }>('/session')).body
    await resetUser(app.deps, user.id, 'test', { takesFactors: true })
    expect(rowsOf(app, "SELECT * FROM login_challenges WHERE purpose = 'confirm'")).toHaveLength(1)
  })

  test('a passkey is added for the user and the site that asked, once, with a verified user', async () => {
    const { app, boss, id } = await startOwned()
    const mia = await joinMember(app, id, 'mia')
    const ask = async (browser: Browser) => (await browser.post<PasskeyCreation>('/security/passkeys/challenge')).body
    const add = async (browser: Browser, passkey: unknown) =>
      outcome(await browser.post('/security/passkeys', { label: 'Key', passkey }))
    const device = newAuthenticator(ORIGIN)
    const good = device.create(await ask(boss))
    expect(await add(mia, good)).toBe('400 passkey_refused')
    expect(await add(boss, device.create(await ask(boss), { flags: 0x41 }))).toBe('400 passkey_refused')
    expect(await add(boss, device.create(await ask(boss), { origin: 'https://evil.example' }))).toBe('400 passkey_refused')
    expect(await add(boss, good)).toBe('201')
    expect(await add(boss, good)).toBe('400 passkey_refused')
    expect(await add(mia, device.create(await ask(mia)))).toBe('400 passkey_refused')
  })

  test('passkeys are not offered at an address without a name, or at another origin than the public one', async () => {
    const app = await startApp({ config: { publicUrl: 'https://192.0.2.10' } })
    const boss = await setUpOwner(app, 'olivia', { origin: 'https://192.0.2.10' })
    expect((await boss.get<Security>('/security')).body.passkey_origin).toBeNull()
    expect(outcome(await boss.post('/security/passkeys/challenge'))).toBe('409 passkey_unavailable')
    expect(outcome(await boss.post('/login/passkey/challenge'))).toBe('409 passkey_unavailable')
  })
})

describe('the rule that everybody needs a second factor', () => {
  test('users without a second factor can only set one up', async () => {
    const { app, boss, id } = await startOwned()
    const mia = await joinMember(app, id, 'mia')
    expect(outcome(await mia.put('/security/rule', { is_required: true }))).toBe('403 owner_required')
    expect(outcome(await boss.put('/security/rule', { is_required: true }))).toBe('409 no_second_factor')
    await addPasskey(boss)
    expect((await boss.put<Security>('/security/rule', { is_required: true })).body).toMatchObject({ is_required: true })
    expect(outcome(await mia.get('/tenants'))).toBe('403 second_factor_required')
    expect(outcome(await mia.get(`/tenants/${id}/keys`))).toBe('403 second_factor_required')
    expect((await mia.get('/session')).body as unknown).toMatchObject({ needs_second_factor: true })
    expect((await openBrowser(app).logIn('mia')).body).toMatchObject({ needs_second_factor: true })
    await addCodes(app, mia)
    for (const browser of [boss, mia]) {
      expect((await browser.get('/session')).body as unknown).toMatchObject({ needs_second_factor: false })
      expect((await browser.get('/tenants')).status).toBe(200)
    }
    const { data } = (await boss.get<{ data: { has_second_factor: boolean }[] }>('/users')).body
    expect(data.map(each => each.has_second_factor)).toEqual([true, true])
  })

  test('doctor warns while an owner has no second factor and a shop has a live key', async () => {
    const app = await startApp()
    const boss = await setUpOwner(app)
    const look = async () => (await examine(app.deps, true, ['second_factor']))[0]
    expect(await look()).toMatchObject({ status: 'not_set_up', detail: expect.stringContaining('olivia') })
    const { id } = await app.tenant()
    await boss.post(`/tenants/${id}/keys`, { environment: 'live', scopes: ['verifications:read'], expires_days: null })
    expect(await look()).toMatchObject({ status: 'warning', detail: expect.stringContaining('olivia') })
    await addPasskey(boss)
    expect(await look()).toMatchObject({ status: 'ok' })
  })
})
