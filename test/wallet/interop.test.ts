// The exchange with implementations that are not ours: @openid4vc/openid4vp reads the link and the
// request object and builds the answer, dcql matches the query, @sd-jwt/sd-jwt-vc and @owf/mdoc
// issue and present. From here come only the certificates and the cryptography they ask for.
import { describe, expect, test } from 'bun:test'
import type { ResolvedOpenid4vpAuthorizationRequest } from '@openid4vc/openid4vp'
import { SessionTranscript } from '@owf/mdoc'
import { DcqlQuery } from 'dcql'
import { calculateJwkThumbprint } from 'jose'
import type { Verification } from '../../src/verifications/schema.ts'
import { getCertificate } from '../helpers/access.ts'
import { createVerification, startWithTenant } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import {
  ENCRYPTED,
  foreignWallet,
  MDL,
  type MdocDocument,
  mdocContext,
  openIdClient,
  PID,
  PID_MDOC,
  PROOF_OF_AGE,
  type QueryCredential,
  type SdJwtDocument,
} from '../helpers/foreign-wallet.ts'
import { newLeaf, newRoot, signerFrom, trust } from '../helpers/forger.ts'
import { fetchOf } from '../helpers/wallet.ts'

// The library has no clock of its own to set.
const NOW = Date.now()
const AROUND_NOW = { notBefore: NOW - 30 * DAY_MS, notAfter: NOW + 300 * DAY_MS }

const { app, key } = await startWithTenant({ now: NOW })
const root = await newRoot(AROUND_NOW)
const signer = await signerFrom(await newLeaf(root, AROUND_NOW), { root })
await trust(app, signer)
const wallet = await foreignWallet(signer, NOW)

/** Requests of the library: method, and the end of the path. */
const fetched: [string, string][] = []

const walletClient = () =>
  openIdClient(((url: string | URL, init?: RequestInit) => {
    fetched.push([init?.method?.toUpperCase() ?? 'GET', String(url).split('/').at(-1) ?? ''])
    return fetchOf(app)(String(url), { ...init, method: init?.method?.toUpperCase() })
  }) as typeof fetch)

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
    jarm: ENCRYPTED,
  })
  const { response } = await client.submitOpenid4vpAuthorizationResponse({
    authorizationRequestPayload: authorizationRequestPayload as { response_uri: string },
    ...created,
  })
  return response
}

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

const present = async (document: Case['document'], asked: Asked, { claims }: QueryCredential): Promise<string> =>
  'vct' in document
    ? await wallet.presentSdJwt(document, { aud: asked.clientId, nonce: asked.nonce }, claims)
    : await wallet.presentMdoc(document, await transcriptOf(asked), claims)

const transcriptOf = ({ clientId, nonce, responseUri, thumbprint: jwkThumbprint }: Asked) =>
  SessionTranscript.forOid4Vp({ clientId, nonce, responseUri, jwkThumbprint }, mdocContext)

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
