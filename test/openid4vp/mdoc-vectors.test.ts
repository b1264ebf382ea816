// Presentations made by others: public vectors, and another implementation.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { type MdocContext, SessionTranscript } from '@owf/mdoc'
import type { ReadCredential } from '../../src/openid4vp/credential.ts'
import { boundToRedirect, dcApiTranscript } from '../../src/openid4vp/exchange/session-transcript.ts'
import { type Check, Findings } from '../../src/openid4vp/finding.ts'
import { MdocReader } from '../../src/openid4vp/mdoc/mdoc.ts'
import { type CurveName, cbor, hex, NOW, Raw } from '../helpers/mdoc.ts'
import { CRYPTO, OWF_CLAIMS, OWF_NAME_SPACE, presentByOwf } from '../helpers/owf-mdoc.ts'
import { type Vector, vectors } from '../helpers/vectors.ts'

type Input = Record<string, string | undefined>
type Document = {
  docType: string
  claims: Record<string, unknown>
  status?: { status_list: { idx: number; uri: string } }
  device_auth?: string
}

const ours = [
  ...vectors<Input>('iso18013-annex-d.json'),
  ...vectors<Input>('mdoc-credentials.json'),
  ...vectors<Input>('mdoc-negative.json'),
].filter(({ kind }) => ['mdoc.device_response', 'mdoc.document', 'mdoc.issuer_signed', 'mdoc.issuer_auth'].includes(kind))

const mdocs = new MdocReader()

/** Refused by other checks (trust, status); accepted here. */
const ELSEWHERE: Record<string, string> = {
  'neg-untrusted-root': 'the chain is checked by trust.ts',
  'neg-status-list-unresolved': 'the status list is fetched elsewhere; its reference is given',
}

/** The failed check for each reason. Errors in several documents do not show, because only one is allowed. */
const CHECK_OF_REASON: Record<string, Check> = {
  'mdoc.device_auth': 'holder_binding',
  'mdoc.device_auth_missing': 'holder_binding',
  'mdoc.key_authorization': 'holder_binding',
  'mdoc.digest': 'digests',
  'mdoc.digest_alg': 'digests',
  'mdoc.doctype': 'doctype',
  'mdoc.expired': 'validity',
  'mdoc.signed_outside_cert': 'validity',
  'mdoc.issuer_signature': 'issuer_signature',
  // Untrusted, and also signed after its certificate expired.
  'x509.untrusted': 'validity',
}

const titled = (list: Vector<Input>[], note = (_: Vector<Input>) => '') =>
  list.map(vector => [vector.id, `${vector.title}${note(vector)}`, vector] as const)

describe('public vectors: accepted', () => {
  const accepted = ours.filter(({ expect: { outcome } }) => outcome === 'accept' || outcome === 'value')
  const notChecked = (vector: Vector<Input>) =>
    isBound(vector) ? '' : ' (all but the holder binding, which cannot be checked or is a MAC)'

  test.each(titled(accepted, notChecked))('%s: %s', async (_, __, vector) => {
    const { failed, credential } = await read(vector)
    expect(failed).toEqual(isBound(vector) ? [] : ['holder_binding'])
    const { docType, claims, status } = documentOf(vector)
    if (docType) expect(credential?.type).toBe(docType)
    if (claims) expect(inVectorNotation(credential!.claims, claims)).toEqual(claims)
    const reference = status?.status_list
    expect(credential?.status).toEqual(reference && [{ uri: reference.uri, index: reference.idx }])
  })
})

describe('public vectors: of drafts before 1.0, refused', () => {
  const legacy = ours.filter(({ expect: { outcome } }) => outcome === 'accept-legacy')

  test.each(titled(legacy))('%s: %s', async (_, __, vector) => {
    const { failed } = await read(vector)
    const isSeveralDocuments = (vector.expect.documents as unknown[]).length > 1
    expect(failed).toEqual(isSeveralDocuments ? ['format'] : ['holder_binding'])
  })

  const transcribed = legacy.filter(({ input }) => input.session_transcript_hex)
  test.each(titled(transcribed))('%s: %s (accepted with the transcript of its draft)', async (_, __, vector) => {
    const { failed, credential } = await read(vector, hex(vector.input.session_transcript_hex!))
    expect(failed).toEqual([])
    const { claims } = documentOf(vector)
    expect(inVectorNotation(credential!.claims, claims)).toEqual(claims)
  })
})

describe('public vectors: refused', () => {
  const refused = ours.filter(({ expect: { outcome } }) => outcome === 'reject')
  const elsewhere = ({ id }: Vector<Input>) => (ELSEWHERE[id] ? ` (${ELSEWHERE[id]})` : '')

  test.each(titled(refused, elsewhere))('%s: %s', async (id, _, vector) => {
    const { failed, credential, failures } = await read(vector)
    if (ELSEWHERE[id]) {
      expect(failed).toEqual([])
      if (vector.expect.reason === 'status.invalid') expect(credential?.status).toEqual([{ uri: expect.any(String), index: 0 }])
      return
    }
    const check = CHECK_OF_REASON[vector.expect.reason ?? '']
    if (check) return expect(failed).toContain(check)
    expect(failures).toEqual(['presentation_malformed'])
    expect(credential).toBeUndefined()
  })
})

async function read(vector: Vector<Input>, transcript?: Uint8Array) {
  const findings = new Findings(() => 0)
  const credential = await readVector(findings, vector, transcript)
  const failed = findings.all.filter(({ status }) => status === 'fail').map(({ check }) => check)
  return { failed, credential, failures: findings.failures }
}

function readVector(findings: Findings, vector: Vector<Input>, transcript?: Uint8Array): Promise<ReadCredential | undefined> {
  const { input, context = {} } = vector
  const now = Date.parse(context.now!)
  const thumbprint = context.jwk_thumbprint_hex
  const encryptionKeyThumbprint = thumbprint ? hex(thumbprint) : null
  const nonce = context.nonce ?? ''
  const text = input.device_response_string ?? input.device_response_b64u
  if (context.flow === 'redirect' && text) {
    const bound = boundToRedirect({
      nonce,
      clientId: context.client_id!,
      responseUri: context.response_uri!,
      encryptionKeyThumbprint,
    })
    const transcript = Buffer.from(bound.transcript()).toString('hex')
    if (input.session_transcript_hex) expect(transcript).toBe(input.session_transcript_hex)
    return mdocs.read(findings, text, { now, createdAt: now, ...bound }, true)
  }
  const dcApi = dcApiTranscript({ origin: context.origin ?? '', nonce, encryptionKeyThumbprint })
  const holderBindingRequired = input.device_response_b64u !== undefined || input.device_response_hex !== undefined
  return mdocs.readDeviceResponse(findings, responseOf(vector), { now, transcript: transcript ?? dcApi, holderBindingRequired })
}

/** Wraps a credential without a presentation, without a proof of possession. */
function responseOf({ kind, input, expect: expected }: Vector<Input>): Uint8Array {
  if (input.device_response_hex) return hex(input.device_response_hex)
  if (input.device_response_b64u) return Buffer.from(input.device_response_b64u, 'base64url')
  const bytes = input.issuer_auth_hex ? hex(input.issuer_auth_hex) : Buffer.from(input.cbor_b64u!, 'base64url')
  const issuerSigned = kind === 'mdoc.issuer_auth' ? { issuerAuth: new Raw(bytes) } : new Raw(bytes)
  const document = kind === 'mdoc.document' ? new Raw(bytes) : { docType: expected.docType, issuerSigned }
  return cbor({ version: '1.0', documents: [document], status: 0 })
}

/** True if its proof of possession can be checked here, or if none is required. */
function isBound(vector: Vector<Input>): boolean {
  const { device_auth } = documentOf(vector)
  if (vector.kind !== 'mdoc.device_response') return true
  return device_auth === undefined || device_auth === 'signature'
}

function documentOf({ expect: expected }: Vector<Input>): Document {
  const [document] = (expected.documents as Document[] | undefined) ?? [expected as unknown as Document]
  return document!
}

/** Our value, with byte strings written as in the vector. */
function inVectorNotation(value: unknown, like: unknown): unknown {
  if (Array.isArray(value))
    return value.map((entry, index) => inVectorNotation(entry, Array.isArray(like) ? like[index] : undefined))
  if (isObject(like) && '$bytes' in like && typeof value === 'string') {
    const bytes = Buffer.from(value, 'base64url')
    return { $bytes: bytes.length, $sha256: createHash('sha256').update(bytes).digest('hex') }
  }
  // Vectors always write six digits of a fraction of a second.
  if (isDateTime(value) && isDateTime(like) && Date.parse(value) === Date.parse(like)) return like
  if (!isObject(value)) return value
  if (isObject(like) && '$tag' in like) return { $tag: value.tag, $value: inVectorNotation(value.value, like.$value) }
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, inVectorNotation(member, isObject(like) ? like[name] : undefined)]),
  )
}

const isDateTime = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(value)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

describe('presentations made by @owf/mdoc', () => {
  const REQUEST = {
    clientId: 'x509_hash:Uvo3HtuIxuhC92rShpgqcT3YXwrqRxWEviRiA0OZszk',
    nonce: 'q7kJ0Zt1xw2M8cVbN4eR5g',
    responseUri: 'https://verifier.example.org/wallet/response/s1',
  }
  const ASKED = { ...REQUEST, encryptionKeyThumbprint: Buffer.alloc(32, 5) }

  const readText = async (text: string, asked = ASKED) => {
    const findings = new Findings(() => NOW)
    const expected = { now: NOW, createdAt: NOW, ...boundToRedirect(asked) }
    const credential = await mdocs.read(findings, text, expected, true)
    return { credential, failures: findings.failures, detail: findings.all.find(({ status }) => status === 'fail')?.detail }
  }

  test.each(['P-256', 'P-384', 'P-521', 'Ed25519'] as CurveName[])(
    'a presentation made by @owf/mdoc on %s is accepted, with the claims of the issuer',
    async curve => {
      const { credential, failures } = await readText(await present(curve))
      expect(failures).toEqual([])
      expect(credential?.type).toBe(OWF_NAME_SPACE)
      expect(credential?.claims).toEqual(OWF_CLAIMS)
    },
  )

  test('a presentation made by @owf/mdoc is refused for any other request', async () => {
    const text = await present('P-256')
    for (const change of [
      { nonce: 'x' },
      { clientId: 'x' },
      { responseUri: 'x' },
      { encryptionKeyThumbprint: Buffer.alloc(32) },
    ]) {
      expect((await readText(text, { ...ASKED, ...change })).failures).toEqual(['holder_binding_invalid'])
    }
  })

  test('authorised data of the device is accepted and does not become a claim', async () => {
    const text = await present('P-256', { states: true })
    const { credential, failures } = await readText(text)
    expect(failures).toEqual([])
    expect(JSON.stringify(credential?.claims)).not.toContain('nickname')
  })

  const present = async (curve: CurveName, more: { states?: boolean } = {}): Promise<string> => {
    const asked = { ...REQUEST, jwkThumbprint: ASKED.encryptionKeyThumbprint }
    const transcript = await SessionTranscript.forOid4Vp(asked, { crypto: CRYPTO } as unknown as MdocContext)
    return (await presentByOwf(curve, transcript, more)).encodedForOid4Vp
  }
})
