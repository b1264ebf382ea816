// The set-up link of the first start, and users of the dashboard.
import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemUser } from '../../src/cli/output.ts'
import type { User } from '../../src/people/schema.ts'
import { call, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, vidimus as spawnVidimus, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { openBrowser, outcome, PASSWORD, tokenOf } from '../helpers/dashboard.ts'
import { isOnPostgres, rowsOf } from '../helpers/database.ts'
import { postgresOnly, sqliteOnly } from '../helpers/engines.ts'

afterAll(stopServing)

const onSqlite = sqliteOnly('on PostgreSQL only the process that made the database has a link')
const onPostgres = postgresOnly('a file has one server')

type Link = { user: User; url: string; expires_at: string }

const browserAt = ({ url }: Served) =>
  openBrowser({ call: (method, path, options) => call(url, method, path, options) }, { origin: url })

describe('the set-up link', () => {
  onSqlite('is a new one at each start while there is no user, and absent once there is one', async () => {
    const dir = join(temporaryDir(), 'data')
    const first = await serve(dir)
    const old = first.first.setup_url
    expect(old).toMatch(/^http:\/\/localhost:\d+\/dashboard#setup=[\w-]{43}$/)
    first.process.kill('SIGTERM')
    await first.process.exited

    const second = await serve(dir)
    const browser = browserAt(second)
    const owner = { name: 'olivia', password: PASSWORD }
    expect(outcome(await browser.post('/setup', { token: tokenOf(old), ...owner }))).toBe('404 setup_unavailable')
    expect(outcome(await browser.post('/setup', { token: tokenOf(second.first.setup_url), ...owner }))).toBe('201')
    expect(browser.state.cookie).toStartWith('vidimus-session=')
    second.process.kill('SIGTERM')
    await second.process.exited

    const third = await serve(dir)
    expect(third.first.setup_url).toBeNull()
    expect((await browserAt(third).logIn('olivia')).status).toBe(200)
  })

  onPostgres('is printed by the node that made the database, and no other start voids it', async () => {
    const dir = join(temporaryDir(), 'data')
    const first = await serve(dir)
    const second = await serve(dir)
    expect(second.first.setup_url).toBeNull()
    const owner = { token: tokenOf(first.first.setup_url), name: 'olivia', password: PASSWORD }
    expect(outcome(await browserAt(second).post('/setup', owner))).toBe('201')
    expect((await browserAt(first).logIn('olivia')).status).toBe(200)
  })
})

onSqlite('a user of a tenant who was invited before the first start does not use up the set-up link', async () => {
  const dir = join(temporaryDir(), 'data')
  const { id: tenant } = await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Shop')
  await vidimusJson<Link>(dir, 'user', 'invite', '--name', 'bob', '--tenant', tenant)
  const server = await serve(dir)
  const owner = { token: tokenOf(server.first.setup_url), name: 'olivia', password: PASSWORD }
  expect(outcome(await browserAt(server).post('/setup', owner))).toBe('201')
})

describe('vidimus user', () => {
  test('invites owners and users of a tenant, lists them, and resets a password beside a running server', async () => {
    const dir = join(temporaryDir(), 'data')
    const server = await serve(dir)
    const { id: tenant } = await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Shop')
    expect(await vidimusJson<{ data: User[] }>(dir, 'user', 'list')).toEqual({ data: [] })
    const owner = await vidimusJson<Link>(dir, 'user', 'invite', '--name', 'olivia')
    const member = await vidimusJson<Link>(dir, 'user', 'invite', '--name', 'mia', '--tenant', tenant)
    expect(owner.user).toMatchObject({ name: 'olivia', tenant: null, status: 'invited' })
    expect(member.user).toMatchObject({ name: 'mia', tenant: { id: tenant, name: 'Shop' } })
    expect(member.url).toMatch(/\/dashboard#password=[\w-]{43}$/)

    const mia = browserAt(server)
    expect((await mia.post('/choose-password', { token: tokenOf(member.url), password: PASSWORD })).status).toBe(200)
    const { data } = await vidimusJson<{ data: User[] }>(dir, 'user', 'list')
    expect(data.map(({ name, status }) => [name, status])).toEqual([
      ['olivia', 'invited'],
      ['mia', 'active'],
    ])
    const reset = await vidimusJson<Link>(dir, 'user', 'reset', 'MIA')
    const again = browserAt(server)
    const choice = { token: tokenOf(reset.url), password: 'gravel 7 umbrella north' }
    expect((await again.post('/choose-password', choice)).status).toBe(200)
    expect(outcome(await mia.get('/session'))).toBe('401 not_logged_in')
    expect(await vidimusJson<{ ok: boolean }>(dir, 'audit', 'verify')).toMatchObject({ ok: true })
    const actors = rowsOf<{ actor: string }>(dir, "SELECT actor FROM audit_records WHERE action LIKE 'user.%'")
    expect(actors.map(({ actor }) => actor)).toContain(`command line:${ownName()}`)
  })

  test('without --json prints links and tables for people, and refuses in one line', async () => {
    const dir = join(temporaryDir(), 'data')
    await vidimusJson(dir, 'tenant', 'create', '--name', 'Shop')
    expect((await vidimus(dir, ['user', 'list'])).stdout).toContain('prints a link')
    const invited = await vidimus(dir, ['user', 'invite', '--name', 'olivia'])
    expect(invited.stdout).toMatch(/^http:\/\/localhost:3000\/dashboard#password=[\w-]{43}\n\nThis is the only time/)
    expect(invited.stderr).toMatch(
      /^note: the link assumes [^\n]*http:\/\/localhost:3000; set VIDIMUS_PUBLIC_URL or PORT[^\n]*\n$/,
    )
    const told: Record<string, string>[] = [{ PORT: '8080' }, { VIDIMUS_PUBLIC_URL: 'https://verify.shop.example' }]
    for (const env of told) expect((await vidimus(dir, ['user', 'reset', 'olivia'], env)).stderr).toBe('')
    expect((await vidimus(dir, ['user', 'reset', 'olivia', '--json'])).stderr).toStartWith('note: the link assumes')
    expect((await vidimus(dir, ['user', 'list'])).stdout).toMatch(
      /^NAME +ROLE +SEES +STATUS +LAST LOG-IN\nolivia +owner +everything +invited +never\n$/,
    )
    const REFUSED: [string[], number, RegExp][] = [
      [['invite', '--name', 'olivia'], 1, /a user with this name already/],
      [['invite', '--name', 'Olivia Smith'], 2, /--name: 2 to 64 characters/],
      [['role', 'olivia', '--role', 'viewer'], 1, /Name the tenant/],
      [['invite', '--name', 'vera', '--role', 'viewer'], 2, /give --tenant too/],
      [['invite', '--name', 'mia', '--tenant', 'ten_none'], 1, /No tenant with this id/],
      [['invite'], 2, /--name is missing/],
      [['reset', 'nobody'], 1, /there is no user nobody/],
      [['reset'], 2, /the name of the user is missing/],
      [['list', '--name', 'x'], 2, /takes no --name/],
      [['remove'], 2, /choose one of user list, user invite, user role, user reset/],
    ]
    for (const [args, exitCode, says] of REFUSED) {
      const run = await vidimus(dir, ['user', ...args])
      expect([args, run.exitCode, run.stdout]).toEqual([args, exitCode, ''])
      expect(run.stderr).toMatch(says)
    }
  })
})

describe('the user of the operating system', () => {
  test.each([
    ['a variable says another name', { USER: 'mallory', LOGNAME: 'mallory', USERNAME: 'mallory', SUDO_USER: 'mallory' }],
    ['there are no variables, as under cron', {}],
  ])('a command is recorded with the name of its user where %s', async (_, variables) => {
    const dir = join(temporaryDir(), 'data')
    const settings = { VIDIMUS_PUBLIC_URL: 'http://localhost:3000', ...variables }
    expect((await spawnVidimus(dir, ['tenant', 'create', '--name', 'Shop'], settings)).exitCode).toBe(0)
    // On PostgreSQL an entry is linked to the chain by the service.
    const table = isOnPostgres ? 'audit_entries' : 'audit_records'
    const actors = rowsOf<{ actor: string }>(dir, `SELECT actor FROM ${table} WHERE action = 'tenant.created'`)
    expect(actors).toEqual([{ actor: `command line:${ownName()}` }])
  })

  const PASSWD = [
    'root:x:0:0:root:/root:/bin/sh',
    'maria:x:1001:1001::/home/maria:/bin/sh',
    '1002:x:7:7::/:/bin/sh',
    'a b:x:9:9::/:',
  ]
  const nameOf = (uid: number | undefined, programs: string[] = []) =>
    systemUser(uid, { passwd: fileOf('passwd', PASSWD.join('\n')), programs })

  test('the recorded user is the name that /etc/passwd has for the number, else the number', () => {
    expect([0, 1001, 7, 1002, 100, undefined].map(uid => nameOf(uid))).toEqual([
      'root',
      'maria',
      '1002',
      'uid 1002',
      'uid 100',
      'unknown',
    ])
    // A space could spell another actor.
    expect(nameOf(9)).toBe('uid 9')
    expect(systemUser(1001, { passwd: '/nowhere', programs: ['/nowhere'] })).toBe('uid 1001')
  })

  test('a user of a directory is asked of id, without our environment, for a second at most', () => {
    expect(systemUser(process.getuid!(), { passwd: '/nowhere' })).toBe(ownName())
    const program = (name: string, script: string) => {
      const file = fileOf(name, `#!/bin/sh\n${script}\n`)
      chmodSync(file, 0o755)
      return file
    }
    process.env.VIDIMUS_TEST_VARIABLE = 'seen'
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell
    const echo = program('echo', 'echo "$1.$2.${VIDIMUS_TEST_VARIABLE:-none}.${USER:-none}"')
    expect(nameOf(1500, [echo])).toBe('-un.1500.none.none')
    delete process.env.VIDIMUS_TEST_VARIABLE
    expect(nameOf(1500, [program('lines', 'echo a; echo b')])).toBe('uid 1500')
    expect(nameOf(1500, [program('fails', 'echo maria; exit 1')])).toBe('uid 1500')
    expect(nameOf(1500, [program('hangs', 'echo maria; exec sleep 60')])).toBe('uid 1500')
  })
})

/** As the system's own file has it. */
function ownName(): string {
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'))
  return fields.find(([, , uid]) => uid === String(process.getuid?.()))?.[0] ?? 'no entry'
}

function fileOf(name: string, text: string): string {
  const file = join(temporaryDir(), name)
  writeFileSync(file, text)
  return file
}
