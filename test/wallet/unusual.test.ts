// Unusual presentations: legal ones complete, and the merchant reads what the issuer signed.
import { describe, expect, test } from 'bun:test'
import { hash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { calculateJwkThumbprint } from 'jose'
import { createStatusChecker } from '../../src/openid4vp/status/list.ts'
import { newPrivateJwk, publicJwk, signJwt } from '../../src/sandbox/es256.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { NOON, startWithTenant } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { encryptedTo, openSession, postTo, presentBy, readOf } from '../helpers/exchange.ts'
import {
  digestOf,
  encodeJson,
  forgeMdoc,
  forgeSdJwt,
  forgeSigner,
  holderWith,
  MDL_NAMESPACE,
  type SdJwtWish,
  trust,
} from '../helpers/forger.ts'
import { type Change, cbor, date, hex, makeCertificate, makeKeys, makeResponse, Raw, sign1 } from '../helpers/mdoc.ts'
import { mdocQuery, sdJwtQuery } from '../helpers/queries.ts'

const party = await startWithTenant()
const signer = await forgeSigner()
await trust(party.app, signer)

/** Presents a PID with all its disclosures, whatever was asked for. */
async function showPid(wish: SdJwtWish, claims: object[]): Promise<Verification> {
  const session = await openSession(party, { query: { credentials: [{ ...sdJwtQuery('pid', []), claims }] } })
  const device = await newPrivateJwk()
  const { sdJwt, alsoShown = [] } = await forgeSdJwt(signer, publicJwk(device), wish)
  const shown = sdJwt + alsoShown.map(text => `${text}~`).join('')
  const { clientId: aud, nonce, state } = session.request
  const proof = { aud, nonce, iat: NOON / 1000, sd_hash: digestOf(shown) }
  const keyBinding = await signJwt(device, { typ: 'kb+jwt' }, proof)
  const answered = await postTo(session, await encryptedTo(session, { state, vp_token: { pid: [shown + keyBinding] } }))
  expect(answered.status).toBe(200)
  return await readOf(session)
}

/** Presents a licence with a proof for the session. */
async function showMdoc(change: Change): Promise<Verification> {
  const session = await openSession(party, { query: { credentials: [mdocQuery('mdl', [[MDL_NAMESPACE, 'family_name']])] } })
  const { clientId, nonce, responseUri, state, encryption } = session.request
  const thumbprint = await calculateJwkThumbprint(encryption!.key, 'sha256')
  const info = cbor([clientId, nonce, Buffer.from(thumbprint, 'base64url'), responseUri])
  const transcript = cbor([null, null, ['OpenID4VPHandover', hash('sha256', info, 'buffer')]])
  const presentation = (await makeResponse({ transcript, ...change })).toString('base64url')
  const answered = await postTo(session, await encryptedTo(session, { state, vp_token: { mdl: [presentation] } }))
  expect(answered.status).toBe(200)
  return await readOf(session)
}

/** JSON.stringify writes it as it stands. */
const written = (number: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(number)

describe('numbers beyond 2^53', () => {
  test('an SD-JWT claim beyond 2^53 reaches the merchant as the text that the issuer wrote', async () => {
    const numbers = [
      '9007199254740993',
      '-12345678901234567890',
      '1e400',
      '12345678901234567890.5',
      '9007199254740991',
      '-0.5',
      '1e15',
    ]
    const shown = { account: numbers.map(written), card: { number: written('18446744073709551615') } }
    const verification = await showPid({ claims: shown }, [{ path: ['account'] }, { path: ['card', 'number'] }])
    expect(verification.status).toBe('completed')
    const claims = { account: [...numbers.slice(0, 4), 9007199254740991, -0.5, 1e15], card: { number: '18446744073709551615' } }
    expect(verification.claims).toEqual(claims)
    expect(verification.credentials?.[0]?.claims).toEqual(claims)
  })

  test('a claim that is not concealed is read the same way', async () => {
    const payload = { account: written('9007199254740993'), note: '9007199254740993e10' }
    const { claims } = await showPid({ payload }, [{ path: ['account'] }, { path: ['note'] }])
    expect(claims).toEqual({ account: '9007199254740993', note: '9007199254740993e10' })
  })

  test('a credential whose exp is beyond 2^53 does not expire', async () => {
    const wish = { claims: { family_name: 'Doe' }, payload: { exp: written('9223372036854775807') } }
    const { claims } = await showPid(wish, [{ path: ['family_name'] }, { path: ['exp'] }])
    expect(claims).toEqual({ family_name: 'Doe', exp: '9223372036854775807' })
  })

  test('nbf and iat beyond 2^53 are dates: long ago is valid, the far future is not valid yet', async () => {
    const show = async (payload: SdJwtWish['payload']) =>
      await showPid({ claims: { family_name: 'Doe' }, payload }, [{ path: ['family_name'] }])
    for (const date of ['nbf', 'iat']) {
      expect((await show({ [date]: written('-9223372036854775808') })).status).toBe('completed')
      // Nanoseconds.
      expect((await show({ [date]: written('1772625600000000000') })).error?.code).toBe('credential_not_yet_valid')
      expect((await show({ [date]: written('-1e400') })).error?.code).toBe('presentation_malformed')
    }
  })

  test('a number beyond 2^53 is not taken for a text where only a text may stand', async () => {
    const number = written('12345678901234567890')
    const asked = [{ path: ['family_name'] }]
    const disclosures = [
      [number, 'family_name', 'Doe'],
      ['salt', number, 'Doe'],
    ].map(encodeJson)
    const wishes: SdJwtWish[] = [
      { payload: { vct: number } },
      { payload: { _sd: [number] } },
      ...disclosures.map(text => ({ claims: {}, disclosures: [text], digests: [digestOf(text)] })),
    ]
    for (const wish of wishes) expect((await showPid(wish, asked)).error?.code).toBe('presentation_malformed')
  })

  test('an mdoc element beyond 2^53 reaches the merchant as text', async () => {
    const numbers = new Raw(hex('84 1b0020000000000001 3bffffffffffffffff c249010000000000000001 1a00000001'))
    const elements = [[MDL_NAMESPACE, 'account', numbers]] as const
    const holder = await holderWith(async key => [await forgeMdoc(signer, key, { elements })])
    const body = { query: { credentials: [mdocQuery('mdl', [[MDL_NAMESPACE, 'account']])] } }
    const { verification } = await presentBy(party, holder, { body })
    expect(verification.claims).toEqual({
      account: ['9007199254740993', '-18446744073709551616', '18446744073709551617', 1],
    })
  })
})

test('an mdoc and its status list as a CWT may be signed with any curve that mdocs may use', async () => {
  const uri = 'https://status.example/cwt'
  const day = (days: number) => `${new Date(NOON + days * DAY_MS).toISOString().slice(0, 19)}Z`
  for (const curve of ['P-256', 'P-384', 'P-521', 'Ed25519'] as const) {
    const issuer = await makeKeys(curve)
    const certificate = await makeCertificate(issuer, day(-30), day(30))
    await trust(party.app, { root: certificate })
    const list = { bits: 1, lst: deflateSync(Buffer.of(0b10)) }
    const claims = new Map<number, unknown>([
      [2, uri],
      [6, NOON / 1000],
      [65533, list],
    ])
    const alg = { 'P-256': -7, 'P-384': -35, 'P-521': -36, Ed25519: -8 }[curve]
    const headers = new Map<unknown, unknown>([
      [1, alg],
      [16, 'application/statuslist+cwt'],
    ])
    const unprotected = new Map([[33, certificate]])
    const body = cbor(await sign1(issuer, cbor(claims), { protected: headers, unprotected }))
    party.app.deps.status = createStatusChecker(
      async () => ({ ok: true, contentType: 'application/statuslist+cwt', body }),
      party.app.deps.now,
    )
    const outcomes: (string | undefined)[] = []
    for (const idx of [0, 1]) {
      const { status, error } = await showMdoc({
        issuer,
        certificates: [certificate],
        mso: mso => {
          mso.validityInfo = { signed: date(day(-1)), validFrom: date(day(-1)), validUntil: date(day(1)) }
          mso.status = { status_list: { idx, uri } }
        },
      })
      outcomes.push(error?.code ?? status)
    }
    expect([curve, ...outcomes]).toEqual([curve, 'completed', 'credential_revoked'])
  }
})
