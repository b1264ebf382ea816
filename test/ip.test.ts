import { expect, test } from 'bun:test'
import { isIP as nodeIsIP, isIPv6 as nodeIsIPv6 } from 'node:net'
import fc from 'fast-check'
import { isIP, isIPv6 } from '../src/ip.ts'

/** Whole addresses, and pieces of them in any order. */
const PIECES = [
  '0',
  '1',
  '10',
  '99',
  '255',
  '256',
  '01',
  'ffff',
  'abcde',
  'G',
  ':',
  '::',
  '.',
  '%',
  '%eth0',
  '/',
  ' ',
  '\n',
  '[',
  '',
]
const texts = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4Extended(),
  fc.ipV6().map(address => `${address}%eth0.1-a:b`),
  fc.tuple(fc.ipV6(), fc.constantFrom(...PIECES)).map(parts => parts.join('')),
  fc.tuple(fc.constantFrom('::', '::ffff:', '1:2:3:4:5:6:', '64:ff9b::'), fc.ipV4()).map(parts => parts.join('')),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 17 }).map(parts => parts.join('')),
  fc.array(fc.constantFrom('1', 'ab', '::'), { maxLength: 10 }).map(parts => parts.join(':')),
)

test('addresses are told from other text as the runtime does it', () => {
  fc.assert(
    fc.property(texts, text => {
      expect([text, isIP(text), isIPv6(text)]).toEqual([text, nodeIsIP(text) as 0 | 4 | 6, nodeIsIPv6(text)])
    }),
    { numRuns: 5000 },
  )
})
