import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { actionsIn } from '../helpers/database.ts'

const dir = join(temporaryDir(), 'data')
const APP = `android:apk-key-hash:${'x'.repeat(43)}`

let tenant: string

beforeAll(async () => {
  tenant = (await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Shop')).id
})

const of = (env: string): string[] => ['--tenant', tenant, '--env', env]
const call = (...args: string[]) => vidimus(dir, ['origin', ...args])
const listed = async (env: string) =>
  (await vidimusJson<{ data: { origin: string }[] }>(dir, 'origin', 'list', ...of(env))).data.map(({ origin }) => origin)

test('an origin is added for one environment, listed, and removed, and the audit log has both', async () => {
  const added = await vidimusJson<{ created_at: string }>(dir, 'origin', 'add', 'https://shop.example', ...of('live'))
  expect(added).toEqual({
    origin: 'https://shop.example',
    environment: 'live',
    created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  } as never)
  expect([await listed('live'), await listed('test')]).toEqual([['https://shop.example'], []])
  expect((await call('list', ...of('live'))).stdout).toMatch(/^ORIGIN +ADDED\nhttps:\/\/shop\.example +\d{4}-/)
  const { exitCode, stdout } = await call('remove', 'https://shop.example', ...of('live'))
  expect([exitCode, stdout]).toEqual([0, 'Pages of https://shop.example may not ask any more.\n'])
  expect(await listed('live')).toEqual([])
  expect(actionsIn(dir).filter(action => action.startsWith('origin.'))).toEqual(['origin.added', 'origin.removed'])
})

test.each(['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:8080', 'https://shop.example:8443', APP])(
  'the origin %s is taken',
  async origin => {
    const { exitCode, stdout } = await call('add', origin, ...of('test'))
    expect([exitCode, stdout]).toEqual([0, `Pages of ${origin} may ask in test sessions.\n`])
    expect(await listed('test')).toContain(origin)
  },
)

test.each([
  'https://shop.example/',
  'https://shop.example/pay',
  'https://SHOP.example',
  'https://shop.example:443',
  'https://*.shop.example',
  'https://user@shop.example',
  'https://läden.example',
  'shop.example',
  'null',
  `https://${'x'.repeat(250)}.example`,
  `${APP}x`,
])('the origin %s is refused with its right form', async origin => {
  const { exitCode, stderr } = await call('add', origin, ...of('test'))
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^vidimus: an origin is written https:\/\/shop\.example, .*\n$/)])
  expect(await listed('test')).not.toContain(origin)
})

test('an origin over plain http of another machine is refused', async () => {
  const { exitCode, stderr } = await call('add', 'http://shop.example', ...of('test'))
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^vidimus: browsers ask wallets over https only; .*\n$/)])
})

test('an origin that is listed already, is not listed, or is of no tenant is refused', async () => {
  await call('add', 'https://twice.example', ...of('test'))
  const again = await call('add', 'https://twice.example', ...of('test'))
  expect([again.exitCode, again.stderr]).toEqual([1, 'vidimus: https://twice.example is listed already\n'])
  const missing = await call('remove', 'https://twice.example', ...of('live'))
  expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringMatching(/is not listed for live sessions; .*\n$/)])
  const nobody = await call('add', 'https://shop.example', '--tenant', 'ten_0000000000000000', '--env', 'test')
  expect([nobody.exitCode, nobody.stderr]).toEqual([1, expect.stringMatching(/^vidimus: .*ten_0000000000000000/)])
})

test('a 21st origin of a tenant and environment is refused', async () => {
  const { id } = await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Chain')
  const add = (n: number) => call('add', `https://shop${n}.example`, '--tenant', id, '--env', 'live')
  for (let n = 1; n <= 20; n++) expect((await add(n)).exitCode).toBe(0)
  const { exitCode, stderr } = await add(21)
  expect([exitCode, stderr]).toEqual([1, 'vidimus: at most 20 origins can be listed; remove one that is not used\n'])
})

test('a call without its origin, tenant or environment is a wrong call, and --help shows the right one', async () => {
  for (const args of [
    ['add', ...of('test')],
    ['add', 'https://shop.example', '--env', 'test'],
    ['list', '--tenant', tenant],
  ])
    expect((await call(...args)).exitCode).toBe(2)
  const { exitCode, stdout } = await call('--help')
  expect([exitCode, stdout]).toEqual([
    0,
    expect.stringContaining('vidimus origin add https://shop.example --tenant ten_… --env live'),
  ])
})
