// The way back: the browser that began a log-in, and nobody else, brings it to an end.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, outcome, startApp, type TestApp } from '../helpers/app.ts'
import { ask, presentThrough } from '../helpers/dc.ts'
import {
  answerIn,
  answerLogin,
  type Begun,
  begin,
  comeBack,
  exchange,
  issuerPath,
  makeClient,
  openBrowser,
  type Party,
  pageOf,
} from '../helpers/oidc.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

afterAll(cleanUp)

let app: TestApp
let tenant: string
let key: string
let party: Party

beforeAll(async () => {
  app = await startApp()
  ;({ id: tenant, key } = await app.tenant())
  party = await makeClient({ app, tenant })
})

const LOST = '400 login_not_found'
const read = async (begun: Begun) => (await app.call<Verification>('GET', `/v1/verifications/${begun.id}`, { key })).body

describe('the cookie of a log-in', () => {
  test('is needed, and without it nothing is burnt', async () => {
    const begun = await begin(party)
    const response = await answerLogin(party, begun)
    const other = await begin(party)
    const { jar } = other.browser
    const stolen = [...jar.entries()].find(([name]) => name.startsWith('__Secure-login'))![1].value
    const browsers: Record<string, Record<string, string>> = {
      'no cookie': {},
      'an empty one': { cookie: '__Secure-login=' },
      'a made-up one': { cookie: `__Secure-login=${'A'.repeat(43)}` },
      'that of another log-in': { cookie: `__Secure-login=${stolen}` },
      'one without the prefix': { cookie: `vidimus-login=${stolen}` },
    }
    for (const [name, headers] of Object.entries(browsers)) {
      const answer = await comeBack({ ...begun, browser: openBrowser(app) }, response, headers)
      expect([name, outcome(answer)]).toEqual([name, LOST])
    }
    for (const method of ['GET', 'HEAD']) expect((await begun.browser.call(method, begun.returnPath)).status).toBe(200)
    expect((await comeBack(begun, response)).status).toBe(200)
  })

  test('counts for requests of the page itself only', async () => {
    const begun = await begin(party)
    const foreign = [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'none' }]
    for (const headers of foreign) expect(outcome(await comeBack(begun, undefined, headers))).toBe('403 csrf_refused')
    expect((await pageOf(begun)).status).toBe('pending')
  })

  test('of one tab does not disturb another', async () => {
    const browser = openBrowser(app)
    const [one, two] = [await begin(party, { state: 'one' }, browser), await begin(party, { state: 'two' }, browser)]
    const first = await answerLogin(party, one)
    const second = await answerLogin(party, two)
    expect(outcome(await comeBack(one, second))).toBe(LOST)
    const answers = [await comeBack(two, second), await comeBack(one, first)].map(({ body }) => answerIn(body.location))
    expect(answers.map(({ state }) => state)).toEqual(['two', 'one'])
    const verifiers = [two.verifier, one.verifier]
    for (const [i, { code }] of answers.entries())
      expect((await exchange(party, { code, verifier: verifiers[i] })).status).toBe(200)
  })

  test('is nothing to another issuer, or once the client is removed', async () => {
    const begun = await begin(party)
    await makeClient({ app, tenant, environment: 'live' })
    expect(outcome(await comeBack({ ...begun, returnPath: begun.returnPath.replace('/test/', '/live/') }))).toBe(LOST)
  })
})

describe('a log-in that came to an end', () => {
  test('makes one code', async () => {
    const begun = await begin(party)
    const response = await answerLogin(party, begun)
    const all = await Promise.all(Array.from({ length: 20 }, () => comeBack(begun, response)))
    expect(all.map(outcome).sort()).toEqual(['200', ...Array(19).fill(LOST)].sort())
    expect(outcome(await comeBack(begun, response))).toBe(LOST)
    expect(outcome(await comeBack(begun))).toBe(LOST)
  })

  test('gives nothing for a wrong response code, or for none', async () => {
    const begun = await begin(party)
    const response = await answerLogin(party, begun)
    for (const code of ['A'.repeat(43), undefined, 'x']) expect(outcome(await comeBack(begun, code))).toBe(LOST)
    expect((await comeBack(begun, response)).status).toBe(200)
  })

  test('can be taken up for ten minutes after the answer', async () => {
    const begun = await begin(party)
    const response = await answerLogin(party, begun)
    // Creations run ahead of the clock by a few milliseconds.
    app.clock.advance(600_100)
    expect(outcome(await comeBack(begun, response))).toBe(LOST)
  })

  test('has limited guesses of its response code', async () => {
    const limited = await startApp({ rateLimitScale: 1 })
    const own = await makeClient({ app: limited, tenant: (await limited.tenant()).id })
    const begun = await begin(own)
    await answerLogin(own, begun)
    const all = []
    for (let i = 0; i < 6; i++) all.push(outcome(await comeBack(begun, `${i}`.repeat(43))))
    expect(all).toEqual([...Array(5).fill(LOST), '429 rate_limit_exceeded'])
  })
})

describe('somebody who does not log in', () => {
  const iss = () => `https://verify.example${issuerPath(party)}`
  const denied = async (begun: Begun, code?: string) => {
    const { status, body } = await comeBack(begun, code)
    expect(status).toBe(200)
    const { error_description = '', ...rest } = answerIn(body.location)
    expect(rest).toEqual({ error: 'access_denied', state: 'state-1', iss: iss() })
    expect(error_description).not.toContain(begun.id)
    expect(outcome(await comeBack(begun, code))).toBe(LOST)
    return error_description.split(':')[0]
  }

  test('and goes back is told apart as cancelled, and the verification with it', async () => {
    const begun = await begin(party)
    expect((await pageOf(begun)).return_url).toBe(`https://verify.example${begun.returnPath}`)
    expect(await denied(begun)).toBe('cancelled')
    expect((await read(begun)).error?.code).toBe('cancelled')
  })

  test('and declines in the wallet', async () => {
    const begun = await begin(party)
    const code = await answerLogin(party, begun, { persona: 'declines' })
    expect(await denied(begun, code)).toBe('declined')
  })

  test('and does not answer in time', async () => {
    const begun = await begin(party)
    // Creations run ahead of the clock by a few milliseconds.
    app.clock.advance(600_100)
    expect(await denied(begun)).toBe('expired')
  })

  test.each<PersonaId>(['minor', 'untrusted_issuer', 'tampered_claim', 'expired'])('with the document of %s', async persona => {
    const begun = await begin(party)
    const code = await answerLogin(party, begun, { persona })
    expect(await denied(begun, code)).toBe('not_accepted')
  })

  test('and does not come back in time after an answer that is held', async () => {
    const own = await makeClient({ app, tenant }, { cross_device: 'refused' })
    const begun = await begin(own)
    const code = await answerLogin(own, begun)
    // Creations run ahead of the clock by a few milliseconds.
    app.clock.advance(600_100)
    const { body } = await comeBack(begun, code)
    expect(answerIn(body.location).error_description).toStartWith('expired: ')
  })
})

describe('a page of a log-in', () => {
  test('in another browser shows no way to answer, and cannot be owned', async () => {
    const begun = await begin(party)
    const other = { ...begun, browser: openBrowser(app) }
    const page = await pageOf(other)
    expect(page).toMatchObject({ status: 'pending', foreign: true })
    for (const name of ['wallet_uri', 'qr_uri', 'further_uris', 'return_url', 'returns']) expect(page).not.toHaveProperty(name)
    expect((await other.browser.call<object>('POST', `/v/${begun.id}/owner`)).body).toEqual({ owner: false })
    expect((await other.browser.call('POST', `/v/${begun.id}/return`)).body).toEqual({})
    expect(await pageOf(begun)).not.toHaveProperty('foreign')
  })

  test('asks the wallet of its own browser only', async () => {
    const begun = await begin(party)
    const origin = { origin: 'https://verify.example' }
    const path = `/wallet/dc/request/${begun.id}`
    expect(outcome(await app.call('POST', path, { body: {}, headers: origin }))).toBe('403 origin_not_allowed')
    expect(outcome(await begun.browser.call('POST', path, { body: {}, headers: origin }))).toBe('200')
    const answered = { body: { protocol: 'org-iso-mdoc', data: {} }, headers: origin }
    expect(outcome(await app.call('POST', `/wallet/dc/response/${begun.id}`, answered))).toBe('403 origin_not_allowed')
    expect(outcome(await begun.browser.call('POST', `/wallet/dc/response/${begun.id}`, answered))).toBe(
      '400 invalid_wallet_response',
    )
    expect((await ask(app, begun.id)).status).toBe(403)
  })
})

describe("the browser's wallet call", () => {
  test.each(['allowed', 'refused'] as const)(
    'logs in where other devices are %s, and its code is of no use elsewhere',
    async cross_device => {
      const own = await makeClient({ app, tenant }, { cross_device })
      const begun = await begin(own)
      const page = { ...app, call: begun.browser.call } as TestApp
      const { body } = await presentThrough(page, begun.id, await holderOf(app), { origin: 'https://verify.example' })
      expect(body.redirect_uri).toStartWith(`https://verify.example${begun.returnPath}#response_code=`)
      expect(outcome(await comeBack({ ...begun, browser: openBrowser(app) }, body.response_code))).toBe(LOST)
      const { code } = answerIn((await comeBack(begun, body.response_code)).body.location)
      expect((await exchange(own, { code, verifier: begun.verifier })).status).toBe(200)
    },
  )
})

describe('across devices', () => {
  test('a client that refuses it shows no QR code, and only the browser that began gets the answer', async () => {
    const own = await makeClient({ app, tenant }, { cross_device: 'refused' })
    const begun = await begin(own)
    const page = await pageOf(begun)
    expect(page).not.toHaveProperty('qr_uri')
    expect(page.wallet_uri).toBeString()
    // A copied link: the wallet gets the way back, in a browser that has no cookie.
    const exchanged = await answerWith(app, await holderOf(app), page.wallet_uri!)
    const code = /#response_code=([\w-]+)/.exec(JSON.stringify(exchanged))![1]!
    expect((await read(begun)).status).toBe('pending')
    expect(outcome(await comeBack({ ...begun, browser: openBrowser(app) }, code))).toBe(LOST)
    expect((await begun.browser.call('POST', `/v/${begun.id}/return`)).body).not.toMatchObject({
      return_url: expect.stringContaining('#'),
    })
    expect((await read(begun)).status).toBe('pending')
    expect((await comeBack(begun, code)).status).toBe(200)
    expect((await read(begun)).status).toBe('completed')
  })

  test('from=qr counts as absent for a client that refuses it', async () => {
    const own = await makeClient({ app, tenant }, { cross_device: 'refused' })
    const begun = await begin(own)
    const made = encodeURIComponent(encodeURIComponent('?from=qr'))
    const { wallet_uri = '' } = await pageOf(begun)
    const byQr = wallet_uri.replace(/(request_uri=[^&]+)/, `$1${decodeURIComponent(made)}`)
    expect(new URL(byQr).searchParams.get('request_uri')).toEndWith('?from=qr')
    const exchanged = await answerWith(app, await holderOf(app), byQr)
    expect(JSON.stringify(exchanged)).toContain('#response_code=')
    expect(
      (await begun.browser.call<{ return_url?: string }>('POST', `/v/${begun.id}/return`)).body.return_url ?? '',
    ).not.toContain('#')
  })
})
