// A page that asks through the browser's wallet call, and the wallet behind it.

import type { Mutations } from '../../src/sandbox/mutations.ts'
import { answerPage, type DcAnswer } from '../../src/sandbox/wallet/dc-wallet.ts'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import { addOrigin } from '../../src/tenants/origins.ts'
import type { DcAnswered, DcRequests } from '../../src/verifications/exchange/dc-schema.ts'
import type { Answer, Call, ErrorBody, TestApp } from './app.ts'

export const ORIGIN = 'https://shop.example'

export const listOrigin = (app: TestApp, tenantId: string, origin = ORIGIN, environment: 'test' | 'live' = 'test') =>
  addOrigin(app.deps, { tenantId, environment }, origin, 'test')

type Asked = Answer<DcRequests & Partial<ErrorBody>>
export type Told = Answer<DcAnswered & Partial<ErrorBody>>

const from = (origin: string | null): Record<string, string> => (origin === null ? {} : { origin })

export const ask = (
  app: TestApp,
  id: string,
  { origin = ORIGIN as string | null, body = {} as unknown, ...call }: Call & { origin?: string | null } = {},
): Promise<Asked> =>
  app.call('POST', `/wallet/dc/request/${id}`, { body, ...call, headers: { ...from(origin), ...call.headers } })

export const tell = (
  app: TestApp,
  id: string,
  body: unknown,
  { origin = ORIGIN as string | null, ...call }: Call & { origin?: string | null } = {},
): Promise<Told> =>
  app.call('POST', `/wallet/dc/response/${id}`, { body, ...call, headers: { ...from(origin), ...call.headers } })

export type Protocol = 'openid4vp-v1-unsigned' | 'openid4vp-v1-signed' | 'org-iso-mdoc'

type Presenting = {
  origin?: string
  protocol?: Protocol
  format?: 'dc+sd-jwt' | 'mso_mdoc'
  mutations?: Mutations
  walletOrigin?: string
}

/** What the browser gives to the page: by default of the first request, for the page's own origin. */
export async function answerOf(app: TestApp, id: string, holder: Holder, presenting: Presenting = {}): Promise<DcAnswer> {
  const { origin = ORIGIN, protocol, format, mutations, walletOrigin = origin } = presenting
  const { body, text } = await ask(app, id, { origin, body: protocol ? { protocols: [protocol] } : {} })
  if (!body.requests) throw new Error(`not asked: ${text}`)
  const accept = format && ((credential: { format: string }) => credential.format === format)
  return await answerPage({ requests: body.requests, origin: walletOrigin }, holder, {
    now: app.clock.now(),
    mutations,
    ...(accept && { accept }),
  })
}

/** Asks, lets the wallet answer, and sends the answer to the service. */
export async function presentThrough(app: TestApp, id: string, holder: Holder, presenting: Presenting = {}): Promise<Told> {
  return await tell(app, id, await answerOf(app, id, holder, presenting), { origin: presenting.origin })
}
