// Status lists on a host of the test, and sessions whose documents name them.
import { deflateSync } from 'node:zlib'
import { signJwt } from '../../src/sandbox/es256.ts'
import { readEvents } from '../../src/verifications/timeline.ts'
import type { TestApp } from './app.ts'
import { formOf, openSession, postTo, readOf } from './exchange.ts'
import type { Signer } from './forger.ts'
import type { hostLists } from './list-host.ts'
import { holderOfPidBy, PID_BODY } from './listed-issuers.ts'

const DAY = 24 * 3_600_000

const TYPE = 'application/statuslist+jwt'

/** Publishes the issuer's lists, always as of now: nobody is revoked. */
export function publishLists(host: Awaited<ReturnType<typeof hostLists>>, issuer: Signer, now: () => number): void {
  host.answer(async request => new Response(await statusList(issuer, request.url, now()), { headers: { 'content-type': TYPE } }))
}

function statusList({ chain, key }: Signer, url: string, now: number): Promise<string> {
  const header = { typ: 'statuslist+jwt', x5c: chain.map(der => Buffer.from(der).toString('base64')) }
  const lst = deflateSync(new Uint8Array(16)).toString('base64url')
  return signJwt(key, header, {
    sub: url,
    iat: now / 1000,
    exp: (now + 3 * DAY) / 1000,
    ttl: 3600,
    status_list: { bits: 1, lst },
  })
}

/** How a session with a document on this list ends. */
export async function shown(
  { app, key, tenantId }: { app: TestApp; key: string; tenantId: string },
  issuer: Signer,
  uri: string,
) {
  const holder = await holderOfPidBy(issuer, { payload: { status: { status_list: { idx: 3, uri } } } })
  const session = await openSession({ app, key }, PID_BODY())
  await postTo(session, await formOf(session, holder))
  const verification = await readOf(session)
  const events = await readEvents(app.deps, { id: verification.id, tenantId })
  const posted = events.find(({ event }) => event === 'response_posted')
  return {
    id: verification.id,
    outcome: verification.error?.code ?? verification.status,
    findings: verification.credentials?.[0]?.findings ?? [],
    against: posted?.event === 'response_posted' ? posted.details.findings[0]?.status : undefined,
  }
}
