// What is left of a log-in, and who sees it meanwhile.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import { keepEndpoint } from '../../src/tenants/webhook-endpoint.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepLogins } from '../../src/verifications/erasure/retain.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, outcome, startApp, type TestApp } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { pair } from '../helpers/devices.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { filesContaining } from '../helpers/files.ts'
import {
  answerIn,
  answerLogin,
  begin,
  comeBack,
  exchange,
  logIn,
  makeClient,
  type Party,
  readIdToken,
  userinfo,
} from '../helpers/oidc.ts'
import { receive, startAppFor, stopReceiving } from '../helpers/receiver.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

const HOUR_MS = 3_600_000

let app: TestApp
let tenant: string
let key: string
let party: Party

beforeAll(async () => {
  app = await startApp()
  ;({ id: tenant, key } = await app.tenant())
  party = await makeClient({ app, tenant })
})

const read = (id: string) => app.call<Verification>('GET', `/v1/verifications/${id}`, { key })

describe('a log-in', () => {
  test('is erased an hour after its end, completed or not, and leaves its records', async () => {
    const done = await logIn(party)
    const given = await begin(party)
    await comeBack(given)
    const left = await begin(party)
    const ids = [done.begun.id, given.id]
    app.clock.advance(HOUR_MS - 60_000)
    await sweepExpired(app.deps)
    await sweepLogins(app.deps)
    for (const id of [...ids, left.id]) expect((await read(id)).status).toBe(200)
    app.clock.advance(61_000)
    await sweepLogins(app.deps)
    for (const id of ids) expect(outcome(await read(id))).toBe('404 session_not_found')
    // It ended by time, ten minutes after it was begun.
    expect((await read(left.id)).body.status).toBe('expired')
    app.clock.advance(600_000)
    await sweepLogins(app.deps)
    expect((await read(left.id)).status).toBe(404)
    expect(rowsOf(app, 'SELECT id FROM oidc_logins')).toEqual([])
    await linkEntries(app.deps)
    const [erased] = rowsOf<{ n: number }>(
      app,
      "SELECT count(*) AS n FROM audit_records WHERE action = 'verification.erased' AND actor = 'log-in'",
    )
    expect(Number(erased!.n)).toBe(3)
  })

  test('is kept where the client says so', async () => {
    const own = await makeClient({ app, tenant }, { keep_results: true })
    const { begun } = await logIn(own)
    app.clock.advance(3 * HOUR_MS)
    await sweepLogins(app.deps)
    expect((await read(begun.id)).body.status).toBe('completed')
  })

  test('is in the list of the shop until then, and can be erased, but no till sees it', async () => {
    const { begun } = await logIn(party)
    const till = await pair(app, key)
    const list = async (by: string) =>
      (await app.call<{ data: Verification[] }>('GET', '/v1/verifications', { key: by })).body.data.map(({ id }) => id)
    expect(await list(key)).toContain(begun.id)
    expect(await list(till.access_token)).not.toContain(begun.id)
    expect((await app.call('GET', `/v1/verifications/${begun.id}`, { key: till.access_token })).status).toBe(404)
    expect((await app.call('DELETE', `/v1/verifications/${begun.id}`, { key })).status).toBe(200)
    expect(rowsOf(app, 'SELECT id FROM oidc_logins WHERE verification_id = ?', begun.id)).toEqual([])
  })

  test('is told to no receiver, not even to that of the shop', async () => {
    const receiver = receive()
    const own = await startAppFor([receiver])
    const shop = await own.tenant()
    const client = await makeClient({ app: own, tenant: shop.id })
    await keepEndpoint(own.deps, { tenantId: shop.id, environment: 'test' }, receiver.url(), 'test')
    await logIn(client)
    await comeBack(await begin(client))
    expect(rowsOf(own, 'SELECT id FROM webhook_deliveries')).toEqual([])
  })
})

sqliteOnly('looks into the file, its log and its backups')('secrets of a log-in are in clear nowhere', async () => {
  const own = await startApp()
  const shop = await own.tenant()
  const client = await makeClient({ app: own, tenant: shop.id }, { templates: ['identity_basic'], id_token_claims: true })
  const begun = await begin(client, {
    state: 'canary-state-77',
    nonce: 'canary-nonce-77',
    scope: 'openid vidimus:identity_basic',
  })
  const response = (await answerLogin(client, begun))!
  const { code } = answerIn((await comeBack(begun, response)).body.location)
  const { body } = await exchange(client, { code, verifier: begun.verifier })
  const { claims } = await readIdToken(client, body.id_token)
  const info = await userinfo(client, body.access_token)
  expect(claims).toMatchObject({ given_name: expect.any(String), nonce: 'canary-nonce-77' })
  const cookies = [...begun.browser.jar.values()].map(({ value }) => value)
  const canaries = [
    ...cookies,
    ...[
      'canary-state-77',
      'canary-nonce-77',
      response,
      code!,
      begun.verifier,
      client.client.client_secret!,
      body.access_token,
      body.id_token,
    ],
    ...[claims.sub!, String(info.body.given_name), String(info.body.family_name)],
  ]
  for (const canary of canaries) {
    expect({ canary, files: filesContaining(own.dir, canary) }).toEqual({ canary, files: [] })
    expect({ canary, isLogged: own.logs.join('\n').includes(canary) }).toEqual({ canary, isLogged: false })
  }
  expect(own.logs.join('\n')).not.toContain(begun.id)
})
