// Device names: one rule for the API, the dashboard and the command line.
import { beforeAll, expect, test } from 'bun:test'
import type { Device } from '../../src/devices/schema.ts'
import { type ErrorBody, startApp, type TestApp } from '../helpers/app.ts'
import { vidimus } from '../helpers/cli.ts'
import { type Browser, setUpOwner } from '../helpers/dashboard.ts'

const REFUSED = {
  'a NUL': 'Till\u00001',
  'a line feed': 'Till\n1',
  'a carriage return': 'Till\r1',
  'an escape': 'Till\u001b[31m1',
  'a C1 control': 'Till\u00851',
  'a line separator': 'Till\u20281',
  'a paragraph separator': 'Till\u20291',
  'a right-to-left override': 'Till\u202e1',
  'an isolate': 'Till\u20661',
  'a direction mark': 'Till\u200f1',
  'a joiner': 'Till\u200d1',
  'a byte order mark': 'Till\ufeff1',
  'spaces only': '   ',
  'other spaces only': '\u00a0\u3000',
  'invisible characters only': '\u200b\u2060',
}
const TAKEN = ['Till 1', ' Kasse 2 ', 'صندوق ۳', '👩💻', 'می خواهم']

let app: TestApp
let key: string
let tenant: string
let boss: Browser

beforeAll(async () => {
  app = await startApp({ now: Date.now() })
  ;({ key, id: tenant } = await app.tenant())
  boss = await setUpOwner(app)
})

const till = (name: string) => ({ name, allowed_templates: ['age_over_18'] })
const byApi = (name: string) => app.call<ErrorBody & { device: Device }>('POST', '/v1/devices', { key, body: till(name) })
const byDashboard = (name: string) =>
  boss.post<ErrorBody & { device: Device }>(`/tenants/${tenant}/devices?environment=test`, till(name))
const byCommand = (name: string) =>
  vidimus(app.dir, ['device', 'register', '--tenant', tenant, '--env', 'test', '--name', name, '--templates', 'age_over_18'])

const names = async () =>
  (await app.call<{ data: Device[] }>('GET', '/v1/devices', { key })).body.data.map(({ name }) => name).sort()

test.each(Object.keys(REFUSED))('a name with %s is 400 invalid_request that says why, by API and dashboard alike', async what => {
  const before = await names()
  for (const register of [byApi, byDashboard]) {
    const { status, body } = await register(REFUSED[what as keyof typeof REFUSED])
    expect([status, body.error?.code]).toEqual([400, 'invalid_request'])
    expect(body.error.message).toMatch(
      /^(body: the character U\+0000; leave it out|name: (remove .+|it needs at least one visible character))$/,
    )
  }
  expect(await names()).toEqual(before)
})

test('the command line refuses the same names in the same words', async () => {
  for (const what of ['a line feed', 'a right-to-left override', 'other spaces only'] as const) {
    const { exitCode, stderr } = await byCommand(REFUSED[what])
    const { message } = (await byApi(REFUSED[what])).body.error
    expect([what, exitCode, stderr]).toEqual([what, 2, `vidimus: --${message}; --help shows how to call it\n`])
  }
})

test('every other name is accepted and returned unchanged: any script, spaces around it, emoji', async () => {
  for (const name of TAKEN) {
    for (const register of [byApi, byDashboard]) {
      const { status, body } = await register(name)
      expect([status, body.device.name]).toEqual([201, name])
    }
  }
})
