import { describe, expect, test } from 'bun:test'
import { dcApiTranscript, redirectTranscript } from '../../src/openid4vp/exchange/session-transcript.ts'
import { vectors } from '../helpers/vectors.ts'

type Input = { client_id: string; origin: string; nonce: string; response_uri: string }

const REQUEST = {
  clientId: 'x509_san_dns:shop.example',
  nonce: 'n-0S6_WzA2Mj',
  encryptionKeyThumbprint: new Uint8Array(32).fill(7),
  responseUri: 'https://shop.example/wallet/response/1?a=b%20c',
}

describe('public vectors', () => {
  const handovers = vectors<Input>('handover.json')
  test.each(handovers.map(vector => [vector.id, vector.title, vector] as const))(
    '%s: %s',
    (_, __, { kind, input, expect: expected }) => {
      const { origin, nonce, client_id: clientId, response_uri: responseUri } = input
      const thumbprint = expected.jwk_thumbprint_hex as string | null
      const encryptionKeyThumbprint = thumbprint === null ? null : Buffer.from(thumbprint, 'hex')
      const transcript =
        kind === 'handover.dc_api'
          ? dcApiTranscript({ origin, nonce, encryptionKeyThumbprint })
          : redirectTranscript({ clientId, nonce, encryptionKeyThumbprint, responseUri })
      expect(Buffer.from(transcript).toString('hex')).toBe(expected.session_transcript_hex as string)
    },
  )
})

const changed: [string, Partial<typeof REQUEST> | { encryptionKeyThumbprint: null }][] = [
  ['the client id', { clientId: 'shop.example' }],
  ['the nonce', { nonce: 'n-0S6_WzA2Mk' }],
  ['the key of the answer', { encryptionKeyThumbprint: new Uint8Array(32).fill(8) }],
  ['an unencrypted answer', { encryptionKeyThumbprint: null }],
  ['the response address, to the letter', { responseUri: 'https://shop.example/wallet/response/1?a=b+c' }],
]
test.each(changed)('the transcript changes with %s', (_, change) => {
  const transcript = Buffer.from(redirectTranscript(REQUEST))
  expect(transcript.equals(redirectTranscript(REQUEST))).toBe(true)
  expect(transcript.equals(redirectTranscript({ ...REQUEST, ...change }))).toBe(false)
})

test('lengths are encoded in the shortest form, on both sides of every limit', () => {
  // A text of 23, 24, 255, 256 and 65,536 bytes has a head of 1, 2, 2, 3 and 5 bytes. The hash only shows whether it is right.
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
