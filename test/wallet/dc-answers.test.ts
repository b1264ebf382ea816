// Answers through the browser's wallet call: rows D17 to D54.
import { describe, expect, test } from 'bun:test'
import { CompactEncrypt, calculateJwkThumbprint, importJWK, type JWK } from 'jose'
import { verifyAudit } from '../../src/audit/verify.ts'
import { describeCertificate } from '../../src/openid4vp/x509/x509.ts'
import { type Cbor, decodeCbor, encodeCbor } from '../../src/sandbox/cbor.ts'
import type { Mutations } from '../../src/sandbox/mutations.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { answerPage } from '../../src/sandbox/wallet/dc-wallet.ts'
import { vpToken } from '../../src/sandbox/wallet/wallet.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, outcome, startWithTenant } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { answerOf, ask, listOrigin, ORIGIN, type Protocol, presentThrough, type Told, tell } from '../helpers/dc.ts'
import { formOf, openSession, postTo } from '../helpers/exchange.ts'
import { type ForgedElement, forgeMdoc, forgeSigner, holderWith, type Signer, trust } from '../helpers/forger.ts'
import { holderOf } from '../helpers/wallet.ts'

const OTHER = 'https://two.example'
const { app, key, id: tenantId } = await startWithTenant()
await listOrigin(app, tenantId)
await listOrigin(app, tenantId, OTHER)
const holder = await holderOf(app)

const create = (body: object = {}) => createVerification(app, key, body)
const read = async (id: string, by = app, ownKey = key) =>
  (await by.call<Verification>('GET', `/v1/verifications/${id}`, { key: ownKey })).body
const eventsOf = (id: string) =>
  rowsOf<{ event: string }>(app, 'SELECT event FROM verification_events WHERE verification_id = ? ORDER BY id', id).map(
    ({ event }) => event,
  )

const PID = {
  template: undefined,
  query: {
    credentials: [
      {
        id: 'pid',
        format: 'dc+sd-jwt',
        meta: { vct_values: ['urn:eudi:pid:1'] },
        claims: [{ path: ['age_equal_or_over', '18'] }],
      },
    ],
  },
}
const MDL = {
  template: undefined,
  query: {
    credentials: [
      {
        id: 'mdl',
        format: 'mso_mdoc',
        meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
        claims: [{ path: ['org.iso.18013.5.1', 'age_over_18'] }],
      },
    ],
  },
}

describe('a good answer', () => {
  const ways: [Protocol, object][] = [
    ['openid4vp-v1-unsigned', PID],
    ['openid4vp-v1-unsigned', MDL],
    ['org-iso-mdoc', MDL],
    ['openid4vp-v1-unsigned', {}],
    ['org-iso-mdoc', {}],
    ['org-iso-mdoc', { template: 'eu_av_age_18' }],
  ]
  test.each(ways)('by %s to %j completes the session', async (protocol, body) => {
    const { id } = await create(body)
    const told = await presentThrough(app, id, holder, { protocol })
    expect(outcome(told)).toBe('200')
    expect(told.body).toEqual({ status: 'completed', response_code: expect.stringMatching(/^[\w-]{43}$/) })
    expect(await read(id)).toMatchObject({ status: 'completed' })
    expect(eventsOf(id)).toEqual(['dc_requested', 'response_posted'])
  })

  test('a signed request is answered too', async () => {
    const signed = await startWithTenant({ config: { dcApi: { mode: 'signed', googleRpMetadata: '' } } })
    await listOrigin(signed.app, signed.id)
    for (const body of [PID, MDL]) {
      const { id } = await createVerification(signed.app, signed.key, body)
      const told = await presentThrough(signed.app, id, await holderOf(signed.app), { protocol: 'openid4vp-v1-signed' })
      expect(told.body).toMatchObject({ status: 'completed' })
    }
    await signed.app.stop()
  })

  test('its code is redeemed once, without a redirect_url too, and D27: a wrong, spent, foreign or late one is 404', async () => {
    const [first, second, late] = [await create(), await create(), await create()]
    const codes = await Promise.all(
      [first, second, late].map(async ({ id }) => (await presentThrough(app, id, holder)).body.response_code),
    )
    const redeem = (id: string, response_code: unknown) =>
      app.call('POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code } })
    expect(outcome(await redeem(first.id, codes[1]))).toBe('404 invalid_response_code')
    expect(outcome(await redeem(first.id, codes[0]))).toBe('200')
    expect(outcome(await redeem(first.id, codes[0]))).toBe('404 invalid_response_code')
    app.clock.advance(601_000)
    expect(outcome(await redeem(late.id, codes[2]))).toBe('404 invalid_response_code')
  })

  test('with a redirect_url the page gets the address with the code', async () => {
    const { id } = await create({ redirect_url: 'https://shop.example/done' })
    const { body } = await presentThrough(app, id, holder)
    expect(body.redirect_uri).toBe(`https://shop.example/done#response_code=${body.response_code}`)
  })

  test('a held answer is released by its code', async () => {
    const { id } = await create({ redirect_url: 'https://shop.example/done', release: 'on_redeem' })
    const { body } = await presentThrough(app, id, holder)
    expect((await read(id)).status).toBe('pending')
    expect(outcome(await tell(app, id, {}))).toBe('409 session_already_responded')
    const redeemed = await app.call<Verification>('POST', `/v1/verifications/${id}/redeem`, {
      key,
      body: { response_code: body.response_code },
    })
    expect(redeemed.body.status).toBe('completed')
  })

  test('through a server, with the key, it counts the same', async () => {
    const { id } = await create()
    const answer = await answerOf(app, id, holder)
    const respond = (body: object, by = key) => app.call('POST', `/v1/verifications/${id}/dc-response`, { key: by, body })
    expect(outcome(await respond(answer))).toBe('400 invalid_wallet_response')
    expect(outcome(await respond({ ...answer, origin: OTHER }))).toBe('400 invalid_wallet_response')
    expect(outcome(await respond({ ...answer, origin: 'https://unlisted.example' }))).toBe('403 origin_not_allowed')
    expect(outcome(await respond({ ...answer, origin: ORIGIN }, (await app.tenant()).key))).toBe('404 session_not_found')
    expect(outcome(await respond({ ...answer, origin: ORIGIN }))).toBe('200')
  })

  test('D23: a state makes no difference, be it that of the QR code or another', async () => {
    for (const known of [true, false]) {
      const { id } = await create(PID)
      const [row] = rowsOf<{ state: string }>(app, 'SELECT state FROM verification_sessions WHERE id = ?', id)
      const mutations = { responseClaims: { state: known ? row!.state : 'other' } }
      expect((await presentThrough(app, id, holder, { mutations })).body.status).toBe('completed')
    }
  })

  test('members that browsers add are ignored', async () => {
    const { id } = await create()
    const answer = { ...(await answerOf(app, id, holder)), id: 'x', type: 'digital' }
    expect(outcome(await tell(app, id, answer))).toBe('200')
  })

  test('the audit record tells the channel, and the chain verifies', async () => {
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  })

  test('D25: of 200 right answers at once, and one by QR code, one is taken', async () => {
    const session = await openSession({ app, key }, {})
    const answers = await Promise.all(Array.from({ length: 10 }, () => answerOf(app, session.created.id, holder)))
    const form = await formOf(session, holder)
    const sent = Array.from({ length: 20 }, () => answers).flat()
    const told = await Promise.all([...sent.map(answer => tell(app, session.created.id, answer)), postTo(session, form)])
    expect(told.map(outcome).sort()).toEqual(['200', ...Array(200).fill('409 session_already_responded')])
  })

  test('D26: a millisecond before the end it is taken, at the end it is 410, after an erasure 404', async () => {
    const [early, late, erased] = [await create({ ttl_seconds: 60 }), await create({ ttl_seconds: 60 }), await create()]
    const answers = await Promise.all([early, late, erased].map(({ id }) => answerOf(app, id, holder)))
    app.clock.set(Date.parse(early.expires_at) - 1)
    expect(outcome(await tell(app, early.id, answers[0]))).toBe('200')
    app.clock.set(Date.parse(late.expires_at))
    expect(outcome(await tell(app, late.id, answers[1]))).toBe('410 session_expired')
    await app.call('DELETE', `/v1/verifications/${erased.id}`, { key })
    expect(outcome(await tell(app, erased.id, answers[2]))).toBe('404 session_not_found')
  })

  test('D26: an answer that races an erasure leaves nothing', async () => {
    const ids = await Array.fromAsync({ length: 10 }, async () => (await create()).id)
    const answers = await Promise.all(ids.map(id => answerOf(app, id, holder)))
    const erase = (id: string) => app.call('DELETE', `/v1/verifications/${id}`, { key })
    const told = await Promise.all(ids.flatMap((id, i) => [tell(app, id, answers[i]), erase(id)]))
    for (const each of told) expect(['200', '404 session_not_found']).toContain(outcome(each))
    const left = (table: string, column: string) =>
      rowsOf<{ n: number }>(app, `SELECT count(*) AS n FROM ${table} WHERE ${column} IN (${ids.map(() => '?')})`, ...ids)[0]?.n
    expect([left('verification_sessions', 'id'), left('verification_events', 'verification_id')]).toEqual([0, 0])
  })
})

describe('an answer that does not belong to the request is 400, leaves one moment, and the session pending', () => {
  type Spoil = (
    id: string,
    answer: { protocol: string; data: Record<string, unknown> },
  ) => Promise<{ body?: unknown; raw?: string; origin?: string }>
  const sdJwt =
    (mutations: Mutations): Spoil =>
    async id => ({ body: await answerOf(app, id, holder, { protocol: 'openid4vp-v1-unsigned', mutations }) })
  const iso =
    (mutations: Mutations): Spoil =>
    async id => ({ body: await answerOf(app, id, holder, { protocol: 'org-iso-mdoc', mutations }) })
  const json = (raw: string) => ({ raw })

  const spoilt: [string, Spoil][] = [
    ['D17: from an origin without an entry', async (_, body) => ({ body, origin: 'https://unasked.example' })],
    ["D17: with another origin's answer", async id => ({ body: await answerOf(app, id, holder, { origin: OTHER }) })],
    ['D18: of a protocol that was not offered', async (_, { data }) => ({ body: { protocol: 'openid4vp-v1-signed', data } })],
    ['D18: of an unknown protocol', async (_, { data }) => ({ body: { protocol: 'openid4vp', data } })],
    ['D18: of another family than its data', async (_, { data }) => ({ body: { protocol: 'org-iso-mdoc', data } })],
    ['D19: without data', async (_, { protocol }) => ({ body: { protocol } })],
    ['D19: with a text as data', async (_, { protocol, data }) => ({ body: { protocol, data: JSON.stringify(data) } })],
    ['D19: with a list as data', async (_, { protocol, data }) => ({ body: { protocol, data: [data] } })],
    [
      'D19: with __proto__ as data',
      async (_, { protocol }) => json(`{"protocol":"${protocol}","data":{"__proto__":{"response":"x"}}}`),
    ],
    [
      'D19: with a name twice',
      async (_, { protocol, data }) => json(`{"protocol":"${protocol}","data":${JSON.stringify(data)},"data":{}}`),
    ],
    [
      'D19: 33 levels deep',
      async (_, { protocol }) => json(`{"protocol":"${protocol}","data":${'{"a":'.repeat(32)}1${'}'.repeat(32)}}`),
    ],
    ['with an unknown member', async (_, answer) => ({ body: { ...answer, other: 1 } })],
    ['D20: with a vp_token in the clear', sdJwt({ plain: true })],
    ['D22: without a kid', sdJwt({ kid: null })],
    ['D22: with another kid', sdJwt({ kid: 'other' })],
    ['D22: with zip', sdJwt({ zip: 'DEF' })],
    ['D22: encrypted with A192GCM', sdJwt({ enc: 'A192GCM' })],
    ['D22: encrypted with ECDH-ES+A128KW', sdJwt({ alg: 'ECDH-ES+A128KW' })],
    [
      'D22: cut short',
      async (_, { protocol, data }) => ({ body: { protocol, data: { response: String(data.response).slice(0, -4) } } }),
    ],
    [
      "D22: encrypted to the QR code's key",
      async (id, { protocol }) => ({ body: { protocol, data: { response: await toQrKey(id) } } }),
    ],
    ['D24: with an unknown credential id', sdJwt({ vpTokenShape: 'unknown_id' })],
    ['D45: sealed for another origin', iso({ sealedOrigin: OTHER })],
    ['D45: sealed for the origin with a slash', iso({ sealedOrigin: `${ORIGIN}/` })],
    [
      "D45: sealed for another session's encryption info",
      async id => iso({ sealedInfo: await infoOf((await create()).id) })(id, {} as never),
    ],
    ['D45: sealed for a padded encryption info', async id => iso({ sealedInfo: `${await infoOf(id)}=` })(id, {} as never)],
    ['D45: sealed with additional data', iso({ hpkeAad: Uint8Array.of(1) })],
    ['D43: that is padded', async id => ({ body: await changed(id, text => `${text}=`) })],
    ['D43: that is no CBOR', async id => ({ body: await changed(id, () => '____') })],
    ['D44: with its last bit changed', async id => ({ body: await changed(id, text => `${text.slice(0, -2)}AA`) })],
    [
      'D48: with a document that nobody asked for',
      iso({
        moreDocuments: [
          new Map<string, never>([
            ['docType', 'other' as never],
            ['issuerSigned', new Map() as never],
          ]),
        ],
      }),
    ],
  ]
  test.each(spoilt)('%s', async (_, spoil) => {
    const { id } = await create(MDL)
    const answer = await answerOf(app, id, holder)
    const { body, raw, origin } = await spoil(id, answer)
    const call = raw === undefined ? { origin } : { origin, raw, headers: { 'content-type': 'application/json' } }
    expect(outcome(await tell(app, id, raw === undefined ? body : undefined, call))).toBe('400 invalid_wallet_response')
    expect((await read(id)).status).toBe('pending')
    expect(eventsOf(id).filter(event => event === 'response_unreadable')).toHaveLength(1)
    expect(outcome(await tell(app, id, answer))).toBe('200')
  })

  async function toQrKey(id: string): Promise<string> {
    const { request } = await openedQr(id)
    const { key: jwk } = request.encryption!
    const token = { vp_token: await vpToken(request, holder, { now: app.clock.now() }) }
    return await new CompactEncrypt(Buffer.from(JSON.stringify(token)))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid: jwk.kid! })
      .encrypt(await importJWK(jwk, 'ECDH-ES'))
  }

  async function openedQr(id: string) {
    const { fetchRequest } = await import('../../src/sandbox/wallet/wallet.ts')
    const { fetchOf } = await import('../helpers/wallet.ts')
    return { request: await fetchRequest((await read(id)).wallet_uri ?? '', fetchOf(app), { now: app.clock.now() }) }
  }

  const infoOf = async (id: string) =>
    (await ask(app, id, { body: { protocols: ['org-iso-mdoc'] } })).body.requests[0]!.data.encryptionInfo as string

  async function changed(id: string, change: (text: string) => string) {
    const { protocol, data } = await answerOf(app, id, holder, { protocol: 'org-iso-mdoc' })
    return { protocol, data: { response: change(String(data.response)) } }
  }

  test('without an Origin header, or with null, it is 403 and leaves no moment', async () => {
    const { id } = await create()
    const answer = await answerOf(app, id, holder)
    for (const origin of [null, 'null']) expect(outcome(await tell(app, id, answer, { origin }))).toBe('403 origin_not_allowed')
    expect(eventsOf(id)).toEqual(['dc_requested'])
  })

  test('D18: the refusal of an unknown protocol names those that there are', async () => {
    const { id } = await create()
    const { body } = await tell(app, id, { protocol: 'openid4vp', data: {} })
    expect(body).toMatchObject({
      error: { message: 'protocol: expected one of openid4vp-v1-signed, openid4vp-v1-unsigned, org-iso-mdoc' },
    })
  })

  test('D17: an answer before any request is 400', async () => {
    const [asked, unasked] = [await create(), await create()]
    const answer = await answerOf(app, asked.id, holder)
    expect(outcome(await tell(app, unasked.id, answer))).toBe('400 invalid_wallet_response')
  })

  test('D19: a body of a mebibyte and a byte is 413', async () => {
    const { id } = await create()
    const raw = ' '.repeat(1024 * 1024 + 1)
    expect(outcome(await tell(app, id, undefined, { raw, headers: { 'content-type': 'application/json' } }))).toBe(
      '413 invalid_request',
    )
  })
})

describe('an error of the wallet leaves the session pending', () => {
  test('D21: in the clear and encrypted; the timeline is capped at 100', async () => {
    const { id } = await create(PID)
    const { protocol } = await answerOf(app, id, holder)
    const error = { protocol, data: { error: 'access_denied' } }
    expect((await tell(app, id, error)).body).toEqual({ status: 'pending', wallet_error: 'access_denied' })
    const encrypted = await answerOf(app, id, await holderOf(app, 'declines'))
    expect((await tell(app, id, encrypted)).body).toEqual({ status: 'pending', wallet_error: 'access_denied' })
    for (let i = 0; i < 105; i++) await tell(app, id, error)
    expect(eventsOf(id)).toHaveLength(100)
    expect(outcome(await presentThrough(app, id, holder))).toBe('200')
  })

  const statuses: [number, string][] = [
    [10, 'general_error'],
    [11, 'decoding_error'],
    [12, 'validation_error'],
  ]
  test.each(statuses)('D47: status %d of Annex C is %s', async (deviceResponseStatus, code) => {
    const { id } = await create(MDL)
    const told = await presentThrough(app, id, holder, { protocol: 'org-iso-mdoc', mutations: { deviceResponseStatus } })
    expect(told.body).toEqual({ status: 'pending', wallet_error: code })
    expect((await read(id)).status).toBe('pending')
  })

  test('D47: an answer without documents is one too', async () => {
    const { id } = await create(MDL)
    const told = await presentThrough(app, id, await holderOf(app, 'declines'), { protocol: 'org-iso-mdoc' })
    expect(told.body).toEqual({ status: 'pending', wallet_error: 'no_documents' })
  })
})

describe('an answer that is read and does not hold fails the session', () => {
  const failedBy = async (told: Told, id: string): Promise<string | undefined> => {
    expect(outcome(told)).toBe('200')
    expect(told.body).toEqual({ status: 'failed', response_code: expect.any(String) })
    return (await read(id)).error?.code
  }

  const openId: [string, object, Mutations | ((id: string) => Promise<Mutations>), string][] = [
    ['D28: for our client id', PID, async id => ({ kbAud: clientIdOf(id) }), 'holder_binding_invalid'],
    ['D29: for the bare origin', PID, { kbAud: ORIGIN }, 'holder_binding_invalid'],
    ['D30: for web-origin:', PID, { kbAud: `web-origin:${ORIGIN}` }, 'holder_binding_invalid'],
    ['D31: for the origin with a slash', PID, { kbAud: `origin:${ORIGIN}/` }, 'holder_binding_invalid'],
    ['D31: for a list with the origin', PID, { kbAud: [`origin:${ORIGIN}`] }, 'holder_binding_invalid'],
    ['D32: for another listed origin', PID, { kbAud: `origin:${OTHER}` }, 'holder_binding_invalid'],
    ["D33: with the QR code's nonce", PID, async id => ({ kbNonce: nonceOf(id) }), 'holder_binding_invalid'],
    ["D33: with another origin's nonce", PID, async id => ({ kbNonce: await otherNonce(id) }), 'holder_binding_invalid'],
    ['D34: without a proof of possession', PID, { dropKb: true }, 'holder_binding_invalid'],
    ['D34: signed by another key', PID, { otherKey: true }, 'holder_binding_invalid'],
    ['D34: for other disclosed values', PID, { sdHash: 'x' }, 'holder_binding_invalid'],
    ['D24: with a bare string', PID, { vpTokenShape: 'bare_string' }, 'presentation_malformed'],
    ['D24: with an empty list', PID, { vpTokenShape: 'empty_array' }, 'presentation_malformed'],
    ['D36: signed over the redirect handover', MDL, { redirectTranscript: true }, 'holder_binding_invalid'],
    ['D37: signed over the origin with its prefix', MDL, { transcriptOrigin: `origin:${ORIGIN}` }, 'holder_binding_invalid'],
    ['D38: signed without a thumbprint', MDL, { thumbprint: null }, 'holder_binding_invalid'],
    ['D39: signed over the thumbprint of another key', MDL, { thumbprint: new Uint8Array(32) }, 'holder_binding_invalid'],
    [
      'D40: signed over the handover of draft 24',
      MDL,
      async id => ({ handover: await draftHandover(id) }),
      'holder_binding_invalid',
    ],
    [
      'D41: signed over the handover of Annex C',
      MDL,
      async id => ({ handover: await isoHandover(id) }),
      'holder_binding_invalid',
    ],
    ['D42: with two documents in one response', MDL, { documentCount: 2 }, 'presentation_malformed'],
    ['D42: with a MAC', MDL, { deviceAuth: 'mac' }, 'holder_binding_invalid'],
  ]
  test.each(openId)('OpenID4VP, %s', async (_, body, change, code) => {
    const { id } = await create(body)
    const mutations = typeof change === 'function' ? await change(id) : change
    expect(await failedBy(await presentThrough(app, id, holder, { protocol: 'openid4vp-v1-unsigned', mutations }), id)).toBe(code)
  })

  test('D28: the finding says that the answer was made for the QR code', async () => {
    const { id } = await create(PID)
    await presentThrough(app, id, holder, { mutations: { kbAud: clientIdOf(id) } })
    expect(JSON.stringify((await read(id)).credentials)).toContain('made for the QR code')
  })

  test('D35: a good token of the QR code, encrypted anew for the page, and the reverse, do not hold', async () => {
    const session = await openSession({ app, key }, PID)
    const { id } = session.created
    const token = await vpToken(session.request, holder, { now: app.clock.now() })
    expect(await failedBy(await presentThrough(app, id, holder, { mutations: { replay: token } }), id)).toBe(
      'holder_binding_invalid',
    )

    const reverse = await openSession({ app, key }, PID)
    const { body } = await ask(app, reverse.created.id)
    let kept = {}
    const keep = (text: string, credential: string) => {
      kept = { [credential]: [text] }
      return text
    }
    await answerPage({ requests: body.requests, origin: ORIGIN }, holder, {
      now: app.clock.now(),
      mutations: { presentation: keep },
    })
    await postTo(reverse, await formOf(reverse, holder, { mutations: { replay: kept } }))
    expect((await read(reverse.created.id)).error?.code).toBe('holder_binding_invalid')
  })

  const annexC: [string, object, Mutations | ((id: string) => Promise<Mutations>), string][] = [
    [
      'D41: signed over the handover of OpenID4VP',
      MDL,
      async id => ({ handover: await pageHandover(id) }),
      'holder_binding_invalid',
    ],
    ['D49: signed for another origin, sealed for this one', MDL, { transcriptOrigin: OTHER }, 'holder_binding_invalid'],
    ['D50: without a device signature', MDL, { deviceAuth: 'absent' }, 'holder_binding_invalid'],
    ['D50: with a MAC', MDL, { deviceAuth: 'mac' }, 'holder_binding_invalid'],
    ['D49: signed by another key', MDL, { otherKey: true }, 'holder_binding_invalid'],
    ['D46: of version 2.0', MDL, { deviceResponseVersion: '2.0' }, 'presentation_malformed'],
    ['D53: without the element that was asked for', MDL, { dropDisclosure: true }, 'query_not_satisfied'],
    ['D54: with a changed claim', MDL, { tamperClaim: true }, 'signature_invalid'],
  ]
  test.each(annexC)('Annex C, %s', async (_, body, change, code) => {
    const { id } = await create(body)
    const mutations = typeof change === 'function' ? await change(id) : change
    expect(await failedBy(await presentThrough(app, id, holder, { protocol: 'org-iso-mdoc', mutations }), id)).toBe(code)
  })

  const nonceOf = (id: string) =>
    rowsOf<{ nonce: string }>(app, 'SELECT nonce FROM verification_sessions WHERE id = ?', id)[0]!.nonce
  const clientIdOf = (id: string) =>
    rowsOf<{ c: string }>(app, 'SELECT client_id AS c FROM verification_sessions WHERE id = ?', id)[0]!.c
  /** Both requests of a page share one nonce. */
  async function requestsOf(id: string) {
    const [openId, iso] = (await ask(app, id)).body.requests
    const { nonce, client_metadata } = openId!.data as { nonce: string; client_metadata: { jwks: { keys: JWK[] } } }
    return { nonce, key: client_metadata.jwks.keys[0]!, encryptionInfo: iso!.data.encryptionInfo as string }
  }
  type Handover = NonNullable<Mutations['handover']>
  const draftHandover = async (id: string): Promise<Handover> => [
    'OpenID4VPDCAPIHandover',
    [ORIGIN, clientIdOf(id), (await requestsOf(id)).nonce],
  ]
  const isoHandover = async (id: string): Promise<Handover> => ['dcapi', [(await requestsOf(id)).encryptionInfo, ORIGIN]]
  async function pageHandover(id: string): Promise<Handover> {
    const { nonce, key: jwk } = await requestsOf(id)
    const thumbprint = new Uint8Array(Buffer.from(await calculateJwkThumbprint(jwk), 'base64url'))
    return ['OpenID4VPDCAPIHandover', [ORIGIN, nonce, thumbprint]]
  }

  test('D40, D41: the same handovers hold where they belong', async () => {
    for (const protocol of ['openid4vp-v1-unsigned', 'org-iso-mdoc'] as const) {
      const { id } = await create(MDL)
      const handover = await (protocol === 'org-iso-mdoc' ? isoHandover : pageHandover)(id)
      expect((await presentThrough(app, id, holder, { protocol, mutations: { handover } })).body.status).toBe('completed')
    }
  })

  const otherNonce = async (id: string) =>
    ((await ask(app, id, { origin: OTHER })).body.requests[0]!.data as { nonce: string }).nonce

  const personas: PersonaId[] = [
    'minor',
    'expired',
    'not_yet_valid',
    'revoked',
    'untrusted_issuer',
    'tampered_claim',
    'wrong_device_key',
  ]
  test.each(personas)('D54: the persona %s gets the same code by QR code and by both protocols', async persona => {
    const by = await holderOf(app, persona)
    const codes: (string | undefined)[] = []
    for (const protocol of ['openid4vp-v1-unsigned', 'org-iso-mdoc'] as const) {
      const { id } = await create(MDL)
      await presentThrough(app, id, by, { protocol })
      codes.push((await read(id)).error?.code ?? (await read(id)).status)
    }
    const session = await openSession({ app, key }, MDL)
    await postTo(session, await formOf(session, by))
    const byQr = await read(session.created.id)
    expect(codes).toEqual([byQr.error?.code ?? byQr.status, byQr.error?.code ?? byQr.status])
  })
})

test('D52: a document that two queries of one type ask for counts for the one that it covers', async () => {
  const signer = await forgeSigner()
  await trust(app, signer)
  const doctype = 'eu.europa.ec.eudi.pid.1'
  for (const namespace of ['eu.europa.ec.eudi.pid.de.1', doctype]) {
    const elements = [[namespace, 'age_over_18', true]] as const
    const own = await holderWith(async ownKey => [await forgeMdoc(signer, ownKey, { doctype, elements })])
    const { id } = await create()
    const told = await presentThrough(app, id, own, { protocol: 'org-iso-mdoc' })
    expect([namespace, told.body.status]).toEqual([namespace, 'completed'])
  }
})

test('D52: of two alternatives of one type, a document completes the session by the values or the authority that it has', async () => {
  const [signer, other] = [await forgeSigner(), await forgeSigner()]
  await trust(app, signer)
  await trust(app, other)
  const [country, age] = [
    ['org.iso.18013.5.1', 'issuing_country'],
    ['org.iso.18013.5.1', 'age_over_18'],
  ]
  const elements = [
    [...country, 'UT'],
    [...age, true],
  ] as unknown as ForgedElement[]
  const own = await holderWith(async ownKey => [await forgeMdoc(signer, ownKey, { elements })])
  const by = ({ chain }: Signer) => {
    const { authorityKeyIdentifier } = describeCertificate(chain[0]!)!
    return [{ type: 'aki', values: [Buffer.from(authorityKeyIdentifier!).toString('base64url')] }]
  }
  const mdl = MDL.query.credentials[0]!
  const alternatives = [
    ['UT', 'XX'].map(value => ({ claims: [{ path: country, values: [value] }] })),
    [signer, other].map(each => ({ claims: [{ path: age }], trusted_authorities: by(each) })),
  ]
  for (const both of alternatives)
    for (const inOrder of [both, both.toReversed()]) {
      const credentials = inOrder.map((more, i) => ({ ...mdl, id: `mdl${i}`, ...more }))
      const { id } = await create({
        template: undefined,
        query: { credentials, credential_sets: [{ options: [['mdl0'], ['mdl1']] }] },
      })
      expect((await presentThrough(app, id, own, { protocol: 'org-iso-mdoc' })).body.status).toBe('completed')
    }
})

test('D52: two documents, of which one satisfies both queries, complete the session', async () => {
  const signer = await forgeSigner()
  await trust(app, signer)
  const elements = (...names: string[]) => names.map((name): ForgedElement => ['org.iso.18013.5.1', name, true])
  const own = await holderWith(async ownKey => [
    await forgeMdoc(signer, ownKey, { elements: elements('age_over_18', 'age_over_16') }),
  ])
  const asked = (id: string, names: string[]) => ({
    ...MDL.query.credentials[0]!,
    id,
    claims: names.map(name => ({ path: ['org.iso.18013.5.1', name] })),
  })
  const credentials = [asked('one', ['age_over_18']), asked('both', ['age_over_18', 'age_over_16'])]
  const { id } = await create({ template: undefined, query: { credentials } })
  await presentThrough(app, id, own, { protocol: 'org-iso-mdoc' })
  const { status, credentials: judged = [] } = await read(id)
  expect([status, judged.length]).toEqual(['completed', 2])
})

test('D51: two documents of one type are malformed', async () => {
  const { id } = await create(MDL)
  const document = decodeCbor(await documentOf(id)) as Cbor
  const told = await presentThrough(app, id, holder, { protocol: 'org-iso-mdoc', mutations: { moreDocuments: [document] } })
  expect(told.body.status).toBe('failed')
  expect((await read(id)).error?.code).toBe('presentation_malformed')
})

test('D51: a good document does not vouch for a forged one beside it, nor one of somebody else', async () => {
  const [signer, stranger] = [await forgeSigner(), await forgeSigner()]
  await trust(app, signer, { mode: 'pkix' })
  const ID = 'org.iso.23220.photoID.1'
  const credentials = [MDL.query.credentials[0]!, { ...MDL.query.credentials[0]!, id: 'id', meta: { doctype_value: ID } }]
  const elements = [['org.iso.18013.5.1', 'age_over_18', true]] as const
  const both = (second: typeof signer) =>
    holderWith(async own => [await forgeMdoc(signer, own, { elements }), await forgeMdoc(second, own, { doctype: ID, elements })])
  const codeFor = async (by: Awaited<ReturnType<typeof both>>) => {
    const { id } = await create({ template: undefined, query: { credentials } })
    await presentThrough(app, id, by, { protocol: 'org-iso-mdoc' })
    const { status, error } = await read(id)
    return error?.code ?? status
  }
  expect(await codeFor(await both(signer))).toBe('completed')
  expect(await codeFor(await both(stranger))).toBe('issuer_untrusted')
  const [own, others] = [await both(signer), await both(signer)]
  const mixed = { ...own, credentials: [own.credentials[0]!, others.credentials[1]!] }
  expect(await codeFor(mixed)).toBe('holder_binding_invalid')
})

/** The holder's document, as a wallet would send it. */
async function documentOf(id: string): Promise<Uint8Array> {
  const { body } = await ask(app, id, { body: { protocols: ['openid4vp-v1-unsigned'] } })
  let text = ''
  const keep = (presentation: string) => {
    text = presentation
    return presentation
  }
  await answerPage({ requests: body.requests, origin: ORIGIN }, holder, {
    now: app.clock.now(),
    mutations: { presentation: keep },
  })
  const response = decodeCbor(Buffer.from(text, 'base64url')) as ReadonlyMap<string, Cbor>
  return encodeCbor((response.get('documents') as readonly Cbor[])[0]!)
}
