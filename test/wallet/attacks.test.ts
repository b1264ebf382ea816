// Answers of a hostile wallet, or of anybody who saw the QR code, numbered 1 to 36. Each ends as
// its row of the outcome table says: refused and still pending, failed with a code, or gone; never
// `completed` by mistake, and never a 5xx.
import { afterAll, describe, expect, test } from 'bun:test'
import { createHmac, createPublicKey, hash } from 'node:crypto'
import { connect } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { CompactEncrypt, GeneralEncrypt, generateKeyPair, importJWK } from 'jose'
import { parseAllowList } from '../../src/egress/addresses.ts'
import { createStatusChecker } from '../../src/openid4vp/status/list.ts'
import { STATUS_BODY_BYTES_MAX } from '../../src/openid4vp/status/read-list.ts'
import { newPrivateJwk, signJwt } from '../../src/sandbox/es256.ts'
import { type Credential, type Holder, type Mutations, type VpToken, vpToken } from '../../src/sandbox/wallet/wallet.ts'
import { importSigningKey } from '../../src/signing/import.ts'
import { SigningProblem } from '../../src/signing/problem.ts'
import { TrustProblem } from '../../src/trust/settings.ts'
import { followRedirects } from '../../src/trust/status/fetch-list.ts'
import { statusFetcher } from '../../src/trust/status/status.ts'
import { createVerification, NOON, startApp, startWithTenant } from '../helpers/app.ts'
import {
  DAY_MS,
  type Issued,
  isNoAuthority,
  makeKeys,
  purposes,
  signsCertificates,
  Usage,
  usages,
} from '../helpers/certificates.ts'
import {
  type Cheat,
  encryptedTo,
  FORM,
  formOf,
  only,
  openSession,
  type Presenting,
  postTo,
  presentBy,
  readOf,
  type Session,
  verdictOf,
} from '../helpers/exchange.ts'
import { expectPending } from '../helpers/expect-pending.ts'
import {
  alwaysShown,
  digestOf,
  encodeJson,
  type ForgedElement,
  forgeIsoSigner,
  forgeMdoc,
  forgeSdJwt,
  forgeSigner,
  holderWith,
  type IsoWish,
  MDL,
  MDL_NAMESPACE,
  type MdocWish,
  newLeaf,
  newRoot,
  PID,
  type SdJwtWish,
  type Signer,
  signerFrom,
  trust,
} from '../helpers/forger.ts'
import { hex, Raw } from '../helpers/mdoc.ts'
import { type CredentialQuery, mdocQuery, sdJwtQuery } from '../helpers/queries.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const SD_JWT = { query: { credentials: [sdJwtQuery('pid', [['family_name']])] } }
const MDOC = { query: { credentials: [mdocQuery('mdl', [[MDL_NAMESPACE, 'family_name']])] } }

/** Every name that anything asked the resolver for. */
const resolved: string[] = []

/** Trusted by test sessions for everything. */

const app = await startApp({
  resolve: async host => {
    resolved.push(host)
    return host.startsWith('private') ? ['10.0.0.7'] : []
  },
})
const party = { app, key: (await app.tenant()).key }
const adult = await holderOf(app)
const signer = await forgeSigner()
await trust(app, signer)

const withSdJwt = (wish: SdJwtWish = {}, by = signer): Promise<Holder> =>
  holderWith(async key => [await forgeSdJwt(by, key, wish)])
const withMdoc = (wish: MdocWish = {}, by = signer): Promise<Holder> => holderWith(async key => [await forgeMdoc(by, key, wish)])

/** 200, and the merchant reads the code and which checks failed. */
async function isFailed(holder: Holder, presenting: Presenting & { body: object }, outcome: string, failed: string[]) {
  const { answered, verification } = await presentBy(party, holder, presenting)
  expect([answered.status, answered.text]).toEqual([200, '{}'])
  expect(verification.status).toBe('failed')
  const verdict = verdictOf(verification)
  expect([verdict.outcome, verdict.failed]).toEqual([outcome, failed])
  expect(verification).not.toHaveProperty('claims')
  return verification
}

const MALFORMED = 'presentation_malformed'
const UNSIGNED = 'signature_invalid'
const UNBOUND = 'holder_binding_invalid'
const UNTRUSTED = 'issuer_untrusted'
const UNKNOWN = 'status_unknown'
const UNSATISFIED = 'query_not_satisfied'

test('the forged credentials complete when nothing is wrong with them: each failure below has its one reason', async () => {
  for (const [holder, body] of [
    [await withSdJwt(), SD_JWT],
    [await withMdoc(), MDOC],
  ] as const) {
    const { verification } = await presentBy(party, holder, { body })
    expect([verification.status, verification.claims]).toEqual(['completed', { family_name: 'Mustermann' }])
    expect(verification.credentials?.[0]?.findings).toEqual([])
  }
})

describe('session and transport', () => {
  // 1: test/api/wallet-response.test.ts, 'a second answer is 409 …' and 'of 200 simultaneous right answers one is accepted, …'.

  // Unknown and expired: test/api/wallet-response.test.ts, 'an answer from expires_at on is 410 …; an unknown session 404; …'.
  test('2: an erased session is answered like one that never was', async () => {
    const session = await openSession(party, SD_JWT)
    const form = await formOf(session, adult)
    expect((await app.call('DELETE', `/v1/verifications/${session.created.id}`, { key: party.key })).status).toBe(200)
    const erased = await postTo(session, form)
    const unknown = await app.call('POST', '/wallet/response/vs_0123456789012345678901', { raw: form })
    expect([erased.status, erased.text]).toEqual([404, unknown.text])
  })

  // 3, encrypted: test/api/wallet-response.test.ts, 'with a wrong state' and 'without a state'.
  test.each([
    ['wrong', { state: 'x'.repeat(43) }],
    ['missing', { state: null }],
  ] as [string, Mutations][])(
    '3: an unencrypted answer with a %s state is 400 and leaves the session pending',
    async (_, mutations) => {
      const own = await startApp({ config: { wallet: { ...app.deps.config.wallet, profile: 'plain' } } })
      const holder = await holderOf(own)
      const session = await openSession({ app: own, key: (await own.tenant()).key }, SD_JWT)
      expect((await postTo(session, await formOf(session, holder, { mutations }))).status).toBe(400)
      expect((await readOf(session)).status).toBe('pending')
      expect((await postTo(session, await formOf(session, holder))).status).toBe(200)
      expect((await readOf(session)).status).toBe('completed')
    },
  )

  // 4: test/flows/personas.test.ts, 'replay: what was presented to one session is refused by the
  // next', in both formats;    test/api/wallet-response.test.ts, 'to another session'.

  test('5: the response code reaches the device that answered, not the API, not the page with the QR code', async () => {
    const session = await openSession(party, { ...SD_JWT, redirect_url: 'https://shop.example/done' })
    const { body } = await postTo(session, await formOf(session, adult))
    const code = body.redirect_uri?.split('#response_code=')[1] ?? ''
    expect(code).toMatch(/^[\w-]{43}$/)
    const seen = await Promise.all([
      app.call('GET', `/v1/verifications/${session.created.id}`, { key: party.key }),
      app.call('GET', '/v1/verifications', { key: party.key }),
      app.call('GET', `/wallet/request/${session.created.id}`),
      postTo(session, await formOf(session, adult)),
    ])
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 409, 409])
    for (const { text } of seen) expect(text).not.toContain(code)
  })

  test('6: the session id of the QR code reads nothing: 401 without a key, 404 with a foreign one', async () => {
    const { session } = await presentBy(party, adult, { body: SD_JWT })
    const other = await app.tenant()
    const path = `/v1/verifications/${session.created.id}`
    const seen = await Promise.all([
      app.call('GET', path),
      app.call('GET', path, { key: session.created.id }),
      app.call('GET', path, { key: other.key }),
      app.call('GET', path, { key: other.liveKey }),
      app.call('GET', `/wallet/request/${session.created.id}`),
      app.call('GET', `/wallet/response/${session.created.id}`),
    ])
    expect(seen.map(({ status }) => status)).toEqual([401, 401, 404, 404, 409, 405])
    for (const { text } of seen) expect(text).not.toContain('Mustermann')
  })

  // 7: test/api/wallet-response.test.ts, 'redeeming gives the verification once; …', 'a code that is
  // redeemed %d ms after the answer is %d' and    'of 1,000 simultaneous redemptions one succeeds'. 8:
  // test/api/wallet-response.test.ts, 'that is not encrypted' and 'the error %s fails the session
  // as %s'. 9: test/api/wallet-response.test.ts, 'that is a plain error without a state'.

  // 10, content types and sizes: test/api/wallet-response.test.ts, 'as JSON', 'as multipart' and 'an answer of 1 MiB is read; …'.
  test.each(['GET', 'PUT', 'PATCH', 'DELETE'])('10: %s of the address for answers is 405', async method => {
    const session = await openSession(party, SD_JWT)
    const { status } = await app.call(method, `/wallet/response/${session.created.id}`)
    expect([status, (await readOf(session)).status]).toEqual([405, 'pending'])
  })

  test('10: a body of unknown length is cut off at 1 MiB', async () => {
    const session = await openSession(party, SD_JWT)
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new TextEncoder().encode('x'.repeat(65_536)))
        if (sent > 64 * 1024 * 1024) controller.close()
      },
    })
    const { status } = await postTo(session, endless, FORM)
    expect([status, (await readOf(session)).status]).toEqual([413, 'pending'])
    expect(sent).toBeLessThan(32 * 1024 * 1024)
  })

  test('10: a body that never comes keeps nobody else waiting', async () => {
    const session = await openSession(party, SD_JWT)
    const { port } = new URL(app.url)
    const head = `POST /wallet/response/${session.created.id} HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM['content-type']}`
    const sockets = Array.from({ length: 20 }, () => connect(Number(port), '127.0.0.1'))
    const begun = `${head}\r\nContent-Length: 1000\r\n\r\nresponse=`
    await Promise.all(sockets.map(socket => new Promise(sent => socket.on('error', () => {}).write(begun, sent))))
    expect((await postTo(session, await formOf(session, adult))).status).toBe(200)
    expect((await readOf(session)).status).toBe('completed')
    for (const socket of sockets) socket.destroy()
  })

  // 11, repeated fields and members: test/api/wallet-response.test.ts, 'with a repeated field' and
  // 'that encrypts a member twice'.
  test('11: __proto__ gives an answer neither a state nor a token', async () => {
    const session = await openSession(party, SD_JWT)
    const { state } = session.request
    const token = JSON.stringify(await vpToken(session.request, adult, { now: NOON }))
    for (const text of [
      `{"__proto__":{"state":"${state}"},"vp_token":${token}}`,
      `{"state":"${state}","__proto__":{"vp_token":${token}}}`,
      `{"state":"${state}","vp_token":{"__proto__":["x"]}}`,
      `{"state":"${state}","vp_token":{"constructor":["x"]}}`,
    ]) {
      expect((await postTo(session, await encryptedTo(session, text))).status).toBe(400)
    }
    await expectPending(session, adult, new URLSearchParams({ __proto__: 'x' }))
  })

  test('11: a claim called __proto__ or constructor is data', async () => {
    const claims = JSON.parse('{"family_name":"M","__proto__":{"trusted":true},"constructor":"x"}')
    const holder = await withSdJwt({ claims })
    const query = { credentials: [sdJwtQuery('pid', [['family_name'], ['__proto__'], ['constructor']])] }
    const { verification } = await presentBy(party, holder, { body: { query } })
    expect(verification.status).toBe('completed')
    expect(JSON.stringify(verification.claims)).toBe('{"family_name":"M","__proto__":{"trusted":true},"constructor":"x"}')
    expect(({} as { trusted?: boolean }).trusted).toBeUndefined()
  })

  test('12: a redirect comes from the merchant alone, whatever the wallet asks for', async () => {
    const redirect_uri = 'https://evil.example/'
    const session = await openSession(party, SD_JWT)
    const form = await formOf(session, adult, { mutations: { responseClaims: { redirect_uri } } })
    form.set('redirect_uri', redirect_uri)
    expect((await postTo(session, form)).text).toBe('{}')
  })
})

describe('13: the JWE', () => {
  // zip, enc not offered, kid, payload not an object, nested JWT: test/api/wallet-response.test.ts,
  // the tables of its first describe.
  const plaintext = ({ request }: Session) => JSON.stringify({ state: request.state, vp_token: { pid: ['x'] } })
  const bytes = (session: Session) => new TextEncoder().encode(plaintext(session))
  const keyOf = ({ request }: Session) => {
    const { kty, crv, x, y } = request.encryption!.key
    return importJWK({ kty: kty!, crv: crv!, x: x!, y: y! }, 'ECDH-ES')
  }
  const kid = ({ request }: Session) => request.encryption!.key.kid
  const encrypt = (session: Session, header: Record<string, unknown>, key: Parameters<CompactEncrypt['encrypt']>[0]) =>
    new CompactEncrypt(bytes(session)).setProtectedHeader({ enc: 'A128GCM', kid: kid(session), ...header } as never).encrypt(key)
  /** A header of our choice over parts that need not decrypt: it must not get that far. */
  const headed = (session: Session, header: object) =>
    `${encodeJson({ enc: 'A128GCM', kid: kid(session), ...header })}.AAAA.AAAA.AAAA.AAAA`
  const good = async (session: Session) => (await formOf(session, adult)).get('response')!
  const withHeader = async (session: Session, change: (header: Record<string, unknown>) => object) => {
    const [head = '', ...rest] = (await good(session)).split('.')
    return [encodeJson(change(JSON.parse(Buffer.from(head, 'base64url').toString()))), ...rest].join('.')
  }

  const cases: [string, (session: Session) => Promise<string> | string][] = [
    ['ECDH-ES+A128KW to the right key', async s => encrypt(s, { alg: 'ECDH-ES+A128KW' }, await keyOf(s))],
    ['ECDH-ES+A256KW to the right key', async s => encrypt(s, { alg: 'ECDH-ES+A256KW' }, await keyOf(s))],
    ['RSA-OAEP-256', async s => encrypt(s, { alg: 'RSA-OAEP-256' }, (await generateKeyPair('RSA-OAEP-256')).publicKey)],
    ['RSA1_5', s => headed(s, { alg: 'RSA1_5' })],
    ['dir', s => encrypt(s, { alg: 'dir' }, new Uint8Array(16))],
    ['A128KW', s => encrypt(s, { alg: 'A128KW' }, new Uint8Array(16))],
    ['PBES2 with 10,000,000 rounds', s => headed(s, { alg: 'PBES2-HS256+A128KW', p2s: 'AAAAAAAAAAA', p2c: 10_000_000 })],
    ['crit', async s => withHeader(s, header => ({ ...header, crit: ['exp'], exp: 1 }))],
    ['no alg', s => headed(s, {})],
    ['a changed tag', async s => (await good(s)).replace(/.$/, last => (last === 'A' ? 'Q' : 'A'))],
    ['a changed header', async s => withHeader(s, header => ({ ...header, x: 1 }))],
    ['an epk off the curve', async s => withHeader(s, h => ({ ...h, epk: { ...(h.epk as object), y: 'A'.repeat(43) } }))],
    ['an epk of another curve', async s => withHeader(s, h => ({ ...h, epk: { kty: 'OKP', crv: 'X25519', x: 'A'.repeat(43) } }))],
    ['no epk', async s => withHeader(s, ({ epk: _, ...header }) => header)],
    ['six parts', async s => `${await good(s)}.AAAA`],
    ['padding', async s => `${await good(s)}==`],
    ['a line break at its end', async s => `${await good(s)}\n`],
    ['a space inside', async s => (await good(s)).replace(/.$/, last => ` ${last}`)],
    ['a header of 9 kB', async s => (await encryptedTo(s, plaintext(s), { x: 'A'.repeat(9000) })).get('response')!],
    [
      'the JSON form with two recipients',
      async s => {
        const jwe = new GeneralEncrypt(bytes(s)).setProtectedHeader({ enc: 'A128GCM' })
        jwe.addRecipient(await keyOf(s)).setUnprotectedHeader({ alg: 'ECDH-ES+A128KW', kid: kid(s) })
        jwe.addRecipient((await generateKeyPair('ECDH-ES+A128KW')).publicKey).setUnprotectedHeader({ alg: 'ECDH-ES+A128KW' })
        return JSON.stringify(await jwe.encrypt())
      },
    ],
  ]
  test.each(cases)('13: a JWE with %s is 400 and leaves the session pending', async (_, make) => {
    const session = await openSession(party, SD_JWT)
    await expectPending(session, adult, new URLSearchParams({ response: await make(session) }))
  })
})

describe('the request', () => {
  // 14, client_id and the key of the leaf: test/api/wallet-request.test.ts, 'its header has typ,
  // ES256 and an x5c …' and     'the claims of a request object are those of HAIP 1.0, and no
  // others'.
  test('14: a certificate that is not for the key, is self-signed or has expired is not taken', async () => {
    const root = await newRoot()
    const pems = (...issued: Issued[]) => issued.map(({ der }) => pem('CERTIFICATE', der)).join('')
    const keyPem = async ({ keys }: Issued) =>
      pem('PRIVATE KEY', new Uint8Array(await crypto.subtle.exportKey('pkcs8', keys.privateKey)))
    const leaf = await newLeaf(root)
    const expired = await newLeaf(root, { notAfter: NOON - 1000 })
    for (const [chainPem, key] of [
      [pems(leaf), await newLeaf(root)],
      [pems(root), root],
      [pems(expired), expired],
      [pems(leaf, await newRoot()), leaf],
    ] as [string, Issued][]) {
      expect(
        importSigningKey(app.deps, { chainPem, keyPem: await keyPem(key), owner: null, authorities: [] }, 'test'),
      ).rejects.toThrow(SigningProblem)
    }
  })

  test('14: a start on a certificate that has expired, or is about to, warns in the log', async () => {
    const { stop, dir } = await startApp()
    await stop()
    for (const [days, warned] of [
      [690, false],
      [701, true],
      [800, true],
    ] as const) {
      const later = await startApp({ dir, now: NOON + days * DAY_MS })
      expect(later.logs.some(line => line.includes('signing.certificate_expires'))).toBe(warned)
      await later.stop()
    }
  })

  // 15: test/api/wallet-request.test.ts, 'wallet_nonce is in the signed claim only; a GET has none'.

  test('16: request URIs cannot be counted through: each id has 22 letters of its own', async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await createVerification(app, party.key)).id))
    for (const id of ids) expect(id).toMatch(/^vs_[0-9A-Za-z]{22}$/)
    for (let at = 3; at < 25; at++) expect(new Set(ids.map(id => id[at])).size).toBeGreaterThan(10)
  })
})

const pem = (label: string, der: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${Buffer.from(der).toString('base64')}\n-----END ${label}-----\n`

describe('SD-JWT', () => {
  /** The key binding of a presentation, signed anew under a header of our choice. */
  const rebound =
    (alg: string, sign: (text: string) => string): Cheat =>
    () => ({
      presentation: text => {
        const at = text.lastIndexOf('~') + 1
        const signed = `${encodeJson({ typ: 'kb+jwt', alg })}.${text.slice(at).split('.')[1]}`
        return `${text.slice(0, at)}${signed}.${sign(signed)}`
      },
    })
  const holderPem = () => {
    const { d: _, ...key } = adult.deviceKey
    return createPublicKey({ key, format: 'jwk' }).export({ format: 'pem', type: 'spki' })
  }
  const hmac = (secret: () => string | Buffer) => (text: string) =>
    createHmac('sha256', secret()).update(text).digest('base64url')

  // Signature, nonce, aud, iat of last and next year, sd_hash: test/wallet/oidf-modules.test.ts.
  // By another key: test/flows/personas.test.ts, 'wrong_device_key'.
  const bindings: [string, Cheat][] = [
    ['none at all', { dropKb: true }],
    ['typ JWT', { kbTyp: 'JWT' }],
    ['alg none, signed all the same', { kbAlg: 'none' }],
    ['alg none, unsigned', rebound('none', () => '')],
    ['HS256 with the public key as text', rebound('HS256', hmac(holderPem as () => string))],
    [
      'HS256 with x of the public key',
      rebound(
        'HS256',
        hmac(() => Buffer.from(adult.deviceKey.x, 'base64url')),
      ),
    ],
    ['ES384', { kbAlg: 'ES384' }],
    ['aud without its prefix', ({ request }) => ({ kbAud: request.clientId.split(':')[1] })],
    ['aud as an array', ({ request }) => ({ kbAud: [request.clientId] })],
    ['aud of the DC API', { kbAud: 'origin:https://verify.example' }],
    ['no aud', { kbClaims: { aud: undefined } }],
    ['no nonce', { kbClaims: { nonce: undefined } }],
    ['no iat', { kbClaims: { iat: undefined } }],
    ['iat as text', { kbIat: String(NOON / 1000) }],
    ['iat before the session', { kbIat: NOON / 1000 - 120 }],
    ['iat two minutes ahead', { kbIat: NOON / 1000 + 120 }],
    ['no sd_hash', { kbClaims: { sd_hash: undefined } }],
    ['expired', { kbClaims: { exp: NOON / 1000 - 61 } }],
  ]
  test.each(bindings)('17: a key binding is refused: %s', async (_, mutations) => {
    await isFailed(adult, { body: SD_JWT, mutations }, UNBOUND, ['holder_binding'])
  })

  const disclosed = (...contents: unknown[]): SdJwtWish => {
    const disclosures = contents.map(alwaysShown)
    return { disclosures, digests: disclosures.map(digestOf) }
  }
  const inner = alwaysShown(['salt', 'b', 'x'])
  const disclosures: [string, SdJwtWish, check?: string][] = [
    ['whose digest stands twice', { digests: [digestOf(inner), digestOf(inner)] }],
    ['named _sd', disclosed(['salt', '_sd', ['x']])],
    ['named …', disclosed(['salt', '...', 'x'])],
    ['with the name of a signed claim', { ...disclosed(['salt', 'sex', 1]), payload: { sex: 2 } }],
    ['of two parts', disclosed(['salt', 'x'])],
    ['of four parts', disclosed(['salt', 'x', 'y', 'z']), 'format'],
    ['whose salt is a number', disclosed([1, 'x', 'y'])],
    ['with padding', { disclosures: [`${inner}=`], digests: [digestOf(`${inner}=`)] }],
    ['of exp', { ...disclosed(['salt', 'exp', 4_000_000_000]), payload: { exp: undefined } }],
    ['of cnf', { ...disclosed(['salt', 'cnf', {}]) }],
    ['of vct', disclosed(['salt', 'vct', PID])],
    ['of status', disclosed(['salt', 'status', {}])],
  ]
  test.each(disclosures.map(([title, wish, check = 'digests']) => ({ title, wish, check })))(
    '18: a disclosure $title makes the credential malformed',
    async ({ wish, check }) => {
      await isFailed(await withSdJwt(wish), { body: SD_JWT }, MALFORMED, [check])
    },
  )

  test('18: a disclosure that is sent twice makes the credential malformed', async () => {
    await isFailed(await withSdJwt(), { body: SD_JWT, mutations: { repeatDisclosure: true } }, MALFORMED, ['digests'])
  })

  test('18: a disclosure that the issuer did not sign, or that was changed, fails the credential', async () => {
    const mutations = { extraDisclosure: encodeJson(['salt', 'x', 'y']) }
    await isFailed(await withSdJwt(), { body: SD_JWT, mutations }, UNSIGNED, ['digests'])
    // Its container stays concealed.
    const digests = [digestOf(alwaysShown(['s', 'a', { _sd: [digestOf(inner)] }]))]
    await isFailed(await withSdJwt({ disclosures: [inner], digests }), { body: SD_JWT }, UNSIGNED, ['digests'])
    const tampered = await isFailed(await withSdJwt(), { body: SD_JWT, mutations: { tamperClaim: true } }, UNSIGNED, ['digests'])
    expect(tampered.credentials).toMatchObject([{ doctype_or_vct: PID, claims: {}, signature_valid: false }])
  })

  test.each([
    ['unknown', { _sd_alg: 'sha3-256' }],
    ['weak', { _sd_alg: 'sha-1' }],
    ['in other letters', { _sd_alg: 'SHA-256' }],
    ['null', { _sd_alg: null }],
    ['nested', { address: { _sd_alg: 'sha-256' } }],
  ])('19: a credential whose _sd_alg is %s is malformed', async (_, payload) => {
    await isFailed(await withSdJwt({ payload }), { body: SD_JWT }, MALFORMED, ['digests'])
  })

  test('19: a credential with decoy digests completes', async () => {
    const digests = Array.from({ length: 5 }, (_, i) => hash('sha256', `decoy ${i}`, 'base64url'))
    const { verification } = await presentBy(party, await withSdJwt({ digests }), { body: SD_JWT })
    expect(verification.status).toBe('completed')
  })

  // Signature: test/wallet/oidf-modules.test.ts. Expired and not yet valid: test/flows/personas.test.ts.
  const others: [string, SdJwtWish, string, string[]][] = [
    ['an unknown crit', { header: { crit: ['x'], x: 1 } }, MALFORMED, ['format']],
    ['typ JWT', { header: { typ: 'JWT' } }, MALFORMED, ['format']],
    ['no vct', { payload: { vct: undefined } }, MALFORMED, ['format']],
    ['another vct', { payload: { vct: 'urn:other' } }, UNSATISFIED, ['query']],
    ['no cnf', { payload: { cnf: undefined } }, UNBOUND, ['holder_binding']],
    ['a cnf that only names a key', { payload: { cnf: { kid: 'x' } } }, UNBOUND, ['holder_binding']],
    ['alg none', { header: { alg: 'none' } }, UNSIGNED, ['issuer_signature']],
    ['alg HS256', { header: { alg: 'HS256' } }, UNSIGNED, ['issuer_signature']],
    ['a date that is a text', { payload: { exp: '1e400' } }, MALFORMED, ['format']],
    ['an unknown way to be revoked', { payload: { status: { other: {} } } }, UNKNOWN, ['status']],
  ]
  test.each(others)('20: a credential with %s fails', async (_, wish, outcome, failed) => {
    // The wallet chooses by the type it believes in.
    const holder = await withSdJwt(wish)
    await isFailed(holder, { body: SD_JWT }, outcome, failed)
  })

  test('20: a credential whose cnf has the private key fails', async () => {
    const holder = await holderWith(async key => [await forgeSdJwt(signer, key)])
    const credential = await forgeSdJwt(signer, holder.deviceKey, { payload: { cnf: { jwk: { ...holder.deviceKey } } } })
    await isFailed({ ...holder, credentials: [credential] }, { body: SD_JWT }, UNBOUND, ['holder_binding'])
  })
})

describe('21: the certificates of an issuer', () => {
  const past = { notBefore: NOON - 90 * DAY_MS, notAfter: NOON - DAY_MS }
  const below = async (root: Issued, between: Parameters<typeof newRoot>[0], leaf: Parameters<typeof newLeaf>[1] = {}) => {
    const middle = await newRoot({ issuer: root, ...between })
    return { middle, leaf: await newLeaf(middle, leaf), root }
  }
  const chained = async (between: Parameters<typeof newRoot>[0], root?: Issued) => {
    const made = await below(root ?? (await newRoot()), between)
    return signerFrom(made.leaf, { above: [made.middle], root: made.root })
  }
  const rsa1024 = () =>
    makeKeys({ name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' })

  type Case = [title: string, make: () => Promise<Signer>, outcome?: string]
  const cases: Case[] = [
    ['to a root that nobody trusts', async () => ({ ...(await forgeSigner()), root: (await newRoot()).der })],
    ['self-signed leaf', async () => signerFrom(await newRoot(), { root: await newRoot() })],
    ['expired leaf', async () => forgeSigner(past)],
    ['leaf that is not valid yet', async () => forgeSigner({ notBefore: NOON + DAY_MS })],
    ['expired authority in between', async () => chained(past)],
    ['CA:false in between', async () => chained({ extensions: [isNoAuthority(), signsCertificates()] })],
    ['an authority in between that may not issue', async () => chained({ extensions: [usages(Usage.digitalSignature)] })],
    ['one certificate more than pathLen allows', async () => chained({}, await newRoot({ pathLength: 0 }))],
    ['RSA-1024 in between', async () => chained({ keys: await rsa1024() })],
    ['a leaf for web servers', async () => forgeSigner({ extensions: [purposes(['1.3.6.1.5.5.7.3.1'])] })],
    ['a leaf for readers', async () => forgeSigner({ extensions: [purposes(['1.0.18013.5.1.6'])] })],
    ['a leaf that may only agree on keys', async () => forgeSigner({ extensions: [usages(Usage.keyAgreement)] })],
    [
      'in the wrong order',
      async () => {
        const made = await chained({})
        return { ...made, chain: [...made.chain, made.chain[1]!].toSpliced(1, 1, (await newRoot()).der) }
      },
    ],
    [
      'in a loop',
      async () => {
        const made = await chained({})
        return { ...made, chain: [made.chain[0]!, made.chain[1]!, made.chain[0]!, made.chain[1]!] }
      },
    ],
    ['an empty array', async () => ({ ...(await forgeSigner()), chain: [] }), MALFORMED],
    [
      '50 certificates',
      async () => {
        const made = await forgeSigner()
        return { ...made, chain: Array.from({ length: 50 }, () => made.chain[0]!) }
      },
      MALFORMED,
    ],
  ]
  test.each(cases.map(([title, make, outcome = UNTRUSTED]) => ({ title, make, outcome })))(
    '21: a chain of certificates is refused: $title',
    async ({ make, outcome }) => {
      const by = await make()
      await trust(app, by)
      await isFailed(await withSdJwt({}, by), { body: SD_JWT }, outcome, [outcome === UNTRUSTED ? 'issuer_chain' : 'format'])
    },
  )

  test('21: a chain that begins with its authority fails: the key of the first certificate counts', async () => {
    const made = await chained({})
    await trust(app, made)
    const reversed = { ...made, chain: made.chain.toReversed() }
    await isFailed(await withSdJwt({}, reversed), { body: SD_JWT }, UNSIGNED, ['issuer_signature', 'issuer_chain'])
  })

  test('21: an expired root cannot be added, and stops counting when it expires', async () => {
    const own = await startApp()
    const root = await newRoot({ notAfter: NOON + DAY_MS })
    const by = await signerFrom(await newLeaf(root), { root })
    expect(trust(own, { root: (await newRoot(past)).der })).rejects.toThrow(TrustProblem)
    await trust(own, by)
    const ownParty = { app: own, key: (await own.tenant()).key }
    const holder = await withSdJwt({}, by)
    expect((await presentBy(ownParty, holder, { body: SD_JWT })).verification.status).toBe('completed')
    own.clock.advance(2 * DAY_MS)
    const { verification } = await presentBy(ownParty, holder, { body: SD_JWT })
    expect(verdictOf(verification)).toMatchObject({ outcome: UNTRUSTED, trusted: [false], failed: ['issuer_chain'] })
  })

  // HAIP forbids it to issuers, but it changes nothing: only our own copy of the root is believed.
  test('21: the anchor sent along is a warning; a stranger that sends its own root along stays a stranger', async () => {
    const by = await forgeSigner()
    const withRoot = { ...by, chain: [...by.chain, by.root] }
    await isFailed(await withSdJwt({}, withRoot), { body: SD_JWT }, UNTRUSTED, ['issuer_chain'])
    await trust(app, by)
    const { verification } = await presentBy(party, await withSdJwt({}, withRoot), { body: SD_JWT })
    expect(verification.status).toBe('completed')
    expect(verification.credentials?.[0]?.findings).toMatchObject([{ check: 'issuer_chain', status: 'warning' }])
  })
})

describe('the key of an answer', () => {
  test('22: jwk, jku, x5u, kid and iss are never followed, and no name is looked up', async () => {
    const attacker = await newPrivateJwk()
    const { d: _, ...jwk } = attacker
    const lures = { jwk, jku: 'https://evil.example/jwks', x5u: 'https://evil.example/x5u', kid: 'https://evil.example/#k' }
    const payload = { iss: 'https://evil.example' }
    resolved.length = 0
    // With the certificate of a trusted issuer beside, and without any.
    await isFailed(await withSdJwt({ header: lures, payload, key: attacker }), { body: SD_JWT }, UNSIGNED, ['issuer_signature'])
    const bare = await withSdJwt({ header: { ...lures, x5c: undefined }, payload, key: attacker })
    await isFailed(bare, { body: SD_JWT }, MALFORMED, ['format'])
    expect(resolved).toEqual([])
  })

  test('23: an issuer trusted for one type is a stranger for another', async () => {
    const by = await forgeSigner()
    await trust(app, by, { trustedFor: 'urn:example:membership' })
    const verification = await isFailed(await withSdJwt({}, by), { body: SD_JWT }, UNTRUSTED, ['issuer_chain'])
    expect(verification.credentials?.[0]?.findings[0]?.detail).toContain('for another type of credential')
    await trust(app, by, { trustedFor: PID })
    expect((await presentBy(party, await withSdJwt({}, by), { body: SD_JWT })).verification.status).toBe('completed')
  })

  test('23: an anchor for live is none for test', async () => {
    const by = await forgeSigner()
    await trust(app, by, { environment: 'live' })
    await isFailed(await withSdJwt({}, by), { body: SD_JWT }, UNTRUSTED, ['issuer_chain'])
  })
})

describe('mdoc', () => {
  // 24, transcript: test/wallet/oidf-modules.test.ts. Another device key: test/flows/personas.test.ts, 'wrong_device_key'.
  test.each(['absent', 'empty', 'mac'] as const)('24: an mdoc whose device authentication is %s fails', async deviceAuth => {
    await isFailed(adult, { body: MDOC, mutations: { deviceAuth } }, UNBOUND, ['holder_binding'])
  })

  const stranger: ForgedElement = ['org.example.unsigned', 'family_name', 'x']
  const unsigned = { query: { credentials: [mdocQuery('mdl', [['org.example.unsigned', 'family_name']])] } }
  type Sent = { body?: object; mutations?: Mutations }
  const issued: [title: string, wish: MdocWish, outcome: string, failed: string[], sent?: Sent][] = [
    ['25: a name space without digests', { unsigned: [stranger] }, UNSIGNED, ['digests'], { body: unsigned }],
    ['25: an item that was tampered with', {}, UNSIGNED, ['digests'], { mutations: { tamperClaim: true } }],
    ['25: an item twice', {}, UNSIGNED, ['digests'], { mutations: { repeatDisclosure: true } }],
    ['25: another docType outside', {}, MALFORMED, ['doctype'], { mutations: { docType: 'org.example' } }],
    ['25: another docType inside', { mso: { docType: 'org.example' } }, MALFORMED, ['doctype', 'query']],
    ['25: MSO version 2.0', { mso: { version: '2.0' } }, MALFORMED, ['format']],
    ['25: digest algorithm MD5', { mso: { digestAlgorithm: 'MD5' } }, UNSIGNED, ['digests']],
    // 26, expired, not yet valid, untrusted root: test/flows/personas.test.ts.
    ['26: signed before the signer was certified', { validity: { signed: -60 } }, UNTRUSTED, ['validity']],
    ['26: signed after its end', { validity: { signed: 400 } }, UNTRUSTED, ['validity']],
    // 29
    ['29: two documents', {}, MALFORMED, ['format'], { mutations: { documentCount: 2 } }],
    ['29: no document', {}, MALFORMED, ['format'], { mutations: { documentCount: 0 } }],
    ['29: status 10', {}, MALFORMED, ['format'], { mutations: { deviceResponseStatus: 10 } }],
    ['29: version 2.0', {}, MALFORMED, ['format'], { mutations: { deviceResponseVersion: '2.0' } }],
    ['29: padding', {}, MALFORMED, ['format'], { mutations: { presentation: text => `${text}=` } }],
    ['29: the other alphabet', {}, MALFORMED, ['format'], { mutations: { presentation: text => `+${text.slice(1)}` } }],
    [
      '29: hexadecimal',
      {},
      MALFORMED,
      ['format'],
      { mutations: { presentation: text => Buffer.from(text, 'base64url').toString('hex') } },
    ],
  ]
  test.each(issued.map(([title, wish, outcome, failed, sent]) => ({ title, wish, outcome, failed, sent })))(
    '$title: the mdoc fails',
    async ({ wish, outcome, failed, sent }) => {
      await isFailed(await withMdoc(wish), { body: MDOC, ...sent }, outcome, failed)
    },
  )

  test('26: an mdoc of a signer that has expired fails', async () => {
    const by = await forgeSigner({ notAfter: NOON - DAY_MS / 2 })
    await trust(app, by)
    await isFailed(await withMdoc({}, by), { body: MDOC }, UNTRUSTED, ['issuer_chain'])
  })

  describe('26: the profile of ISO/IEC 18013-5 Annex B, for an anchor of driving licences', () => {
    test.each([
      ['kept', {}, undefined],
      ['EKU of a reader', { purpose: '1.0.18013.5.1.6' }, /reader/],
      ['EKU of something else', { purpose: '1.2.3' }, /extended key usage/],
      ['IACA with pathLen 1', { pathLength: 1 }, /path length 0/],
      ['another country than its root', { country: 'DE' }, /different countries/],
      ['valid for 458 days', { days: 458 }, /457 days/],
    ] as [string, IsoWish, RegExp | undefined][])(
      '26: the profile decides on a document signer: %s',
      async (_, change, detail) => {
        const { signer: by } = await forgeIsoSigner(change)
        await trust(app, by, { trustedFor: MDL, mode: 'auto', crl: 'off' })
        const { verification } = await presentBy(party, await withMdoc({}, by), { body: MDOC })
        expect(verdictOf(verification).outcome).toBe(detail ? UNTRUSTED : 'completed')
        if (detail) expect(verification.credentials?.[0]?.findings[0]?.detail).toMatch(detail)
      },
    )
  })

  describe('a root that was trusted without a type and without a mode', () => {
    test('26: such a root does not vouch for a licence whose signer is no document signer; for a PID it does', async () => {
      const by = await forgeSigner()
      await trust(app, by, { mode: 'auto' })
      const verification = await isFailed(await withMdoc({}, by), { body: MDOC }, UNTRUSTED, ['issuer_chain'])
      expect(verification.credentials?.[0]?.findings[0]?.detail).toContain('of the document signer, its extended key usage')
      expect((await presentBy(party, await withSdJwt({}, by), { body: SD_JWT })).verification.status).toBe('completed')
    })

    test('26: such a root vouches for a licence that a document signer signed, and for one of any signer when its mode is pkix', async () => {
      const root = await newRoot()
      const any = await signerFrom(await newLeaf(root), { root })
      await trust(app, any, { mode: 'pkix' })
      expect((await presentBy(party, await withMdoc({}, any), { body: MDOC })).verification.status).toBe('completed')
      const { signer: signed } = await forgeIsoSigner()
      await trust(app, signed, { mode: 'auto', crl: 'off' })
      expect((await presentBy(party, await withMdoc({}, signed), { body: MDOC })).verification.status).toBe('completed')
    })

    test('26: such a root does not vouch for any mdoc that the certificate of a web server signed', async () => {
      const root = await newRoot()
      const extensions = [usages(Usage.digitalSignature), purposes(['1.3.6.1.5.5.7.3.1', '1.3.6.1.4.1.99999.2'], false)]
      const by = await signerFrom(await newLeaf(root, { extensions }), { root })
      await trust(app, by, { mode: 'pkix' })
      const verification = await isFailed(await withMdoc({}, by), { body: MDOC }, UNTRUSTED, ['issuer_chain'])
      expect(verification.credentials?.[0]?.findings[0]?.detail).toContain('another purpose than to sign mdocs')
    })
  })

  describe('27: what the device states', () => {
    const deviceClaims = { [MDL_NAMESPACE]: { family_name: 'Stated', nickname: 'x' } }
    const allowed = new Map([['nameSpaces', [MDL_NAMESPACE]]])

    test('27: data of the device without leave of the issuer spoils the proof', async () => {
      await isFailed(await withMdoc(), { body: MDOC, mutations: { deviceClaims } }, UNBOUND, ['holder_binding'])
    })

    test('27: data of the device is no claim, even with leave: what the issuer signed stays, and nothing is added', async () => {
      const holder = await withMdoc({ keyAuthorizations: allowed })
      const { verification } = await presentBy(party, holder, { body: MDOC, mutations: { deviceClaims } })
      expect([verification.status, verification.claims]).toEqual(['completed', { family_name: 'Mustermann' }])
      expect(JSON.stringify(verification)).not.toContain('Stated')
    })

    test('27: data of the device does not answer the query, even with leave', async () => {
      const holder = await withMdoc({ keyAuthorizations: allowed })
      const mutations = { deviceClaims, dropDisclosure: true }
      await isFailed(holder, { body: MDOC, mutations }, UNSATISFIED, ['query'])
    })
  })

  describe('28: CBOR', () => {
    const bytes = (change: (mdoc: Buffer) => Buffer): Mutations => ({
      presentation: text => change(Buffer.from(text, 'base64url')).toString('base64url'),
    })
    const wrapped: [string, (mdoc: Buffer) => Buffer][] = [
      ['a byte behind it', mdoc => Buffer.concat([mdoc, hex('00')])],
      ['itself behind it', mdoc => Buffer.concat([mdoc, mdoc])],
      ['the self-described tag before it', mdoc => Buffer.concat([hex('d9d9f7'), mdoc])],
      ['of indefinite length', mdoc => Buffer.concat([hex('bf'), mdoc.subarray(1), hex('ff')])],
      ['with a key twice', mdoc => Buffer.concat([hex('a4'), mdoc.subarray(1), hex('66737461747573 00')])],
      ['with its length beyond the end', mdoc => Buffer.concat([hex('bb 7fffffffffffffff'), mdoc.subarray(1)])],
      ['nested 1,000 deep', () => Buffer.alloc(1000, 0x81)],
      ['nothing', () => Buffer.alloc(0)],
      ['an array', () => hex('80')],
    ]
    test.each(wrapped)('28: CBOR is refused: %s', async (_, change) => {
      await isFailed(await withMdoc(), { body: MDOC, mutations: bytes(change) }, MALFORMED, ['format'])
    })

    test.each([
      ['text that is not UTF-8', '61 ff'],
      ['NaN', 'f9 7e00'],
      ['Infinity', 'f9 7c00'],
      ['a bignum of 65 bytes', `c2 58 41 ${'ff'.repeat(65)}`],
      ['five tags around each other', 'c1c1c1c1c1 00'],
      ['a map with a key twice', 'a2 00 00 00 01'],
      ['a reserved simple value', 'f8 20'],
      ['an indefinite text', '7f 61 61 ff'],
      ['a byte string longer than all', '5b 7fffffffffffffff'],
    ])('28: a signed element whose value is %s is refused', async (_, value) => {
      const elements: ForgedElement[] = [[MDL_NAMESPACE, 'family_name', new Raw(hex(value))]]
      await isFailed(await withMdoc({ elements }), { body: MDOC }, MALFORMED, ['format'])
    })
  })
})

describe('DCQL', () => {
  // 30, unknown id, empty array, bare string: test/api/wallet-response.test.ts, 'with an unknown
  // credential id' and 'an answer with %s ends the session'.
  /** Presents under any query, and answers the session with the result. */
  async function answered(body: object, token: (session: Session) => Promise<VpToken>): Promise<Session> {
    const session = await openSession(party, body)
    const form = await formOf(session, adult, { mutations: { replay: await token(session) } })
    expect((await postTo(session, form)).status).toBe(200)
    return session
  }
  const presented = ({ request }: Session, credentials: CredentialQuery[], accept?: (one: Credential) => boolean) =>
    vpToken({ ...request, query: { credentials } as never }, adult, { now: NOON, accept })
  const outcomeOf = async (session: Session) => verdictOf(await readOf(session)).outcome

  const family = sdJwtQuery('a', [['family_name']])
  const given = sdJwtQuery('b', [['given_name']])
  const licence = mdocQuery('c', [[MDL_NAMESPACE, 'family_name']])

  test.each([
    ['dc+sd-jwt', SD_JWT],
    ['mso_mdoc', MDOC],
  ])('30: an answer without a required claim does not satisfy the query, %s', async (_, body) => {
    await isFailed(adult, { body, mutations: { dropDisclosure: true } }, UNSATISFIED, ['query'])
  })

  test('30: half of an option, or an optional credential alone, does not satisfy the query', async () => {
    const credentials = [family, licence]
    const half = await answered({ query: { credentials, credential_sets: [{ options: [['a', 'c']] }] } }, session =>
      presented(session, [family]),
    )
    expect(await outcomeOf(half)).toBe(UNSATISFIED)
    const sets = [{ options: [['a']] }, { options: [['c']], required: false }]
    const optional = await answered({ query: { credentials, credential_sets: sets } }, session => presented(session, [licence]))
    expect(await outcomeOf(optional)).toBe(UNSATISFIED)
    const all = await answered({ query: { credentials } }, session => presented(session, [family]))
    expect(await outcomeOf(all)).toBe(UNSATISFIED)
  })

  test('30: two presentations count only where the query says multiple, and then each must hold', async () => {
    const twice = (token: VpToken): VpToken => ({ a: [...token.a!, ...token.a!] })
    const one = await answered({ query: { credentials: [family] } }, async session => twice(await presented(session, [family])))
    expect(await outcomeOf(one)).toBe(MALFORMED)
    const body = { query: { credentials: [{ ...family, multiple: true }] } }
    const both = await answered(body, async session => twice(await presented(session, [family])))
    expect(await outcomeOf(both)).toBe('completed')
    const bad = await answered(body, async session => {
      const [good] = (await presented(session, [family])).a!
      return { a: [good!, good!.replace(/.$/, last => (last === 'A' ? 'B' : 'A'))] }
    })
    expect(['completed', 'pending']).not.toContain(await outcomeOf(bad))
  })

  test('30: at most 20 presentations are taken where the query says multiple, and the error says so', async () => {
    const body = { query: { credentials: [{ ...family, multiple: true }] } }
    const tooMany = await answered(body, async session => {
      const [one] = (await presented(session, [family])).a!
      return { a: new Array<string>(21).fill(one!) }
    })
    expect((await readOf(tooMany)).error).toEqual({
      code: 'presentation_malformed',
      message: 'There are more than 20 presentations for one part of the query.',
    })
  })

  test.each([
    ['dc+sd-jwt', family],
    ['mso_mdoc', licence],
  ])('30: one document that is shown twice, each time with a new proof, has a warning the second time, %s', async (_, asked) => {
    const session = await openSession(party, { query: { credentials: [{ ...asked, multiple: true }] } })
    const [first, second] = [await presented(session, [asked]), await presented(session, [asked])]
    const shown = [...first[asked.id]!, ...second[asked.id]!]
    expect(new Set(shown).size).toBe(2)
    const form = await formOf(session, adult, { mutations: { replay: { [asked.id]: shown } } })
    expect((await postTo(session, form)).status).toBe(200)
    const verification = await readOf(session)
    expect(verification.status).toBe('completed')
    const told = verification.credentials?.map(({ findings }) => findings.filter(({ status }) => status === 'warning'))
    const repeated = { check: 'query', detail: expect.stringMatching(/^The same document was presented more than once/) }
    expect(told?.map(all => all.filter(({ check }) => check === 'query'))).toEqual([[], [expect.objectContaining(repeated)]])
  })

  test('30: another value than was asked for, or one of another type, does not satisfy the query', async () => {
    for (const values of [['Someone else'], [1990], ['1990']]) {
      const path = typeof values[0] === 'number' ? ['birthdate'] : ['family_name']
      const asked = { ...family, claims: [{ path, values }] }
      const session = await answered({ query: { credentials: [asked] } }, s => presented(s, [sdJwtQuery('a', [path])]))
      expect(await outcomeOf(session)).toBe(UNSATISFIED)
    }
  })

  test('30: an answer in which no claim set is complete does not satisfy the query', async () => {
    const claims = ['family_name', 'given_name', 'birthdate'].map(id => ({ id, path: [id] }))
    const claim_sets = [
      ['family_name', 'given_name'],
      ['family_name', 'birthdate'],
    ]
    const query = { credentials: [{ ...family, claims, claim_sets }] }
    expect(await outcomeOf(await answered({ query }, session => presented(session, [family])))).toBe(UNSATISFIED)
    const second = sdJwtQuery('a', [['family_name'], ['birthdate']])
    expect(await outcomeOf(await answered({ query }, session => presented(session, [second])))).toBe('completed')
  })

  test.each([
    ['dc+sd-jwt', SD_JWT],
    ['mso_mdoc', MDOC],
  ])('30: more than was asked for is neither handed on nor stored, %s', async (_, body) => {
    const { verification } = await presentBy(party, adult, { body, mutations: { extraDisclosure: true } })
    expect([verification.status, verification.claims]).toEqual(['completed', { family_name: 'Mustermann' }])
    expect(JSON.stringify(verification.credentials)).not.toMatch(/given_name|birth/)
  })

  test('31: a credential under the id of another query is refused', async () => {
    const pid = { ...licence, id: 'd', meta: { doctype_value: 'eu.europa.ec.eudi.pid.1' } }
    const sameType = await answered(
      { query: { credentials: [licence, pid], credential_sets: [{ options: [['c'], ['d']] }] } },
      async s => ({
        d: (await presented(s, [licence])).c!,
      }),
    )
    expect(await outcomeOf(sameType)).toBe(UNSATISFIED)
    const sets = [{ options: [['a'], ['c']] }]
    const otherFormat = await answered({ query: { credentials: [family, licence], credential_sets: sets } }, async s => ({
      a: (await presented(s, [licence])).c!,
    }))
    expect(await outcomeOf(otherFormat)).toBe(MALFORMED)
  })

  test('32: one presentation under two ids must satisfy both', async () => {
    const body = { query: { credentials: [family, given] } }
    const under = (asked: CredentialQuery) => async (session: Session) => {
      const [text] = Object.values(await presented(session, [asked])).flat()
      return { a: [text!], b: [text!] }
    }
    const both = sdJwtQuery('a', [['family_name'], ['given_name']])
    const good = await answered(body, under(both))
    expect(await outcomeOf(good)).toBe('completed')
    expect((await readOf(good)).claims).toEqual({ family_name: 'Mustermann', given_name: 'Erika' })
    expect(await outcomeOf(await answered(body, under(family)))).toBe(UNSATISFIED)
  })
})

/** With status lists of the tests. */
const own = await startWithTenant()
const by = await forgeSigner()
await trust(own.app, by)

describe('33: status lists', () => {
  const URI = 'https://status.issuer.example/lists/1'
  const STATUS_TYPE = 'application/statuslist+jwt'
  const WANTED = { accept: STATUS_TYPE, bytesMax: STATUS_BODY_BYTES_MAX, isLocal: false }
  let served: { contentType: string; body: Uint8Array }

  type List = {
    bits?: number
    statuses?: number[]
    lst?: Buffer
    header?: object
    claims?: object
    signer?: Signer
    type?: string
    body?: string
  }

  const token = async ({ bits = 1, statuses = [0], lst, header, claims, signer: signs = by }: List) =>
    signJwt(
      signs.key,
      { typ: 'statuslist+jwt', x5c: signs.chain.map(der => Buffer.from(der).toString('base64')), ...header },
      {
        sub: URI,
        iat: NOON / 1000,
        exp: NOON / 1000 + 3600,
        ttl: 300,
        status_list: { bits, lst: (lst ?? deflateSync(Uint8Array.from(statuses))).toString('base64url') },
        ...claims,
      },
    )

  /** The service with a network of ours behind its checker. Everything but the fetch is real. */
  async function outcomeWith(list: List, idx = 0): Promise<string> {
    const body = Buffer.from(list.body ?? (await token(list)))
    served = { contentType: list.type ?? STATUS_TYPE, body }
    own.app.deps.status = createStatusChecker(async () => ({ ok: true, ...served }), own.app.deps.now)
    const holder = await withSdJwt({ payload: { status: { status_list: { uri: URI, idx } } } }, by)
    const { answered, verification } = await presentBy(own, holder, { body: SD_JWT })
    expect(answered.status).toBe(200)
    return verdictOf(verification).outcome
  }

  const hmacHeader = { alg: 'HS256' }
  const cases: [title: string, list: List, outcome: string, idx?: number][] = [
    ['valid', {}, 'completed'],
    ['revoked', { statuses: [1] }, 'credential_revoked'],
    ['suspended', { bits: 2, statuses: [2] }, 'credential_revoked'],
    ['application specific', { bits: 2, statuses: [3] }, UNKNOWN],
    ['out of range', {}, UNKNOWN, 8],
    ['for another address', { claims: { sub: `${URI}0` } }, UNKNOWN],
    ['expired', { claims: { exp: NOON / 1000 - 1 } }, UNKNOWN],
    ['dated in the future', { claims: { iat: NOON / 1000 + 3600 } }, UNKNOWN],
    ['typ JWT', { header: { typ: 'JWT' } }, UNKNOWN],
    ['of 3 bits', { bits: 3 }, UNKNOWN],
    ['raw deflate', { lst: deflateRawSync(Buffer.of(0)) }, UNKNOWN],
    ['a zip bomb of 64 MiB', { lst: deflateSync(Buffer.alloc(64 * 1024 * 1024)) }, UNKNOWN],
    ['alg none', { header: { alg: 'none' } }, UNKNOWN],
    ['alg HS256', { header: hmacHeader }, UNKNOWN],
    ['200 with HTML', { type: 'text/html', body: '<html>Not here</html>' }, UNKNOWN],
    ['HTML that calls itself a list', { body: '<html>Not here</html>' }, UNKNOWN],
    ['ttl 0', { claims: { ttl: 0 } }, 'completed'],
    ['ttl of a million years', { claims: { ttl: 3e13 } }, 'completed'],
    ['ttl below zero', { claims: { ttl: -1 } }, UNKNOWN],
  ]
  test.each(cases.map(([title, list, outcome, idx]) => ({ title, list, outcome, idx })))(
    '33: a status list decides the outcome: $title',
    async ({ list, outcome, idx }) => {
      expect(await outcomeWith(list, idx)).toBe(outcome)
    },
  )

  test('33: a status list signed by a stranger, or with another key than that of its certificate, is unknown', async () => {
    const stranger = await forgeSigner()
    expect(await outcomeWith({ signer: stranger })).toBe(UNKNOWN)
    expect(await outcomeWith({ signer: { ...stranger, chain: by.chain } })).toBe(UNKNOWN)
  })

  test('33: a huge ttl does not hide a revocation for longer than a day', async () => {
    expect(await outcomeWith({ claims: { ttl: 3e13, exp: undefined } })).toBe('completed')
    served.body = Buffer.from(await token({ statuses: [1], claims: { exp: undefined } }))
    own.app.clock.advance(24 * 3600 * 1000 + 1)
    const holder = await withSdJwt({ payload: { status: { status_list: { uri: URI, idx: 0 } } } }, by)
    const { verification } = await presentBy(own, holder, { body: SD_JWT, mutations: { kbIat: own.app.clock.now() / 1000 } })
    own.app.clock.set(NOON)
    expect(verdictOf(verification).outcome).toBe('credential_revoked')
  })

  // Over the real network code of the service.
  test.each([
    ['http', 'http://status.issuer.example/1', /https address/],
    ['a private address', 'https://10.0.0.1/1', /could not be fetched/],
    ['our own loopback', 'https://127.0.0.1/1', /could not be fetched/],
    ['a metadata service', 'https://169.254.169.254/1', /could not be fetched/],
    ['a name with a private address', 'https://private.example/1', /could not be fetched/],
    ['a name that does not exist', 'https://gone.example/1', /could not be fetched/],
    ['a file', 'file:///etc/passwd', /https address/],
    ['no address at all', 'x', /https address/],
  ])('33: a status list at %s is unknown', async (_, uri, detail) => {
    const holder = await withSdJwt({ payload: { status: { status_list: { uri, idx: 0 } } } })
    const verification = await isFailed(holder, { body: SD_JWT }, UNKNOWN, ['status'])
    expect(verification.credentials?.[0]?.findings[0]?.detail).toMatch(detail)
    const mdoc = await withMdoc({
      mso: {
        status: new Map([
          [
            'status_list',
            new Map<string, string | number>([
              ['idx', 0],
              ['uri', uri],
            ]),
          ],
        ]),
      },
    })
    await isFailed(mdoc, { body: MDOC }, UNKNOWN, ['status'])
  })

  test('33: nothing is looked up for a credential that has failed already, or whose issuer is a stranger', async () => {
    const payload = { status: { status_list: { uri: 'https://status.evil.example/1', idx: 0 } } }
    resolved.length = 0
    await isFailed(await withSdJwt({ payload }), { body: SD_JWT, mutations: { dropKb: true } }, UNBOUND, ['holder_binding'])
    await isFailed(await withSdJwt({ payload }, await forgeSigner()), { body: SD_JWT }, UNTRUSTED, ['issuer_chain'])
    expect(resolved).toEqual([])
  })

  describe('fetched from a server that the operator allowed', () => {
    const hits: string[] = []
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname } = new URL(request.url)
        hits.push(pathname)
        if (pathname === '/redirect') return Response.redirect('http://127.0.0.1:1/secret')
        if (pathname === '/loop') return Response.redirect('/target')
        if (pathname === '/large') return new Response('x'.repeat(3 * 1024 * 1024), { headers: { 'content-type': STATUS_TYPE } })
        return new Response('a.b.c', { headers: { 'content-type': STATUS_TYPE }, status: pathname === '/gone' ? 404 : 200 })
      },
    })
    afterAll(() => server.stop(true))

    test.each([
      ['/redirect', false],
      ['/loop', false],
      ['/large', false],
      ['/gone', false],
      ['/list', true],
    ])('33: a list at %s is fetched: %p, and no redirect to plain http is followed', async (path, ok) => {
      const allowing = await startApp({ config: { egressAllow: parseAllowList(`127.0.0.1:${server.port}`) } })
      hits.length = 0
      const fetched = await statusFetcher(allowing.deps)(`http://127.0.0.1:${server.port}${path}`, WANTED)
      expect([fetched.ok, hits]).toEqual([ok, [path]])
    })
  })

  describe('a list that its server compresses', () => {
    const answers: Record<string, [coding: string, body: Uint8Array]> = {
      '/gzip': ['gzip', gzipSync('a.b.c')],
      '/names-in-capitals': ['X-GZIP', gzipSync('a.b.c')],
      '/bomb': ['gzip', gzipSync(Buffer.alloc(3 * 1024 * 1024))],
      '/cut': ['gzip', gzipSync('a.b.c').subarray(0, -9)],
      '/not-gzip': ['gzip', Buffer.from('a.b.c')],
      '/twice': ['gzip, gzip', gzipSync(gzipSync('a.b.c'))],
      '/other': ['br', brotliCompressSync('a.b.c')],
    }
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const [coding, body] = answers[new URL(request.url).pathname]!
        return new Response(new Uint8Array(body), { headers: { 'content-type': STATUS_TYPE, 'content-encoding': coding } })
      },
    })
    afterAll(() => server.stop(true))
    const fetchList = async (path: string) => {
      const allowing = await startApp({ config: { egressAllow: parseAllowList(`127.0.0.1:${server.port}`) } })
      return await statusFetcher(allowing.deps)(`http://127.0.0.1:${server.port}${path}`, WANTED)
    }

    test.each(['/gzip', '/names-in-capitals'])(
      '33: a list in gzip, as Token Status List § 8.2 recommends, is unpacked: %s',
      async path => {
        const fetched = await fetchList(path)
        expect(fetched.ok && Buffer.from(fetched.body).toString()).toBe('a.b.c')
      },
    )

    test.each([
      ['/bomb', 'it is too large'],
      ['/cut', 'its server compressed it in a way that cannot be read'],
      ['/not-gzip', 'its server compressed it in a way that cannot be read'],
      ['/twice', 'its server compressed it in a way that cannot be read'],
      ['/other', 'its server compressed it in a way that cannot be read'],
    ])('33: a list that cannot be unpacked within the limit is not read, and the finding says why: %s', async (path, reason) => {
      expect(await fetchList(path)).toEqual({ ok: false, reason })
    })
  })

  describe('a list that has moved', () => {
    const moved = (location: string, status = 302) => ({ status, headers: { location } })
    const found = { status: 200, headers: {} }
    const follow = async (answers: Record<string, { status: number; headers: Record<string, string> }>) => {
      const asked: string[] = []
      const answer = await followRedirects('https://a.example/1', 3, async url => {
        asked.push(url)
        return { ok: true, address: '192.0.2.1', body: new Uint8Array(), ...(answers[url] ?? found) }
      })
      return [answer.ok && answer.status, asked.slice(1)]
    }

    test.each([301, 302, 303, 307, 308])('33: a list that has moved is fetched from where %d says', async status => {
      expect(await follow({ 'https://a.example/1': moved('https://b.example/2', status) })).toEqual([
        200,
        ['https://b.example/2'],
      ])
      expect(await follow({ 'https://a.example/1': moved('/2', status) })).toEqual([200, ['https://a.example/2']])
    })

    test('33: a list that has moved is followed three times, not more', async () => {
      const times = (count: number) =>
        Object.fromEntries(
          Array.from({ length: count }, (_, i) => [`https://a.example/${i + 1}`, moved(`https://a.example/${i + 2}`)]),
        )
      expect((await follow(times(3)))[0]).toBe(200)
      expect(await follow(times(4))).toEqual([302, [2, 3, 4].map(i => `https://a.example/${i}`)])
    })

    test.each(['http://b.example/2', 'file:///etc/passwd', '//['])(
      '33: a list that has moved is never followed to %s',
      async location => {
        expect(await follow({ 'https://a.example/1': moved(location) })).toEqual([302, []])
      },
    )

    test('33: a list that has moved is fetched without the fragment of its address', async () => {
      expect(await follow({ 'https://a.example/1': moved('https://b.example/2#top') })).toEqual([200, ['https://b.example/2']])
    })

    test('33: each address of a redirect is checked: one into the private network leads nowhere', async () => {
      const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.redirect('https://inside.example/2') })
      const asked: string[] = []
      const own = await startApp({
        config: { egressAllow: parseAllowList(`127.0.0.1:${server.port}`) },
        resolve: async host => {
          asked.push(host)
          return ['10.0.0.7']
        },
      })
      const fetched = await statusFetcher(own.deps)(`http://127.0.0.1:${server.port}/1`, WANTED)
      expect(fetched).toMatchObject({ ok: false, reason: expect.stringContaining('public internet') })
      expect(asked).toEqual(['inside.example'])
      server.stop(true)
    })
  })
})

describe('the result', () => {
  const HOSTILE = {
    family_name: '<script>alert(1)</script><img src=x onerror=alert(1)>',
    given_name: `"';--\u0001\u001b[2J\u202e\u2028</textarea>&lt;`,
    birthdate: 'x'.repeat(40_000),
  }
  const body = { query: { credentials: [sdJwtQuery('pid', [['family_name'], ['given_name'], ['birthdate']])] } }

  test('34: claims come back to the letter, as JSON that no browser takes for anything else', async () => {
    const { session } = await presentBy(party, await withSdJwt({ claims: HOSTILE }), { body })
    const { headers, body: verification } = await app.call<{ claims: object }>('GET', `/v1/verifications/${session.created.id}`, {
      key: party.key,
    })
    expect(verification.claims).toEqual(HOSTILE)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect([headers.get('x-content-type-options'), headers.get('cache-control')]).toEqual(['nosniff', 'no-store'])
  })

  test('34: a claim with U+0000, which no text can hold everywhere, makes the credential malformed', async () => {
    const { verification } = await presentBy(party, await withSdJwt({ claims: { ...HOSTILE, given_name: 'a\u0000b' } }), { body })
    expect([verification.status, verification.error?.code]).toEqual(['failed', 'presentation_malformed'])
  })

  test('34: a credential with a portrait of 110 kB is taken whole; one beyond the limit is refused, not cut', async () => {
    const portrait = { ...HOSTILE, birthdate: 'x'.repeat(110_000) }
    const { verification } = await presentBy(party, await withSdJwt({ claims: portrait }), { body })
    expect(verification.claims).toEqual(portrait)
    const claims = { ...HOSTILE, birthdate: 'x'.repeat(200 * 1024) }
    await isFailed(await withSdJwt({ claims }), { body }, MALFORMED, ['format'])
  })

  // 35, retention: test/flows/sweeps.test.ts, 'a tenant with retention loses sessions that many days after they ended; …'.
  test('35: no log line has a claim, a token, a nonce, a state, a key or a session id in it, whatever the outcome', async () => {
    const ownParty = await startWithTenant()
    const { app: own } = ownParty
    const holder = await holderOf(own)
    const secrets = new Set<string>()
    const cheats: Mutations[] = [
      {},
      { dropKb: true },
      { state: 'wrong' },
      { plain: true },
      { vpTokenShape: 'array' },
      { kid: 'x' },
    ]
    for (const mutations of cheats) {
      for (const format of ['dc+sd-jwt', 'mso_mdoc'] as const) {
        const session = await openSession(ownParty, { template: 'identity_basic', redirect_url: 'https://shop.example/#x' })
        const { nonce, state, encryption } = session.request
        const accept = only(format)
        const token = await vpToken(session.request, holder, { now: NOON, accept, mutations })
        const form = await formOf(session, holder, { accept, mutations: { ...mutations, replay: token } })
        const { body: answered } = await postTo(session, form)
        await readOf(session)
        const texts = [...Object.values(token).flat(), form.get('response') ?? ''].flatMap(text => text.split(/[.~]/))
        const { x, y, kid } = encryption!.key
        const code = answered.redirect_uri?.split('=')[1]
        for (const text of [...texts, nonce, state, x, y, kid, code, session.created.id]) if (text) secrets.add(text.slice(0, 40))
      }
    }
    for (const text of ['Mustermann', 'Erika', '1990-08-12', ownParty.key, 'shop.example']) secrets.add(text)
    const logged = own.logs.join('\n')
    expect(own.logs.length).toBeGreaterThan(20)
    expect([...secrets].filter(secret => secret.length > 4 && logged.includes(secret))).toEqual([])
  })

  test('36: the wallet reads the same whether it is believed or not, and whichever check failed', async () => {
    const said = new Set<string>()
    const cheats: Mutations[] = [
      {},
      { dropKb: true },
      { issuerSignatureFlip: true },
      { dropDisclosure: true },
      { vpTokenShape: 'array' },
    ]
    for (const mutations of cheats) {
      const { answered } = await presentBy(party, adult, { body: SD_JWT, mutations })
      said.add(`${answered.status} ${answered.text}`)
    }
    const stranger = await withSdJwt({}, await forgeSigner())
    said.add(await presentBy(party, stranger, { body: SD_JWT }).then(({ answered: { status, text } }) => `${status} ${text}`))
    expect([...said]).toEqual(['200 {}'])
  })

  test('36: a wallet is not told why its answer is not one to this session', async () => {
    const session = await openSession(party, SD_JWT)
    const said = new Set<string>()
    const cheats: Mutations[] = [
      { state: 'x'.repeat(43) },
      { state: null },
      { kid: 'other' },
      { zip: 'DEF' },
      { plain: true },
      { vpTokenShape: 'unknown_id' },
      { vpTokenShape: 'absent' },
    ]
    for (const mutations of cheats) {
      const { status, text } = await postTo(session, await formOf(session, adult, { mutations }))
      said.add(`${status} ${text}`)
    }
    said.add(
      await postTo(session, new URLSearchParams({ response: 'a.b.c.d.e' })).then(({ status, text }) => `${status} ${text}`),
    )
    expect([...said]).toEqual([
      '400 {"error":{"code":"invalid_wallet_response","message":"This is not a readable answer to this session."}}',
    ])
    await answerWith(app, adult, session.created.wallet_uri ?? '')
    expect((await readOf(session)).status).toBe('completed')
  })

  test('nothing above was a 5xx', () => {
    const statuses = app.logs.map(line => (JSON.parse(line) as { status?: number }).status ?? 0)
    expect(statuses.filter(status => status >= 500)).toEqual([])
    expect(statuses.filter(status => status === 200).length).toBeGreaterThan(100)
  })
})
