// A till that scans the code of a phone, and carries the messages.

import { type HolderPhone, type PhoneOptions as Options, phoneOf } from '../../scripts/persona-phone.ts'
import type { Holder } from '../../src/sandbox/credential.ts'
import type { InPersonAnswered, InPersonRequest } from '../../src/verifications/exchange/in-person/schema.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { type Answer, type Call, createVerification, type ErrorBody, type TestApp } from './app.ts'
import { rowsOf } from './database.ts'
import type { Party } from './exchange.ts'
import { cheats, type PhoneCheats } from './phone-cheats.ts'

export type Scanned = Answer<InPersonRequest & Partial<ErrorBody>>
export type Passed = Answer<InPersonAnswered & Partial<ErrorBody>>

export const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'))

const pathOf = (id: string, act: 'request' | 'response' | 'failure') => `/v1/verifications/${id}/in-person-${act}`

export const scan = ({ app, key }: Party, id: string, engagement: unknown, more: object = {}): Promise<Scanned> =>
  app.call('POST', pathOf(id, 'request'), { key, body: { engagement, ...more } })

export const pass = ({ app, key }: Party, id: string, message: Uint8Array | string): Promise<Passed> =>
  app.call('POST', pathOf(id, 'response'), {
    key,
    body: { message: typeof message === 'string' ? message : base64url(message) },
  })

/** Any of the three routes, with any body. */
export const callRoute = (app: TestApp, id: string, act: 'request' | 'response' | 'failure', call: Call): Promise<Answer> =>
  app.call('POST', pathOf(id, act), call)

export type PhoneOptions = Options & { mutations?: PhoneCheats }

export type Read = { id: string; phone: HolderPhone; request: InPersonRequest; answer: Uint8Array }

/** A session whose phone has answered, but not yet to the service. */
export async function readPhone(party: Party, holder: Holder, body: object = {}, options: PhoneOptions = {}): Promise<Read> {
  const { id } = await createVerification(party.app, party.key, body)
  return { id, ...(await answerOf(party, id, holder, options)) }
}

export async function answerOf(party: Party, id: string, holder: Holder, options: PhoneOptions = {}): Promise<Omit<Read, 'id'>> {
  const phone = await phoneOf(holder, { ...options, mutations: cheats(options.mutations ?? {}) })
  const { status, body, text } = await scan(party, id, phone.code)
  if (status !== 200) throw new Error(`not asked: ${status} ${text}`)
  const answer = await phone.receive(bytesOf(body.message))
  if (!answer) throw new Error('the phone did not answer')
  return { phone, request: body, answer }
}

export const readOf = async ({ app, key }: Party, id: string): Promise<Verification> =>
  (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body

export const eventsOf = (app: TestApp, id: string): string[] =>
  rowsOf<{ event: string }>(app, 'SELECT event FROM verification_events WHERE verification_id = ? ORDER BY id', id).map(
    ({ event }) => event,
  )

/** True while the keys for a phone are stored. */
export const hasEntry = (app: TestApp, id: string): boolean =>
  rowsOf(app, 'SELECT 1 FROM verification_sessions WHERE id = ? AND sealed_in_person IS NOT NULL', id).length > 0
