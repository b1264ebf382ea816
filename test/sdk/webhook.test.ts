import { describe, expect, spyOn, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { newWebhookSecret } from '../../src/base/ids.ts'
import {
  type RawBody,
  signStandardWebhook,
  signWebhook,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
  type WebhookVerification,
} from '../../src/sdk/webhook.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { temporaryDir } from '../helpers/app.ts'
import { seeded } from '../helpers/seeded.ts'
import { anyText } from '../helpers/texts.ts'
import { bodyOf, signVectors, standardVectors, type VerifyVector, verifyVectors } from './vectors.ts'

const SOURCE = resolve(import.meta.dir, '../../src/sdk/webhook.ts')
const VECTORS = resolve(import.meta.dir, '../../src/sdk/webhook-vectors.json')

const NOW = 1_772_625_600
const [secret, otherSecret] = [newWebhookSecret(seeded(1).bytes), newWebhookSecret(seeded(2).bytes)]
const event: WebhookEvent = {
  type: 'verification.completed',
  verification: {
    id: 'vs_1',
    status: 'completed',
    created_at: '2026-03-04T11:59:00.000Z',
    expires_at: '2026-03-04T12:04:00.000Z',
  },
  sent_at: '2026-03-04T12:00:00.000Z',
}
const payload = JSON.stringify(event)
const signed = (changes: { payload?: RawBody; secrets?: string[]; timestamp?: number } = {}) =>
  signWebhook({ payload, secrets: [secret], timestamp: NOW, ...changes })

type Call = Partial<Parameters<typeof verifyWebhook>[0]>
const verified = async (changes: Call = {}) =>
  await verifyWebhook({ payload, header: await signed(), secret, now: NOW, ...changes })

/** `accept`, or the code of the error. Other errors fail the test. */
async function verdict(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'accept'
  } catch (error) {
    if (error instanceof WebhookError) return error.code
    throw error
  }
}
const verdictOn = ({ header, secrets, tolerance, now }: VerifyVector, body: RawBody) =>
  verdict(verifyWebhook({ payload: body, header, secret: secrets, tolerance, now }))

describe('the vectors', () => {
  test('there are at least forty vectors with unique names', () => {
    expect(verifyVectors.length).toBeGreaterThanOrEqual(40)
    expect(new Set(verifyVectors.map(({ name }) => name)).size).toBe(verifyVectors.length)
  })

  test.each(verifyVectors.map(vector => [vector.name, vector] as const))('%s', async (_, vector) => {
    const body = bodyOf(vector)
    expect(await verdictOn(vector, body)).toBe(vector.expect)
    expect(await verdictOn(vector, body.slice().buffer as ArrayBuffer)).toBe(vector.expect)
    if (vector.payload_base64 === undefined) expect(await verdictOn(vector, Buffer.from(body).toString())).toBe(vector.expect)
  })

  test.each(signVectors.map(vector => [vector.name, vector] as const))('signing: %s', async (_, vector) => {
    const { secrets, timestamp, header } = vector
    expect(await signWebhook({ payload: bodyOf(vector), secrets, timestamp })).toBe(header)
  })

  test.each(standardVectors.map(vector => [vector.name, vector] as const))('Standard Webhooks: %s', async (_, vector) => {
    const { id, secrets, timestamp, signature } = vector
    expect(await signStandardWebhook({ id, payload: bodyOf(vector), secrets, timestamp })).toEqual({
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
    })
  })

  const node = Bun.which('node') ?? ''
  test.skipIf(!node)(node ? 'give the same under Node.js' : 'SKIPPED: there is no Node.js here to run them under', () => {
    const dir = temporaryDir()
    writeFileSync(join(dir, 'webhook.mjs'), new Bun.Transpiler({ loader: 'ts' }).transformSync(readFileSync(SOURCE, 'utf8')))
    writeFileSync(join(dir, 'driver.mjs'), NODE_DRIVER)
    const said = JSON.parse(execFileSync(node, [join(dir, 'driver.mjs'), VECTORS], { encoding: 'utf8' }))
    expect(said).toEqual({
      verify: verifyVectors.map(vector => vector.expect),
      sign: signVectors.map(({ header }) => header),
      standard: standardVectors.map(({ signature }) => signature),
    })
  })
})

const NODE_DRIVER = `
import { readFileSync } from 'node:fs'
import { signStandardWebhook, signWebhook, verifyWebhook } from './webhook.mjs'
const vectors = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const bodyOf = ({ payload, payload_base64: bytes, payload_parts: parts }) =>
  payload ?? (bytes !== undefined ? Buffer.from(bytes, 'base64') : parts.before + parts.repeat.repeat(parts.times) + parts.after)
const verdict = ({ header, secrets: secret, tolerance, now, ...body }) =>
  verifyWebhook({ payload: bodyOf(body), header, secret, tolerance, now }).then(() => 'accept', error => error.code)
const [verify, sign, standard] = await Promise.all([
  Promise.all(vectors.verify.map(verdict)),
  Promise.all(vectors.sign.map(({ secrets, timestamp, ...body }) => signWebhook({ payload: bodyOf(body), secrets, timestamp }))),
  Promise.all(vectors.standard.map(({ id, secrets, timestamp, ...body }) =>
    signStandardWebhook({ id, payload: bodyOf(body), secrets, timestamp }))),
])
console.log(JSON.stringify({ verify, sign, standard: standard.map(headers => headers['webhook-signature']) }))
`

describe('the file', () => {
  test('sdk/webhook.ts imports nothing and names no runtime', () => {
    const { imports } = new Bun.Transpiler({ loader: 'ts' }).scan(readFileSync(SOURCE, 'utf8'))
    expect(imports).toEqual([])
    expect(readFileSync(SOURCE, 'utf8')).not.toMatch(/^import|\brequire\(|\bBuffer\b|\bprocess\.|\bBun\.|\bDeno\.|node:/m)
  })

  test('the examples of sdk/webhook.ts run', async () => {
    const examples = [...readFileSync(SOURCE, 'utf8').matchAll(/^ \* ```ts\n([\s\S]*?)^ \* ```$/gm)].map(([, lines = '']) =>
      lines.replace(/^ \* ?/gm, ''),
    )
    expect(examples).toHaveLength(2)
    const file = join(temporaryDir(), 'examples.ts')
    const head = `import { signWebhook, verifyWebhook, WebhookError } from ${JSON.stringify(SOURCE)}\n`
    const ask = `const ask = (signature: string) => receive(new Request('http://localhost/', { method: 'POST', body: payload, headers: { 'x-service-signature': signature } }))\n`
    writeFileSync(
      file,
      `${head}${examples.join('\n')}${ask}export const answers = [await ask(header), await ask('t=1,v1=')], read = event\n`,
    )
    const { answers, read } = (await import(file)) as { answers: Response[]; read: WebhookEvent }
    expect(await Promise.all(answers.map(async answer => [answer.status, await answer.text()]))).toEqual([
      [200, '{"received":"vs_1"}'],
      [400, 'timestamp_out_of_tolerance'],
    ])
    expect(read.verification.id).toBe('vs_1')
  })

  test('the types of sdk/webhook.ts match the messages of the service', () => {
    type Sent = Omit<Verification, 'status' | 'wallet_uri' | 'request_uri'>
    type Described = Omit<WebhookVerification, 'status'>
    const toDescribed = (sent: Sent): Described => sent
    const toSent = (described: Described): Sent => described
    const toStatus = (status: WebhookVerification['status']): Verification['status'] => status
    const keys: Record<keyof Described, true> & Record<keyof Sent, true> = {
      ...{ id: true, template: true, claims: true, credentials: true, error: true, metadata: true, purpose: true },
      ...{ redirect_url: true, created_at: true, expires_at: true, responded_at: true },
    }
    expect([toDescribed, toSent, toStatus, keys]).toHaveLength(4)
  })
})

describe('verifyWebhook', () => {
  test('verifyWebhook returns the signed event', async () => {
    expect(await verified()).toEqual(event)
  })

  test('verifyWebhook uses the clock of the machine by default', async () => {
    const now = Math.floor(Date.now() / 1000)
    expect(await verdict(verified({ now: undefined, header: await signed({ timestamp: now }) }))).toBe('accept')
    expect(await verdict(verified({ now: undefined, header: await signed({ timestamp: now - 400 }) }))).toBe(
      'timestamp_out_of_tolerance',
    )
  })

  test('verifyWebhook checks header, time, signature and payload in this order', async () => {
    const faults: [Call, string][] = [
      [{ payload: 'x', secret: otherSecret, now: NOW + 301, header: undefined }, 'missing_header'],
      [{ payload: 'x', secret: otherSecret, now: NOW + 301, header: 'v1=' }, 'malformed_header'],
      [{ payload: 'x', secret: otherSecret, now: NOW + 301 }, 'timestamp_out_of_tolerance'],
      [{ payload: 'x', secret: otherSecret }, 'no_match'],
      [{ payload: 'x', header: await signed({ payload: 'x' }) }, 'invalid_payload'],
      [{}, 'accept'],
    ]
    for (const [call, expected] of faults) expect(await verdict(verified(call))).toBe(expected)
  })

  test('verifyWebhook compares every signature with every secret, in any position', async () => {
    const wrong = Array.from({ length: 15 }, (_, index) => `v1=${createHmac('sha256', `${index}`).digest('hex')}`)
    const [t, right] = (await signed()).split(',')
    const verify = spyOn(crypto.subtle, 'verify')
    try {
      for (const place of [0, 7, 15]) {
        verify.mockClear()
        const header = [t, ...wrong.toSpliced(place, 0, right ?? '')].join(',')
        expect(await verified({ header, secret: [secret, otherSecret] })).toEqual(event)
        expect(verify).toHaveBeenCalledTimes(32)
      }
    } finally {
      verify.mockRestore()
    }
  })

  test('verifyWebhook accepts the header types of Node.js, and refuses a doubled header', async () => {
    const header = await signed()
    expect(await verified({ header: [header] })).toEqual(event)
    expect(await verdict(verified({ header: [header, header] }))).toBe('malformed_header')
    expect(await verdict(verified({ header: [] }))).toBe('missing_header')
  })

  test('verifyWebhook accepts bytes of another realm, and only the visible part of a buffer', async () => {
    const bytes: Uint8Array = runInNewContext('Uint8Array.from(bytes)', { bytes: [...Buffer.from(payload)] })
    expect(bytes).not.toBeInstanceOf(Uint8Array)
    expect(await verified({ payload: bytes })).toEqual(event)
    expect(await verified({ payload: bytes.buffer as ArrayBuffer })).toEqual(event)
    expect(await verified({ payload: Buffer.from(`[[${payload}]]`).subarray(2, -2) })).toEqual(event)
  })

  test('verifyWebhook parses the verified copy, even if the buffer changes meanwhile', async () => {
    const memory = Buffer.from(payload)
    const pending = verifyWebhook({ payload: memory, header: await signed(), secret, now: NOW })
    memory.fill(' ')
    expect(await pending).toEqual(event)
  })

  test('a WebhookError has a code, a sentence, and nothing of the message or the secret', async () => {
    const refusals = await Promise.all(
      [{ header: null }, { header: 'hunter2' }, { now: NOW + 999 }, { payload: 'hunter2' }].map(call =>
        verified(call).then(
          () => undefined,
          error => error,
        ),
      ),
    )
    for (const error of refusals) {
      expect(error).toBeInstanceOf(WebhookError)
      expect(error.name).toBe('WebhookError')
      expect(error.message).toMatch(/^[A-Z].+\.$/)
      expect(error.message).not.toMatch(/hunter2|whsec_|[0-9a-f]{64}/)
    }
  })
})

describe('a wrong call is a TypeError that says what to give', () => {
  const rejection = (call: Promise<unknown>) => expect(call).rejects
  const any = <T>(value: unknown) => value as T

  test.each([
    ['a parsed event', event],
    ['a list', [1, 2]],
    ['null', null],
    ['nothing', undefined],
    ['a number', 1],
    ['wider numbers', new Uint16Array(2)],
  ])('a body that is not raw: %s', async (_, body) => {
    await rejection(verified({ payload: any<string>(body) })).toThrow(TypeError)
    await rejection(verified({ payload: any<string>(body) })).toThrow('give the raw body')
    await rejection(signed({ payload: any<string>(body) })).toThrow('give the raw body')
  })

  test.each([
    ['an empty text', ''],
    ['nothing', undefined],
    ['no secrets', []],
    ['an empty text beside a secret', [newWebhookSecret(seeded(3).bytes), '']],
    ['the prefix alone', 'whsec_'],
    ['a secret without its prefix', newWebhookSecret(seeded(3).bytes).slice(6)],
    ['a secret that is too short', `whsec_${'a'.repeat(31)}`],
    ['a secret with a line end', `${newWebhookSecret(seeded(3).bytes)}\n`],
    ['a secret in quotes', `"${newWebhookSecret(seeded(3).bytes)}"`],
    ['an API key', 'vk_test_7Jb2Vd0Qm4sKXr9aTzN1hY7Jb2Vd0Qm4sKXr9a'],
  ])('an invalid secret: %s', async (_, wrong) => {
    await rejection(verifyWebhook({ payload, header: 't=1,v1=', secret: any<string>(wrong), now: NOW })).toThrow(TypeError)
    await rejection(signWebhook({ payload, secrets: any<string[]>(wrong), timestamp: NOW })).toThrow('whole webhook secret')
    await rejection(signStandardWebhook({ id: 'whd_1', payload, secrets: any<string[]>(wrong), timestamp: NOW })).toThrow(
      TypeError,
    )
  })

  test.each([Number.NaN, -1, Infinity, any<number>('300'), any<number>(null)])('a tolerance of %p', async tolerance => {
    await rejection(verified({ tolerance })).toThrow('tolerance: give a number of seconds')
  })

  test.each([Number.NaN, -1, 1.5, NOW * 1000, Infinity, any<number>(new Date()), any<number>('1')])(
    'a time of %p',
    async time => {
      await rejection(verified({ now: time })).toThrow('now: give whole unix seconds')
      await rejection(signed({ timestamp: time })).toThrow('timestamp: give whole unix seconds')
      await rejection(signStandardWebhook({ id: 'whd_1', payload, secrets: [secret], timestamp: time })).toThrow(TypeError)
    },
  )
})

describe('any message', () => {
  const anySecret = fc.uint8Array({ minLength: 30, maxLength: 30 }).map(bytes => `whsec_${Buffer.from(bytes).toString('base64')}`)
  const anyTime = fc.integer({ min: 0, max: 1e11 - 1 })
  const anyEvent = fc
    .record({
      type: fc.constantFrom('verification.completed' as const, 'verification.failed' as const),
      metadata: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })),
    })
    .map(({ type, metadata }): WebhookEvent => ({ ...event, type, verification: { ...event.verification, metadata } }))

  test('a signed message is accepted with each of its secrets', async () => {
    await fc.assert(
      fc.asyncProperty(anyEvent, fc.array(anySecret, { minLength: 1, maxLength: 2 }), anyTime, async (sent, secrets, time) => {
        const body = JSON.stringify(sent)
        const header = await signWebhook({ payload: body, secrets, timestamp: time })
        for (const one of secrets) {
          expect(await verifyWebhook({ payload: body, header, secret: one, now: time })).toEqual(JSON.parse(body))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('one changed bit of the body is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), anySecret, fc.nat(), async (body, one, at) => {
        const header = await signWebhook({ payload: body, secrets: [one], timestamp: NOW })
        expect(await verdict(verifyWebhook({ payload: body, header, secret: one, now: NOW }))).toBe('invalid_payload')
        expect(await verdict(verifyWebhook({ payload: flipped(body, at), header, secret: one, now: NOW }))).toBe('no_match')
      }),
      { numRuns: 500 },
    )
  })

  test('every changed bit of the header and of the secret is refused', async () => {
    const header = await signed()
    for (let bit = 0; bit < header.length * 8; bit++) {
      const changed = Buffer.from(flipped(Buffer.from(header), bit)).toString('latin1')
      expect(await verdict(verified({ header: changed }))).not.toBe('accept')
    }
    for (let bit = 0; bit < secret.length * 8; bit++) {
      const changed = Buffer.from(flipped(Buffer.from(secret), bit)).toString('latin1')
      const said = await verdict(verified({ secret: changed })).catch((error: Error) => error.name)
      expect(['no_match', 'TypeError']).toContain(said)
    }
  })

  test('any text as header is refused with a code, and nothing else is thrown', async () => {
    const headerLike = fc
      .array(fc.constantFrom('t=', 'v1=', `t=${NOW}`, 'v0=', ',', '=', ' ', '0'.repeat(64), 'é', '\0', '1'), { maxLength: 20 })
      .map(parts => parts.join(''))
    await fc.assert(
      fc.asyncProperty(fc.oneof(headerLike, fc.string(), anyText()), async header => {
        expect(['missing_header', 'malformed_header', 'timestamp_out_of_tolerance', 'no_match']).toContain(
          await verdict(verified({ header })),
        )
      }),
      { numRuns: 2000 },
    )
  })

  test('a Standard Webhooks receiver written by its specification accepts our headers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array(),
        fc.array(anySecret, { minLength: 1, maxLength: 2 }),
        anyTime,
        async (body, secrets, timestamp) => {
          const headers = await signStandardWebhook({ id: 'whd_1', payload: body, secrets, timestamp })
          for (const one of secrets) expect(standardReceiver(headers, body, one)).toBe(true)
          expect(standardReceiver({ ...headers, 'webhook-id': 'whd_2' }, body, secrets[0] ?? '')).toBe(false)
          expect(standardReceiver(headers, Buffer.concat([body, Buffer.from(' ')]), secrets[0] ?? '')).toBe(false)
        },
      ),
      { numRuns: 200 },
    )
  })
})

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  const index = (bit >> 3) % copy.length
  copy[index] = (copy[index] ?? 0) ^ (1 << (bit & 7))
  return copy
}

/** Independent of the code under test. */
function standardReceiver(headers: Record<string, string>, body: Uint8Array, one: string): boolean {
  const mac = createHmac('sha256', Buffer.from(one.replace('whsec_', ''), 'base64'))
  mac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`).update(body)
  return (headers['webhook-signature'] ?? '').split(' ').includes(`v1,${mac.digest('base64')}`)
}
