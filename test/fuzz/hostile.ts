// Requests that nobody means: odd paths, queries, methods, headers and bodies, and what is no HTTP at all.
import fc from 'fast-check'
import { codePoint } from './code-points.ts'
import { ODD_TEXTS } from './faults.ts'
import type { Operation } from './operations.ts'
import { type Param, type Parts, param } from './shapes.ts'

const oddSegment = fc.oneof(
  fc.constantFrom(...ODD_TEXTS.filter(text => text.isWellFormed())).map(text => encodeURIComponent(text).slice(0, 600)),
  fc.constantFrom(
    '%00',
    '%2f',
    '%2e%2e',
    '%ff',
    '%',
    '%zz',
    '%c0%af',
    '..',
    '.',
    '*',
    ':id',
    '{id}',
    '%F0%9F%98%80',
    '%E2%80%AE',
    '~',
    ';a=b',
  ),
  fc.string({ unit: codePoint, minLength: 1, maxLength: 12 }).map(encodeURIComponent),
  fc.constant('x'.repeat(3800)),
)

export const oddParams = ({ params }: Operation): fc.Arbitrary<Param[]> =>
  fc.tuple(
    ...params.map(() =>
      fc.oneof(
        param,
        oddSegment.map(text => ({ text })),
      ),
    ),
  )

export const oddQuery = ({ query }: Operation): fc.Arbitrary<string> => {
  const names = Object.keys((query?.properties as object) ?? { a: 1 })
  const value = fc.oneof(
    fc.constantFrom(...ODD_TEXTS.filter(text => text.isWellFormed())),
    fc.constantFrom('0', '1', '100', '101', '-1', '1e2', '05', '2.5', '9999999999', 'test', 'live', 'pending', '[]', '{}'),
  )
  const pair = fc
    .tuple(fc.oneof(fc.constantFrom(...names), fc.constantFrom('unexpected', '__proto__', 'limit[]', 'limit[a]')), value)
    .map(([name, each]) => `${encodeURIComponent(name)}=${encodeURIComponent(each).slice(0, 1500)}`)
  return fc.oneof(
    fc.array(pair, { minLength: 1, maxLength: 4 }).map(pairs => `?${pairs.join('&')}`),
    fc.constantFrom(...names).map(name => `?${name}`),
    fc.constantFrom(
      '?%',
      '?%ff=%00',
      '?=',
      '?&&&',
      '?a=1;b=2',
      `?${'a=1&'.repeat(800)}`,
      `?${'x'.repeat(4080)}`,
      `?${'x'.repeat(5000)}`,
    ),
  )
}

const KIB_64 = 64 * 1024
const MIB = 1024 * 1024

export function hostileParts(operation: Operation, good: fc.Arbitrary<Parts>): fc.Arbitrary<Parts> {
  const change: fc.MaybeWeightedArbitrary<Partial<Parts>>[] = [
    { weight: 4, arbitrary: oddParams(operation).map(params => ({ params, isAstray: true })) },
    { weight: 4, arbitrary: oddQuery(operation).map(query => ({ query })) },
    // Without a credential: another method of the same path might remove what other cases need.
    { weight: 3, arbitrary: oddMethod.map(method => ({ method, who: 'none', isAstray: true })) },
    { weight: 4, arbitrary: oddHeaders.map(headers => ({ headers })) },
    { weight: 2, arbitrary: wildHeaders.map(headers => ({ headers, isAstray: true, isWild: true })) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('PRI', 'get', 'G ET', 'X'.repeat(300)).map(method => ({ method, isAstray: true, isWild: true })),
    },
  ]
  if (operation.body) {
    change.push(
      { weight: 8, arbitrary: brokenBody.map(body => ({ body })) },
      { weight: 4, arbitrary: wrongType.map(headers => ({ headers })) },
      { weight: 1, arbitrary: largeBody(operation).map(body => ({ body })) },
      { weight: 2, arbitrary: fc.constant({ headers: [['transfer-encoding', 'chunked']] as [string, string][] }) },
    )
  }
  return fc.tuple(good, fc.oneof(...change)).map(([parts, changed]) => ({ ...parts, ...changed }))
}

const oddMethod = fc.constantFrom('PUT', 'PATCH', 'OPTIONS', 'TRACE', 'HEAD', 'GET', 'POST', 'DELETE', 'PROPFIND', 'QUERY')

const oddHeaders: fc.Arbitrary<[string, string][]> = fc.constantFrom<[string, string][][]>(
  [['authorization', 'Basic eDp5']],
  [['authorization', 'Bearer  ']],
  [['authorization', `Bearer ${'x'.repeat(8000)}`]],
  [
    ['authorization', 'Bearer vk_test_x'],
    ['authorization', 'Bearer vk_live_x'],
  ],
  [['cookie', `__Host-session=${'x'.repeat(43)}; __Host-session=${'y'.repeat(43)}`]],
  [['cookie', ';;;==%00"']],
  [
    ['x-forwarded-for', `${'1.2.3.4, '.repeat(400)}x`],
    ['forwarded', 'for=_a'],
  ],
  [
    ['accept', '\u00ff\u00fe'],
    ['accept-language', '*;q=9'],
  ],
  [
    ['expect', '200-ok'],
    ['range', 'bytes=0-0'],
    ['if-none-match', '*'],
  ],
  [
    ['x-http-method-override', 'DELETE'],
    ['x-original-url', '/dashboard'],
  ],
  [
    ['sec-fetch-site', 'cross-site'],
    ['origin', 'null'],
  ],
  [
    ['origin', 'https://verify.example.attacker.example'],
    ['x-csrf-token', 'x'],
  ],
  [['idempotency-key', 'x'.repeat(9000)]],
  [['x-padding', 'x'.repeat(11_000)]],
)

const wildHeaders: fc.Arbitrary<[string, string][]> = fc.constantFrom<[string, string][][]>(
  [['content-length', '-1']],
  [
    ['content-length', '5'],
    ['content-length', '6'],
  ],
  [
    ['transfer-encoding', 'gzip, chunked'],
    ['content-length', '3'],
  ],
  [['transfer-encoding', 'identity, chunked, x']],
  [['x-nul', 'a\u0000b']],
  [['bad name', 'x']],
  [['', 'x']],
  [['x-large', 'x'.repeat(70_000)]],
  [
    ['host', 'a'],
    ['host', 'b'],
  ],
)

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

const brokenBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 80 }),
  fc.json().map(text),
  fc
    .constantFrom(
      '',
      ' ',
      'null',
      '[]',
      '"text"',
      '{',
      '{}x',
      '{"a":}',
      "{'a':1}",
      '{"a":1,}',
      '{"a":NaN}',
      '\ufeff{}',
      '{"__proto__":{"template":"age_over_18"}}',
      '{"template":"age_over_18","template":"no_such"}',
      '{"a":"\\ud800"}',
      '{"\\udfff":1}',
      '{"a":"\\u0000"}',
      '&'.repeat(40),
      'a=1&a=2',
      'state=%',
      'vp_token=%ff&state=x',
      `${'['.repeat(40)}${']'.repeat(40)}`,
      `{"a":${'['.repeat(30_000)}`,
    )
    .map(text),
)

const wrongType: fc.Arbitrary<[string, string][]> = fc
  .constantFrom(
    '',
    'text/plain',
    'application/jsonp',
    'application/xml',
    'multipart/form-data; boundary=x',
    'json',
    '*/*',
    'application/json;charset=utf-16',
  )
  .map(type => [['content-type', type]] as [string, string][])

/** Both sides of each limit. */
const largeBody = ({ body }: Operation): fc.Arbitrary<Uint8Array> => {
  const isForm = body?.type === 'application/x-www-form-urlencoded'
  const sizes = isForm ? [32 * 1024, 32 * 1024 + 1, MIB, MIB + 1] : [KIB_64 - 1, KIB_64, KIB_64 + 1, 200_000]
  return fc
    .constantFrom(...sizes)
    .map(size => (isForm ? text(`vp_token=${'x'.repeat(size - 9)}`) : text(`{"a":"${'x'.repeat(size - 8)}"}`)))
}
