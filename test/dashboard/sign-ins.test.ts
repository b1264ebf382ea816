// The records of sign-ins: on the page Security, on the audit chain and in the log.
import { expect, test } from 'bun:test'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { networkOf } from '../../src/people/log-in/network.ts'
import { sweepSignIns } from '../../src/people/log-in/sign-ins.ts'
import type { SignIn } from '../../src/people/security-schema.ts'
import { startWithTenant } from '../helpers/app.ts'
import { joinMember, openBrowser, outcome, setUpOwner } from '../helpers/dashboard.ts'
import { filesContaining } from '../helpers/files.ts'

type Page = { data: SignIn[]; next_before: number | null }
type Records = { data: { action: string; actor: string; details?: Record<string, unknown> }[] }

test.each([
  ['198.51.100.77', '198.51.100.0/24'],
  ['::ffff:198.51.100.77', '198.51.100.0/24'],
  ['2001:db8:12:3456::9', '2001:db8:12::/48'],
  ['::1', '0:0:0::/48'],
  ['', ''],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test('a sign-in and a refused one are recorded with name and network for the user, the owners, the audit chain and the log', async () => {
  const { app, ...shop } = await startWithTenant({ config: { trustedProxies: parseNetworks('127.0.0.1') } })
  const boss = await setUpOwner(app, 'olivia', '192.0.2.1')
  const mia = await joinMember(app, shop.id, 'mia')
  const typed = 'a secret typed into the wrong field'
  expect(outcome(await openBrowser(app, { from: '198.51.100.77' }).logIn('mia', 'wrong'))).toBe('401 login_failed')
  expect(outcome(await openBrowser(app, { from: '2001:db8:12:3456::9' }).logIn(typed))).toBe('401 login_failed')
  expect((await openBrowser(app, { from: '203.0.113.5' }).logIn('mia')).status).toBe(200)

  const all = (await boss.get<Page>('/sign-ins')).body.data
  expect(all.map(({ name, outcome: how, method, network }) => [name, how, method, network])).toEqual([
    ['mia', 'signed_in', 'password', '203.0.113.0/24'],
    [typed, 'unknown_name', 'password', '2001:db8:12::/48'],
    ['mia', 'wrong_password', 'password', '198.51.100.0/24'],
    ['mia', 'signed_in', 'link', '127.0.0.0/24'],
    ['olivia', 'signed_in', 'setup', '192.0.2.0/24'],
  ])
  const own = (await mia.get<Page>('/security/sign-ins?limit=2')).body
  expect(own.data.map(({ name, outcome: how }) => [name, how])).toEqual([
    ['mia', 'signed_in'],
    ['mia', 'wrong_password'],
  ])
  const rest = (await mia.get<Page>(`/security/sign-ins?limit=2&before=${own.next_before}`)).body
  expect(rest).toMatchObject({ data: [{ method: 'link' }], next_before: null })
  expect(outcome(await mia.get('/sign-ins'))).toBe('403 owner_required')

  const chain = (await boss.get<Records>('/audit')).body.data.filter(({ action }) => /logged_in|login_failed/.test(action))
  expect(chain.slice(0, 3).map(({ action, actor, details }) => [action, actor, details?.name, details?.network])).toEqual([
    ['user.logged_in', 'dashboard:mia', 'mia', '203.0.113.0/24'],
    ['user.login_failed', 'dashboard', undefined, '2001:db8:12::/48'],
    ['user.login_failed', 'dashboard:mia', 'mia', '198.51.100.0/24'],
  ])
  const logged = app.logs.filter(line => line.includes('login.failed')).map(line => JSON.parse(line))
  expect(logged).toMatchObject([
    { level: 'warn', user: 'mia', network: '198.51.100.0/24', detail: 'wrong_password' },
    { level: 'warn', network: '2001:db8:12::/48', detail: 'unknown_name' },
  ])
  app.clock.advance(90 * 86_400_000)
  await sweepSignIns(app.deps)
  const later = openBrowser(app)
  await later.logIn('olivia')
  expect((await later.get<Page>('/sign-ins')).body.data).toHaveLength(1)
  await app.stop()
  expect(filesContaining(app.dir, typed)).toEqual([])
  expect(app.logs.filter(line => line.includes(typed))).toEqual([])
})
