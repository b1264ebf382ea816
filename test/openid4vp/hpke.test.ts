import { describe, expect, test } from 'bun:test'
import { openHpke } from '../../src/openid4vp/exchange/hpke.ts'
import { hpkeKeyOf, makeHpkeKey, seal } from '../helpers/hpke.ts'
import { hex } from '../helpers/mdoc.ts'

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')

test('the message of RFC 9180 A.3.1 is opened', async () => {
  const key = await hpkeKeyOf(hex('f3ce7fdae57e1a310d87f1ebbde6f328be0a99cdbcadf4d6589cf29de4b8ffd2'))
  const message = {
    enc: hex(
      '04a92719c6195d5085104f469a8b9814d5838ff72b60501e2c4466e5e67b325ac98536d7b61a1af4b78e5b7f951c0900be863c403ce65c9bfcb9382657222d18c4',
    ),
    cipherText: hex('5ad590bb8baa577f8619db35a36311226a896e7342a6d836d8b7bcd2f20b6c7f9076ac232e3ab2523f39513434'),
    info: hex('4f6465206f6e2061204772656369616e2055726e'),
    aad: hex('436f756e742d30'),
  }
  expect(text(await openHpke(key, message))).toBe('4265617574792069732074727574682c20747275746820626561757479')
})

describe('a message sealed by the package hpke', () => {
  const info = Buffer.from('info')
  const plaintext = Buffer.from('a device response')

  test('messages of every length up to 100 bytes are opened', async () => {
    const key = await makeHpkeKey()
    for (let length = 0; length <= 100; length++) {
      const message = Buffer.alloc(length, length)
      const sealed = await seal(key.point, message, { info })
      expect(text(await openHpke(key, { ...sealed, info }))).toBe(message.toString('hex'))
    }
  })

  const flipped = (bytes: Uint8Array, at: number) =>
    bytes.map((byte, index) => (index === (at + bytes.length) % bytes.length ? byte ^ 1 : byte))
  const spoilings: [string, (sealed: { enc: Uint8Array; cipherText: Uint8Array; info: Uint8Array }) => object][] = [
    ['for another info', () => ({ info: Buffer.from('other') })],
    ['with additional data', () => ({ aad: Buffer.from('x') })],
    ['with the last bit changed', ({ cipherText }) => ({ cipherText: flipped(cipherText, -1) })],
    ['with the first bit changed', ({ cipherText }) => ({ cipherText: flipped(cipherText, 0) })],
    ['cut short', ({ cipherText }) => ({ cipherText: cipherText.subarray(0, -1) })],
    ['without a byte', () => ({ cipherText: new Uint8Array() })],
    ['of 15 bytes', ({ cipherText }) => ({ cipherText: cipherText.subarray(0, 15) })],
    ['with a point off the curve', ({ enc }) => ({ enc: flipped(enc, -1) })],
    ['with a point of zeros', () => ({ enc: Buffer.concat([Buffer.of(4), Buffer.alloc(64)]) })],
    ['with a compressed point', ({ enc }) => ({ enc: Buffer.concat([Buffer.of(2 + (enc[64]! & 1)), enc.subarray(1, 33)]) })],
    ['with a hybrid point', ({ enc }) => ({ enc: Buffer.concat([Buffer.of(6 + (enc[64]! & 1)), enc.subarray(1)]) })],
    ['with a point of 64 bytes', ({ enc }) => ({ enc: enc.subarray(1) })],
    ['with a point of 66 bytes', ({ enc }) => ({ enc: Buffer.concat([enc, Buffer.of(0)]) })],
  ]
  test.each(spoilings)('a message %s is not opened', async (_, spoil) => {
    const key = await makeHpkeKey()
    const sealed = { ...(await seal(key.point, plaintext, { info })), info }
    expect(text(await openHpke(key, sealed))).toBe(plaintext.toString('hex'))
    expect(await openHpke(key, { ...sealed, ...spoil(sealed) })).toBeUndefined()
  })

  test('a message to another key is not opened', async () => {
    const [ours, theirs] = [await makeHpkeKey(), await makeHpkeKey()]
    expect(await openHpke(ours, { ...(await seal(theirs.point, plaintext, { info })), info })).toBeUndefined()
  })
})
