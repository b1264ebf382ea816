// Single tries of what the attacks repeat.
import { randomBytes } from 'node:crypto'
import { decline } from '../../../src/sandbox/wallet/wallet.ts'
import type { Answer, TestApp } from '../../helpers/app.ts'
import { codeIn, FORM, openSession, postTo } from '../../helpers/exchange.ts'
import type { Seeded } from '../../helpers/seeded.ts'
import { from } from './guess.ts'

export const enrollFrom = (app: TestApp, address: string, code: string): Promise<Answer> =>
  app.call('POST', '/v1/devices/enroll', { body: { pairing_code: code }, headers: from(address) })

export const refreshFrom = (app: TestApp, address: string, token: string): Promise<Answer> =>
  app.call('POST', '/v1/devices/token', { body: { refresh_token: token }, headers: from(address) })

export async function answered(app: TestApp, key: string): Promise<{ id: string; code: string }> {
  const session = await openSession({ app, key }, { redirect_url: 'https://shop.example/done' })
  const { body } = await postTo(session, (await decline(session.request)).form)
  return { id: session.created.id, code: codeIn(body) }
}

export const redeem = (
  app: TestApp,
  key: string,
  id: string,
  response_code = randomBytes(32).toString('base64url'),
): Promise<Answer> => app.call('POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code } })

/** As a wallet does, by GET or by POST, and with the id in either of two spellings. */
export const fetchFrom = (app: TestApp, address: string, id: string, { below }: Seeded): Promise<Answer> => {
  const path = `/wallet/request/${spelled(id, below(2) === 0)}`
  return below(2) === 0
    ? app.call('GET', path, { headers: from(address) })
    : app.call('POST', path, { raw: 'wallet_nonce=n', headers: { ...FORM, ...from(address) } })
}

/** Not encrypted to anybody: it says nothing, and the session stays open. */
export const answerFrom = (app: TestApp, address: string, id: string, { below }: Seeded): Promise<Answer> =>
  app.call('POST', `/wallet/response/${spelled(id, below(2) === 0)}`, {
    raw: 'response=x',
    headers: { ...FORM, ...from(address) },
  })

const spelled = (id: string, isEscaped: boolean): string => (isEscaped ? id.replace('v', '%76') : id)
