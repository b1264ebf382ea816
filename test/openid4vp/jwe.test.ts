import { describe, expect, test } from 'bun:test'
import { createCipheriv, hash } from 'node:crypto'
import fc from 'fast-check'
import { CompactEncrypt, compactDecrypt } from 'jose'
import { decryptJwe, hasOtherName, readJweHeader } from '../../src/openid4vp/exchange/jwe.ts'
import { openJwe, UnreadableResponse } from '../../src/openid4vp/exchange/response.ts'
import { vectors } from '../helpers/vectors.ts'

const ECDH = { name: 'ECDH', namedCurve: 'P-256' }
const pair = await crypto.subtle.generateKey(ECDH, true, ['deriveBits'])
const publicJwk = await crypto.subtle.exportKey('jwk', pair.publicKey)

async function encrypted(
  plaintext: Uint8Array,
  { enc = 'A128GCM', apu, apv }: { enc?: string; apu?: Uint8Array; apv?: Uint8Array },
) {
  const made = new CompactEncrypt(plaintext).setProtectedHeader({ alg: 'ECDH-ES', enc, kid: 'k' })
  if (apu || apv) made.setKeyManagementParameters({ ...(apu && { apu }), ...(apv && { apv }) })
  return await made.encrypt(publicJwk)
}

/** The plaintext as hex. */
async function opened(text: string, key = pair.privateKey): Promise<string | undefined> {
  const plaintext = readJweHeader(text) && (await decryptJwe(text, key))
  return plaintext && Buffer.from(plaintext).toString('hex')
}

const openedByJose = (text: string): Promise<string | undefined> =>
  compactDecrypt(text, pair.privateKey, {
    keyManagementAlgorithms: ['ECDH-ES'],
    contentEncryptionAlgorithms: ['A128GCM', 'A256GCM'],
  }).then(
    ({ plaintext }) => Buffer.from(plaintext).toString('hex'),
    () => undefined,
  )

const isCanonical = (text: string): boolean =>
  text.split('.').every(part => Buffer.from(part, 'base64url').toString('base64url') === part)

const party = fc.option(fc.uint8Array({ minLength: 1, maxLength: 40 }), { nil: undefined })

describe('a JWE made by jose', () => {
  test('a JWE of any length, with any apu and apv, in both algorithms, is opened', async () => {
    const drawn = fc.record({ enc: fc.constantFrom('A128GCM', 'A256GCM'), apu: party, apv: party })
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), drawn, async (plaintext, form) => {
        expect(await opened(await encrypted(plaintext, form))).toBe(Buffer.from(plaintext).toString('hex'))
      }),
    )
  })

  test('a JWE with a changed, added or removed character is opened only as jose opens it, and only in canonical form', async () => {
    const good = await encrypted(Buffer.from('{"state":"s"}'), { apu: Buffer.from('a') })
    expect(await opened(good)).toBeDefined()
    const character = fc.constantFrom(...'AEgQw_-.= \n+/')
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: good.length }), fc.nat({ max: 1 }), fc.option(character), async (at, removed, added) => {
        const text = good.slice(0, at) + (added ?? '') + good.slice(at + removed)
        const theirs = await openedByJose(text)
        expect(await opened(text)).toBe(isCanonical(text) ? theirs : undefined)
      }),
      { numRuns: 1000 },
    )
  })

  test('jose opens what is refused here: padding, white space, stray bits, a doubled name', async () => {
    const good = await encrypted(Buffer.from('x'), {})
    const [head = '', , iv, , tag = ''] = good.split('.')
    const stray = `${good.slice(0, -1)}${String.fromCharCode(good.charCodeAt(good.length - 1) + 1)}`
    expect(tag).toHaveLength(22)
    for (const text of [`${good}==`, `${good}\n`, stray]) {
      expect(await openedByJose(text)).toBe('78')
      expect(await opened(text)).toBeUndefined()
    }
    const doubled = Buffer.from(`${Buffer.from(head, 'base64url').toString().slice(0, -1)},"kid":"k"}`).toString('base64url')
    expect(readJweHeader(`${head}..${iv}.AA.${tag}`)).toBeDefined()
    expect(readJweHeader(`${doubled}..${iv}.AA.${tag}`)).toBeUndefined()
  })
})

type Form = { header: Record<string, unknown>; ephemeral?: CryptoKey; ivBytes?: number; tagBytes?: 12 | 15 | 16; key?: string }

/** A JWE whose content is encrypted as its header says, whatever that is. */
async function under({ header, ephemeral = pair.privateKey, ivBytes = 12, tagBytes = 16, key = '' }: Form): Promise<string> {
  const secret = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: pair.publicKey }, ephemeral, 256))
  const keyBits = Number(/\d+/.exec(String(header.enc))?.[0] ?? 128)
  const sized = (bytes: Uint8Array) => [uint32(bytes.length), bytes]
  const party = (value: unknown) => sized(Buffer.from(typeof value === 'string' ? value : '', 'base64url'))
  const input = [uint32(1), secret, ...sized(Buffer.from(String(header.enc))), ...party(header.apu), ...party(header.apv)]
  const derived = hash('sha256', Buffer.concat([...input, uint32(keyBits)]), 'buffer').subarray(0, keyBits / 8)
  const iv = Buffer.alloc(ivBytes, 7)
  const cipher = createCipheriv(`aes-${keyBits}-gcm` as 'aes-128-gcm', derived, iv, { authTagLength: tagBytes })
  const head = Buffer.from(JSON.stringify(header)).toString('base64url')
  cipher.setAAD(Buffer.from(head))
  const cipherText = Buffer.concat([cipher.update('x'), cipher.final()])
  return [head, key, ...[iv, cipherText, cipher.getAuthTag()].map(bytes => bytes.toString('base64url'))].join('.')
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const { x, y } = publicJwk
const epk = { kty: 'EC', crv: 'P-256', x, y }
const good = { alg: 'ECDH-ES', enc: 'A128GCM', kid: 'k', epk }

describe('a JWE of another form, encrypted as its header says', () => {
  test('the form itself is opened, by jose too, with any apu and apv or none', async () => {
    for (const header of [
      good,
      { ...good, enc: 'A256GCM' },
      { ...good, apu: 'AAAA', apv: '' },
      { ...good, apu: 'AB', apv: 'AQ==' },
    ]) {
      const text = await under({ header })
      expect(await opened(text)).toBe('78')
      expect(await openedByJose(text)).toBe('78')
    }
  })

  const cases: [string, Form][] = [
    ['with an alg of another kind', { header: { ...good, alg: 'ECDH-ES+A128KW' } }],
    ['without an alg', { header: { ...good, alg: undefined } }],
    ['with an enc that was not offered', { header: { ...good, enc: 'A192GCM' } }],
    ['with an enc that every object has', { header: { ...good, enc: 'constructor' } }],
    ['without an enc', { header: { ...good, enc: undefined } }],
    ['with an epk that is a text', { header: { ...good, epk: 'x' } }],
    ['with a point off the curve', { header: { ...good, epk: { ...epk, y: x } } }],
    ['with a coordinate that is a number', { header: { ...good, epk: { ...epk, x: 1 } } }],
    ['with an epk of P-384', { header: { ...good, epk: { ...epk, crv: 'P-384' } } }],
    ['with an epk of another kty', { header: { ...good, epk: { ...epk, kty: 'OKP' } } }],
    ['with an apu that is a number', { header: { ...good, apu: 1 } }],
    ['with an iv of 11 bytes', { header: good, ivBytes: 11 }],
    ['with an iv of 13 bytes', { header: good, ivBytes: 13 }],
    ['with a tag of 15 bytes', { header: good, tagBytes: 15 }],
    ['with an encrypted key', { header: good, key: 'AAAA' }],
  ]
  test.each(cases)('a JWE %s is not opened', async (_, form) => {
    expect(await opened(await under(form))).toBeUndefined()
  })

  test('a header with any other name is not that of an answer, though jose would open it', async () => {
    const read = async (header: Record<string, unknown>) => hasOtherName(readJweHeader(await under({ header }))!)
    for (const header of [good, { ...good, apu: 'AA', apv: 'AA', typ: 'JWT', cty: 'json' }])
      expect(await read(header)).toBe(false)
    for (const name of ['zip', 'crit', 'p2c', 'jwk', 'x5c', 'x', 'toString', '__proto__']) {
      const header = Object.fromEntries([...Object.entries(good), [name, name === 'zip' ? 'DEF' : 1]])
      expect([name, await read(header)]).toEqual([name, true])
    }
    expect(await openedByJose(await under({ header: { ...good, x: 1 } }))).toBe('78')
  })

  test('four parts and six parts are not a JWE', async () => {
    const text = await under({ header: good })
    for (const other of ['', '....', text.slice(0, text.lastIndexOf('.')), `${text}.`, `${text}.AAAA`])
      expect(readJweHeader(other)).toBeUndefined()
  })

  test('a JWE to another key is not opened', async () => {
    const other = await crypto.subtle.generateKey(ECDH, false, ['deriveBits'])
    expect(await opened(await under({ header: good }), other.privateKey)).toBeUndefined()
  })
})

test('an epk whose coordinate was written without its leading zero is taken', async () => {
  for (;;) {
    const { privateKey, publicKey } = await crypto.subtle.generateKey(ECDH, true, ['deriveBits'])
    const jwk = await crypto.subtle.exportKey('jwk', publicKey)
    const bytes = Buffer.from(jwk.x!, 'base64url')
    if (bytes[0] !== 0) continue
    const header = { ...good, epk: { ...epk, x: bytes.subarray(1).toString('base64url'), y: jwk.y } }
    return expect(await opened(await under({ header, ephemeral: privateKey }))).toBe('78')
  }
})

describe('public vectors', () => {
  type Input = { response: string; private_jwk: JsonWebKey & { kid: string } }
  const answers = vectors<Input>('jwe-response.json').filter(({ kind }) => kind === 'jwe.decrypt')
  for (const { id, title, input, expect: expected } of answers) {
    test(`${id}: ${title}`, async () => {
      const { kid, kty, crv, x, y, d } = input.private_jwk
      const privateKey = await crypto.subtle.importKey('jwk', { kty, crv, x, y, d }, ECDH, false, ['deriveBits'])
      const parameters = openJwe(input.response, { kid, privateKey })
      if (expected.outcome === 'reject') expect(parameters).rejects.toBeInstanceOf(UnreadableResponse)
      else expect(await parameters).toEqual(JSON.parse(String(expected.plaintext)))
    })
  }
})
