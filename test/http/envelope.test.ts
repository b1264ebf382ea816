// Every response that is not 2xx has the error envelope, for any request that is still HTTP.
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Call, type ErrorBody, startApp, startWithTenant, until } from '../helpers/app.ts'
import { words } from '../helpers/words.ts'

const { app, key } = await startWithTenant()

const post = (call: Call) =>
  app.call<ErrorBody>('POST', '/v1/verifications', {
    key,
    ...call,
    headers: { 'content-type': 'application/json', ...call.headers },
  })

async function enveloped(answer: Promise<{ status: number; body: ErrorBody; headers: Headers }>, status: number, code: string) {
  const { status: given, body, headers } = await answer
  expect([given, body?.error?.code]).toEqual([status, code])
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error)).toEqual(['code', 'message'])
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(headers.get('x-request-id')).toMatch(/^req_/)
  return body
}

describe('routes', () => {
  test.each([
    '/v1',
    '/v1/nope',
    '/v2/verifications',
    '/v1/verifications/a/b/c',
    '/wallet',
    '/%00',

    '//evil.example/',
  ])('GET %s is 404 not_found', async path => {
    await enveloped(app.call<ErrorBody>('GET', path), 404, 'not_found')
  })

  test.each([
    ['PUT', '/v1/verifications', 'GET, HEAD, POST'],
    ['DELETE', '/v1/verifications', 'GET, HEAD, POST'],
    ['PATCH', '/v1/verifications/vs_x', 'DELETE, GET, HEAD'],
    ['POST', '/v1/verifications/vs_x/status', 'GET, HEAD'],
    ['POST', '/v1/usage', 'GET, HEAD'],
    ['OPTIONS', '/v1/usage', 'GET, HEAD'],
  ])('%s %s is 405 method_not_allowed with Allow', async (method, path, allow) => {
    const answer = app.call<ErrorBody>(method, path)
    await enveloped(answer, 405, 'method_not_allowed')
    expect((await answer).headers.get('allow')).toBe(allow)
  })

  test('methods that no route has are 405 as well', async () => {
    for (const method of ['TRACE', 'PROPFIND']) {
      const answer = await rawExchange(`${method} /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
      expect(answer).toMatch(/^HTTP\/1\.1 405 /)
      expect(answer).toContain('"code":"method_not_allowed"')
    }
  })

  test('a host name of one letter, as on a LAN, changes nothing', async () => {
    const from = (line: string) => rawExchange(`${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    expect(await from('GET /healthz')).toMatch(/^HTTP\/1\.1 200 /)
    expect(await from('GET /v1/verifications/vs_x/status')).toContain('"code":"session_not_found"')
    expect(await from('GET /v1/verifications/vs_x')).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('a URL longer than 4096 characters is 414, even far beyond', async () => {
    for (const length of [5000, 15_000])
      await enveloped(app.call<ErrorBody>('GET', `/v1/verifications/${'a'.repeat(length)}`, { key }), 414, 'invalid_request')
    expect((await app.call('GET', `/v1/verifications/${'a'.repeat(3900)}`, { key })).status).toBe(404)
  })

  test('HEAD answers as GET does, without a body', async () => {
    const { status, text } = await app.call('HEAD', '/v1/usage', { key })
    expect([status, text]).toEqual([200, ''])
  })
})

describe('query parameters', () => {
  const list = (query: string, given = key) => app.call<ErrorBody>('GET', `/v1/verifications?${query}`, { key: given })

  test('a repeated parameter is 400 by its name, however it is written', async () => {
    for (const query of [
      'limit=1&limit=2',
      'limit=1&limit=1',
      'limit=1&%6Cimit=2',
      'before=2026-01-01T00:00:00Z&limit=1&limit=1',
    ]) {
      const { error } = await enveloped(list(query), 400, 'invalid_request')
      expect(error.message).toBe('limit: is repeated; send it once')
    }
    expect((await list('limit=1&before=2026-01-01T00:00:00Z')).status).toBe(200)
  })

  test('a repeated parameter of a stranger is 401', async () => {
    await enveloped(list('limit=1&limit=2', 'vk_test_nobody'), 401, 'invalid_api_key')
  })

  test('a repeated parameter is ignored where every parameter is', async () => {
    const { body } = await app.call<{ id: string }>('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
    expect((await app.call('GET', `/v1/verifications/${body.id}?a=1&a=2`, { key })).status).toBe(200)
    expect((await app.call('GET', `/wallet/request/${body.id}?from=qr&from=qr`)).status).toBe(200)
  })
})

describe('bodies', () => {
  const padded = (bytes: number) => {
    const body = JSON.stringify({ template: 'age_over_18', purpose: '' })
    return `${body.slice(0, -2)}x"}${' '.repeat(bytes - body.length - 1)}`
  }
  const chunked = (text: string) => new Blob([text]).stream()

  test.each([
    ['broken JSON', '{"template":'],
    ['nothing', ''],
    ['two values', '{"template":"age_over_18"}{}'],
    ['a comment', '{"template":"age_over_18"/**/}'],
    ['NaN', '{"ttl_seconds":NaN}'],
    ['a byte order mark before broken JSON', '\ufeff{'],
    ['a form', 'template=age_over_18'],
  ])('%s is 400 invalid_request', async (_, raw) => {
    await enveloped(post({ raw }), 400, 'invalid_request')
  })

  test('bytes that are not UTF-8 are 400', async () => {
    const raw = Buffer.concat([
      Buffer.from('{"template":"age_over_18","purpose":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ])
    await enveloped(post({ raw }), 400, 'invalid_request')
  })

  test('a lone surrogate in a value or a key is 400', async () => {
    await enveloped(post({ raw: '{"template":"age_over_18","purpose":"\\ud800"}' }), 400, 'invalid_request')
    await enveloped(post({ raw: '{"template":"age_over_18","metadata":{"\\udc00":"x"}}' }), 400, 'invalid_request')
    expect((await post({ raw: '{"template":"age_over_18","purpose":"\\ud83c\\udf77"}' })).status).toBe(201)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application/json-patch+json', ''])(
    'the content type %p is 400',
    async type => {
      await enveloped(post({ raw: '{"template":"age_over_18"}', headers: { 'content-type': type } }), 400, 'invalid_request')
    },
  )

  test('a content type with parameters and in capitals is accepted', async () => {
    expect(
      (await post({ raw: '{"template":"age_over_18"}', headers: { 'content-type': 'Application/JSON; charset=utf-8' } })).status,
    ).toBe(201)
  })

  test.each([
    ['with its length stated', (text: string) => text],
    ['in chunks', chunked],
  ])('64 KiB is accepted and one byte more is 413, %s', async (_, send) => {
    expect((await post({ raw: send(padded(64 * 1024)) })).status).toBe(201)
    await enveloped(post({ raw: send(padded(64 * 1024 + 1)) }), 413, 'invalid_request')
  })

  test('5 MB is 413 with the error envelope too', async () => {
    await enveloped(post({ raw: padded(5_000_000) }), 413, 'invalid_request')
    await enveloped(post({ raw: chunked(padded(5_000_000)) }), 413, 'invalid_request')
  })

  test('32 levels are parsed and 33 are refused before parsing', async () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect((await post({ raw: nested(32) })).body.error.message).toMatch(/^a: /)
    expect((await post({ raw: nested(33) })).body.error.message).toMatch(/deeper than 32/)
    await enveloped(post({ raw: '['.repeat(30_000) }), 400, 'invalid_request')
    await enveloped(post({ raw: `${'['.repeat(30_000)}${']'.repeat(30_000)}` }), 400, 'invalid_request')
  })

  test('brackets inside strings do not count as levels', async () => {
    expect(
      (await post({ raw: JSON.stringify({ template: 'age_over_18', purpose: `${'['.repeat(100)}"\\"${'{'.repeat(100)}` }) }))
        .status,
    ).toBe(201)
  })

  test('__proto__ is an ordinary unknown field, and an ordinary metadata key', async () => {
    await enveloped(post({ raw: '{"template":"age_over_18","__proto__":{"x":1}}' }), 400, 'invalid_request')
    const { status, text } = await post({ raw: '{"template":"age_over_18","metadata":{"__proto__":"a","constructor":"b"}}' })
    expect(status).toBe(201)
    expect(text).toContain('"metadata":{"__proto__":"a","constructor":"b"}')
  })

  test.each([
    ['at the top', '{"template":"nope","template":"age_over_18"}', 'template'],
    ['in an inner object', '{"template":"age_over_18","metadata":{"order":"1","x":"2","order":"1"}}', 'order'],
    ['once escaped', '{"template":"age_over_18","templ\\u0061te":"age_over_18"}', 'template'],
  ])('a body with a doubled name, %s, is 400 and the message has the name', async (_, raw, name) => {
    const { message } = (await enveloped(post({ raw }), 400, 'invalid_request')).error
    expect(message).toBe(`body: an object has the name "${name}" twice; send each name once`)
  })

  test('a doubled name is cut to 64 characters in the message', async () => {
    const name = JSON.stringify('x'.repeat(1000))
    const { message } = (await enveloped(post({ raw: `{${name}:1,${name}:2}` }), 400, 'invalid_request')).error
    expect(message).toContain(`"${'x'.repeat(64)}"`)
  })

  test.each([
    ['a value', '{"template":"age_over_18","purpose":"a\\u0000b"}'],
    ['a name', '{"template":"age_over_18","metadata":{"a\\u0000":"b"}}'],
    ['an object of the query', '{"query":{"credentials":[{"x":["\\u0000"]}]}}'],
  ])('U+0000 in %s of a body is 400', async (_, raw) => {
    const { message } = (await enveloped(post({ raw }), 400, 'invalid_request')).error
    expect(message).toBe('body: the character U+0000; leave it out')
  })
})

test.each([
  ['no Host header', 'GET /healthz HTTP/1.1\r\n\r\n'],
  ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n'],
  ['two lengths', 'POST /v1/verifications HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}'],
  [
    'length and chunks',
    'POST /v1/verifications HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
])('%s: the connection is refused and closed, nothing is smuggled', async (_, request) => {
  expect(await rawExchange(request)).toMatch(/^HTTP\/1\.1 400 |^$/)
})

test('a body with its Content-Length sent twice is 400, also within the limit', async () => {
  const send = (bytes: number, lengths: number) => {
    const head = 'POST /v1/devices/enroll HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n'
    return rawExchange(`${head}${`Content-Length: ${bytes}\r\n`.repeat(lengths)}\r\n${'x'.repeat(bytes)}`)
  }
  expect(await send(70_000, 1)).toStartWith('HTTP/1.1 413 ')
  for (const bytes of [200, 70_000]) {
    const answer = await send(bytes, 2)
    expect(answer).toStartWith('HTTP/1.1 400 ')
    expect(answer).toContain('"code":"invalid_request","message":"Content-Length: send the header once"')
  }
})

test('headers of 15 KiB are accepted, and of 17 KiB refused with 431', async () => {
  const statusWith = async (kib: number) =>
    (await rawExchange(`GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(kib * 1024)}\r\nConnection: close\r\n\r\n`)).slice(
      9,
      12,
    )
  expect([await statusWith(15), await statusWith(17)]).toEqual(['200', '431'])
})

test('every response has the security headers', async () => {
  for (const path of ['/healthz', '/nope', '/v1/usage', '/metrics']) {
    const { headers } = await app.call('GET', path)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
  }
})

test('HSTS is sent for public names only, because it covers every port of a host', async () => {
  const hosts = words('localhost:3000 shop.localhost till.local verify.internal till-server 192.168.10.2 [fd00::1]:8443')
  for (const host of [...hosts, 'verify.shop.example:8443']) {
    const own = await startApp({ config: { publicUrl: `https://${host}` } })
    const header = (await own.call('GET', '/healthz')).headers.get('strict-transport-security')
    expect([host, header !== null]).toEqual([host, host.startsWith('verify.shop')])
  }
})

test('an unexpected error is 500 internal_error without its cause, and the log names its place', async () => {
  const { app: own, ...tenant } = await startWithTenant({ resolve: () => Promise.reject(new Error('secret detail')) })
  own.deps.audit.append = async () => {
    throw new RangeError('secret detail')
  }
  const answer = own.call<ErrorBody>('POST', '/v1/verifications', {
    key: tenant.key,
    body: { template: 'age_over_18', purpose: 'canary' },
  })
  await enveloped(answer, 500, 'internal_error')
  expect((await answer).text).not.toContain('secret detail')
  const lines = own.logs.join('\n')
  expect(lines).toContain('RangeError')
  expect(lines).not.toContain('secret detail')
  expect(lines).not.toContain('canary')
  expect(
    (await own.call<{ verifications_created: number }>('GET', '/v1/usage', { key: tenant.key })).body.verifications_created,
  ).toBe(0)
})

test('the log has routes, statuses and prefixes, and no key, id, purpose, metadata or merchant URL', async () => {
  const { app: own, ...tenant } = await startWithTenant()
  const canaries = {
    purpose: 'canary-purpose',
    metadata: { k: 'canary-value' },
    redirect_url: 'https://canary.example/r',
    webhook_url: 'https://canary.example/w',
  }
  const { body } = await own.call<{ id: string }>('POST', '/v1/verifications', {
    key: tenant.key,
    body: { template: 'age_over_18', ...canaries },
    headers: { 'idempotency-key': 'canary-key' },
  })
  await own.call('GET', `/v1/verifications/${body.id}?q=canary`, { key: tenant.key })
  await own.call('GET', `/v1/verifications/${body.id}/status`)
  await own.call('GET', '/v1/usage', { key: `${tenant.key}x` })
  await own.call('DELETE', `/v1/verifications/${body.id}`, { key: tenant.key })
  await until(async () => own.logs.some(line => line.includes('"method":"DELETE"')))
  const lines = own.logs.join('\n')
  expect(lines).toContain('"route":"/v1/verifications/:id/status"')
  for (const secret of [tenant.key, tenant.key.slice(12), body.id, 'canary']) expect(lines).not.toContain(secret)
})

function rawExchange(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const { hostname, port } = new URL(app.url)
    const socket = connect(Number(port), hostname, () => socket.write(request))
    socket.on('data', data => {
      answer += data
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

test('GET / redirects to the dashboard', async () => {
  const response = await fetch(`${app.url}/`, { redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).toEqual([302, 'dashboard'])
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
})
