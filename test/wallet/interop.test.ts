// The exchange with implementations that are not ours: @openid4vc/openid4vp reads the link and the
// request object and builds the answer, dcql matches the query, @sd-jwt/sd-jwt-vc and @owf/mdoc
// issue and present. From here come only the certificates and the cryptography they ask for.
import { describe, expect, test } from 'bun:test'
import { createHash, createPrivateKey, randomBytes, sign, X509Certificate } from 'node:crypto'
import { Openid4vpClient, type ResolvedOpenid4vpAuthorizationRequest } from '@openid4vc/openid4vp'
import {
  CoseKey,
  DateOnly,
  DeviceKey,
  DeviceRequest,
  type DeviceResponse,
  DocRequest,
  Holder,
  Issuer,
  ItemsRequest,
  type MdocContext,
  SessionTranscript,
  SignatureAlgorithm,
} from '@owf/mdoc'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { DcqlQuery } from 'dcql'
import { CompactEncrypt, calculateJwkThumbprint, compactVerify, exportJWK, importJWK, importX509 } from 'jose'
import { newPrivateJwk, type PrivateJwk, publicJwk } from '../../src/sandbox/es256.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { getCertificate } from '../helpers/access.ts'
import { createVerification, startWithTenant } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { newLeaf, newRoot, signerFrom, trust } from '../helpers/forger.ts'
import { fetchOf } from '../helpers/wallet.ts'

// The library has no clock of its own to set.
const NOW = Date.now()
const AROUND_NOW = { notBefore: NOW - 30 * DAY_MS, notAfter: NOW + 300 * DAY_MS }

const { app, key } = await startWithTenant({ now: NOW })
const root = await newRoot(AROUND_NOW)
const signer = await signerFrom(await newLeaf(root, AROUND_NOW), { root })
await trust(app, signer)
const device = await newPrivateJwk()

const es256 = (jwk: PrivateJwk, data: Uint8Array): Uint8Array =>
  new Uint8Array(sign('sha256', data, { key: createPrivateKey({ key: { ...jwk }, format: 'jwk' }), dsaEncoding: 'ieee-p1363' }))

/** Requests of the library: method, and the end of the path. */
const fetched: [string, string][] = []

const walletClient = () =>
  new Openid4vpClient({
    callbacks: {
      fetch: ((url: string | URL, init?: RequestInit) => {
        fetched.push([init?.method?.toUpperCase() ?? 'GET', String(url).split('/').at(-1) ?? ''])
        return fetchOf(app)(String(url), { ...init, method: init?.method?.toUpperCase() })
      }) as typeof fetch,
      hash: (data, algorithm) => new Uint8Array(createHash(algorithm.replace('-', '')).update(data).digest()),
      async verifyJwt(by, { compact }) {
        if (by.method !== 'x5c') return { verified: false }
        const leaf = new X509Certificate(Buffer.from(by.x5c[0] ?? '', 'base64'))
        const key = await importX509(leaf.toString(), by.alg, { extractable: true })
        await compactVerify(compact, key)
        return { verified: true, signerJwk: (await exportJWK(key)) as { kty: string } }
      },
      getX509CertificateMetadata: certificate => ({
        sanDnsNames: [new X509Certificate(Buffer.from(certificate, 'base64')).subjectAltName?.replace('DNS:', '') ?? ''],
        sanUriNames: [],
      }),
      async encryptJwe({ publicJwk: jwk, alg, enc, apu, apv }, data) {
        const jwe = new CompactEncrypt(new TextEncoder().encode(data)).setProtectedHeader({ alg, enc, kid: String(jwk.kid) })
        const bytes = (text = '') => Buffer.from(text, 'base64url')
        if (apu || apv) jwe.setKeyManagementParameters({ apu: bytes(apu), apv: bytes(apv) })
        return { encryptionJwk: jwk, jwe: await jwe.encrypt(await importJWK(jwk as JsonWebKey & { kty: string }, alg)) }
      },
      signJwt: () => Promise.reject(new Error('nothing of the answer is signed')),
      decryptJwe: () => Promise.reject(new Error('the request is not encrypted')),
    },
  })

/** As a wallet that was handed the link: everything it believes comes out of the library. */
async function resolveRequest(walletUri: string, method: 'get' | 'post'): Promise<ResolvedOpenid4vpAuthorizationRequest> {
  const client = walletClient()
  const link = method === 'get' ? walletUri : `${walletUri}&request_uri_method=post`
  const { params } = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest: link })
  return await client.resolveOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: params,
    // This version posts the members of its metadata as fields of their own, and no wallet_nonce:
    // all of them unknown, and to be ignored.
    ...(method === 'post' && { wallet: { metadata: { vp_formats_supported: { 'dc+sd-jwt': {}, mso_mdoc: {} } } } }),
  } as Parameters<typeof client.resolveOpenId4vpAuthorizationRequest>[0])
}

function askedUnder(id: string, { dcql }: ResolvedOpenid4vpAuthorizationRequest): QueryCredential {
  const { credentials } = dcql!.query as { credentials: QueryCredential[] }
  return credentials.find(credential => credential.id === id)!
}

type Asked = { clientId: string; nonce: string; responseUri: string; thumbprint: Uint8Array }

async function askedOf({ authorizationRequestPayload }: ResolvedOpenid4vpAuthorizationRequest): Promise<Asked> {
  const { client_id, nonce, response_uri, client_metadata } = authorizationRequestPayload as {
    client_id: string
    nonce: string
    response_uri: string
    client_metadata: { jwks: { keys: (JsonWebKey & { kty: string })[] } }
  }
  const thumbprint = new Uint8Array(Buffer.from(await calculateJwkThumbprint(client_metadata.jwks.keys[0]!), 'base64url'))
  return { clientId: client_id, nonce, responseUri: response_uri, thumbprint }
}

async function submit(resolved: ResolvedOpenid4vpAuthorizationRequest, vp_token: Record<string, [string]>): Promise<Response> {
  const client = walletClient()
  const { authorizationRequestPayload } = resolved
  const created = await client.createOpenid4vpAuthorizationResponse({
    authorizationRequestPayload,
    authorizationResponsePayload: { vp_token },
    jarm: {
      encryption: { nonce: randomBytes(16).toString('base64url') },
      serverMetadata: {
        authorization_signing_alg_values_supported: [],
        authorization_encryption_alg_values_supported: ['ECDH-ES'],
        authorization_encryption_enc_values_supported: ['A256GCM', 'A128GCM'],
      },
    },
  })
  const { response } = await client.submitOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: authorizationRequestPayload as { response_uri: string },
    ...created,
  })
  return response
}

const sdJwtLibrary = () =>
  new SDJwtVcInstance({
    hasher: (data, algorithm) =>
      createHash(algorithm.replace('-', ''))
        .update(typeof data === 'string' ? data : new Uint8Array(data))
        .digest(),
    hashAlg: 'sha-256',
    signAlg: 'ES256',
    saltGenerator: length => randomBytes(length).toString('hex').slice(0, length),
    signer: text => Buffer.from(es256(signer.key, Buffer.from(text))).toString('base64url'),
    kbSigner: text => Buffer.from(es256(device, Buffer.from(text))).toString('base64url'),
    kbSignAlg: 'ES256',
  })

type SdJwtDocument = { vct: string; claims: Record<string, unknown>; frame: object }

async function presentSdJwt({ vct, claims, frame }: SdJwtDocument, { clientId, nonce }: Asked, shown: object): Promise<string> {
  const library = sdJwtLibrary()
  const seconds = Math.floor(NOW / 1000)
  const issued = await library.issue(
    { iss: 'https://issuer.example', vct, iat: seconds - 60, exp: seconds + 86_400, cnf: { jwk: publicJwk(device) }, ...claims },
    frame as never,
    { header: { x5c: signer.chain.map(der => Buffer.from(der).toString('base64')) } },
  )
  return await library.present(issued, shown as never, { kb: { payload: { iat: seconds, aud: clientId, nonce } } })
}

const notUsed = () => {
  throw new Error('not used')
}

const mdocContext: Pick<MdocContext, 'crypto' | 'cose'> = {
  crypto: {
    random: length => new Uint8Array(randomBytes(length)),
    digest: ({ digestAlgorithm, bytes }) =>
      new Uint8Array(createHash(digestAlgorithm.replace('-', '').toLowerCase()).update(bytes).digest()),
    calculateEphemeralMacKey: notUsed,
  },
  cose: {
    sign1: { sign: ({ key, toBeSigned }) => es256(key.jwk as PrivateJwk, toBeSigned), verify: notUsed },
    mac0: { sign: notUsed, verify: notUsed },
  },
}

type MdocDocument = { docType: string; namespace: string; elements: Record<string, unknown> }

async function presentMdoc({ docType, namespace, elements }: MdocDocument, asked: Asked, shown: string[]): Promise<string> {
  const issuer = new Issuer(docType, mdocContext).addIssuerNamespace(namespace, elements)
  const issuerSigned = await issuer.sign({
    signingKey: CoseKey.fromJwk({ ...signer.key }),
    algorithm: SignatureAlgorithm.ES256,
    digestAlgorithm: 'SHA-256',
    validityInfo: { signed: new Date(NOW - 1000), validFrom: new Date(NOW - 1000), validUntil: new Date(NOW + DAY_MS) },
    deviceKeyInfo: { deviceKey: DeviceKey.fromJwk({ ...publicJwk(device) }) },
    certificates: signer.chain.map(der => new Uint8Array(der)),
  })
  const { clientId, nonce, responseUri, thumbprint: jwkThumbprint } = asked
  const itemsRequest = ItemsRequest.create({
    docType,
    namespaces: { [namespace]: Object.fromEntries(shown.map(name => [name, false])) },
  })
  const response: DeviceResponse = await Holder.createDeviceResponseForDeviceRequest(
    {
      deviceRequest: DeviceRequest.create({ docRequests: [DocRequest.create({ itemsRequest })] }),
      sessionTranscript: await SessionTranscript.forOid4Vp({ clientId, nonce, responseUri, jwkThumbprint }, mdocContext),
      issuerSigned: [issuerSigned],
      signature: { signingKey: CoseKey.fromJwk({ ...device, alg: 'ES256' }) },
    },
    mdocContext,
  )
  return Buffer.from(response.encode()).toString('base64url')
}

const PID: SdJwtDocument = {
  vct: 'urn:eudi:pid:1',
  claims: {
    family_name: 'Lovelace',
    given_name: 'Ada',
    birthdate: '1990-12-10',
    age_equal_or_over: { 16: true, 18: true, 65: false },
    address: { locality: 'London', country: 'GB' },
    nationalities: ['GB', 'FR'],
  },
  frame: {
    _sd: ['family_name', 'given_name', 'birthdate', 'age_equal_or_over', 'address', 'nationalities'],
    age_equal_or_over: { _sd: ['16', '18', '65'] },
    nationalities: { _sd: [0, 1] },
    _sd_decoy: 2,
  },
}
const MDL: MdocDocument = {
  docType: 'org.iso.18013.5.1.mDL',
  namespace: 'org.iso.18013.5.1',
  elements: {
    family_name: 'Lovelace',
    given_name: 'Ada',
    birth_date: new DateOnly('1990-12-10'),
    issue_date: new DateOnly('2025-01-15'),
    expiry_date: new DateOnly('2035-01-14'),
    issuing_country: 'UT',
    issuing_authority: 'Ministry',
    document_number: 'X1',
    portrait: new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]),
    driving_privileges: [{ vehicle_category_code: 'B', issue_date: new DateOnly('2015-01-15') }],
    un_distinguishing_sign: 'UTO',
    age_over_18: true,
    age_over_65: false,
  },
}
const PID_MDOC: MdocDocument = {
  docType: 'eu.europa.ec.eudi.pid.1',
  namespace: 'eu.europa.ec.eudi.pid.1',
  elements: { family_name: 'Lovelace', given_name: 'Ada', birth_date: new DateOnly('1990-12-10') },
}
const PROOF_OF_AGE: MdocDocument = {
  docType: 'eu.europa.ec.av.1',
  namespace: 'eu.europa.ec.av.1',
  elements: { age_over_16: true, age_over_18: true, age_over_65: false },
}

type QueryCredential = { id: string; format: string; meta: { doctype_value?: string }; claims: { path: (string | number)[] }[] }

const PERSON = { family_name: 'Lovelace', given_name: 'Ada', birthdate: '1990-12-10' }

type Case = { template: string; id: string; document: SdJwtDocument | MdocDocument; claims: Record<string, unknown> }

const CASES: Case[] = [
  { template: 'identity_basic', id: 'pid_sd', document: PID, claims: PERSON },
  { template: 'identity_basic', id: 'pid_mdoc', document: PID_MDOC, claims: PERSON },
  { template: 'identity_basic', id: 'mdl', document: MDL, claims: PERSON },
  { template: 'age_over_18', id: 'pid_sd', document: PID, claims: { age_over_18: true } },
  { template: 'age_over_18', id: 'av', document: PROOF_OF_AGE, claims: { age_over_18: true } },
  { template: 'age_over_18', id: 'mdl', document: MDL, claims: { age_over_18: true } },
  {
    template: 'driving_licence',
    id: 'mdl',
    document: MDL,
    claims: { ...PERSON, driving_privileges: [{ vehicle_category_code: 'B', issue_date: '2015-01-15' }] },
  },
]

/** The claims a query names, as the presentation frame of an SD-JWT. */
function frameOf(claims: QueryCredential['claims']): Record<string, unknown> {
  const frame: Record<string, unknown> = {}
  for (const { path } of claims) {
    let at = frame
    for (const [depth, step] of path.entries()) {
      const isLast = depth === path.length - 1
      at[step] = isLast ? true : (at[step] ?? {})
      at = at[step] as Record<string, unknown>
    }
  }
  return frame
}

const present = (document: Case['document'], asked: Asked, { claims }: QueryCredential): Promise<string> =>
  'vct' in document
    ? presentSdJwt(document, asked, frameOf(claims))
    : presentMdoc(
        document,
        asked,
        claims.map(({ path }) => String(path[1])),
      )

const read = async ({ id }: Verification) => (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body

describe.each(['get', 'post'] as const)('the request by %s', method => {
  test('the request is a signed x509_hash request of OpenID4VP 1.0, and its query is DCQL to dcql', async () => {
    const created = await createVerification(app, key, { template: 'identity_basic' })
    fetched.length = 0
    const { client, jar, version, dcql, authorizationRequestPayload } = await resolveRequest(created.wallet_uri ?? '', method)
    expect([client.prefix, jar?.sendBy, jar?.signer.method, version]).toEqual(['x509_hash', 'reference', 'x5c', 100])
    expect(authorizationRequestPayload.response_mode).toBe('direct_post.jwt')
    expect(fetched).toEqual([[method.toUpperCase(), created.id]])
    const query = DcqlQuery.parse(dcql?.query as Parameters<typeof DcqlQuery.parse>[0])
    DcqlQuery.validate(query)
    const { can_be_satisfied, credential_matches } = DcqlQuery.query(query, [
      { credential_format: 'dc+sd-jwt', vct: PID.vct, claims: PID.claims as never, cryptographic_holder_binding: true },
    ])
    expect([can_be_satisfied, credential_matches.pid_sd?.success]).toEqual([true, true])
  })

  test.each(CASES)('an answer of these libraries to $template with $id completes', async ({ template, id, document, claims }) => {
    const created = await createVerification(app, key, { template })
    const resolved = await resolveRequest(created.wallet_uri ?? '', method)
    const query = askedUnder(id, resolved)
    const response = await submit(resolved, { [id]: [await present(document, await askedOf(resolved), query)] })
    expect([response.status, await response.json()]).toEqual([200, {}])
    const verification = await read(created)
    expect([verification.status, verification.error]).toEqual(['completed', undefined])
    expect(verification.claims).toMatchObject(claims)
    const asked = new Set(query.claims.map(({ path }) => path[0]))
    if ('vct' in document) expect(new Set(Object.keys(verification.credentials?.[0]?.claims ?? {}))).toEqual(asked as Set<string>)
    expect(verification.credentials).toMatchObject([
      {
        trusted: true,
        signature_valid: true,
        holder_binding_valid: true,
        issuer: { common_name: 'Forged Signer' },
        findings: [],
      },
    ])
  })
})

test("a tenant's own certificate verifies from the moment it starts, and an answer completes", async () => {
  const shop = await app.tenant({ name: 'Corner Shop' })
  const { state } = await getCertificate(app, { ...AROUND_NOW, owner: shop.id, from: app.clock.now() + 1000 })
  const create = () => createVerification(app, shop.key, { template: 'identity_basic' })
  const before = await create()
  app.clock.advance(1000)
  const after = await create()
  const { id, document } = CASES[0]!
  for (const [created, clientId] of [
    [before, state.clientId],
    [after, state.next!.clientId],
  ] as const) {
    const resolved = await resolveRequest(created.wallet_uri ?? '', 'get')
    expect(`${resolved.client.prefix}:${resolved.client.identifier}`).toBe(clientId)
    const response = await submit(resolved, {
      [id]: [await present(document, await askedOf(resolved), askedUnder(id, resolved))],
    })
    expect(response.status).toBe(200)
    const { body } = await app.call<Verification>('GET', `/v1/verifications/${created.id}`, { key: shop.key })
    expect([body.status, body.error]).toEqual(['completed', undefined])
  }
})

test('a presentation that these libraries made for another request is refused', async () => {
  for (const { id, document } of CASES.slice(0, 2)) {
    const [first, second] = await Promise.all(
      [1, 2].map(async () => {
        const created = await createVerification(app, key, { template: 'identity_basic' })
        return { created, resolved: await resolveRequest(created.wallet_uri ?? '', 'get') }
      }),
    )
    const captured = await present(document, await askedOf(first!.resolved), askedUnder(id, first!.resolved))
    expect((await submit(second!.resolved, { [id]: [captured] })).status).toBe(200)
    expect((await read(second!.created)).error?.code).toBe('holder_binding_invalid')
  }
})
