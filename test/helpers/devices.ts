import type { Device, TokenPair } from '../../src/devices/schema.ts'
import type { Answer, ErrorBody, TestApp } from './app.ts'

export type Registered = { device: Device; pairing_code: string }

export const TILL = { name: 'Till 1', allowed_templates: ['age_over_18'] }

export async function register(app: TestApp, key: string, body: object = {}): Promise<Registered> {
  const answer = await app.call<Registered>('POST', '/v1/devices', { key, body: { ...TILL, ...body } })
  if (answer.status !== 201) throw new Error(`not registered: ${answer.status} ${answer.text}`)
  return answer.body
}

type Exchanged = Promise<Answer<TokenPair & ErrorBody>>

const withKey = (key: string | undefined) => (key === undefined ? undefined : { 'idempotency-key': key })

export const enroll = (app: TestApp, code: string, idempotencyKey?: string): Exchanged =>
  app.call('POST', '/v1/devices/enroll', { body: { pairing_code: code }, headers: withKey(idempotencyKey) })

export const refresh = (app: TestApp, token: string, idempotencyKey?: string): Exchanged =>
  app.call('POST', '/v1/devices/token', { body: { refresh_token: token }, headers: withKey(idempotencyKey) })

/** A till that is registered and paired. */
export async function pair(app: TestApp, key: string, body: object = {}): Promise<TokenPair> {
  const { pairing_code } = await register(app, key, body)
  const answer = await enroll(app, pairing_code)
  if (answer.status !== 200) throw new Error(`not enrolled: ${answer.status} ${answer.text}`)
  return answer.body
}

export async function deviceOf(app: TestApp, key: string, id: string): Promise<Device> {
  const { body } = await app.call<{ data: Device[] }>('GET', '/v1/devices', { key })
  const device = body.data.find(each => each.id === id)
  if (!device) throw new Error('no such device')
  return device
}

export { outcome } from './app.ts'
