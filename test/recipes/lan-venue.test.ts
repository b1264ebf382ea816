import { expect, test } from 'bun:test'
import { basename, dirname, resolve } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import { startApp, temporaryDir } from '../helpers/app.ts'
import { vidimusJson } from '../helpers/cli.ts'
import { enroll, type Registered } from '../helpers/devices.ts'
import { environmentOf, recipeBlock } from '../helpers/recipe.ts'

test('the environment is one that the service starts with, and opens one address for webhooks', () => {
  const config = loadConfig(environmentOf(recipeBlock('lan-venue.md', 'venue environment')))
  expect(config).toMatchObject({ publicUrl: 'https://verify.shop.example', port: 443 })
  expect(config.egressAllow).toEqual([{ address: '192.168.10.20', prefix: 32, port: 8443 }])
})

test('the drop-in gives the unit what its port and its certificate need, in the lines that the unit itself has', async () => {
  const unit = await Bun.file(resolve(import.meta.dir, '../../scripts/vidimus.service')).text()
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

test('the commands make a tenant, a key that does no more than it must, and show the secret', async () => {
  const dir = temporaryDir()
  const commands = recipeBlock('lan-venue.md', 'venue commands')
    .split('\n')
    .filter(line => line.startsWith('vidimus '))
  expect(commands).toHaveLength(3)
  let tenant = ''
  const answers: Record<string, unknown>[] = []
  for (const command of commands) {
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    const args = words.slice(1, -1).map(word => (word === '$TENANT' ? tenant : word))
    const answer = await vidimusJson<Record<string, unknown>>(dir, ...args)
    answers.push(answer)
    tenant ||= answer.id as string
  }
  expect(answers[1]).toMatchObject({ environment: 'live', scopes: expect.not.arrayContaining(['verifications:create']) })
  expect(answers[2]).toMatchObject({ webhook_secret: answers[0]?.webhook_secret })
}, 30_000)

test.skipIf(!Bun.which('curl'))('the call registers a till, whose code pairs it', async () => {
  const app = await startApp()
  const { liveKey } = await app.tenant()
  const env = { PATH: process.env.PATH, VIDIMUS_URL: app.url, API_KEY: liveKey, no_proxy: '*' }
  const shell = Bun.spawn(['sh', '-c', recipeBlock('lan-venue.md', 'venue till')], { env, stdout: 'pipe', stderr: 'ignore' })
  const { device, pairing_code }: Registered = await new Response(shell.stdout).json()
  expect(device).toMatchObject({ name: 'Till 1', allowed_templates: ['age_over_18'], status: 'pending' })
  expect((await enroll(app, pairing_code)).status).toBe(200)
})
