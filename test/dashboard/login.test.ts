import { describe, expect, onTestFinished, spyOn, test } from 'bun:test'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { loadCommonPasswords } from '../../src/people/log-in/common-passwords.ts'
import { weaknessOf } from '../../src/people/log-in/password-rules.ts'
import { NOBODYS_PASSWORD } from '../../src/people/log-in/passwords.ts'
import { deleteForgotten } from '../../src/people/store.ts'
import { openSetup } from '../../src/people/users/setup.ts'
import { findUserId, inviteUser, resetUser } from '../../src/people/users/users.ts'
import { type Answer, startApp, type TestApp, until } from '../helpers/app.ts'
import { joinMember, openBrowser, outcome, PASSWORD, setUpOwner, startOwned, tokenOf } from '../helpers/dashboard.ts'
import { editRows, rowsOf } from '../helpers/database.ts'
import { FORWARDING_HEADERS } from '../helpers/forwarding-headers.ts'
import { useRealPasswords } from '../helpers/passwords.ts'

const COMMON = await loadCommonPasswords()
const WRONG = 'not the right one at all'
const HOME = '192.0.2.1'

/** With limits on; X-Forwarded-For tells clients apart. */
const limited = (dir?: string, now?: number) =>
  startApp({ rateLimitScale: 1, config: { trustedProxies: parseNetworks('127.0.0.1') }, dir, now })

const tryFrom = (app: TestApp, from: string, name = 'olivia', password = WRONG) =>
  openBrowser(app, { from }).logIn(name, password)

/** Comparisons begin and do not end until they are released; each then ends as it would have. */
function holdComparisons() {
  const { verify } = Bun.password
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const held = spyOn(Bun.password, 'verify').mockImplementation(async (...compared) => {
    await released
    return await verify(...compared)
  })
  onTestFinished(() => {
    release()
    held.mockRestore()
  })
  return { count: () => held.mock.calls.length, release }
}

describe('a log-in', () => {
  test('a log-in sets two cookies that are HttpOnly, SameSite=Strict and Secure', async () => {
    const { app } = await startOwned()
    const answer = await openBrowser(app).logIn('olivia')
    const [session, browser, ...rest] = answer.headers.getSetCookie()
    expect(session).toMatch(/^__Host-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
    expect(browser).toMatch(
      /^__Host-browser-[0-9a-f]{16}=[\w-]{72}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=7776000$/,
    )
    expect(rest).toEqual([])
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('case and spaces around the name are ignored, and those of the password are not', async () => {
    const { app } = await startOwned()
    expect((await openBrowser(app).logIn(' OLIVIA ')).status).toBe(200)
    expect(outcome(await openBrowser(app).logIn('olivia', ` ${PASSWORD}`))).toBe('401 login_failed')
  })

  test('a password with an accented letter matches in every Unicode form', async () => {
    const { app, boss } = await startOwned()
    const accented = 'grüne lampe am fenster'
    await boss.post('/password', { password: PASSWORD, new_password: accented.normalize('NFD') })
    expect((await openBrowser(app).logIn('olivia', accented.normalize('NFC'))).status).toBe(200)
  })

  test('a log-in is refused when the password was changed during the comparison', async () => {
    const { app } = await startOwned()
    const comparison = holdComparisons()
    const answer = openBrowser(app).logIn('olivia')
    await until(async () => comparison.count() === 1)
    editRows(app, `UPDATE dashboard_users SET password = '${NOBODYS_PASSWORD}'`)
    comparison.release()
    expect(outcome(await answer)).toBe('401 login_failed')
  })

  test('two log-ins run at once and 20 wait; further ones get 429', async () => {
    const { app } = await startOwned()
    const comparison = holdComparisons()
    const refused: Answer[] = []
    const answers = Array.from({ length: 30 }, async () => {
      const answer = await openBrowser(app).logIn('olivia', WRONG)
      if (answer.status === 429) refused.push(answer)
      return answer
    })
    await until(async () => refused.length === 30 - 2 - 20)
    expect(comparison.count()).toBe(2)
    comparison.release()
    expect((await Promise.all(answers)).filter(({ status }) => status === 401)).toHaveLength(2 + 20)
    expect(refused).toHaveLength(8)
    for (const { headers } of refused) expect(headers.get('retry-after')).toBe('5')
    expect((await openBrowser(app).logIn('olivia')).status).toBe(200)
  })
})

describe('a log-in at its real cost', () => {
  useRealPasswords()

  test('an unknown name, a wrong password and a password not yet chosen get the same response', async () => {
    const { app } = await startOwned()
    await inviteUser(app.deps, { name: 'ivan', memberOf: null }, 'test')
    const answers = await Promise.all(
      ['olivia', 'ivan', 'nobody', '\u0001', "' OR 1=1 --"].map(name => openBrowser(app).logIn(name, WRONG)),
    )
    const comparable = answers.map(({ status, text, headers }) => {
      const { date: _, 'x-request-id': __, ...rest } = Object.fromEntries(headers)
      return JSON.stringify({ status, text, rest })
    })
    expect(new Set(comparable).size).toBe(1)
    expect(answers.map(outcome)).toEqual(Array(5).fill('401 login_failed'))
    expect(answers[0]?.headers.get('set-cookie')).toBeNull()
  })

  test('a log-in for a name without a password costs the same work: 64 MiB, twice', async () => {
    const { app } = await startOwned()
    await app.stop()
    const { password } = rowsOf<{ password: string }>(app, 'SELECT password FROM dashboard_users')[0]!
    const costOf = (kept: string) =>
      kept
        .split('$')
        .slice(1, 4)
        .concat(
          kept
            .split('$')
            .slice(4)
            .map(part => String(part.length)),
        )
    expect(costOf(password).slice(0, 3)).toEqual(['argon2id', 'v=19', 'm=65536,t=2,p=1'])
    expect(costOf(NOBODYS_PASSWORD)).toEqual(costOf(password))
    // It is compared like any other hash, and matches nothing.
    expect(await Bun.password.verify(PASSWORD, NOBODYS_PASSWORD)).toBe(false)
  })
})

describe('wrong passwords', () => {
  test('wrong passwords make an account wait 0, 0, 0, 1, 2, 4 … seconds, up to 300, from any network', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    let address = 0
    const anew = (password = WRONG) => tryFrom(app, `198.51.100.${++address}`, 'olivia', password)
    for (let i = 0; i < 3; i++) expect(outcome(await anew())).toBe('401 login_failed')
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
      const early = await anew()
      expect([outcome(early), early.headers.get('retry-after')]).toEqual(['429 rate_limit_exceeded', String(seconds)])
      app.clock.advance(seconds * 1000 - 1)
      // The right password waits too, or its response would tell.
      expect(outcome(await anew(PASSWORD))).toBe('429 rate_limit_exceeded')
      app.clock.advance(1)
      expect(outcome(await anew())).toBe('401 login_failed')
    }
    app.clock.advance(300_000)
    expect((await anew(PASSWORD)).status).toBe(200)
    // A right password resets the wait.
    for (let i = 0; i < 3; i++) expect(outcome(await anew())).toBe('401 login_failed')
  })

  test('strangers’ wrong passwords do not delay a user in a network where they logged in before', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    for (let i = 1; i <= 3; i++) await tryFrom(app, `198.51.100.${i}`)
    expect(outcome(await tryFrom(app, '198.51.100.9', 'olivia', PASSWORD))).toBe('429 rate_limit_exceeded')
    expect((await tryFrom(app, HOME, 'olivia', PASSWORD)).status).toBe(200)
    // Wrong passwords in the known network count there.
    for (let i = 0; i < 3; i++) expect(outcome(await tryFrom(app, HOME))).toBe('401 login_failed')
    expect(outcome(await tryFrom(app, HOME, 'olivia', PASSWORD))).toBe('429 rate_limit_exceeded')
    app.clock.advance(1000)
    expect((await tryFrom(app, HOME, 'olivia', PASSWORD)).status).toBe(200)
    // Elsewhere the wait continues from where it was.
    expect(outcome(await tryFrom(app, '198.51.100.9'))).toBe('401 login_failed')
    expect((await tryFrom(app, '198.51.100.9')).headers.get('retry-after')).toBe('2')
  })

  test('wrong passwords delay a name that does not exist in the same way', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    for (const name of ['olivia', 'nobody']) {
      const answers = []
      for (let i = 0; i < 4; i++) answers.push(await tryFrom(app, `203.0.113.${i}`, name))
      expect(answers.map(outcome)).toEqual([...Array(3).fill('401 login_failed'), '429 rate_limit_exceeded'])
      expect(answers[3]?.headers.get('retry-after')).toBe('1')
    }
  })

  test('wrong passwords are counted before they are compared: three of many simultaneous ones pass', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => tryFrom(app, `198.51.100.${i}`)))
    expect(answers.map(outcome).toSorted()).toEqual([
      ...Array(3).fill('401 login_failed'),
      ...Array(9).fill('429 rate_limit_exceeded'),
    ])
  })

  test('wrong passwords are remembered across a restart, and forgotten after a day', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    for (let i = 1; i <= 3; i++) await tryFrom(app, `198.51.100.${i}`)
    await app.stop()
    const again = await limited(app.dir, app.clock.now())
    expect(outcome(await tryFrom(again, '198.51.100.9', 'olivia', PASSWORD))).toBe('429 rate_limit_exceeded')
    expect((await tryFrom(again, HOME, 'olivia', PASSWORD)).status).toBe(200)
    again.clock.advance(86_400_000 - 1)
    expect(outcome(await tryFrom(again, '198.51.100.4'))).toBe('401 login_failed')
    expect(outcome(await tryFrom(again, '198.51.100.4'))).toBe('429 rate_limit_exceeded')
    again.clock.advance(86_400_000)
    for (let i = 0; i < 3; i++) expect(outcome(await tryFrom(again, '198.51.100.4'))).toBe('401 login_failed')
  })

  test('an address has 20 wrong passwords an hour, then one every three minutes; a right one is free', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    const names = Array.from({ length: 20 }, (_, i) => `somebody${i}`)
    for (const name of names) expect(outcome(await tryFrom(app, HOME, name))).toBe('401 login_failed')
    const refused = await tryFrom(app, HOME, 'olivia', PASSWORD)
    expect([outcome(refused), refused.headers.get('retry-after')]).toEqual(['429 rate_limit_exceeded', '180'])
    expect((await tryFrom(app, '192.0.2.2', 'olivia', PASSWORD)).status).toBe(200)
    app.clock.advance(180_000 - 1)
    expect(outcome(await tryFrom(app, HOME, 'olivia', PASSWORD))).toBe('429 rate_limit_exceeded')
    app.clock.advance(1)
    for (let i = 0; i < 3; i++) expect((await tryFrom(app, HOME, 'olivia', PASSWORD)).status).toBe(200)
  })

  test('all addresses together have 120 wrong passwords a minute; beyond that only known networks may try', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    for (let i = 0; i < 118; i++) await app.deps.guesses.take('login-all', '')
    expect(outcome(await tryFrom(app, '198.51.100.1', 'one'))).toBe('401 login_failed')
    expect(outcome(await tryFrom(app, '198.51.100.2', 'two'))).toBe('401 login_failed')
    expect(outcome(await tryFrom(app, '198.51.100.3', 'olivia', PASSWORD))).toBe('429 rate_limit_exceeded')
    expect((await tryFrom(app, HOME, 'olivia', PASSWORD)).status).toBe(200)
    app.clock.advance(500)
    expect((await tryFrom(app, '198.51.100.3', 'olivia', PASSWORD)).status).toBe(200)
  })

  test('wrong passwords at re-authentication make their session wait like an account at log-in', async () => {
    const app = await limited()
    const boss = await setUpOwner(app, 'olivia', HOME)
    for (let i = 0; i < 3; i++) expect(outcome(await boss.post('/reauthenticate', { password: WRONG }))).toBe('401 login_failed')
    expect(outcome(await boss.post('/reauthenticate', { password: PASSWORD }))).toBe('429 rate_limit_exceeded')
    expect(outcome(await boss.post('/password', { password: WRONG, new_password: 'gravel 7 umbrella north' }))).toBe(
      '429 rate_limit_exceeded',
    )
    expect((await boss.get('/session')).status).toBe(200)
    // Neither the user's other browsers nor the network pay for it.
    expect((await tryFrom(app, HOME, 'olivia', PASSWORD)).status).toBe(200)
  })
})

describe('a stranger on the same address', () => {
  /** Twenty invented names, and some wrong passwords for the owner's. */
  async function spendAddress(app: TestApp): Promise<void> {
    for (let i = 0; i < 20; i++) expect(outcome(await tryFrom(app, HOME, `somebody${i}`))).toBe('401 login_failed')
    expect(outcome(await tryFrom(app, HOME, 'somebody'))).toBe('429 rate_limit_exceeded')
  }

  /** A browser that has logged in and out again. */
  async function knownBrowser(app: TestApp) {
    const browser = openBrowser(app, { from: HOME })
    expect((await browser.logIn('olivia')).status).toBe(200)
    expect((await browser.post('/logout')).status).toBe(200)
    return browser
  }

  test('a stranger who spends an address keeps out neither a known browser nor an open session there', async () => {
    const app = await limited()
    const boss = await setUpOwner(app, 'olivia', HOME)
    const browser = await knownBrowser(app)
    await spendAddress(app)
    const refused = await tryFrom(app, HOME, 'olivia', PASSWORD)
    expect(refused.body.error.message).toBe('The budget "login" is empty: it has room again in 180 s, and is full in 3600 s.')
    expect((await browser.logIn('olivia')).status).toBe(200)
    expect((await boss.post('/reauthenticate', { password: PASSWORD })).status).toBe(200)
    expect((await boss.post('/password', { password: PASSWORD, new_password: 'gravel 7 umbrella north' })).status).toBe(200)
  })

  test('strangers who spend the budget of everybody, and the waits of the account, do not delay a known browser elsewhere', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    const browser = await knownBrowser(app)
    for (let i = 1; i <= 3; i++) await tryFrom(app, `198.51.100.${i}`)
    for (let i = 0; i < 117; i++) await app.deps.guesses.take('login-all', '')
    const elsewhere = openBrowser(app, { from: '198.51.100.9' })
    expect(outcome(await elsewhere.logIn('olivia'))).toBe('429 rate_limit_exceeded')
    elsewhere.state.known = browser.state.known
    expect((await elsewhere.logIn('olivia')).status).toBe(200)
  })

  test('a known browser has 20 wrong passwords an hour and waits of its own, and its address pays for none', async () => {
    const app = await limited()
    await setUpOwner(app, 'olivia', HOME)
    const [browser, other] = [await knownBrowser(app), await knownBrowser(app)]
    for (let i = 0; i < 3; i++) expect(outcome(await browser.logIn('olivia', WRONG))).toBe('401 login_failed')
    const waiting = await browser.logIn('olivia')
    expect([outcome(waiting), waiting.headers.get('retry-after')]).toEqual(['429 rate_limit_exceeded', '1'])
    expect((await other.logIn('olivia')).status).toBe(200)
    await spendAddress(app)
    for (let i = 3; i < 20; i++) {
      app.clock.advance(2)
      await app.deps.write(tx => deleteForgotten(tx, app.clock.now() + 86_400_000))
      expect(outcome(await browser.logIn('olivia', WRONG))).toBe('401 login_failed')
    }
    await app.deps.write(tx => deleteForgotten(tx, app.clock.now() + 86_400_000))
    const spent = await browser.logIn('olivia')
    expect(outcome(spent)).toBe('429 rate_limit_exceeded')
    expect(spent.headers.get('ratelimit-policy')).toBe('"login-known";q=20;w=3600')
  })

  test('the cookie of a known browser counts for its own user, unchanged, for 90 days', async () => {
    const app = await limited()
    const { id } = await app.tenant()
    await setUpOwner(app, 'olivia', HOME)
    await joinMember(app, id, 'mia')
    const browser = await knownBrowser(app)
    const [cookie = ''] = browser.state.known
    const [name, value = ''] = cookie.split('=')
    const tryWith = (known: string[], user = 'olivia') => {
      const again = openBrowser(app, { from: HOME })
      again.state.known = known
      return again.logIn(user)
    }
    await spendAddress(app)
    const flipped = Buffer.from(value, 'base64url')
    flipped[0]! ^= 1
    for (const wrong of [
      `${name}=${flipped.toString('base64url')}`,
      `${name}=${'A'.repeat(72)}`,
      `${name}=`,
      `${name}=${value}A`,
    ])
      expect(outcome(await tryWith([wrong]))).toBe('429 rate_limit_exceeded')
    expect(outcome(await tryWith([cookie], 'mia'))).toBe('429 rate_limit_exceeded')
    expect((await tryWith(['theme=dark', cookie])).status).toBe(200)
    app.clock.advance(90 * 86_400_000 - 1)
    await spendAddress(app)
    expect((await tryWith([cookie])).status).toBe(200)
    app.clock.advance(1)
    expect(outcome(await tryWith([cookie]))).toBe('429 rate_limit_exceeded')
  })

  test('a new password and the operator’s reset end the cookies of known browsers; the browser that changes it gets a new one', async () => {
    const app = await limited()
    const boss = await setUpOwner(app, 'olivia', HOME)
    const browser = await knownBrowser(app)
    const changed = 'gravel 7 umbrella north'
    expect((await boss.post('/password', { password: PASSWORD, new_password: changed })).status).toBe(200)
    expect((await boss.post('/logout')).status).toBe(200)
    await spendAddress(app)
    expect(outcome(await browser.logIn('olivia', changed))).toBe('429 rate_limit_exceeded')
    expect((await boss.logIn('olivia', changed)).status).toBe(200)
    const { url } = await resetUser(app.deps, (await findUserId(app.deps, 'olivia'))!, 'test', { takesFactors: true })
    expect(outcome(await boss.logIn('olivia', changed))).toBe('429 rate_limit_exceeded')
    // A link needs no budget, and its browser is known from then on.
    expect((await boss.post('/choose-password', { token: tokenOf(url), password: PASSWORD })).status).toBe(200)
    expect((await boss.post('/logout')).status).toBe(200)
    expect((await boss.logIn('olivia')).status).toBe(200)
  })

  test('one browser is known for each of its users', async () => {
    const app = await limited()
    const { id } = await app.tenant()
    await setUpOwner(app, 'olivia', HOME)
    await joinMember(app, id, 'mia')
    const browser = await knownBrowser(app)
    expect((await browser.logIn('mia')).status).toBe(200)
    expect(browser.state.known).toHaveLength(2)
    await spendAddress(app)
    for (const name of ['olivia', 'mia']) expect((await browser.logIn(name)).status).toBe(200)
  })
})

describe('a log-in over plain http', () => {
  const plain = (publicUrl: string, trusted = '') => startApp({ config: { publicUrl, trustedProxies: parseNetworks(trusted) } })

  test('plain http: this machine may log in, with a cookie without the __Host- prefix', async () => {
    const app = await plain('http://localhost:3000')
    const own = app.url.replace('127.0.0.1', 'localhost')
    for (const origin of ['http://localhost:3000', app.url, own]) {
      const browser = openBrowser(app, { origin })
      const host = origin.replace('http://', '')
      const path = (await browser.get('/entrance')).body as unknown as { needs_setup: boolean }
      expect(path).toMatchObject({ accepts_passwords: true })
      if (path.needs_setup) {
        const token = tokenOf(await openSetup(app.deps))
        await browser.post('/setup', { token, name: 'olivia', password: PASSWORD }, { headers: { host } })
      }
      const answer = await browser.send('POST', '/login', { body: { name: 'olivia', password: PASSWORD }, headers: { host } })
      expect([origin, answer.status]).toEqual([origin, 200])
      const [session, known] = answer.headers.getSetCookie()
      expect(session).toMatch(/^vidimus-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
      expect(known).toMatch(/^vidimus-browser-[0-9a-f]{16}=[\w-]{72}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=7776000$/)
      expect((await browser.get('/session')).status).toBe(200)
    }
  })

  test('plain http: other machines get https_required, with a cookie too', async () => {
    const app = await plain('http://localhost:3000', '127.0.0.1')
    const origin = 'http://localhost:3000'
    const here = openBrowser(app, { origin })
    const token = tokenOf(await openSetup(app.deps))
    const there = openBrowser(app, { origin, from: '192.0.2.7' })
    for (const path of ['/setup', '/login', '/choose-password', '/link'])
      expect(outcome(await there.post(path, { token, name: 'olivia', password: PASSWORD }))).toBe('403 https_required')
    expect((await there.get('/entrance')).body as unknown).toMatchObject({ needs_setup: true, accepts_passwords: false })
    expect((await here.post('/setup', { token, name: 'olivia', password: PASSWORD })).status).toBe(201)
    there.state.cookie = here.state.cookie
    expect(outcome(await there.get('/session'))).toBe('403 https_required')
    expect((await here.get('/session')).status).toBe(200)
  })

  test.each(['', '127.0.0.1'])(
    'plain http: a request through a proxy does not count as this machine, trusted: %j',
    async trusted => {
      const app = await plain('http://localhost:3000', trusted)
      for (const header of FORWARDING_HEADERS) {
        const answer = await openBrowser(app, { origin: 'http://localhost:3000' }).send('POST', '/login', {
          body: { name: 'olivia', password: PASSWORD },
          headers: { [header]: '127.0.0.1' },
        })
        expect([header, outcome(answer)]).toEqual([header, '403 https_required'])
      }
    },
  )

  test('plain http: a page under another host name does not count as this machine', async () => {
    const app = await plain('http://shop.lan')
    const body = { name: 'olivia', password: PASSWORD }
    expect(outcome(await openBrowser(app, { origin: 'http://shop.lan' }).post('/login', body))).toBe('403 https_required')
    const rebound = await openBrowser(app, { origin: 'http://evil.example:3000' }).send('POST', '/login', {
      body,
      headers: { host: 'evil.example:3000' },
    })
    expect(outcome(rebound)).toBe('403 https_required')
    expect(outcome(await openBrowser(app, { origin: 'http://evil.example' }).post('/login', body))).toBe('403 csrf_refused')
  })
})

describe('a password is refused', () => {
  const REFUSED: [string, string][] = [
    ['fourteen chars', 'too short'],
    ['x'.repeat(129), 'too long'],
    ['aaaaaaaaaaaaaaaaaaaa', 'one letter'],
    ['abcabcabcabcabcabc', 'a block again and again'],
    ['xkcd7 xkcd7 xkcd7 ', 'the same with spaces'],
    ['abcdefghijklmnopqrst', 'the alphabet'],
    ['12345678901234567890', 'digits in a row'],
    ['qwertyuiopasdfghjkl', 'keys in a row'],
    ['passwordpassword123', 'common words'],
    ['P@ssw0rd-Welcome-2026', 'common words with look-alikes'],
    ['Summer2026Summer2027!', 'seasons and years'],
    ['Willkommen2024!admin', 'words and a year'],
    ['1qaz2wsx3edc4rfv', 'one of the common passwords'],
    ['Sunflower-K1tchen', 'two of them'],
    ['my vidimus dashboard pass', 'the service'],
    ['Olivia likes tall trees', 'the user'],
    ['v1d1mus tall trees grow', 'the service, disguised'],
  ]

  test.each(REFUSED)('%s (%s)', password => {
    expect(weaknessOf(password, 'olivia', COMMON)).toBeString()
  })

  const TAKEN = [
    PASSWORD,
    'correct horse battery staple',
    'Wq7#mLp2!xRv9$Kd',
    '15 characters !',
    '847261950384756',
    'x7x7x7Lm2-nQ 4tZ_',
    'öögrüne lampe fenster',
  ]
  test.each(TAKEN)('a password is accepted: %s', password => {
    expect(weaknessOf(password, 'olivia', COMMON)).toBeUndefined()
  })

  test('a password’s 15 to 128 characters are counted in code points', () => {
    expect(weaknessOf('🌳🌲🌴🌵🌾🌿☘🍀🍁🍂🍃🌱🪴🌸', 'olivia', COMMON)).toContain('at least 15')
    expect(weaknessOf('🌳🌲🌴🌵🌾🌿☘🍀🍁🍂🍃🌱🪴🌸🌺', 'olivia', COMMON)).toBeUndefined()
    const long = Array.from({ length: 128 }, (_, i) => String.fromCharCode(0x4e00 + i)).join('')
    expect(weaknessOf(long, 'olivia', COMMON)).toBeUndefined()
    expect(weaknessOf(`${long}x`, 'olivia', COMMON)).toContain('at most 128')
  })
})
