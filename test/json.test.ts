import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DoubledName, findDoubledName, parseJson } from '../src/base/json.ts'
import { leastWorkMs } from './helpers/least-work.ts'

const LIMITS = { depthMax: 32 }

describe('parseJson reads like JSON.parse', () => {
  const texts = [
    'null',
    ' {"a" : [1, -2.5e3, true, "x"] , "b":{}}\r\n\t',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
    '{"a":"a","b":"a","c":["a","a"]}',
    '["a","a",{"a":"b"},"a"]',
    '{"a":["x","y"],"x":1,"y":2}',
    '{"":1,"\\\\":2,"\\"":3,"\\\\\\"":4}',
    '{"a":"},{\\"a\\":1","b":"[\\\\"}',
    '"\\ud83d\\ude00 😀"',
    '{"toString":1,"constructor":2}',
  ]
  test.each(texts)('%s', text => expect(parseJson(text, LIMITS)).toEqual(JSON.parse(text)))

  test('__proto__ is an own property and reaches no prototype', () => {
    const value = parseJson('{"__proto__":{"admin":true},"a":{"__proto__":null}}', LIMITS)
    expect(Object.keys(value as object)).toEqual(['__proto__', 'a'])
    expect((value as { admin?: unknown }).admin).toBeUndefined()
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  test('parseJson reads random JSON like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'grapheme' }), text => {
        expect(parseJson(text, LIMITS)).toEqual(JSON.parse(text))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('parseJson counts values', () => {
  const limits = { depthMax: 4, valuesMax: 8 }
  const texts: [values: number, text: string][] = [
    [8, '[1,2,3,4,5,6,7]'],
    [8, '{"a":1,"b":[],"c":{"d":[1,2]}}'],
    [8, '["[,{","\\"",{},[[]]]'],
    [9, '[1,2,3,4,5,6,7,8]'],
    [9, '{"a":1,"b":[],"c":{"d":[1,2,3]}}'],
    [9, '["[,{","\\"",{},[[]],"x"]'],
    [9, '[[[]],[[]],[[]],[]]'],
  ]
  test.each(texts)('%d in %s, where an empty container counts as if it had one', (values, text) => {
    if (values <= 8) expect(parseJson(text, limits)).toEqual(JSON.parse(text))
    else expect(() => parseJson(text, limits)).toThrow('more than 8 values')
    expect(parseJson(text, { depthMax: 4 })).toEqual(JSON.parse(text))
  })
})

describe('parseJson refuses', () => {
  const cases: [string, string][] = [
    ['a name twice', '{"a":1,"a":1}'],
    ['a name twice, once escaped', '{"a":1,"\\u0061":2}'],
    ['a name twice in an inner object', '[0,{"x":{"b":1,"c":[],"b":2}}]'],
    ['a name twice around a container', '{"a":{"b":[1,{"c":2}]},"a":1}'],
    ['__proto__ twice', '{"__proto__":1,"__proto__":2}'],
    ['an escaped half of a surrogate pair in a value', '["\\ud800"]'],
    ['an escaped half of a surrogate pair in a name', '{"\\udc00":1}'],
    ['two halves in the wrong order', '["\\ude00\\ud83d"]'],
    ['a raw half of a surrogate pair', '["\ud800"]'],
    ['an escaped U+0000 in a value', '[{"a":"b\\u0000"}]'],
    ['an escaped U+0000 in a name', '{"a\\u0000":1}'],
    ['a raw U+0000', '["\0"]'],
    ['a byte order mark', '\ufeff{}'],
    ['nothing', ''],
    ['a trailing comma', '[1,]'],
    ['a single quote', "{'a':1}"],
    ['text after the value', '{} {}'],
    ['a string without an end', '["a\\"]'],
    ['a bad escape', '["\\x41"]'],
    ['an unopened container', ']'],
    ['NaN', '[NaN]'],
  ]
  test.each(cases)('%s', (_, text) => expect(() => parseJson(text, LIMITS)).toThrow(SyntaxError))

  test('parseJson refuses one level more than the limit, of arrays, objects or both', () => {
    for (const [opening, closing] of [
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":', '}]'],
    ] as const) {
      const nested = (times: number) => `${opening.repeat(times)}0${closing.repeat(times)}`
      const depth = opening.length === 6 ? 2 : 1
      expect(() => parseJson(nested(32 / depth), LIMITS)).not.toThrow()
      expect(() => parseJson(nested(32 / depth + 1), LIMITS)).toThrow('nested deeper than 32 levels')
    }
  })

  test('the error of parseJson quotes nothing of the text', () => {
    for (const text of ['{"secret":secret}', '["\\secret"]', '{"secret":1,"secret":2}', 'secret']) {
      expect(() => parseJson(text, LIMITS)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('secret') }))
    }
  })

  test('parseJson refuses any object with a doubled name', () => {
    const name = fc.string().filter(text => !text.includes('\0'))
    const members = fc.uniqueArray(fc.tuple(name, fc.jsonValue()), { minLength: 1, selector: ([name]) => name })
    fc.assert(
      fc.property(members, fc.nat(), fc.boolean(), (all, pick, isEscaped) => {
        const [name] = all[pick % all.length] as [string, unknown]
        const again = isEscaped ? escapedName(name) : JSON.stringify(name)
        const text = `{${all.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()},${again}:0}`
        expect(() => parseJson(text, { depthMax: 1000 })).toThrow(DoubledName)
        expect(findDoubledName(text)).toBe(name)
      }),
      { numRuns: 500 },
    )
  })
})

test('parseJson accepts u0000 after an escaped backslash, which is plain text', () => {
  expect(parseJson('{"a\\\\u0000":"\\\\ud800"}', LIMITS)).toEqual({ 'a\\u0000': '\\ud800' })
})

test('the doubled name is found at any depth', () => {
  const texts: [text: string, name: string | undefined][] = [
    ['{"a":"a","b":["a","a"],"c":{"a":1,"b":2}}', undefined],
    ['{"a":{"b":1},"c":[{"b":1},{"b" : 2,"d":0,"b":3}]}', 'b'],
    ['{"\\"}{":1,"x":"{\\\\","\\"}\\u007b":2}', '"}{'],
  ]
  for (const [text, name] of texts) expect(findDoubledName(text)).toBe(name)
})

test('parseJson takes less than a second for the worst 256 KiB', async () => {
  const size = 256 * 1024
  const worst = [
    '['.repeat(size),
    '"'.repeat(size),
    '\\'.repeat(size),
    `"${'\\'.repeat(size)}`,
    `[${'"",'.repeat(size / 3)}"\\\\"]`,
    `["${'\\"'.repeat(size / 2)}"]`,
    `{"${'a'.repeat(size)}":1,"a":{"b":1,"b":2}}`,
    `{${Array.from({ length: size / 10 }, (_, index) => `"${index}":0`).join()}}`,
  ]
  for (const text of worst) {
    const parse = () => {
      try {
        parseJson(text, LIMITS)
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError)
        if (error instanceof DoubledName) expect(findDoubledName(text)).toBe('b')
      }
    }
    expect(await leastWorkMs(parse)).toBeLessThan(1000)
  }
})

function escapedName(name: string): string {
  return `"${[...Array(name.length).keys()].map(at => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
}
