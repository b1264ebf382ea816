// The owner of the hosted page, and how an answer that came through its QR code returns to the shop.
import { describe, expect, test } from 'bun:test'
import encodeQR from 'qr'
import { sha256Hex } from '../../src/base/hash.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { answer, fetchRequest, post } from '../../src/sandbox/wallet/wallet.ts'
import type { HostedVerification, PageOwner, PageReturn, Verification } from '../../src/verifications/schema.ts'
import { createVerification, type ErrorBody, outcome, startApp, startWithTenant } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { answerWith, fetchOf, holderOf } from '../helpers/wallet.ts'

const SHOP = 'https://shop.example/thanks?order=17'
const CODE = /^https:\/\/shop\.example\/thanks\?order=17#response_code=([\w-]{43})$/

const { app, key } = await startWithTenant()

const create = (body: object = {}) => createVerification(app, key, { redirect_url: SHOP, ...body })
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }

/** The page's own script, in a browser with this cookie. */
const asPage = <Body>(method: string, path: string, cookie = '', headers: Record<string, string> = SAME_ORIGIN) =>
  app.call<Body>(method, path, { headers: { ...headers, ...(cookie && { cookie }) } })

async function openPage(id: string, cookie?: string): Promise<{ owner: boolean; cookie: string; set: string }> {
  const { body, headers } = await asPage<PageOwner>('POST', `/v/${id}/owner`, cookie)
  const set = headers.get('set-cookie') ?? ''
  return { ...body, cookie: set.split(';', 1)[0] ?? '', set }
}

const dataOf = async (id: string, cookie?: string) => (await asPage<HostedVerification>('GET', `/v/${id}/data`, cookie)).body
const leave = async (id: string, cookie?: string) => (await asPage<PageReturn>('POST', `/v/${id}/return`, cookie)).body.return_url
const codeIn = (url: string | undefined) => CODE.exec(url ?? '')?.[1]
const redeem = async (id: string, response_code: string | undefined) =>
  (await app.call<Verification>('POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code } })).status

/** A page that somebody has open, and an answer through its QR code. */
async function answeredByQr({ persona = 'adult', body = {} }: { persona?: PersonaId; body?: object } = {}) {
  const { id } = await create(body)
  const page = await openPage(id)
  const { qr_uri = '' } = await dataOf(id, page.cookie)
  const exchange = await answerWith(app, await holderOf(app, persona), qr_uri)
  return { id, cookie: page.cookie, exchange }
}

const column = <Value>(id: string, name: string): Value =>
  rowsOf<Record<string, Value>>(app, `SELECT ${name} FROM verification_sessions WHERE id = ?`, id)[0]?.[name] as Value

describe('POST /v/{id}/owner', () => {
  test('exactly one of twenty browsers that open the page at once owns it', async () => {
    const { id } = await create()
    const { write } = app.deps
    const all = Promise.withResolvers<void>()
    let waiting = 0
    // No write happens before all have seen a page without an owner.
    app.deps.write = async work => {
      if (++waiting === 20) all.resolve()
      await all.promise
      return await write(work)
    }
    const opened = await Promise.all(Array.from({ length: 20 }, () => openPage(id)))
    app.deps.write = write
    const owners = opened.filter(({ owner }) => owner)
    expect([owners.length, opened.filter(({ cookie }) => cookie !== '').length]).toEqual([1, 1])
    expect(column<string>(id, 'page_owner_hash')).toBe(sha256Hex(owners[0]?.cookie.split('=')[1] ?? ''))
  })

  test('the cookie of the owner is for the path of the page, HttpOnly and SameSite', async () => {
    const { id } = await create()
    const { set } = await openPage(id)
    expect(set).toMatch(/^__Secure-page=[\w-]{43}; Path=\/v\/vs_\w+; Max-Age=90[01]; HttpOnly; SameSite=Lax; Secure$/)
    expect(set).toContain(`Path=/v/${id};`)
  })

  test('the cookie of the owner has the path of the public URL, and no Secure over plain http', async () => {
    const plain = await startApp({ config: { publicUrl: 'http://192.168.10.5/check' } })
    const { id } = await createVerification(plain, (await plain.tenant()).key)
    const { headers } = await plain.call('POST', `/v/${id}/owner`, { headers: { origin: 'http://192.168.10.5' } })
    expect(headers.get('set-cookie')).toMatch(
      new RegExp(`^vidimus-page=[\\w-]{43}; Path=/check/v/${id}; Max-Age=\\d+; HttpOnly; SameSite=Lax$`),
    )
  })

  test('the owner keeps the page when it opens it again', async () => {
    const { id } = await create()
    const { cookie } = await openPage(id)
    expect(await openPage(id, cookie)).toEqual({ owner: true, cookie: '', set: '' })
    expect(await openPage(id)).toEqual({ owner: false, cookie: '', set: '' })
  })

  test.each(['GET', 'HEAD'])('%s of the page itself, as link previews and prefetches do, claims nothing', async method => {
    const { id } = await create()
    const { status, headers } = await app.call(method, `/v/${id}`, { headers: { 'sec-purpose': 'prefetch' } })
    expect([status, headers.get('set-cookie'), column<string | null>(id, 'page_owner_hash')]).toEqual([200, null, null])
  })

  test('nobody can own the page of a session that was answered or has expired', async () => {
    const answered = await create()
    await answerWith(app, await holderOf(app), (await dataOf(answered.id)).qr_uri ?? '')
    expect((await openPage(answered.id)).owner).toBe(false)
    const late = await create({ ttl_seconds: 60 })
    app.clock.set(Date.parse(late.expires_at))
    expect((await openPage(late.id)).owner).toBe(false)
  })
})

describe.each(['owner', 'return'])('POST /v/{id}/%s', action => {
  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another name of the same site', { 'sec-fetch-site': 'same-site', origin: 'https://verify.example' }],
    ['typed by a person', { 'sec-fetch-site': 'none' }],
    ['of another origin, where the browser names no site', { origin: 'https://evil.example' }],
    ['of no origin at all', {}],
  ])('refuses a request %s', async (_, headers) => {
    const { id, cookie } = await answeredByQr()
    const fresh = await create()
    const target = action === 'owner' ? fresh.id : id
    const answered = await asPage<ErrorBody>('POST', `/v/${target}/${action}`, cookie, headers)
    expect(outcome(answered)).toBe('403 csrf_refused')
    expect([answered.headers.get('set-cookie'), answered.headers.get('access-control-allow-origin')]).toEqual([null, null])
    expect(column<string | null>(fresh.id, 'page_owner_hash')).toBeNull()
  })

  test('a request with the origin of the service is accepted without Sec-Fetch-Site', async () => {
    const { id } = await create()
    expect((await asPage('POST', `/v/${id}/${action}`, '', { origin: 'https://verify.example' })).status).toBe(200)
  })

  test('a request for an unknown session is 404', async () => {
    expect(outcome(await asPage<ErrorBody>('POST', `/v/vs_0000000000000000000000/${action}`))).toBe('404 session_not_found')
  })
})

describe('further links', () => {
  const furtherOf = async (linkStart: string, body: object = {}) => {
    const { config } = app.deps
    const before = config.wallet.linkStart
    config.wallet.linkStart = linkStart
    try {
      return (await dataOf((await create(body)).id)).further_uris?.map(uri => uri.slice(0, uri.indexOf('?')))
    } finally {
      config.wallet.linkStart = before
    }
  }

  test('are those of EU and HAIP wallets, without the main one, and none for the EU age app', async () => {
    for (const main of ['openid4vp', 'openid4vp://', 'https://wallet.example/open'])
      expect(await furtherOf(main)).toEqual(['eu-eaap://', 'haip-vp://'])
    for (const main of ['haip-vp', 'haip-vp://', 'haip-vp://host']) expect(await furtherOf(main)).toEqual(['eu-eaap://'])
    expect(await furtherOf('eu-eaap://')).toEqual(['haip-vp://'])
    expect(await furtherOf('openid4vp', { template: 'eu_av_age_18' })).toEqual([])
  })

  test('are gone once the session has an answer', async () => {
    const { id, wallet_uri = '' } = await create()
    await answerWith(app, await holderOf(app), wallet_uri)
    expect(await dataOf(id)).not.toHaveProperty('further_uris')
  })
})

describe("the link in the page's QR code", () => {
  test('leads to request_uri with from=qr, whose request asks for the answer at response_uri with from=qr', async () => {
    const { id, wallet_uri = '', request_uri } = await create()
    const { qr_uri = '', wallet_uri: onThisDevice } = await dataOf(id)
    expect(onThisDevice).toBe(wallet_uri)
    expect(new URL(qr_uri).searchParams.get('request_uri')).toBe(`${request_uri}?from=qr`)
    for (const method of ['get', 'post'] as const) {
      const options = { now: app.clock.now(), method }
      const fromQr = await fetchRequest(qr_uri, fetchOf(app), options)
      expect(fromQr.responseUri).toBe(`https://verify.example/wallet/response/${id}?from=qr`)
      expect((await fetchRequest(wallet_uri, fetchOf(app), options)).responseUri).toBe(
        `https://verify.example/wallet/response/${id}`,
      )
    }
  })

  test('needs no larger code than wallet_uri at an ordinary host name', async () => {
    const { id, wallet_uri = '' } = await create()
    const sizeOf = (text: string) => encodeQR(text, 'raw', { ecc: 'low' }).length
    expect(sizeOf((await dataOf(id)).qr_uri ?? '')).toBe(sizeOf(wallet_uri))
  })

  test.each([
    ['an SD-JWT', 'age_over_18', 'dc+sd-jwt'],
    ['an mdoc', 'age_over_18', 'mso_mdoc'],
    ['an unsigned request by value', 'eu_av_age_18', 'mso_mdoc'],
  ] as const)(
    'completes with %s, gives the wallet no redirect_uri, and is stored as answered from there',
    async (_, template, format) => {
      const { id } = await create({ template })
      const exchange = await answerWith(app, await holderOf(app), (await dataOf(id)).qr_uri ?? '', { format })
      expect([exchange.status, exchange.body]).toEqual([200, {}])
      const { body } = await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })
      expect([body.status, column<string>(id, 'answered_from')]).toEqual(['completed', 'qr'])
    },
  )

  test.each(['?from=qr', ''])(
    'binds an mdoc to the address it was made for: posted elsewhere than to %j it fails',
    async from => {
      const { id, wallet_uri = '' } = await create()
      const link = from ? ((await dataOf(id)).qr_uri ?? '') : wallet_uri
      const now = app.clock.now()
      const request = await fetchRequest(link, fetchOf(app), { now })
      const response = await answer(request, await holderOf(app), { now, accept: ({ format }) => format === 'mso_mdoc' })
      const elsewhere = `https://verify.example/wallet/response/${id}${from ? '' : '?from=qr'}`
      expect((await post({ ...response, responseUri: elsewhere }, fetchOf(app))).status).toBe(200)
      const { body } = await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })
      expect([body.status, body.error?.code]).toEqual(['failed', 'holder_binding_invalid'])
    },
  )

  test('is the only one that counts: any other value of from, and any other parameter, is ignored', async () => {
    const { id, wallet_uri = '' } = await create()
    const exchange = await answerWith(app, await holderOf(app), wallet_uri.replace(id, `${id}%3Ffrom%3Dletter%26lang%3Dde`))
    expect(codeIn(exchange.redirectUri)).toBeString()
    expect(column<string | null>(id, 'answered_from')).toBeNull()
  })
})

describe('POST /v/{id}/return', () => {
  test.each(['adult', 'minor', 'declines'] as const)(
    'gives the owner a code that can be redeemed once, persona %s',
    async persona => {
      const { id, cookie } = await answeredByQr({ persona })
      expect((await dataOf(id, cookie)).returns).toBe(true)
      const code = codeIn(await leave(id, cookie))
      expect(column<string>(id, 'response_code_hash')).toBe(sha256Hex(code ?? ''))
      expect([await redeem(id, code), await redeem(id, code)]).toEqual([200, 404])
    },
  )

  test('each return of the owner gets a new code, and the code before stops working', async () => {
    const { id, cookie } = await answeredByQr()
    const first = codeIn(await leave(id, cookie))
    const second = codeIn(await leave(id, cookie))
    expect(first).not.toBe(second)
    expect([await redeem(id, first), await redeem(id, second)]).toEqual([404, 200])
  })

  test('a return after the redemption has no code', async () => {
    const { id, cookie } = await answeredByQr()
    const code = codeIn(await leave(id, cookie))
    await redeem(id, code)
    expect([await leave(id, cookie), (await dataOf(id, cookie)).returns]).toEqual([SHOP, undefined])
    expect(await redeem(id, code)).toBe(404)
  })

  test('codes of the page can be had and redeemed until ten minutes after the answer', async () => {
    const { id, cookie } = await answeredByQr()
    const end = column<number>(id, 'responded_at') + 600_000
    app.clock.set(end - 1)
    const last = codeIn(await leave(id, cookie))
    expect(last).toBeString()
    app.clock.set(end)
    expect([await leave(id, cookie), (await dataOf(id, cookie)).returns]).toEqual([SHOP, undefined])
    expect(await redeem(id, last)).toBe(404)
  })

  test('a browser without the cookie, or with that of another page, gets neither a code nor the URL', async () => {
    const { id, cookie } = await answeredByQr()
    const code = codeIn(await leave(id, cookie))
    const other = await answeredByQr()
    for (const foreign of [
      undefined,
      other.cookie,
      `${cookie}x`,
      `__Secure-page=${'A'.repeat(43)}`,
      `vidimus-page=${cookie.split('=')[1]}`,
    ]) {
      const { return_url, returns } = await dataOf(id, foreign)
      expect([await leave(id, foreign), return_url, returns]).toEqual([undefined, undefined, undefined])
    }
    expect(await redeem(id, code)).toBe(200)
    expect([await leave(id), (await dataOf(id)).return_url]).toEqual([undefined, undefined])
    expect([await leave(id, cookie), (await dataOf(id, cookie)).return_url]).toEqual([SHOP, SHOP])
  })

  test('the code of an answer through wallet_uri goes to the wallet, not to the page', async () => {
    const { id, wallet_uri = '' } = await create()
    const { cookie } = await openPage(id)
    const { redirectUri } = await answerWith(app, await holderOf(app), wallet_uri)
    expect([await leave(id, cookie), (await dataOf(id, cookie)).returns]).toEqual([SHOP, undefined])
    expect(await redeem(id, codeIn(redirectUri))).toBe(200)
  })

  test('the code replaces the fragment of redirect_url', async () => {
    const { id, cookie } = await answeredByQr({ body: { redirect_url: 'com.example.shop:/done#top' } })
    expect(await leave(id, cookie)).toMatch(/^com\.example\.shop:\/done#response_code=[\w-]{43}$/)
  })

  test('an expired page returns its owner without a code; a pending one, or one without redirect_url, does not return', async () => {
    const { id, expires_at } = await create()
    const { cookie } = await openPage(id)
    expect([await leave(id, cookie), await leave(id)]).toEqual([undefined, undefined])
    expect([(await dataOf(id, cookie)).return_url, (await dataOf(id)).return_url]).toEqual([SHOP, undefined])
    app.clock.set(Date.parse(expires_at))
    expect([await leave(id, cookie), await leave(id)]).toEqual([SHOP, undefined])
    expect([(await dataOf(id, cookie)).return_url, (await dataOf(id)).return_url]).toEqual([SHOP, undefined])
    const nowhere = await answeredByQr({ body: { redirect_url: undefined } })
    expect([await leave(nowhere.id, nowhere.cookie), (await dataOf(nowhere.id, nowhere.cookie)).returns]).toEqual([
      undefined,
      undefined,
    ])
  })

  test('the code of a held answer goes to the browser that the wallet opens, not to the page, and completes the session', async () => {
    const { id, cookie, exchange } = await answeredByQr({ body: { release: 'on_redeem' } })
    const seen = await dataOf(id, cookie)
    expect(seen).toMatchObject({ status: 'pending', answered: true, return_url: SHOP })
    expect(seen.returns).toBeUndefined()
    // The address may name the order, and for everybody else the session is still pending.
    expect([await leave(id), (await dataOf(id)).return_url]).toEqual([undefined, undefined])
    expect(codeIn(await leave(id, cookie))).toBeUndefined()
    expect(await redeem(id, codeIn(exchange.redirectUri))).toBe(200)
    expect((await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body.status).toBe('completed')
  })

  test('the log has neither the cookie nor a code', async () => {
    const { id, cookie } = await answeredByQr()
    const code = codeIn(await leave(id, cookie)) ?? ''
    const written = app.logs.join('\n')
    expect([written.includes(code), written.includes(cookie.split('=')[1] ?? '')]).toEqual([false, false])
  })
})
