// The online shop: what its server would do with the key, and what another site would do without one.
import { answerPage } from '../../sandbox/wallet/dc-wallet.ts'
import { fetchRequests, send } from '../../sdk/wallet-call.ts'
import type { Verification } from '../../verifications/schema.ts'
import { issue } from '../sandbox/issued.ts'
import { now } from '../sandbox/open-request.ts'
import { callApi } from '../shared/api.ts'
import { BASE } from '../shared/base.ts'

const OTHER_SITE = 'https://another-site.example'

const withKey = (key: string) => ({ authorization: `Bearer ${key}` })

export async function createSession(key: string, template: string): Promise<string> {
  const options = { method: 'POST', headers: withKey(key), body: { template } } as const
  return (await callApi<Verification>('v1/verifications', options)).id
}

/** Proves that the answer came from the page that got the code. */
export const redeem = (key: string, id: string, response_code: string): Promise<Verification> =>
  callApi(`v1/verifications/${id}/redeem`, { method: 'POST', headers: withKey(key), body: { response_code } })

/** Another site shows the shop's request to the customer's wallet, and sends the answer to the shop's session. */
export async function answerElsewhere(id: string): Promise<void> {
  const prepared = await fetchRequests(BASE.href, id)
  if (!prepared) throw new Error('this session cannot be asked through the browser')
  const { holder, service } = await issue('adult')
  const answer = await answerPage({ requests: prepared.requests, origin: OTHER_SITE }, holder, { now: now(service) })
  await send(BASE.href, id, answer)
}
