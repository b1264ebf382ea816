// A restart, a kill, another key or another node in the middle of a log-in changes nothing: all of it is in rows.
import { afterAll, expect, test } from 'bun:test'
import type { Client } from '../../src/oidc/schema.ts'
import { sealIssuersAgain } from '../../src/oidc/seal-again.ts'
import { sealSandboxAgain } from '../../src/sandbox/world.ts'
import { sealAgain } from '../../src/upkeep/seal-again.ts'
import type { HostedVerification } from '../../src/verifications/schema.ts'
import { call, cleanUp, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing } from '../helpers/cli.ts'
import { vidimusJson } from '../helpers/command.ts'
import { nodesTest, startNodes } from '../helpers/nodes.ts'
import {
  answerIn,
  answerLogin,
  begin,
  comeBack,
  exchange,
  makeClient,
  type Party,
  readIdToken,
  userinfo,
} from '../helpers/oidc.ts'

afterAll(async () => {
  await stopServing()
  await cleanUp()
})

/** A log-in whose every step finds another service at the same address. */
async function logInOver(party: Party, next: () => Promise<TestApp>): Promise<void> {
  let { app } = party
  const own = { ...party, app: new Proxy(app, { get: (_, name) => Reflect.get(app, name) }) }
  const move = async () => {
    app = await next()
  }
  await move()
  const begun = await begin(own)
  await move()
  const response = await answerLogin(own, begun)
  await move()
  const { code } = answerIn((await comeBack(begun, response)).body.location)
  await move()
  const { status, body } = await exchange(own, { code, verifier: begun.verifier })
  expect(status).toBe(200)
  await move()
  const { claims } = await readIdToken(own, body.id_token)
  expect((await userinfo(own, body.access_token)).body).toMatchObject({ sub: claims.sub!, age_over_18: true })
  await move()
  expect((await exchange(own, { code, verifier: begun.verifier })).status).toBe(400)
  await move()
  expect((await userinfo(own, body.access_token)).status).toBe(401)
}

test('a log-in goes on after a restart at every step', async () => {
  let app = await startApp()
  const { dir, clock } = app
  const party = await makeClient({ app, tenant: (await app.tenant()).id })
  await logInOver(party, async () => {
    await app.stop()
    app = await startApp({ dir, now: clock.now() })
    return app
  })
})

test('a log-in goes on after "rekey --data" at every step', async () => {
  let app = await startApp({ now: Date.now() })
  const { dir } = app
  const party = await makeClient({ app, tenant: (await app.tenant()).id })
  await logInOver(party, async () => {
    const now = app.clock.now()
    await app.stop()
    await vidimusJson(dir, 'rekey', '--data')
    app = await startApp({ dir, now })
    await sealAgain(app.deps, async tx => {
      await sealSandboxAgain(app.deps, tx)
      await sealIssuersAgain(app.deps, tx)
    })
    return app
  })
})

nodesTest('a log-in goes on at another node at every step', async () => {
  const nodes = await startNodes()
  const party = await makeClient({ app: nodes[0], tenant: (await nodes[0].tenant()).id })
  let steps = 0
  await logInOver(party, async () => nodes[++steps % 2]!)
})

nodesTest('of twenty exchanges of one code at two nodes one gets tokens', async () => {
  const nodes = await startNodes()
  const party = await makeClient({ app: nodes[0], tenant: (await nodes[0].tenant()).id })
  const begun = await begin(party)
  const response = await answerLogin(party, begun)
  const { code } = answerIn((await comeBack(begun, response)).body.location)
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, i) => exchange({ ...party, app: nodes[i % 2]! }, { code, verifier: begun.verifier })),
  )
  expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)])
})

test('a log-in that was begun outlives a kill -9', async () => {
  const dir = temporaryDir()
  const tenant = (await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Shop')).id
  const of = ['--env', 'test', '--name', 'Shop', '--redirect-uri', 'https://shop.example/cb', '--template', 'age_over_18']
  const { id } = await vidimusJson<Client>(dir, 'client', 'create', '--tenant', tenant, ...of, '--pkce', 'optional')
  const start = () => serve(dir, [], { VIDIMUS_PUBLIC_URL: 'https://verify.example' })
  const first = await start()
  const query = new URLSearchParams({
    client_id: id,
    redirect_uri: 'https://shop.example/cb',
    response_type: 'code',
    scope: 'openid',
  })
  const begun = await call(first.url, 'GET', `/oidc/${tenant}/test/authorize?${query}`)
  expect(begun.status).toBe(303)
  const kill = async (served: typeof first) => {
    served.process.kill('SIGKILL')
    await served.process.exited
  }
  await kill(first)
  const second = await start()
  const [own, page] = begun.headers.getSetCookie().map(text => ({
    cookie: text.split(';', 1)[0]!,
    path: /Path=([^;]+)/.exec(text)![1]!,
  }))
  const at = { headers: { cookie: page!.cookie } }
  expect((await call<HostedVerification>(second.url, 'GET', `${page!.path}/data`, at)).body.wallet_uri).toBeString()
  const headers = { cookie: own!.cookie, 'sec-fetch-site': 'same-origin' }
  const back = () => call<{ location?: string }>(second.url, 'POST', own!.path, { body: {}, headers })
  expect(answerIn((await back()).body.location)).toMatchObject({ error: 'access_denied' })
  await kill(second)
  const third = await start()
  expect((await call(third.url, 'POST', own!.path, { body: {}, headers })).status).toBe(400)
})
