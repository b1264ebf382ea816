import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import { newSecret, newVerificationId, newWebhookSecret } from '../src/base/ids.ts'
import { createLog, describeFailure, LOG_LEVELS, type LogFields, type LogLevel } from '../src/base/log.ts'
import { Unavailable } from '../src/base/unavailable.ts'
import { anyText } from './helpers/texts.ts'

const AT = Date.parse('2026-03-04T12:30:15.123Z')
const random = (count: number) => randomBytes(count)

function logging({ level = 'debug', pretty = false }: { level?: LogLevel; pretty?: boolean } = {}) {
  const lines: string[] = []
  return { lines, log: createLog({ level, now: () => AT, write: line => void lines.push(line), isPretty: () => pretty }) }
}

function lineOf(fields: LogFields, pretty = false): string {
  const { lines, log } = logging({ pretty })
  log.info('request', fields)
  expect(lines).toHaveLength(1)
  return lines[0]!
}

describe('levels', () => {
  const EVENTS = ['debug', 'info', 'warn', 'error'] as const

  test('each level writes itself and more serious ones; silent writes nothing', () => {
    for (const level of LOG_LEVELS) {
      const { lines, log } = logging({ level })
      for (const each of EVENTS) log[each]('event')
      const shown = lines.map(line => JSON.parse(line).level)
      expect(shown).toEqual(level === 'silent' ? [] : EVENTS.slice(EVENTS.indexOf(level)))
    }
  })
})

describe('a JSON line', () => {
  test('a JSON line has time, level, event and the given fields', () => {
    expect(JSON.parse(lineOf({ request_id: 'req_1', status: 201, ms: 1.5, tenant: undefined }))).toEqual({
      time: '2026-03-04T12:30:15.123Z',
      level: 'info',
      event: 'request',
      request_id: 'req_1',
      status: 201,
      ms: 1.5,
    })
  })

  test('a JSON line stays one line of valid JSON with the same text, whatever a field contains', () => {
    fc.assert(
      fc.property(anyText(), detail => {
        const line = lineOf({ detail })
        expect(line).not.toMatch(UNPRINTABLE)
        expect(JSON.parse(line).detail).toBe(detail)
      }),
    )
  })
})

describe('a pretty line', () => {
  test('a pretty line has time, level, event and fields', () => {
    expect(lineOf({ status: 201, detail: 'as told' }, true)).toBe('12:30:15.123 info  request status=201 detail="as told"')
    expect(lineOf({}, true)).toBe('12:30:15.123 info  request')
    expect(lineOf({ status: 401, key_prefix: undefined, tenant: undefined }, true)).toBe('12:30:15.123 info  request status=401')
  })
})

/** C0 and C1 controls, delete, and the two separators of Unicode: each can end a line or steer a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/

test('control characters are escaped, in JSON and in pretty lines', () => {
  const controls = [...new Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i), 0x2028, 0x2029]
  for (const pretty of [false, true]) {
    for (const code of controls) {
      const line = lineOf({ detail: `a${String.fromCodePoint(code)}b` }, pretty)
      expect([code, UNPRINTABLE.test(line)]).toEqual([code, false])
      expect(line).toMatch(/"a\\(u[0-9a-f]{4}|[bfnrt])b"/)
    }
  }
})

describe('secrets in a field by mistake', () => {
  const secrets: [kind: string, secret: string, shown: string][] = [
    ['test key', newSecret(random, 'vk_test_'), 'vk_test_'],
    ['live key', newSecret(random, 'vk_live_'), 'vk_live_'],
    ['session id', newVerificationId(random), 'vs_'],
    ['access token', newSecret(random, 'vd_'), 'vd_'],
    ['refresh token', newSecret(random, 'vdr_'), 'vdr_'],
    ['webhook secret', newWebhookSecret(random), 'whsec_'],
    ['webhook secret with every sign', `whsec_+/${'Ab3+/'.repeat(8).slice(2)}`, 'whsec_'],
    ['pairing code', 'VD-7K3M-9QZX', ''],
  ]
  const surroundings: [before: string, after: string][] = [
    ['', ''],
    ['Bearer ', ''],
    ['key=', '&x=1'],
    ['"', '"'],
    ['(', ')'],
    ['/v1/verifications/', '/status'],
    ['first\n', '\nlast'],
    ['\t', '\t'],
    ['\r', ''],
    ['\b', ''],
    ['\f', ''],
    ['\u0001', ''],
    ['\u009b', ''],
    ['\\', ''],
    ['x', ''],
    ['_', ''],
    ['é', ' é'],
  ]

  for (const [kind, secret, shown] of secrets) {
    test(`a ${kind} is masked anywhere in a line`, () => {
      for (const pretty of [false, true]) {
        for (const [before, after] of surroundings) {
          const line = lineOf({ detail: `${before}${secret}${after}` }, pretty)
          const hidden = secret.slice(shown.length + (shown.startsWith('vk_') ? 4 : 0))
          expect([before, line.includes(hidden) || line.includes(hidden.slice(0, 9))]).toEqual([before, false])
          expect(line).toContain('***')
        }
      }
    })
  }

  test('an API key keeps its first twelve characters, which identify it', () => {
    const key = newSecret(random, 'vk_live_')
    expect(JSON.parse(lineOf({ detail: key })).detail).toBe(`${key.slice(0, 12)}***`)
  })

  test('several secrets in a line are all masked', () => {
    const [one, other] = [newSecret(random, 'vk_live_'), newVerificationId(random)]
    const line = lineOf({ detail: `${one} ${other}`, address: one, failure: other })
    expect(line.match(/\*\*\*/g)).toHaveLength(4)
    for (const secret of [one, other]) expect(line).not.toContain(secret.slice(14))
  })

  test('a line with a masked secret is still valid JSON', () => {
    for (const [, secret] of secrets) {
      for (const [before, after] of surroundings) {
        expect(() => JSON.parse(lineOf({ detail: before + secret + after }))).not.toThrow()
      }
    }
  })

  test('text that only resembles a secret stays readable', () => {
    for (const detail of [
      'key_prefix vk_live_Ab3x',
      'vs_',
      'POST /v1/verifications/:id',
      'sandbox vd_ x',
      'VD-',
      'ten_0123456789abcdef',
    ]) {
      expect(JSON.parse(lineOf({ detail })).detail).toBe(detail)
    }
  })
})

describe('describeFailure', () => {
  test("a refusal of PostgreSQL is told by the server's own code", () => {
    const refused = Object.assign(new Error('duplicate key'), { code: 'ERR_POSTGRES_SERVER_ERROR', errno: '23505' })
    expect(describeFailure(refused)).toStartWith('Error 23505')
    expect(describeFailure(new Error('failed query', { cause: refused }))).toStartWith('Error 23505')
  })

  test('describeFailure names class, code and place, and not the message', () => {
    const failure = Object.assign(new TypeError('offending value 4711'), { code: 'ERR_BAD' })
    const text = describeFailure(failure)
    expect(text).toMatch(/^TypeError ERR_BAD \S+log\.test\.ts:\d+$/)
    expect(text).not.toContain('4711')
  })

  test('each error of ours has a name that the build does not shorten', async () => {
    const unnamed: string[] = []
    for await (const file of new Bun.Glob('**/*.ts').scan({ cwd: join(import.meta.dir, '../src') })) {
      if (file.startsWith('web/')) continue
      const text = await Bun.file(join(import.meta.dir, '../src', file)).text()
      for (const [, name] of text.matchAll(/class (\w+) extends \w*Error\b/g))
        if (!text.includes(`name = '${name}'`)) unnamed.push(`${file}: ${name}`)
    }
    expect(unnamed).toEqual([])
    expect(describeFailure(new Unavailable('x'))).toStartWith('Unavailable ')
  })

  test('describeFailure gives name and code of a wrapped error', () => {
    const full = Object.assign(new Error('INSERT 4711'), { code: 'SQLITE_FULL' })
    const text = describeFailure(new Error('params: 4711', { cause: full }))
    expect(text).toMatch(/^Error SQLITE_FULL \S+log\.test\.ts:\d+$/)
    const away = new Unavailable('4711', { cause: Object.assign(new Error('4711'), { code: 'ERR_POSTGRES_CONNECTION_CLOSED' }) })
    expect(describeFailure(new Error('SELECT 4711', { cause: away }))).toStartWith('Unavailable ERR_POSTGRES_CONNECTION_CLOSED ')
    expect(describeFailure(new Error('x', { cause: 'secret' }))).toMatch(/^Error \S+:\d+$/)
    expect(describeFailure(new Error('x', { cause: null }))).toMatch(/^Error \S+:\d+$/)
  })

  test('a message that looks like a place is not taken for one', () => {
    for (const message of [
      'secret-value:12:34',
      'cannot read (secret-value:1:2)',
      'first\nsecret-value:12:34',
      '\n    at secret-value:1:2',
    ]) {
      const text = describeFailure(new RangeError(message))
      expect(text).not.toContain('secret-value')
      expect(text).toMatch(/^RangeError \S+log\.test\.ts:\d+$/)
    }
  })

  test('describeFailure names the class of an error without a stack, and the type of anything else', () => {
    const bare = new Error('secret-value:1:2')
    bare.stack = undefined
    expect(describeFailure(bare)).toBe('Error')
    for (const [thrown, text] of [
      ['secret', 'string'],
      [undefined, 'undefined'],
      [null, 'object'],
      [{ secret: 1 }, 'object'],
    ] as const) {
      expect(describeFailure(thrown)).toBe(text)
    }
  })

  test('describeFailure leaves out a code that is not a string', () => {
    expect(describeFailure(Object.assign(new Error('x'), { code: 5 }))).toMatch(/^Error \S+:\d+$/)
  })
})
