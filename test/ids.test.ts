import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import {
  base62,
  isWellFormedSecret,
  newDeviceId,
  newKeyId,
  newNonce,
  newPairingCode,
  newSecret,
  newTenantId,
  newVerificationId,
  newWebhookSecret,
  normalizePairingCode,
  type Random,
} from '../src/base/ids.ts'
import { seeded } from './helpers/seeded.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const random: Random = count => randomBytes(count)

describe('ids and secrets', () => {
  test('each kind of id and secret has its prefix, alphabet and length', () => {
    for (let i = 0; i < 200; i++) {
      expect(newVerificationId(random)).toMatch(/^vs_[0-9A-Za-z]{22}$/)
      expect(newTenantId(random)).toMatch(/^ten_[0-9A-Za-z]{16}$/)
      expect(newKeyId(random)).toMatch(/^key_[0-9A-Za-z]{16}$/)
      expect(newSecret(random, 'vk_test_')).toMatch(/^vk_test_[0-9A-Za-z]{38}$/)
      expect(newSecret(random, 'vd_')).toMatch(/^vd_[0-9A-Za-z]{38}$/)
      expect(newNonce(random)).toMatch(/^[0-9A-Za-z_-]{43}$/)
      expect(newWebhookSecret(random)).toMatch(/^whsec_[0-9A-Za-z+/]{40}$/)
    }
  })

  test('a nonce has 256 random bits and a webhook secret 240', () => {
    const ones: Random = count => new Uint8Array(count).fill(0xff)
    expect(Buffer.from(newNonce(ones), 'base64url')).toEqual(Buffer.alloc(32, 0xff))
    expect(Buffer.from(newWebhookSecret(ones).slice('whsec_'.length), 'base64')).toEqual(Buffer.alloc(30, 0xff))
  })

  test('ids and secrets are unique', () => {
    const made = Array.from({ length: 10_000 }, () => newVerificationId(random))
    expect(new Set(made).size).toBe(made.length)
  })
})

describe('base62', () => {
  test('base62 has the requested length, even when most random bytes are rejected', () => {
    const sparse = seeded(1)
    const mostlyRejected: Random = count => Uint8Array.from({ length: count }, () => 240 + sparse.below(16))
    for (const length of [0, 1, 2, 22, 32, 100]) {
      expect(base62(random, length)).toHaveLength(length)
      expect(base62(mostlyRejected, length)).toHaveLength(length)
    }
  })

  test('base62 rejects bytes from 248; the bytes below give each letter four times', () => {
    const everyByte: Random = () => Uint8Array.from({ length: 256 }, (_, i) => i)
    const letters = base62(everyByte, 248)
    expect(letters).toBe(ALPHABET.repeat(4))
    // The 249th letter begins the next round: 248 to 255 gave none.
    expect(base62(everyByte, 249)).toBe(ALPHABET.repeat(4) + ALPHABET[0])
  })

  test('200,000 letters of a fixed generator show no bias (chi-square, 61 degrees of freedom)', () => {
    const LETTERS = 200_000
    const counts = new Map<string, number>()
    for (const letter of base62(seeded(20260304).bytes, LETTERS)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    expect([...counts.keys()].sort().join('')).toBe([...ALPHABET].sort().join(''))
    const expected = LETTERS / ALPHABET.length
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // 100.9 is exceeded once in a thousand fair samples. Taking byte % 62 instead scores above 4,000.
    expect(chiSquare).toBeLessThan(100.9)
  })
})

describe('the checksum of a secret', () => {
  test('the checksum is the CRC-32 of everything before it, in six base62 digits', () => {
    for (const prefix of ['vk_test_', 'vk_live_', 'vd_', 'vdr_']) {
      for (let i = 0; i < 50; i++) {
        const secret = newSecret(random, prefix)
        const digits = [...secret.slice(-6)].reduce((value, digit) => value * 62 + ALPHABET.indexOf(digit), 0)
        expect(digits).toBe(crc32Bitwise(secret.slice(0, -6)))
      }
    }
  })

  test('the CRC-32 of this test gives the published check value', () => {
    expect(crc32Bitwise('123456789')).toBe(0xcbf43926)
  })

  test('a new secret is well formed, under its own prefix only', () => {
    fc.assert(
      fc.property(fc.integer(), seed => {
        const secret = newSecret(seeded(seed).bytes, 'vk_live_')
        expect(isWellFormedSecret(secret, 'vk_live_')).toBe(true)
        for (const other of ['vk_test_', 'vd_', 'vdr_', 'vk_liv', 'vk_live_0'])
          expect(isWellFormedSecret(secret, other)).toBe(false)
      }),
    )
  })

  test('the checksum detects every substitution of one character', () => {
    const secret = newSecret(seeded(7).bytes, 'vk_test_')
    let tried = 0
    for (let i = 0; i < secret.length; i++) {
      for (const letter of `${ALPHABET}_- .é`) {
        if (letter === secret[i]) continue
        tried++
        expect(isWellFormedSecret(secret.slice(0, i) + letter + secret.slice(i + 1), 'vk_test_')).toBe(false)
      }
    }
    expect(tried).toBeGreaterThan(2800)
  })

  test('the checksum detects swapped neighbours', () => {
    for (let seed = 0; seed < 50; seed++) {
      const secret = newSecret(seeded(seed).bytes, 'vk_test_')
      for (let i = 8; i < secret.length - 1; i++) {
        if (secret[i] === secret[i + 1]) continue
        const swapped = secret.slice(0, i) + secret[i + 1] + secret[i] + secret.slice(i + 2)
        expect(isWellFormedSecret(swapped, 'vk_test_')).toBe(false)
      }
    }
  })

  test('a live key whose prefix was edited to test is not well formed, nor the other way round', () => {
    for (let seed = 0; seed < 500; seed++) {
      const live = newSecret(seeded(seed).bytes, 'vk_live_')
      expect(isWellFormedSecret(live.replace('vk_live_', 'vk_test_'), 'vk_test_')).toBe(false)
      const test = newSecret(seeded(seed).bytes, 'vk_test_')
      expect(isWellFormedSecret(test.replace('vk_test_', 'vk_live_'), 'vk_live_')).toBe(false)
    }
  })

  test('a wrong length is not well formed', () => {
    const secret = newSecret(seeded(3).bytes, 'vk_test_')
    for (const wrong of ['', 'vk_test_', secret.slice(0, -1), `${secret}0`, ` ${secret}`, `${secret}\n`]) {
      expect(isWellFormedSecret(wrong, 'vk_test_')).toBe(false)
    }
  })
})

describe('a device id', () => {
  test('a device id is the UUID of version 7 of RFC 9562 appendix A.6', () => {
    // rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F; the bits of time, version and variant are set whatever the generator gives there.
    const given: Random = () => Buffer.from('ffffffffffff0cc318c4dc0c0c07398f', 'hex')
    expect(newDeviceId(given, 0x017f22e279b0)).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
  })

  test('device ids sort by time, and are unique within a millisecond', () => {
    const at = Date.parse('2026-03-04T12:00:00.000Z')
    const ids = Array.from({ length: 1000 }, (_, i) => newDeviceId(random, at + i))
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(Array.from({ length: 1000 }, () => newDeviceId(random, at))).size).toBe(1000)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('a pairing code', () => {
  const SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  const symbols = fc.array(fc.constantFrom(...SYMBOLS), { minLength: 8, maxLength: 8 }).map(each => each.join(''))

  test('a pairing code has the form VD-XXXX-XXXX, with all 32 symbols equally likely', () => {
    const counts = new Map<string, number>()
    const { bytes } = seeded(20260304)
    for (let i = 0; i < 20_000; i++) {
      const code = newPairingCode(bytes)
      expect(code).toMatch(/^VD-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
      for (const symbol of code.slice(3).replace('-', '')) counts.set(symbol, (counts.get(symbol) ?? 0) + 1)
    }
    expect([...counts.keys()].sort().join('')).toBe(SYMBOLS)
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - 5000) ** 2 / 5000, 0)
    // 31 degrees of freedom: exceeded once in a thousand fair samples.
    expect(chiSquare).toBeLessThan(61.1)
  })

  test('a pairing code is read in any spelling people type', () => {
    const noise = fc.array(fc.constantFrom('', '', ' ', '-', '–', '—', '\u00a0', '\t'), { minLength: 11, maxLength: 11 })
    fc.assert(
      fc.property(symbols, noise, fc.boolean(), fc.boolean(), (code, gaps, isLower, hasPrefix) => {
        const letters = [...(hasPrefix ? `VD${code}` : code)].map(letter => {
          const mistaken = letter === '0' ? 'O' : letter === '1' ? (gaps[0] ? 'I' : 'L') : letter
          return isLower ? mistaken.toLowerCase() : mistaken
        })
        expect(normalizePairingCode(letters.map((letter, i) => `${gaps[i]}${letter}`).join(''))).toBe(code)
      }),
    )
  })

  test('a pairing code that begins with V and D keeps them', () => {
    expect(normalizePairingCode('VD123456')).toBe('VD123456')
    expect(normalizePairingCode('VD-VD12-3456')).toBe('VD123456')
  })

  test.each(['', 'VD', 'VD-1234-567', '123456789', 'VD-1234-56789', '1234567U', '1234_5678', 'XX12345678', '1234567é'])(
    '%j is none',
    typed => expect(normalizePairingCode(typed)).toBeUndefined(),
  )
})

/** CRC-32 (ISO 3309) bit by bit, from its definition: shares nothing with the code it checks. */
function crc32Bitwise(text: string): number {
  let crc = 0xffffffff
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
