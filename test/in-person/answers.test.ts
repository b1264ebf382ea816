// What a phone answers in person: rows P23 to P39 and P42, with the phone of the sandbox, which is not ours to trust.
import { describe, expect, test } from 'bun:test'
import type { AuditRecord } from '../../src/dashboard/settings/audit/schema.ts'
import type { VerificationDetail } from '../../src/dashboard/verifications/schema.ts'
import { cborMap, encodeCbor } from '../../src/sandbox/cbor.ts'
import type { Mutations } from '../../src/sandbox/mutations.ts'
import type { PersonaId } from '../../src/sandbox/personas.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import type { Comparison, Verification } from '../../src/verifications/schema.ts'
import { createVerification, outcome, startWithTenant } from '../helpers/app.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { rowsOf } from '../helpers/database.ts'
import { listOrigin, answerOf as pageAnswerOf, presentThrough, tell } from '../helpers/dc.ts'
import { pair } from '../helpers/devices.ts'
import { formOf, openSession, postTo } from '../helpers/exchange.ts'
import {
  answerOf,
  base64url,
  callRoute,
  eventsOf,
  hasEntry,
  type Passed,
  pass,
  type Read,
  readOf,
  readPhone,
  scan,
} from '../helpers/in-person.ts'
import { cheats, type Mac, type PhoneCheats } from '../helpers/phone-cheats.ts'
import { holderOf } from '../helpers/wallet.ts'

type Wrong = Mutations & PhoneCheats

const { app, key, id: tenantId } = await startWithTenant()
await listOrigin(app, tenantId)
const TEMPLATES = ['age_over_18', 'eu_av_age_18', 'driving_licence', 'age_over_18_photo']
const till = { app, key: (await pair(app, key, { allowed_templates: TEMPLATES })).access_token }
const shop = { app, key }
const holder = await holderOf(app)

const boss = await setUpOwner(app)
const postedOf = async (id: string) =>
  (await boss.get<VerificationDetail>(`/tenants/${tenantId}/verifications/${id}?environment=test`)).body.timeline.find(
    ({ event }) => event === 'response_posted',
  )

const END = base64url(encodeCbor(cborMap({ status: 20 })))
/** A document without a claim. */
const EMPTY_MDL = cborMap({ docType: 'org.iso.18013.5.1.mDL', issuerSigned: cborMap({ nameSpaces: new Map() }) })
const failedWith = async (id: string) => (await readOf(shop, id)).error?.code
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
  test.each(['age_over_18', 'eu_av_age_18'])(
    'to %s completes the session, ends that of the phone, and leaves no key',
    async template => {
      const { id, phone, answer } = await readPhone(till, holder, { template })
      const { status, body } = await pass(till, id, answer)
      expect([status, body]).toEqual([200, { status: 'completed', message: END }])
      expect(await phone.receive(Buffer.from(body.message!, 'base64url'))).toBeUndefined()
      expect(phone.ended).toBe(20)
      expect(await readOf(shop, id)).toMatchObject({ status: 'completed', claims: { age_over_18: true } })
      expect(eventsOf(app, id)).toEqual(['in_person_requested', 'response_posted'])
      expect(hasEntry(app, id)).toBe(false)
    },
  )

  test('of a session with a redirect_url gives no response code and no redirect', async () => {
    const { id, answer } = await readPhone(shop, holder, { redirect_url: 'https://shop.example/done' })
    expect((await pass(shop, id, answer)).body).toEqual({ status: 'completed', message: END })
    const [row] = rowsOf<{ code: unknown }>(app, 'SELECT response_code_hash AS code FROM verification_sessions WHERE id = ?', id)
    expect(row?.code).toBeNull()
  })

  test('P42: a claim that is not met fails, and elements that nobody asked for are dropped', async () => {
    const minor = await readPhone(till, await holderOf(app, 'minor'))
    expect((await pass(till, minor.id, minor.answer)).body).toEqual({ status: 'failed', message: END })
    expect(await failedWith(minor.id)).toBe('claim_not_satisfied')
    const more = await readPhone(shop, holder, MDL, { mutations: { extraDisclosure: true } })
    expect((await pass(shop, more.id, more.answer)).body.status).toBe('completed')
    expect(Object.keys((await readOf(shop, more.id)).claims ?? {})).toEqual(['age_over_18'])
  })

  test('P42: with a portrait it is held for the comparison at the till, and the photo is kept nowhere afterwards', async () => {
    const { id, answer } = await readPhone(till, holder, { template: 'age_over_18_photo' })
    expect((await pass(till, id, answer)).body).toEqual({ status: 'pending', message: END })
    expect(outcome(await pass(till, id, answer))).toBe('409 session_already_responded')
    const path = `/v1/verifications/${id}/comparison`
    expect((await app.call<Comparison>('GET', path, { key: till.key })).body.portrait).toStartWith('data:image/')
    const decided = await app.call<Verification>('POST', path, { key: till.key, body: { same_person: true } })
    expect(decided.body).toMatchObject({ status: 'completed', claims: { age_over_18: true } })
    expect(decided.text).not.toContain('portrait')
    expect(rowsOf(app, 'SELECT 1 FROM portraits WHERE verification_id = ?', id)).toEqual([])
  })

  const macs: [string, Mac][] = [
    ['a MAC', true],
    ['a tagged MAC', 'tagged'],
  ]
  test.each(macs)('P38: %s proves possession, and the timeline says so', async (_, mac) => {
    const { id, answer } = await readPhone(till, holder, {}, { mutations: { mac } })
    expect((await pass(till, id, answer)).body.status).toBe('completed')
    expect((await readOf(shop, id)).credentials).toMatchObject([{ holder_binding_valid: true }])
    expect(await postedOf(id)).toMatchObject({ channel: 'in_person', engagement: 'qr', proof: 'mac' })
  })

  test('the timeline and the audit record name the channel, and no proof where it is a signature', async () => {
    const { id, answer } = await readPhone(till, holder, { template: 'eu_av_age_18' })
    await pass(till, id, answer)
    const posted = await postedOf(id)
    expect(posted).toMatchObject({ status: 'completed', channel: 'in_person', engagement: 'qr' })
    expect(Object.keys(posted ?? {}).filter(name => ['proof', 'dropped', 'protocol', 'origin'].includes(name))).toEqual([])
    const { data } = (await boss.get<{ data: AuditRecord[] }>(`/tenants/${tenantId}/audit?limit=10`)).body
    const record = data.find(({ action, details }) => action === 'verification.completed' && details?.id === id)
    expect(record?.details).toMatchObject({ channel: 'in_person' })
  })

  const personas: PersonaId[] = ['expired', 'not_yet_valid', 'revoked', 'untrusted_issuer', 'tampered_claim', 'wrong_device_key']
  test.each(personas)('the persona %s gets the same code in person as by QR code', async persona => {
    const by = await holderOf(app, persona)
    const { id, answer } = await readPhone(shop, by, MDL)
    expect((await pass(shop, id, answer)).body.status).toBe('failed')
    const session = await openSession(shop, MDL)
    await postTo(session, await formOf(session, by))
    expect(await failedWith(id)).toBe(await failedWith(session.created.id))
  })
})

/** Expects 400 and one moment, and that the right answer still completes the session. */
async function expectUnread({ id, answer }: Read, message: Uint8Array | string): Promise<void> {
  expect(outcome(await pass(shop, id, message))).toBe('400 invalid_wallet_response')
  expect((await readOf(shop, id)).status).toBe('pending')
  expect(eventsOf(app, id)).toEqual(['in_person_requested', 'response_unreadable'])
  expect((await pass(shop, id, answer)).body.status).toBe('completed')
}

describe('a message that is not of this session is 400, and leaves session and keys as they were', () => {
  const wrong: [string, Wrong][] = [
    ['P26: sealed with additional data', { gcmAad: Uint8Array.of(1) }],
    ['P27: sealed as if by the reader', { ivRole: true }],
    ['P27: sealed under counter 0', { ivCounter: 0 }],
    ['P27: sealed under counter 2', { ivCounter: 2 }],
    ['P28: sealed with the key of the reader', { skSwapped: true }],
    ['P29: sealed with AES-128', { skHalf: true }],
    ['P30: with keys of another engagement', { transcriptEngagement: Uint8Array.of(0xa0), keysToo: true }],
    ['P30: with keys of another reader key', { transcriptReaderKey: Uint8Array.of(0xa0), keysToo: true }],
    ['P30: with keys of an NFC handover', { handoverNotNull: true, keysToo: true }],
    ['P30: with a salt without tag 24', { saltUntagged: true }],
    ['P32: with status 99 alone', { statusOnly: 99 }],
    ['P32: with status 0 alone', { statusOnly: 0 }],
    ['P25: with a text as data', { members: cborMap({ data: 'x'.repeat(40) }) }],
    ['P26: with 15 bytes as data', { members: cborMap({ data: new Uint8Array(15) }) }],
    ['P26: with nothing as data', { members: cborMap({ data: new Uint8Array() }) }],
    ['P32: with a text as status', { members: cborMap({ status: 'x' }) }],
    ['P32: with a negative status', { members: cborMap({ status: -1 }) }],
    ['P37: with a document that nobody asked for', { moreDocuments: [cborMap({ docType: 'other', issuerSigned: new Map() })] }],
  ]
  test.each(wrong)('%s', async (_, mutations) => {
    const good = await readPhone(shop, holder, MDL)
    const bad = await good.phone.open(Buffer.from(good.request.message, 'base64url'))
    await expectUnread(good, await bad.answer(holder, { mutations: cheats(mutations) }))
  })

  const spoilt: [string, (answer: Uint8Array, request: string) => Uint8Array | string][] = [
    ['P24: no CBOR', () => Uint8Array.of(0xff, 0xff)],
    ['P24: an empty text', () => ''],
    ['P24: no base64url', answer => `${base64url(answer)}+`],
    ['P24: padded', answer => `${base64url(answer)}==`],
    ['P25: an array', answer => encodeCbor([answer])],
    ['P25: an empty map', () => Uint8Array.of(0xa0)],
    ['P26: its last bit changed', answer => answer.with(answer.length - 1, answer.at(-1)! ^ 1)],
    ['P26: cut short', answer => answer.slice(0, -1)],
    ['P26: a byte more', answer => Uint8Array.of(...answer, 0)],
    ['P33: our own establishment', (_, request) => request],
  ]
  test.each(spoilt)('%s', async (_, spoil) => {
    const good = await readPhone(shop, holder, MDL)
    await expectUnread(good, spoil(good.answer, good.request.message))
  })

  test('P23: before any request, and of another session', async () => {
    const [asked, other] = [await readPhone(shop, holder, MDL), await readPhone(shop, holder, MDL)]
    const unasked = await createVerification(app, key, MDL)
    expect(outcome(await pass(shop, unasked.id, asked.answer))).toBe('400 invalid_wallet_response')
    await expectUnread(asked, other.answer)
  })

  test('P24: more than a million characters, and a body of a mebibyte and a byte', async () => {
    const good = await readPhone(shop, holder, MDL)
    await expectUnread(good, 'A'.repeat(1_000_001))
    const { id } = await readPhone(shop, holder, MDL)
    const raw = ' '.repeat(1024 * 1024 + 1)
    const headers = { 'content-type': 'application/json' }
    expect(outcome(await callRoute(app, id, 'response', { key, raw, headers }))).toBe('413 invalid_request')
  })

  test('of wrong bodies too', async () => {
    for (const body of [{}, { message: 1 }, { message: 'oA', other: 1 }]) {
      const { id } = await readPhone(shop, holder, MDL)
      expect(outcome(await callRoute(app, id, 'response', { key, body }))).toBe('400 invalid_wallet_response')
    }
  })
})

describe('an error that the phone reports', () => {
  const alone: [number, string][] = [
    [10, 'session_encryption_error'],
    [11, 'cbor_decoding_error'],
    [20, 'session_terminated'],
  ]
  test.each(alone)(
    'P32: status %d alone is %s: the session stays pending, and the code gets a new key',
    async (statusOnly, code) => {
      const { id, phone, request } = await readPhone(till, holder)
      const opened = await phone.open(Buffer.from(request.message, 'base64url'))
      const told = await opened.answer(holder, { mutations: cheats({ statusOnly }) })
      expect((await pass(till, id, told)).body).toEqual({ status: 'pending', wallet_error: code })
      expect([(await readOf(shop, id)).status, hasEntry(app, id)]).toEqual(['pending', false])
      expect(eventsOf(app, id)).toEqual(['in_person_requested', 'in_person_error'])
      const again = await scan(till, id, phone.code)
      expect(again.body.message).not.toBe(request.message)
      const answer = await phone.receive(Buffer.from(again.body.message, 'base64url'))
      expect((await pass(till, id, answer!)).body.status).toBe('completed')
    },
  )

  test.each([10, 20])('P32: status %d beside the answer is no error, and nothing is sent back', async statusWithData => {
    const { id, answer } = await readPhone(till, holder, {}, { mutations: { statusWithData } })
    expect((await pass(till, id, answer)).body).toEqual({ status: 'completed' })
  })

  const inside: [string, Wrong, string][] = [
    ['status 10', { deviceResponseStatus: 10 }, 'general_error'],
    ['status 11', { deviceResponseStatus: 11 }, 'decoding_error'],
    ['status 12', { deviceResponseStatus: 12 }, 'validation_error'],
    ['status 13', { deviceResponseStatus: 13 }, 'unknown_error'],
    ['no documents', { plaintext: encodeCbor(cborMap({ version: '1.0', status: 0 })) }, 'no_documents'],
    [
      'errors of documents alone',
      {
        plaintext: encodeCbor(cborMap({ version: '1.0', documentErrors: [cborMap({ 'org.iso.18013.5.1.mDL': 0 })], status: 0 })),
      },
      'no_documents',
    ],
  ]
  test.each(inside)(
    'P36: %s in the answer leaves the session pending, and ends that of the phone',
    async (_, mutations, code) => {
      const { id, answer } = await readPhone(till, holder, {}, { mutations })
      expect((await pass(till, id, answer)).body).toEqual({ status: 'pending', wallet_error: code, message: END })
      expect(hasEntry(app, id)).toBe(false)
    },
  )

  test('a customer who declines may choose again', async () => {
    const { id, answer } = await readPhone(till, await holderOf(app, 'declines'))
    expect((await pass(till, id, answer)).body).toEqual({ status: 'pending', wallet_error: 'session_terminated' })
    const again = await answerOf(till, id, holder)
    expect((await pass(till, id, again.answer)).body.status).toBe('completed')
  })
})

describe('an answer that is read and does not hold fails the session', () => {
  const wrong: [string, Wrong, string][] = [
    ['P31: signed over another engagement', { transcriptEngagement: Uint8Array.of(0xa0) }, 'holder_binding_invalid'],
    ['P31: signed over another reader key', { transcriptReaderKey: Uint8Array.of(0xa0) }, 'holder_binding_invalid'],
    ['P31: signed over an NFC handover', { handoverNotNull: true }, 'holder_binding_invalid'],
    ['P31: signed by another key', { otherKey: true }, 'holder_binding_invalid'],
    ['P36: of version 2.0', { deviceResponseVersion: '2.0' }, 'presentation_malformed'],
    ['P36: with 21 documents', { moreDocuments: Array(20).fill(EMPTY_MDL) }, 'presentation_malformed'],
    ['P36: of a million nested lists', { plaintext: new Uint8Array(500_000).fill(0x81) }, 'presentation_malformed'],
    ['P36: that is no CBOR', { plaintext: Uint8Array.of(0xff) }, 'presentation_malformed'],
    ['P36: that is empty', { plaintext: new Uint8Array() }, 'presentation_malformed'],
    ['P38: with a MAC by a wrong key', { mac: true, otherKey: true }, 'holder_binding_invalid'],
    ['P38: with a MAC over an NFC handover', { mac: true, handoverNotNull: true }, 'holder_binding_invalid'],
    ['P38: with a flipped MAC', { mac: 'flipped' }, 'holder_binding_invalid'],
    ['P38: with a MAC of 31 bytes', { mac: 'short_tag' }, 'holder_binding_invalid'],
    ['P38: with a MAC of algorithm 4', { mac: 'other_alg' }, 'holder_binding_invalid'],
    ['P38: with a MAC that has a payload', { mac: 'with_payload' }, 'holder_binding_invalid'],
    ['P38: with MAC and signature', { mac: 'beside_signature' }, 'holder_binding_invalid'],
    ['P42: without the element that was asked for', { dropDisclosure: true }, 'query_not_satisfied'],
    ['P42: with a changed claim', { tamperClaim: true }, 'signature_invalid'],
  ]
  test.each(wrong)('%s', async (_, mutations, code) => {
    const { id, answer } = await readPhone(shop, holder, MDL, { mutations })
    const { status, body } = await pass(shop, id, answer)
    expect([status, body]).toEqual([200, { status: 'failed', message: END }])
    expect(await failedWith(id)).toBe(code)
    expect(hasEntry(app, id)).toBe(false)
  })

  test('P39: with a MAC by a key on another curve than the reader, which is named', async () => {
    const { id, answer } = await readPhone(shop, holder, MDL, { curve: 'P-384', mutations: { mac: true, macCurve: true } })
    expect((await pass(shop, id, answer)).body.status).toBe('failed')
    expect(JSON.stringify((await readOf(shop, id)).credentials)).toContain(
      'The wallet proved possession with a MAC by a key of another curve.',
    )
  })

  test('P38: with a MAC by QR code and through the browser', async () => {
    const session = await openSession(shop, MDL)
    await postTo(session, await formOf(session, holder, { mutations: { deviceAuth: 'mac' } }))
    const { id } = await createVerification(app, key, MDL)
    await presentThrough(app, id, holder, { protocol: 'org-iso-mdoc', mutations: { deviceAuth: 'mac' } })
    for (const each of [session.created.id, id]) expect(await failedWith(each)).toBe('holder_binding_invalid')
  })
})

describe('one answer counts', () => {
  const tally = (all: { status: number }[]) => all.map(({ status }) => status).sort()

  test('P34: the same answer a hundred times at once is recorded once, and a repeat is 409', async () => {
    const { id, answer } = await readPhone(shop, holder)
    const told = await Promise.all(Array.from({ length: 100 }, () => pass(shop, id, answer)))
    expect(tally(told)).toEqual([200, ...Array(99).fill(409)])
    expect(outcome(await pass(shop, id, answer))).toBe('409 session_already_responded')
    expect(eventsOf(app, id)).toEqual(['in_person_requested', 'response_posted'])
  })

  test('P34: of answers in person, by QR code and through the browser at once, one is recorded', async () => {
    for (let i = 0; i < 5; i++) {
      const session = await openSession(shop, {})
      const { id } = session.created
      const [{ answer }, form, page] = [
        await answerOf(shop, id, holder),
        await formOf(session, holder),
        await pageAnswerOf(app, id, holder),
      ]
      const told = await Promise.all([pass(shop, id, answer), postTo(session, form), tell(app, id, page)])
      expect(tally(told)).toEqual([200, 409, 409])
      expect((await readOf(shop, id)).status).toBe('completed')
    }
  })

  test('P35: a millisecond before the deadline it is taken, at the deadline it is 410, after an erasure 404', async () => {
    const own = await startWithTenant()
    const by = await holderOf(own.app)
    const [early, late, erased] = [
      await readPhone(own, by, { ttl_seconds: 60 }),
      await readPhone(own, by, { ttl_seconds: 60 }),
      await readPhone(own, by),
    ]
    own.app.clock.set(Date.parse(early.request.expires_at) - 1)
    expect(outcome(await pass(own, early.id, early.answer))).toBe('200')
    own.app.clock.set(Date.parse(late.request.expires_at))
    expect(outcome(await pass(own, late.id, late.answer))).toBe('410 session_expired')
    expect(hasEntry(own.app, late.id)).toBe(true)
    await sweepExpired(own.app.deps)
    expect(hasEntry(own.app, late.id)).toBe(false)
    await own.app.call('DELETE', `/v1/verifications/${erased.id}`, { key: own.key })
    expect(outcome(await pass(own, erased.id, erased.answer))).toBe('404 session_not_found')
    await own.app.stop()
  })

  test('P35: an answer that races an erasure or a cancellation leaves nothing of the loser', async () => {
    const read = await Array.fromAsync({ length: 10 }, () => readPhone(shop, holder))
    const erase = (id: string): Promise<Passed> => app.call('DELETE', `/v1/verifications/${id}`, { key })
    for (const told of await Promise.all(read.flatMap(({ id, answer }) => [pass(shop, id, answer), erase(id)])))
      expect(['200', '404 session_not_found']).toContain(outcome(told))
    const left = (table: string, column: string) =>
      read.flatMap(({ id }) => rowsOf(app, `SELECT 1 FROM ${table} WHERE ${column} = ?`, id)).length
    expect([left('verification_sessions', 'id'), left('verification_events', 'verification_id')]).toEqual([0, 0])

    const stopped = await Array.fromAsync({ length: 10 }, () => readPhone(shop, holder))
    const cancel = (id: string) => app.call('POST', `/v1/verifications/${id}/cancel`, { key })
    await Promise.all(stopped.flatMap(({ id, answer }) => [pass(shop, id, answer), cancel(id)]))
    for (const { id } of stopped) {
      expect(['completed', 'failed']).toContain((await readOf(shop, id)).status)
      expect(hasEntry(app, id)).toBe(false)
    }
  })

  test('a cancelled session has no key, and is not answered any more', async () => {
    const { id, answer } = await readPhone(till, holder)
    await app.call('POST', `/v1/verifications/${id}/cancel`, { key: till.key })
    expect([hasEntry(app, id), outcome(await pass(till, id, answer))]).toEqual([false, '410 session_expired'])
  })
})

describe('the report of a till', () => {
  const report = (id: string, code: unknown) => callRoute(app, id, 'failure', { key: till.key, body: { code } })

  test('a failure of the transport is 204, before and after the end of the session, and stands in the timeline', async () => {
    const { id, answer } = await readPhone(till, holder)
    const { status, text } = await report(id, 'lost')
    expect([status, text]).toEqual([204, ''])
    await pass(till, id, answer)
    expect((await report(id, 'timed_out')).status).toBe(204)
    expect(eventsOf(app, id)).toEqual(['in_person_requested', 'in_person_failed', 'response_posted', 'in_person_failed'])
    expect(await app.deps.metrics.render()).toContain('vidimus_in_person_failures_total{code="lost"} 1\n')
  })

  test('twenty failures of a session are stored, and an unknown one is refused', async () => {
    const { id } = await createVerification(app, till.key)
    for (let i = 0; i < 25; i++) expect((await report(id, 'not_chosen')).status).toBe(204)
    expect(eventsOf(app, id)).toHaveLength(20)
    for (const code of ['other', '', 1, null]) expect(outcome(await report(id, code))).toBe('400 invalid_request')
  })

  test('a failure of a session that was erased is 404', async () => {
    const { id } = await createVerification(app, till.key)
    await app.call('DELETE', `/v1/verifications/${id}`, { key })
    expect(outcome(await report(id, 'lost'))).toBe('404 session_not_found')
  })
})
