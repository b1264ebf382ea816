// Answers that race an update of a list: trust is judged when an answer arrives, by one version of the list.
import { afterAll, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { sha256Hex } from '../../src/base/hash.ts'
import { signJwt } from '../../src/sandbox/es256.ts'
import { block } from '../../src/trust/blocks.ts'
import { refreshSource } from '../../src/trust/lists/refresh.ts'
import { readEvents } from '../../src/verifications/timeline.ts'
import { cleanUp, NOON, startApp, type TestApp } from '../helpers/app.ts'
import { formOf, openSession, postTo, readOf, type Session } from '../helpers/exchange.ts'
import { forgeSigner, type Signer } from '../helpers/forger.ts'
import { hostLists } from '../helpers/list-host.ts'
import { addList, holderOfPidBy, PID_BODY, pidListOf } from '../helpers/listed-issuers.ts'
import { type LoteEntity, SERVICE } from '../trust-lists/make.ts'

afterAll(cleanUp)

const FIRST = 7
const SECOND = 8

const entityOf = (issuer: Signer, revoker: Signer): LoteEntity => ({
  name: 'Provider',
  role: 'NO',
  services: [
    { type: SERVICE.pidIssuance, certificates: [issuer.root] },
    { type: SERVICE.pidRevocation, certificates: [revoker.root] },
  ],
})

/** A service whose list names an issuer and a signer of its status lists; its update names others. */
async function start() {
  const host = await hostLists()
  const app = await startApp({
    resolve: async () => ['127.0.0.1'],
    config: { egressAllow: [host.allow], extraCaFile: host.caFile },
  })
  const { id: tenantId, key } = await app.tenant()
  const [issuer, revoker] = [await forgeSigner(), await forgeSigner()]
  const { id } = await addList(app, pidListOf([entityOf(issuer, revoker)], { sequence: FIRST }))
  const bytes = pidListOf([entityOf(await forgeSigner(), await forgeSigner())], { sequence: SECOND, issuedAt: NOON })
  const uri = host.url('/status')
  const token = await statusList(revoker, uri)
  const reply = () => new Response(token, { headers: { 'content-type': 'application/statuslist+jwt' } })
  host.answer(reply)
  const holder = await holderOfPidBy(issuer, { payload: { status: { status_list: { idx: 3, uri } } } })
  return {
    app,
    issuer,
    host,
    reply,
    open: async () => {
      const session = await openSession({ app, key }, PID_BODY())
      return { session, form: await formOf(session, holder) }
    },
    update: () => refreshSource(app.deps, id, { bytes, actor: 'test' }),
    resultOf: (session: Session) => resultOf(app, tenantId, session),
  }
}

/** All valid. */
function statusList({ chain, key }: Signer, uri: string): Promise<string> {
  const header = { typ: 'statuslist+jwt', x5c: chain.map(der => Buffer.from(der).toString('base64')) }
  const lst = deflateSync(new Uint8Array(16)).toString('base64url')
  return signJwt(key, header, { sub: uri, iat: NOON / 1000 - 60, ttl: 60, status_list: { bits: 1, lst } })
}

/** How a session ended, and the number of the list that vouched. */
async function resultOf({ deps }: TestApp, tenantId: string, session: Session): Promise<string> {
  const { status, error, id } = await readOf(session)
  const posted = (await readEvents(deps, { id, tenantId })).find(({ event }) => event === 'response_posted')
  const [trusted] = posted?.event === 'response_posted' ? posted.details.findings.flatMap(({ trust }) => trust ?? []) : []
  return `${error?.code ?? status} ${trusted?.sequence ?? 'by no list'}`
}

const GOOD = `completed ${FIRST}`
const REFUSED = 'issuer_untrusted by no list'

test('54: 100 answers race an update that removes their issuer: each is judged by one version, and none by the old one after the commit', async () => {
  const { open, update, resultOf } = await start()
  const opened = await Promise.all(Array.from({ length: 100 }, open))
  const [before, racing, after] = [opened.slice(0, 20), opened.slice(20, 80), opened.slice(80)]
  const post = async ({ session, form }: (typeof opened)[number]) => {
    expect((await postTo(session, form)).status).toBe(200)
    return await resultOf(session)
  }
  expect(new Set(await Promise.all(before.map(post)))).toEqual(new Set([GOOD]))

  let isCommitted = false
  const updated = update().then(() => {
    isCommitted = true
  })
  const raced: { isLate: boolean; result: Promise<string> }[] = []
  // One after the other, so that the update comes between them.
  for (const each of racing) {
    raced.push({ isLate: isCommitted, result: post(each) })
    await new Promise<void>(resolve => setImmediate(resolve))
  }
  await updated
  for (const { isLate, result } of raced) expect(isLate ? [REFUSED] : [GOOD, REFUSED]).toContain(await result)
  expect(new Set(await Promise.all(after.map(post)))).toEqual(new Set([REFUSED]))
})

test('54: an answer whose status list is slow is judged by the version of its arrival, signer of the status list included', async () => {
  const { host, reply, open, update, resultOf } = await start()
  const [early, late] = [await open(), await open()]
  const [asked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  host.answer(async () => {
    asked.resolve()
    await release.promise
    return reply()
  })
  const answered = postTo(early.session, early.form)
  await asked.promise
  await update()
  release.resolve()
  expect((await answered).status).toBe(200)
  expect(await resultOf(early.session)).toBe(GOOD)
  await postTo(late.session, late.form)
  expect(await resultOf(late.session)).toBe(REFUSED)
})

test('a session that was open before a block fails after it', async () => {
  const { app, issuer, open, resultOf } = await start()
  const [first, second] = [await open(), await open()]
  await postTo(first.session, first.form)
  await block(app.deps, { environment: 'test', fingerprint: sha256Hex(issuer.root), reason: 'Key lost' }, 'test')
  await postTo(second.session, second.form)
  expect([await resultOf(first.session), await resultOf(second.session)]).toEqual([GOOD, REFUSED])
})
