import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Receiver, startReceiver } from '../../src/demo/receiver.ts'
import { signWebhook } from '../../src/sdk/webhook.ts'

const SECRET = 'whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGVzdHMsICMx'
const OTHER = 'whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGVzdHMsICMy'

let receiver: Receiver

beforeEach(() => {
  receiver = startReceiver(Date.now)
})
afterEach(() => receiver.stop())

const message = (id: string) =>
  JSON.stringify({ type: 'verification.failed', verification: { id }, sent_at: '2026-03-04T12:00:00Z' })

async function send(body: string, secret?: string): Promise<string> {
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = secret
    ? { 'x-service-signature': await signWebhook({ payload: body, secrets: [secret], timestamp }) }
    : undefined
  const answer = await fetch(receiver.url, { method: 'POST', body, headers })
  return [answer.status, await answer.text()].join(' ').trim()
}

test('the demo receiver keeps a signed message as received', async () => {
  receiver.trust(SECRET)
  expect(await send(message('vs_1'), SECRET)).toBe('204')
  expect(receiver.find('vs_1')).toMatchObject({
    body: message('vs_1'),
    headers: { 'x-service-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/) },
  })
})

test('the demo receiver refuses an unsigned message and never shows it', async () => {
  expect(await send(message('vs_1'), SECRET)).toBe('400')
  receiver.trust(SECRET)
  expect(await send(message('vs_1'))).toBe('400 missing_header')
  expect(await send(message('vs_1'), OTHER)).toBe('400 no_match')
  expect(receiver.find('vs_1')).toBeUndefined()
})

test('the demo receiver keeps the newest fifty messages', async () => {
  receiver.trust(SECRET)
  for (let i = 0; i <= 50; i++) await send(message(`vs_${i}`), SECRET)
  expect([receiver.find('vs_0'), receiver.find('vs_1')?.body]).toEqual([undefined, message('vs_1')])
})
