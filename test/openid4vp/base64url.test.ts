import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeBase64url, decodeBase64urlInto } from '../../src/base/base64url.ts'

/** The bytes as hex, from both functions; undefined for text that is not canonical. */
function canonical(text: string): string | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes.toString('hex') : undefined
}

function decoded(text: string): string | undefined {
  const bytes = decodeBase64url(text)
  const target = new Uint8Array(text.length)
  const length = decodeBase64urlInto(target, text)
  expect(length === undefined ? undefined : Buffer.from(target.subarray(0, length))).toEqual(bytes && Buffer.from(bytes))
  return bytes && Buffer.from(bytes).toString('hex')
}

describe('canonical base64url', () => {
  test('canonical base64url of any length is decoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), bytes => {
        expect(decoded(Buffer.from(bytes).toString('base64url'))).toBe(Buffer.from(bytes).toString('hex'))
      }),
    )
  })

  test('the empty text is decoded to no bytes', () => expect(decoded('')).toBe(''))
})

describe('other base64', () => {
  const cases: [string, string][] = [
    ['padding', 'QQ=='],
    ['padding of one', 'QUE='],
    ['half of the padding', 'QQ='],
    ['white space after whole groups', 'QUFB '],
    ['white space inside', 'QU FB'],
    ['a line end', 'QUFB\n'],
    ['a character alone', 'Q'],
    ['a character too many', 'QUFBQ'],
    ['stray bits behind one byte', 'QR'],
    ['stray bits behind two bytes', 'QUF'],
    ['the other alphabet', 'ab+/'],
    ['a character beyond ASCII', 'QUFé'],
    ['a character beyond Latin-1', 'QUF\u0141'],
    ['a NUL', 'QUF\0'],
  ]
  test.each(cases)('base64url with %s is refused', (_, text) => expect(decoded(text)).toBeUndefined())

  test('base64url that is longer than its target is refused', () =>
    expect(decodeBase64urlInto(new Uint8Array(2), 'QUFB')).toBeUndefined())
})

test('any text is accepted only if encoding its bytes gives the same text', () => {
  const characters = fc.constantFrom(...'AQgwEz09-_+/= \n\t\0é\u0141')
  fc.assert(
    fc.property(fc.string({ unit: characters, maxLength: 12 }), text => {
      expect(decoded(text)).toBe(canonical(text))
    }),
    { numRuns: 3000 },
  )
})
