import { afterAll, expect, test } from 'bun:test'
import { basename, dirname, resolve } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { setEndpoint } from '../../src/webhooks/endpoint.ts'
import { createVerification, startApp, type TestApp, temporaryDir, until } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/cli.ts'
import { enroll, pair, type Registered } from '../helpers/devices.ts'
import { receive, startAppFor, stopReceiving, verified } from '../helpers/receiver.ts'
import { environmentOf, recipeBlock } from '../helpers/recipe.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const TILLS = ['devices:manage'] as const
const CASH_SYSTEM = ['verifications:create', 'verifications:read', 'verifications:delete'] as const

afterAll(stopReceiving)

test('the environment is one that the service starts with, and opens one address for webhooks', () => {
  const config = loadConfig(environmentOf(recipeBlock('lan-venue.md', 'venue environment')))
  expect(config).toMatchObject({ publicUrl: 'https://verify.shop.example', port: 443 })
  expect(config.egressAllow).toEqual([{ address: '192.168.10.20', prefix: 32, port: 8443 }])
})

test('the drop-in gives the unit what its port and its certificate need, in the lines that the unit itself has', async () => {
  const unit = await Bun.file(resolve(import.meta.dir, '../../scripts/deploy/vidimus.service')).text()
  const dropIn = environmentOf(recipeBlock('lan-venue.md', 'venue drop-in'))
  const { port, tls } = loadConfig(environmentOf(recipeBlock('lan-venue.md', 'venue environment')))
  expect(port).toBeLessThan(1024)
  // What the unit takes away, and nothing that it does not have.
  for (const taken of ['AmbientCapabilities=', 'CapabilityBoundingSet=', 'PrivateUsers=yes'])
    expect(unit).toContain(`\n${taken}\n`)
  expect(dropIn).toEqual({
    AmbientCapabilities: 'CAP_NET_BIND_SERVICE',
    CapabilityBoundingSet: 'CAP_NET_BIND_SERVICE',
    PrivateUsers: 'no',
    SupplementaryGroups: 'vidimus-tls',
  })
  const copying = recipeBlock('lan-venue.md', 'venue certificate')
  expect(copying).toContain(`-g ${dropIn.SupplementaryGroups} `)
  for (const file of [tls?.certFile ?? '', tls?.keyFile ?? '']) {
    expect(copying).toContain(` ${dirname(file)}/\n`)
    expect(copying).toContain(`/${basename(file)} `)
  }
})

test('the commands make a tenant, keys that do no more than they must, and show the secret, and name the cash system as endpoint', async () => {
  const dir = temporaryDir()
  const commands = recipeBlock('lan-venue.md', 'venue commands')
    .split('\n')
    .filter(line => line.startsWith('vidimus '))
  expect(commands).toHaveLength(5)
  let tenant = ''
  const answers: Record<string, unknown>[] = []
  for (const command of commands) {
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    const args = words.slice(1, -1).map(word => (word === '$TENANT' ? tenant : word))
    const answer = await vidimusJson<Record<string, unknown>>(dir, ...args)
    answers.push(answer)
    tenant ||= answer.id as string
  }
  expect(answers[1]).toMatchObject({ environment: 'live', scopes: TILLS })
  expect(answers[2]).toMatchObject({ environment: 'live', scopes: CASH_SYSTEM })
  expect(answers[3]).toMatchObject({ webhook_secret: answers[0]?.webhook_secret_live })
  expect(answers[4]).toMatchObject({ webhook_endpoints: { test: null, live: 'https://cash.shop.example:8443' } })
})

test.skipIf(!Bun.which('curl'))('the call registers a till, whose code pairs it', async () => {
  const app = await startApp()
  const { id } = await app.tenant()
  const key = await app.key(id, { environment: 'live', scopes: TILLS })
  const { device, pairing_code } = await run<Registered>(recipeBlock('lan-venue.md', 'venue till'), { app, key })
  expect(device).toMatchObject({ name: 'Till 1', allowed_templates: ['age_over_18'], status: 'pending' })
  expect((await enroll(app, pairing_code)).status).toBe(200)
})

test.skipIf(!Bun.which('curl'))('the call of the cash system makes one session, whose result it hears, signed', async () => {
  const receiver = receive()
  const app = await startAppFor([receiver])
  const { tenant, webhookSecret } = await createTenant(app.deps, { name: 'Wine bar' }, 'test')
  await setEndpoint(app.deps, { tenantId: tenant.id, environment: 'test' }, receiver.url('/vidimus'), 'test')
  const key = await app.key(tenant.id, { scopes: CASH_SYSTEM })
  const here = recipeBlock('lan-venue.md', 'venue cash system')
  const made = await run<Verification>(here, { app, key })
  expect((await run<Verification>(here, { app, key })).id).toBe(made.id)
  await answerWith(app, await holderOf(app), made.wallet_uri ?? '')
  await until(async () => receiver.received.length === 1)
  const event = await verified(receiver.received[0]!, webhookSecret, app.clock.now())
  expect(event.verification).toMatchObject({ id: made.id, status: 'completed', claims: { age_over_18: true } })
})

test('a verification of a till reaches the endpoint, and is in the list that the cash system reads', async () => {
  const receiver = receive()
  const app = await startAppFor([receiver])
  const { id } = await app.tenant()
  await setEndpoint(app.deps, { tenantId: id, environment: 'test' }, receiver.url('/vidimus'), 'test')
  const till = await pair(app, await app.key(id, { scopes: TILLS }))
  const session = await createVerification(app, till.access_token)
  const key = await app.key(id, { scopes: CASH_SYSTEM })
  const { body } = await app.call<{ data: Verification[] }>('GET', '/v1/verifications', { key })
  expect(body.data.map(({ id }) => id)).toEqual([session.id])
  await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
  await until(async () => receiver.received.length === 1)
})

async function run<Answer>(script: string, { app, key }: { app: TestApp; key: string }): Promise<Answer> {
  const env = { PATH: process.env.PATH, VIDIMUS_URL: app.url, API_KEY: key, RECEIPT: 'receipt-77', no_proxy: '*' }
  const shell = Bun.spawn(['sh', '-c', script], { env, stdout: 'pipe', stderr: 'ignore' })
  return await new Response(shell.stdout).json()
}
