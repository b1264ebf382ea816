import { expect } from 'bun:test'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import { outcome } from './app.ts'
import { formOf, postTo, readOf, type Session } from './exchange.ts'

/** Expects 400, and that the session is as open as before: the right answer still completes it. */
export async function expectPending(session: Session, holder: Holder, raw: BodyInit, headers?: Record<string, string>) {
  expect(outcome(await postTo(session, raw, headers))).toBe('400 invalid_wallet_response')
  expect((await readOf(session)).status).toBe('pending')
  expect((await postTo(session, await formOf(session, holder))).status).toBe(200)
  expect((await readOf(session)).status).toBe('completed')
}
