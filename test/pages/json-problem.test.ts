import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { findJsonProblem } from '../../src/web/dashboard/templates/json-problem.ts'

test.each([
  ['', 'value', 1, 1],
  ['{"a": }', 'value', 1, 7],
  ['[1,\n 2\n 3]', 'comma', 3, 2],
  ['{"a": 1,\n}', 'last_comma', 1, 8],
  ['[1, ]', 'last_comma', 1, 3],
  ['{a: 1}', 'name', 1, 2],
  ['{"a": 1, b}', 'name', 1, 10],
  ['{"a" 1}', 'colon', 1, 6],
  ['{"a": "b\n"}', 'text', 1, 7],
  ['["\\x"]', 'text', 1, 2],
  ['{"credentials": [', 'value', 1, 18],
  ['{} x', 'more', 1, 4],
  ['[01]', 'comma', 1, 3],
  ["['a']", 'value', 1, 2],
] as const)('the first problem of %j is %s in line %d, column %d', (text, kind, line, column) => {
  expect(() => JSON.parse(text)).toThrow()
  expect(findJsonProblem(text)).toMatchObject({ kind, line, column })
})

test('a text has a problem exactly when JSON.parse refuses it', () => {
  const parses = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const holds = (text: string) => expect([text, findJsonProblem(text) === undefined]).toEqual([text, parses(text)])
  fc.assert(fc.property(fc.json(), holds))
  // One character of a good text is taken away, doubled or replaced.
  const spoilt = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', '0', '-', 'e', ' ', '\n'),
  )
  fc.assert(
    fc.property(spoilt, ([text, at, other]) =>
      holds(text.slice(0, at % text.length) + other + text.slice((at % text.length) + 1)),
    ),
    { numRuns: 2000 },
  )
})
