// Each mutation changes one thing only, so that a test knows which check should fail.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { DeviceResponse } from '@owf/mdoc'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { Mutations } from '../../src/sandbox/wallet/wallet.ts'
import { verifyMdoc, verifySdJwt } from './foreign.ts'
import { holderOf, mdlQuery, NOW, newSession, presentTo, sdJwtQuery } from './world.ts'

async function presentedSdJwt(mutations: Mutations) {
  const session = await newSession({ query: sdJwtQuery(['birthdate'], ['age_equal_or_over', '18']) })
  const { token } = await presentTo(session, await holderOf('adult'), { mutations })
  const text = token.pid![0]!
  const [jwt = '', ...rest] = text.split('~')
  const keyBinding = rest.pop() ?? ''
  return { session, text, jwt, disclosures: rest, keyBinding, check: () => verifySdJwt(text, session) }
}

async function presentedMdoc(mutations: Mutations) {
  const session = await newSession({ query: mdlQuery('birth_date', 'age_over_18') })
  const { token } = await presentTo(session, await holderOf('adult'), { mutations })
  const text = token.mdl![0]!
  const response = () => DeviceResponse.decode(new Uint8Array(Buffer.from(text, 'base64url')))
  const items = () => response().documents![0]!.issuerSigned.getIssuerNamespace('org.iso.18013.5.1') ?? []
  return { session, text, response, items, check: () => verifyMdoc(text, session) }
}

test('both formats verify without a mutation', async () => {
  const sdJwt = await presentedSdJwt({})
  expect(await sdJwt.check()).toMatchObject({ birthdate: '1990-08-12' })
  const mdoc = await presentedMdoc({})
  expect((await mdoc.check()).docType).toBe('org.iso.18013.5.1.mDL')
})

describe('mutations of a key binding', () => {
  const CLAIMS: [Mutations, Record<string, unknown>][] = [
    [{ kbNonce: 'another' }, { nonce: 'another' }],
    [{ kbAud: ['a', 'b'] }, { aud: ['a', 'b'] }],
    [{ kbIat: 1 }, { iat: 1 }],
    [{ sdHash: 'AAAA' }, { sd_hash: 'AAAA' }],
    [{ kbClaims: { exp: 5 } }, { exp: 5 }],
  ]
  test.each(CLAIMS)('%j changes this claim only', async (mutations, expected) => {
    const { keyBinding, session, text } = await presentedSdJwt(mutations)
    const sdHash = createHash('sha256').update(text.slice(0, -keyBinding.length)).digest('base64url')
    expect(decodeJwt(keyBinding)).toEqual({
      nonce: session.parameters.nonce,
      aud: session.parameters.client_id,
      iat: Math.floor(NOW / 1000),
      sd_hash: sdHash,
      ...expected,
    })
    expect(decodeProtectedHeader(keyBinding)).toEqual({ alg: 'ES256', typ: 'kb+jwt' })
  })

  test('kbTyp and kbAlg change the header', async () => {
    const { keyBinding } = await presentedSdJwt({ kbTyp: 'jwt', kbAlg: 'none' })
    expect(decodeProtectedHeader(keyBinding)).toEqual({ alg: 'none', typ: 'jwt' })
  })

  test('an undefined claim in kbClaims is left out', async () => {
    const { keyBinding } = await presentedSdJwt({ kbClaims: { iat: undefined } })
    expect(decodeJwt(keyBinding)).not.toHaveProperty('iat')
  })

  test('dropKb leaves the SD-JWT ending in a tilde', async () => {
    const { text, check } = await presentedSdJwt({ dropKb: true })
    expect(text).toEndWith('~')
    await expect(check()).rejects.toThrow()
  })

  test.each<Mutations>([{ otherKey: true }, { holderSignatureFlip: true }, { issuerSignatureFlip: true }])(
    '%j is refused for a signature, with the right sd_hash',
    async mutations => {
      const { check, keyBinding, text } = await presentedSdJwt(mutations)
      await expect(check()).rejects.toThrow(/signature/i)
      const sdHash = createHash('sha256').update(text.slice(0, -keyBinding.length)).digest('base64url')
      expect(decodeJwt(keyBinding).sd_hash).toBe(sdHash)
    },
  )
})

describe('mutations of disclosures', () => {
  test('extraDisclosure shows one claim more, dropDisclosure one less, repeatDisclosure one twice', async () => {
    const plain = await presentedSdJwt({})
    expect(plain.disclosures).toHaveLength(3)
    const extra = await presentedSdJwt({ extraDisclosure: true })
    expect(extra.disclosures).toHaveLength(4)
    expect(await extra.check()).toMatchObject({ family_name: 'Mustermann' })
    expect((await presentedSdJwt({ extraDisclosure: 'WyJhIiwiYiIsMV0' })).disclosures.at(-1)).toBe('WyJhIiwiYiIsMV0')
    expect(await (await presentedSdJwt({ dropDisclosure: true })).check()).not.toHaveProperty('birthdate')
    const { disclosures } = await presentedSdJwt({ repeatDisclosure: true })
    expect(disclosures.at(-1)).toBe(disclosures[0]!)
  })

  test('extraDisclosure, dropDisclosure and repeatDisclosure change the items of an mdoc', async () => {
    expect((await presentedMdoc({})).items()).toHaveLength(2)
    const extra = await presentedMdoc({ extraDisclosure: true })
    await extra.check()
    expect(extra.items()).toHaveLength(3)
    expect((await presentedMdoc({ dropDisclosure: true })).items().map(item => item.elementIdentifier)).toEqual(['age_over_18'])
    expect((await presentedMdoc({ repeatDisclosure: true })).items().map(item => item.digestId)).toHaveLength(3)
  })

  test('tamperClaim inverts a boolean, or else changes a text', async () => {
    const items = (await presentedMdoc({ tamperClaim: true })).items()
    expect(items.find(item => item.elementIdentifier === 'age_over_18')?.elementValue).toBe(false)
    const { disclosures } = await presentedSdJwt({ tamperClaim: true })
    const values = disclosures.map(text => JSON.parse(Buffer.from(text, 'base64url').toString()).at(-1))
    expect(values).toContain(false)
    const session = await newSession({ query: mdlQuery('family_name') })
    const { token } = await presentTo(session, await holderOf('adult'), { mutations: { tamperClaim: true } })
    const document = DeviceResponse.decode(new Uint8Array(Buffer.from(token.mdl![0]!, 'base64url'))).documents![0]!
    expect(document.issuerSigned.getPrettyClaims('org.iso.18013.5.1')).toEqual({ family_name: 'Mustermano' })
  })
})

describe('mutations of device authentication', () => {
  test.each<Mutations>([
    { transcriptNonce: 'another' },
    { transcriptClientId: 'x509_hash:another' },
    { transcriptResponseUri: 'https://verifier.example/another' },
    { thumbprint: null },
    { thumbprint: new Uint8Array(32) },
    { otherKey: true },
    { holderSignatureFlip: true },
    { issuerSignatureFlip: true },
  ])('%j invalidates a signature', async mutations => {
    await expect((await presentedMdoc(mutations)).check()).rejects.toThrow(/signature/i)
  })

  test.each(['absent', 'empty', 'mac'] as const)('deviceAuth %s is refused', async deviceAuth => {
    await expect((await presentedMdoc({ deviceAuth })).check()).rejects.toThrow()
  })

  test('deviceClaims are signed by the device', async () => {
    const { check, response } = await presentedMdoc({ deviceClaims: { 'org.iso.18013.5.1': { age_over_18: true } } })
    const names = response().documents![0]!.deviceSigned.deviceNamespaces.deviceNamespaces
    expect([...names.keys()]).toEqual(['org.iso.18013.5.1'])
    await check()
  })

  test('document type, number of documents, version and status can be changed', async () => {
    const { response } = await presentedMdoc({
      docType: 'other',
      documentCount: 2,
      deviceResponseVersion: '1.1',
      deviceResponseStatus: 10,
    })
    const { documents, version, status } = response()
    expect([documents?.map(({ docType }) => docType), version, status]).toEqual([['other', 'other'], '1.1', 10])
  })
})

describe('mutations of the response', () => {
  const sent = async (mutations: Mutations, mode?: 'direct_post') => {
    const session = await newSession({ query: mdlQuery('age_over_18'), ...(mode && { mode }) })
    return { session, ...(await presentTo(session, await holderOf('adult'), { mutations })) }
  }

  test('vpTokenShape changes the shape of the vp_token', async () => {
    const shapeOf = async (vpTokenShape: Mutations['vpTokenShape']) => (await sent({ vpTokenShape })).members.vp_token
    const text = expect.stringMatching(/^[\w-]+$/)
    expect(await shapeOf(undefined)).toEqual({ mdl: [text] })
    expect(await shapeOf('bare_string')).toEqual({ mdl: text })
    expect(await shapeOf('array')).toEqual([text])
    expect(await shapeOf('empty_array')).toEqual({ mdl: [] })
    expect(await shapeOf('json_text')).toMatch(/^\{"mdl":/)
    expect(await shapeOf('unknown_id')).toEqual({ mdl_unknown: [text] })
    expect(await shapeOf('absent')).toBeUndefined()
  })

  test('state, responseClaims and presentation change their part of the response', async () => {
    expect((await sent({ state: 'other' })).members.state).toBe('other')
    expect((await sent({ state: null })).members).not.toHaveProperty('state')
    expect((await sent({ responseClaims: { iss: 'x' } })).members.iss).toBe('x')
    expect((await sent({ presentation: (text, id) => `${id}.${text.length}` })).token.mdl![0]).toMatch(/^mdl\.\d+$/)
  })

  test('replay sends the unchanged token of another session', async () => {
    const { token } = await sent({})
    const again = await sent({ replay: token })
    expect(again.token).toEqual(token)
    await expect(verifyMdoc(again.token.mdl![0]!, again.session)).rejects.toThrow(/signature/i)
  })

  test('alg, enc, kid, zip, apu and apv change the protected header', async () => {
    expect((await sent({ enc: 'A192GCM' })).header.enc).toBe('A192GCM')
    expect((await sent({ alg: 'ECDH-ES+A128KW' })).header.alg).toBe('ECDH-ES+A128KW')
    expect((await sent({ kid: 'other' })).header.kid).toBe('other')
    expect((await sent({ kid: null })).header).not.toHaveProperty('kid')
    expect((await sent({ zip: 'DEF' })).header.zip).toBe('DEF')
    expect((await sent({ apu: 'YWJj', apv: 'eHl6' })).header).toMatchObject({ apu: 'YWJj', apv: 'eHl6' })
  })

  test('plain sends an unencrypted token, bound to no key, although encryption was requested', async () => {
    const { session, token } = await sent({ plain: true })
    expect([...session.forms[0]!.keys()]).toEqual(['vp_token', 'state'])
    await verifyMdoc(token.mdl![0]!, session, { isEncrypted: false })
  })
})
