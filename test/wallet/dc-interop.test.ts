// The browser's wallet call with implementations that are not ours: @openid4vc/openid4vp reads both kinds of requests and
// encrypts the answer, @sd-jwt/sd-jwt-vc and @owf/mdoc present, and for Annex C @owf/mdoc reads the DeviceRequest and hpke seals.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { DeviceRequest, SessionTranscript } from '@owf/mdoc'
import { DcqlQuery } from 'dcql'
import { calculateJwkThumbprint } from 'jose'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, startWithTenant } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { ask, listOrigin, ORIGIN, tell } from '../helpers/dc.ts'
import {
  ENCRYPTED,
  foreignWallet,
  MDL,
  type MdocDocument,
  mdocContext,
  openIdClient,
  PID,
  PROOF_OF_AGE,
  type QueryCredential,
  type SdJwtDocument,
} from '../helpers/foreign-wallet.ts'
import { newLeaf, newRoot, signerFrom, trust } from '../helpers/forger.ts'
import { seal } from '../helpers/hpke.ts'
import { cbor } from '../helpers/mdoc.ts'

// The libraries have no clock of their own to set.
const NOW = Date.now()
const AROUND_NOW = { notBefore: NOW - 30 * DAY_MS, notAfter: NOW + 300 * DAY_MS }

const { app, key, id: tenantId } = await startWithTenant({ now: NOW })
await listOrigin(app, tenantId)
await listOrigin(app, tenantId, 'https://two.example')
const root = await newRoot(AROUND_NOW)
const signer = await signerFrom(await newLeaf(root, AROUND_NOW), { root })
await trust(app, signer)
const wallet = await foreignWallet(signer, NOW)
const client = openIdClient((() => Promise.reject(new Error('the page carries everything'))) as unknown as typeof fetch)

type OpenIdProtocol = 'openid4vp-v1-signed' | 'openid4vp-v1-unsigned'

/** The certificate of the service was made at its first start, so `auto` would never sign. */
async function requestBy(id: string, protocol: OpenIdProtocol | 'org-iso-mdoc', origin = ORIGIN) {
  app.deps.config.dcApi.mode = protocol === 'openid4vp-v1-signed' ? 'signed' : 'unsigned'
  const { body } = await ask(app, id, { origin, body: { protocols: [protocol] } })
  return body.requests[0]!.data
}

type Resolved = Awaited<ReturnType<typeof resolveBy>>

async function resolveBy(id: string, protocol: OpenIdProtocol, platformOrigin = ORIGIN) {
  const authorizationRequest = await requestBy(id, protocol)
  const { params } = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest })
  return await client.resolveOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: params as never,
    origin: platformOrigin,
  })
}

type Payload = {
  response_mode: string
  nonce: string
  client_metadata: { jwks: { keys: (JsonWebKey & { kty: string })[] } }
}

const payloadOf = ({ authorizationRequestPayload }: Resolved) => authorizationRequestPayload as unknown as Payload

function askedUnder(id: string, { dcql }: Resolved): QueryCredential {
  const { credentials } = dcql!.query as { credentials: QueryCredential[] }
  return credentials.find(credential => credential.id === id)!
}

/** For the origin that the platform vouches for. */
async function present(document: SdJwtDocument | MdocDocument, id: string, resolved: Resolved, origin = ORIGIN) {
  const { nonce, client_metadata } = payloadOf(resolved)
  const { claims } = askedUnder(id, resolved)
  if ('vct' in document) return await wallet.presentSdJwt(document, { aud: `origin:${origin}`, nonce }, claims)
  const jwkThumbprint = new Uint8Array(Buffer.from(await calculateJwkThumbprint(client_metadata.jwks.keys[0]!), 'base64url'))
  const transcript = await SessionTranscript.forOid4VpDcApi({ origin, nonce, jwkThumbprint }, mdocContext)
  return await wallet.presentMdoc(document, transcript, claims)
}

/** What the browser gives to the page. */
async function answer({ authorizationRequestPayload }: Resolved, vp_token: Record<string, [string]>) {
  const { jarm } = await client.createOpenid4vpAuthorizationResponse({
    authorizationRequestPayload,
    authorizationResponsePayload: { vp_token },
    origin: ORIGIN,
    jarm: ENCRYPTED,
  })
  return { response: jarm!.responseJwt }
}

const read = async (id: string) => (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body

const GOOD = { trusted: true, signature_valid: true, holder_binding_valid: true, findings: [] }

const CASES: [template: string, id: string, document: SdJwtDocument | MdocDocument, claims: object][] = [
  ['identity_basic', 'pid_sd', PID, { family_name: 'Lovelace', given_name: 'Ada', birthdate: '1990-12-10' }],
  ['age_over_18', 'pid_sd', PID, { age_over_18: true }],
  ['age_over_18', 'av', PROOF_OF_AGE, { age_over_18: true }],
  ['identity_basic', 'mdl', MDL, { family_name: 'Lovelace', given_name: 'Ada', birthdate: '1990-12-10' }],
]

describe.each(['openid4vp-v1-unsigned', 'openid4vp-v1-signed'] as const)('%s', protocol => {
  test('@openid4vc/openid4vp reads the request, and its query is DCQL to dcql', async () => {
    const { id } = await createVerification(app, key, { template: 'identity_basic' })
    const resolved = await resolveBy(id, protocol)
    const { client: asking, jar, dcql } = resolved
    const isSigned = protocol === 'openid4vp-v1-signed'
    expect([asking.prefix, jar?.signer.method]).toEqual(isSigned ? ['x509_hash', 'x5c'] : ['origin', undefined])
    expect(payloadOf(resolved).response_mode).toBe('dc_api.jwt')
    const query = DcqlQuery.parse(dcql?.query as Parameters<typeof DcqlQuery.parse>[0])
    DcqlQuery.validate(query)
    const { can_be_satisfied } = DcqlQuery.query(query, [
      { credential_format: 'dc+sd-jwt', vct: PID.vct, claims: PID.claims as never, cryptographic_holder_binding: true },
    ])
    expect(can_be_satisfied).toBe(true)
  })

  test.each(CASES)('an answer of these libraries to %s with %s completes', async (template, credential, document, claims) => {
    const { id } = await createVerification(app, key, { template })
    const resolved = await resolveBy(id, protocol)
    const data = await answer(resolved, { [credential]: [await present(document, credential, resolved)] })
    const { status, body } = await tell(app, id, { protocol, data })
    expect([status, body]).toEqual([200, { status: 'completed', response_code: expect.stringMatching(/^[\w-]{43}$/) }])
    const verification = await read(id)
    expect(verification.claims).toMatchObject(claims)
    expect(verification.credentials).toMatchObject([GOOD])
  })

  test('a presentation that these libraries made for another page of the shop is refused', async () => {
    for (const [template, credential, document] of [CASES[0]!, CASES[2]!]) {
      const { id } = await createVerification(app, key, { template })
      const resolved = await resolveBy(id, protocol)
      const elsewhere = await present(document, credential, resolved, 'https://two.example')
      const { body } = await tell(app, id, { protocol, data: await answer(resolved, { [credential]: [elsewhere] }) })
      expect([body.status, (await read(id)).error?.code]).toEqual(['failed', 'holder_binding_invalid'])
    }
  })
})

test('@openid4vc/openid4vp refuses the signed request on a page of another origin', async () => {
  const { id } = await createVerification(app, key)
  for (const origin of ['https://attacker.example', `${ORIGIN}/`])
    await expect(resolveBy(id, 'openid4vp-v1-signed', origin)).rejects.toThrow(/origin/)
})

type IsoData = { deviceRequest: string; encryptionInfo: string }

/** Of Annex C. This version of @owf/mdoc has no such handover, so it gets the structure and its bytes. */
function isoTranscript(encryptionInfo: string, origin: string): { transcript: SessionTranscript; bytes: Uint8Array } {
  const structure = [
    null,
    null,
    [
      'dcapi',
      createHash('sha256')
        .update(cbor([encryptionInfo, origin]))
        .digest(),
    ],
  ]
  const bytes = cbor(structure)
  const transcript = Object.create(SessionTranscript.prototype, {
    encodedStructure: { value: structure },
    encode: { value: () => bytes },
  })
  return { transcript, bytes }
}

/** The uncompressed point at the end of EncryptionInfo: {1: 2, -1: 1, -2: x, -3: y}. */
function recipientOf(encryptionInfo: string): Uint8Array {
  const bytes = Buffer.from(encryptionInfo, 'base64url')
  const [x, y] = [bytes.subarray(-67, -35), bytes.subarray(-32)]
  return Buffer.concat([Buffer.of(4), x, y])
}

async function isoAnswer(document: MdocDocument, data: IsoData, { signedFor = ORIGIN, sealedFor = ORIGIN } = {}) {
  const { docRequests } = DeviceRequest.decode(new Uint8Array(Buffer.from(data.deviceRequest, 'base64url')))
  const docRequest = docRequests.find(({ itemsRequest }) => itemsRequest.docType === document.docType)!
  const { transcript } = isoTranscript(data.encryptionInfo, signedFor)
  const presented = await wallet.presentMdoc(document, transcript, docRequest)
  const { bytes: info } = isoTranscript(data.encryptionInfo, sealedFor)
  const sealed = await seal(recipientOf(data.encryptionInfo), Buffer.from(presented, 'base64url'), { info })
  return { response: cbor(['dcapi', sealed]).toString('base64url') }
}

describe('org-iso-mdoc', () => {
  const protocol = 'org-iso-mdoc'

  test.each([
    ['eu_av_age_18', PROOF_OF_AGE, { age_over_18: true }],
    ['age_over_18', MDL, { age_over_18: true }],
    ['driving_licence', MDL, { family_name: 'Lovelace', given_name: 'Ada' }],
  ] as const)('an answer of @owf/mdoc to %s, sealed by hpke, completes', async (template, document, claims) => {
    const { id } = await createVerification(app, key, { template })
    const data = await isoAnswer(document, (await requestBy(id, protocol)) as IsoData)
    const { status, body } = await tell(app, id, { protocol, data })
    expect([status, body.status]).toEqual([200, 'completed'])
    const verification = await read(id)
    expect(verification.claims).toMatchObject(claims)
    expect(verification.credentials).toMatchObject([GOOD])
  })

  test('a document signed for another page, and an answer sealed for one, are refused', async () => {
    const { id } = await createVerification(app, key, { template: 'eu_av_age_18' })
    const asked = (await requestBy(id, protocol)) as IsoData
    const sealed = await isoAnswer(PROOF_OF_AGE, asked, { sealedFor: 'https://two.example' })
    const unread = await tell(app, id, { protocol, data: sealed })
    expect([unread.status, unread.body.error?.code]).toEqual([400, 'invalid_wallet_response'])
    const signed = await isoAnswer(PROOF_OF_AGE, asked, { signedFor: 'https://two.example' })
    const { body } = await tell(app, id, { protocol, data: signed })
    expect([body.status, (await read(id)).error?.code]).toEqual(['failed', 'holder_binding_invalid'])
  })
})
