import fc from 'fast-check'

const SURROGATES_FROM = 0xd800
const SURROGATES = 0x800

/**
 * Draws what fast-check's unit 'binary' draws. That one fills a table of a million characters to find its way back, which takes
 * a second of processor time in each process.
 */
export const codePoint: fc.Arbitrary<string> = fc.integer({ min: 0, max: 0x10ffff - SURROGATES }).map(
  index => String.fromCodePoint(index < SURROGATES_FROM ? index : index + SURROGATES),
  text => {
    const [char, ...more] = String(text)
    const code = char?.codePointAt(0)
    if (code === undefined || more.length > 0) throw new Error('not one code point')
    return code < SURROGATES_FROM ? code : code - SURROGATES
  },
)
