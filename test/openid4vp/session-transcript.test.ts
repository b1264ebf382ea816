import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dcApiTranscript, redirectTranscript } from '../../src/openid4vp/session-transcript.ts'

type Vector = {
  id: string
  kind: 'handover.redirect' | 'handover.dc_api'
  title: string
  input: { client_id: string; origin: string; nonce: string; response_uri: string }
  expect: { jwk_thumbprint_hex: string | null; session_transcript_hex: string }
}

const VECTORS_FOLDER = '../shared/vectors'
const VECTORS_FILE = join(import.meta.dir, '../..', VECTORS_FOLDER, 'handover.json')

const REQUEST = {
  clientId: 'x509_san_dns:shop.example',
  nonce: 'n-0S6_WzA2Mj',
  encryptionKeyThumbprint: new Uint8Array(32).fill(7),
  responseUri: 'https://shop.example/wallet/response/1?a=b%20c',
}

describe('public vectors', () => {
  if (!existsSync(VECTORS_FILE)) {
    test.skip(`the folder ${VECTORS_FOLDER} is missing, so no public vector was checked`, () => {})
    return
  }
  const { vectors }: { vectors: Vector[] } = JSON.parse(readFileSync(VECTORS_FILE, 'utf8'))
  expect(vectors.length).toBeGreaterThanOrEqual(4)

  test.each(vectors.map(vector => [vector.id, vector.title, vector] as const))('%s: %s', (_, __, vector) => {
    const { input, expect: expected } = vector
    const encryptionKeyThumbprint = expected.jwk_thumbprint_hex === null ? null : Buffer.from(expected.jwk_thumbprint_hex, 'hex')
    const transcript =
      vector.kind === 'handover.dc_api'
        ? dcApiTranscript({ origin: input.origin, nonce: input.nonce, encryptionKeyThumbprint })
        : redirectTranscript({
            clientId: input.client_id,
            nonce: input.nonce,
            encryptionKeyThumbprint,
            responseUri: input.response_uri,
          })
    expect(Buffer.from(transcript).toString('hex')).toBe(expected.session_transcript_hex)
  })
})

describe('every part of the request is bound', () => {
  const changed: [string, Partial<typeof REQUEST> | { encryptionKeyThumbprint: null }][] = [
    ['the client id', { clientId: 'shop.example' }],
    ['the nonce', { nonce: 'n-0S6_WzA2Mk' }],
    ['the key of the answer', { encryptionKeyThumbprint: new Uint8Array(32).fill(8) }],
    ['an unencrypted answer', { encryptionKeyThumbprint: null }],
    ['the response address, to the letter', { responseUri: 'https://shop.example/wallet/response/1?a=b+c' }],
  ]
  test.each(changed)('%s', (_, change) => {
    const transcript = Buffer.from(redirectTranscript(REQUEST))
    expect(transcript.equals(redirectTranscript(REQUEST))).toBe(true)
    expect(transcript.equals(redirectTranscript({ ...REQUEST, ...change }))).toBe(false)
  })
})

test('lengths are the shortest ones on both sides of their limits', () => {
  // A text of 23, 24, 255, 256 and 65,536 bytes has a head of 1, 2, 2, 3 and 5 bytes; the hash shows only whether it is the right one.
  for (const [length, head] of [
    [23, '77'],
    [24, '7818'],
    [255, '78ff'],
    [256, '790100'],
    [65_536, '7a00010000'],
  ] as const) {
    const info = `83${head}${'61'.repeat(length)}60f6`
    const digest = new Bun.CryptoHasher('sha256').update(Buffer.from(info, 'hex')).digest('hex')
    const transcript = dcApiTranscript({ origin: 'a'.repeat(length), nonce: '', encryptionKeyThumbprint: null })
    expect(Buffer.from(transcript).toString('hex')).toEndWith(`5820${digest}`)
  }
})
