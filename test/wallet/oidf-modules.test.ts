// The modules of the OpenID Foundation's conformance suite for verifiers, played by our own wallet:
// same cases, same verdicts. The suite's wallet answers a query for one credential, an SD-JWT PID
// or an mDL, in every combination of client id prefix and response mode.
import { beforeAll, describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import { type ErrorBody, NOON, outcome, startApp } from '../helpers/app.ts'
import { type Cheat, formOf, openSession, type Party, postTo, presentBy, readOf, verdictOf } from '../helpers/exchange.ts'
import { forgeSdJwt, forgeSigner, holderWith, trust } from '../helpers/forger.ts'
import { CLAIMS, FORMATS, QUERIES } from '../helpers/queries.ts'
import { type FormatChoice, holderOf } from '../helpers/wallet.ts'

const YEAR_SECONDS = 365 * 86_400
const NOW_SECONDS = NOON / 1000

const COMPLETED = { outcome: 'completed', signature: [true], binding: [true], trusted: [true], failed: [] }
const UNBOUND = { ...COMPLETED, outcome: 'holder_binding_invalid', binding: [false], failed: ['holder_binding'] }
const UNSIGNED = {
  ...COMPLETED,
  outcome: 'signature_invalid',
  signature: [false],
  trusted: [false],
  failed: ['issuer_signature'],
}

type Module = { name: string; format: FormatChoice; mutations: Cheat; verdict: object; detail: RegExp }

const flipped = (format: FormatChoice, name: string, mutations: Cheat, verdict: object, detail: RegExp): Module => ({
  name,
  format,
  mutations,
  verdict,
  detail,
})
const keyBinding = (name: string, mutations: Cheat, detail: RegExp) => flipped('dc+sd-jwt', name, mutations, UNBOUND, detail)
const transcript = (what: string, mutations: Cheat) =>
  flipped('mso_mdoc', `invalid-session-transcript, ${what}`, mutations, UNBOUND, /not valid for this request/)

const NEGATIVE: Module[] = [
  transcript('another nonce', { transcriptNonce: 'x'.repeat(43) }),
  transcript('another client id', { transcriptClientId: 'x509_san_dns:other.example' }),
  transcript('the client id without its prefix', ({ request }) => ({
    transcriptClientId: request.clientId.slice(request.clientId.indexOf(':') + 1),
  })),
  transcript('another response URI', { transcriptResponseUri: 'https://other.example/wallet/response/1' }),
  transcript('the thumbprint of another key', { thumbprint: new Uint8Array(32).fill(7) }),
  // Where it is not encrypted, no thumbprint is right, so the wrong one is the one above.
  transcript('a thumbprint where there should be none, or none where there should be one', ({ request }) => ({
    thumbprint: request.encryption ? null : new Uint8Array(32),
  })),
  keyBinding('invalid-kb-jwt-signature', { holderSignatureFlip: true }, /not signed with the key of the holder/),
  flipped('mso_mdoc', 'invalid-kb-jwt-signature, as deviceSignature', { holderSignatureFlip: true }, UNBOUND, /not valid/),
  flipped('dc+sd-jwt', 'invalid-credential-signature', { issuerSignatureFlip: true }, UNSIGNED, /not signed with the key/),
  flipped('mso_mdoc', 'invalid-credential-signature', { issuerSignatureFlip: true }, UNSIGNED, /signature is not valid/),
  keyBinding('invalid-sd-hash', { sdHash: Buffer.alloc(32).toString('base64url') }, /other disclosed values/),
  keyBinding('invalid-kb-jwt-nonce', { kbNonce: 'x'.repeat(43) }, /another request/),
  keyBinding('invalid-kb-jwt-aud', { kbAud: 'https://other.example' }, /another verifier/),
  keyBinding('kb-jwt-iat-in-past', { kbIat: NOW_SECONDS - YEAR_SECONDS }, /too old/),
  keyBinding('kb-jwt-iat-in-future', { kbIat: NOW_SECONDS + YEAR_SECONDS }, /in the future/),
]

const VARIANTS = (['x509_hash', 'x509_san_dns'] as const).flatMap(clientIdPrefix =>
  (['haip', 'plain'] as const).map(profile => ({
    clientIdPrefix,
    profile,
    mode: profile === 'haip' ? 'direct_post.jwt' : 'direct_post',
  })),
)

describe.each(VARIANTS)('$clientIdPrefix, $mode', ({ clientIdPrefix, profile, mode }) => {
  let party: Party
  let holder: Holder

  beforeAll(async () => {
    const wallet = {
      profile,
      linkStart: 'openid4vp',
      clientIdPrefix,
      registrationCertFile: '',
      requestUriMethod: 'get',
      verifierInfoData: 'jwt',
    } as const
    const app = await startApp({ config: { wallet } })
    party = { app, key: (await app.tenant()).key }
    holder = await holderOf(app)
  })

  describe.each(FORMATS)('%s', format => {
    const body = QUERIES[format]

    test('happy-flow: an answer completes', async () => {
      const { answered, verification, session } = await presentBy(party, holder, { body })
      expect([session.request.responseMode, session.request.clientId.split(':')[0]]).toEqual([mode, clientIdPrefix])
      expect([answered.status, answered.text, answered.headers.get('cache-control')]).toEqual([200, '{}', 'no-store'])
      expect(verdictOf(verification)).toEqual(COMPLETED)
      expect(verification.claims).toEqual(CLAIMS)
    })

    test('request-uri-method-post: a request that was fetched by POST can be answered', async () => {
      // Our wallet refuses a request that does not carry the wallet_nonce it posted.
      const session = await openSession(party, body, {
        method: 'post',
        walletMetadata: { vp_formats_supported: { [format]: {} } },
      })
      expect(session.request.parameters.wallet_nonce).toMatch(/^[\w-]{22}$/)
      expect((await postTo(session, await formOf(session, holder))).status).toBe(200)
      expect(verdictOf(await readOf(session))).toEqual(COMPLETED)
    })

    test('request-uri-fetched-twice: a request that was fetched twice is the same and can be answered', async () => {
      const session = await openSession(party, body)
      const { status, text } = await party.app.call('GET', `/wallet/request/${session.created.id}`)
      expect(status).toBe(200)
      expect<unknown>(decodeJwt(text)).toEqual(session.request.parameters)
      expect((await postTo(session, await formOf(session, holder))).status).toBe(200)
      expect(verdictOf(await readOf(session))).toEqual(COMPLETED)
    })
  })

  test.each([
    ['kty, crv, x and y alone', {}],
    ['and with more than that', { kid: 'k', use: 'sig', alg: 'ES256', key_ops: ['verify'], x5t: 'x' }],
  ])('dc+sd-jwt minimal-cnf-jwk: %s', async (_, further) => {
    const signer = await forgeSigner()
    await trust(party.app, signer)
    const wallet = await holderWith(async key => [
      await forgeSdJwt(signer, key, {
        payload: { cnf: { jwk: { kty: key.kty, crv: key.crv, x: key.x, y: key.y, ...further } } },
      }),
    ])
    const { verification } = await presentBy(party, wallet, { body: QUERIES['dc+sd-jwt'] })
    expect(verdictOf(verification)).toEqual(COMPLETED)
  })

  test.each(NEGATIVE)('$format $name', async ({ format, mutations, verdict, detail }) => {
    const { answered, verification, session } = await presentBy(party, holder, { body: QUERIES[format], mutations })
    expect([answered.status, answered.text]).toEqual([200, '{}'])
    expect(verification.status).toBe('failed')
    expect<object>(verdictOf(verification)).toEqual(verdict)
    expect(verification.credentials?.[0]?.findings.find(({ status }) => status === 'fail')?.detail).toMatch(detail)
    expect(verification).not.toHaveProperty('claims')
    // It is over: the right answer comes too late.
    const again = await party.app.call<ErrorBody>('POST', `/wallet/response/${session.created.id}`, {
      raw: await formOf(session, holder),
    })
    expect(outcome(again)).toBe('409 session_already_responded')
  })
})
