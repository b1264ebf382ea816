// Unusual presentations: legal ones complete, and the merchant reads what the issuer signed.
import { describe, expect, test } from 'bun:test'
import { newPrivateJwk, publicJwk, signJwt } from '../../src/sandbox/es256.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { NOON, startWithTenant } from '../helpers/app.ts'
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
import { hex, Raw } from '../helpers/mdoc.ts'
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
