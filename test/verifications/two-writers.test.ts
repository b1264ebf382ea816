// Acts of one session whose statements alternate, as those of two nodes do on PostgreSQL. SQLite
// has one writer, so both acts run inside one of its transactions: whatever one of them looked up
// may have changed before it writes.
import { afterAll, expect, test } from 'bun:test'
import type { Deps } from '../../src/deps.ts'
import { eraseIn } from '../../src/verifications/erasure/erase.ts'
import { recordRequestFetched } from '../../src/verifications/exchange/response-key.ts'
import { readOpenSession } from '../../src/verifications/read.ts'
import { readEvents, recordShown } from '../../src/verifications/timeline.ts'
import { cleanUp, createVerification, startApp, type TestApp } from '../helpers/app.ts'

afterAll(cleanUp)

const alternating = <T>({ deps }: TestApp, act: (deps: Deps) => Promise<T>): Promise<T[]> =>
  deps.write(tx => {
    const nested = { ...deps, write: (work => work(tx)) as Deps['write'] }
    return Promise.all([act(nested), act(nested)])
  })

async function startWithSession() {
  const app = await startApp()
  const { id: tenantId, key } = await app.tenant()
  const { id } = await createVerification(app, key)
  return { app, key, session: { id, tenantId, environment: 'test' as const } }
}

test('one of two erasures at once deletes the session, and the other finds none', async () => {
  const { app, session } = await startWithSession()
  const { id, ...owner } = session
  const outcomes = await alternating(app, deps =>
    deps.write(tx => eraseIn(deps, tx, { owner, actor: 'test', id, at: deps.now() })),
  )
  const deleted = { verification_sessions: 1, verification_results: 0, webhook_deliveries: 0 }
  expect(outcomes).toEqual([{ deleted, held: [], ends: [] }, undefined])
})

test('a page that is shown twice at once leaves one moment, and neither fails', async () => {
  const { app, session } = await startWithSession()
  await alternating(app, deps => recordShown(deps, session))
  expect((await readEvents(app.deps, session)).map(({ event }) => event)).toEqual(['qr_shown'])
  expect(app.logs.filter(line => line.includes('timeline.not_recorded'))).toEqual([])
})

test('a wallet whose session is erased while it fetches the request gets 404', async () => {
  const { app, key, session } = await startWithSession()
  for (const isFetched of [false, true]) {
    const { id } = isFetched ? await createVerification(app, key) : session
    if (isFetched) await recordRequestFetched(app.deps, await readOpenSession(app.deps, id), { method: 'get' })
    const open = await readOpenSession(app.deps, id)
    await app.call('DELETE', `/v1/verifications/${id}`, { key })
    expect(await recordRequestFetched(app.deps, open, { method: 'get' }).catch(({ code }) => code)).toBe('session_not_found')
  }
})
