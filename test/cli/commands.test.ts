import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { presentKey } from '../../src/access/present.ts'
import type { presentTenant } from '../../src/tenants/present.ts'
import { temporaryDir } from '../helpers/app.ts'
import { serve, vidimus as spawnVidimus, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { editRows, isOnPostgres } from '../helpers/database.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { filesContaining } from '../helpers/files.ts'
import type { Run } from '../helpers/run.ts'

afterAll(stopServing)

type NewTenant = Tenant & { webhook_secret: string; webhook_secret_live: string }
type Tenant = ReturnType<typeof presentTenant>
type Key = ReturnType<typeof presentKey>
type NewKey = Key & { key: string }
type Template = { key: string; title: string; builtin: boolean; formats?: string[]; query: object }
type Verdict = { ok: boolean; count: number; head: string; signed_to: number; public_key: string; file?: string }

const DAY_MS = 86_400_000
const NOTHING_MADE = join(temporaryDir(), 'never-made')

const files = temporaryDir()
const file = (name: string, content: string): string => {
  writeFileSync(join(files, name), content)
  return join(files, name)
}

const QUERY = {
  credentials: [
    { id: 'member', format: 'dc+sd-jwt', meta: { vct_values: ['https://club.example/member'] }, claims: [{ path: ['level'] }] },
  ],
}
const queryFile = file('query.json', JSON.stringify(QUERY))

// One directory for all calls that are refused or only read.
const dir = join(temporaryDir(), 'data')
let tenant: NewTenant
let key: NewKey

beforeAll(async () => {
  tenant = await vidimusJson(dir, 'tenant', 'create', '--name', 'Corner shop')
  key = await vidimusJson(dir, 'key', 'create', '--tenant', tenant.id, '--env', 'test', '--label', 'web shop')
})

/** Said by a call that needs an installation. */
const NOTHING_THERE = isOnPostgres
  ? /the database of VIDIMUS_DATABASE_URL is empty; start the service once, or name the right one/
  : /there is no database in \S+; start the service once, or say where it is with VIDIMUS_DATA_DIR/

/** One line with a hint on standard error, and nothing on standard output. */
function expectFailure({ exitCode, stdout, stderr }: Run, wanted: { exitCode: number; says: RegExp }): void {
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: wanted.exitCode,
    stdout: '',
    stderr: expect.stringMatching(wanted.says),
  })
  expect(stderr).toMatch(wanted.exitCode === 2 ? /^vidimus: \S.*[;?] --help shows how to call it\n$/ : /^vidimus: \S.*\n$/)
  expect(stderr).not.toMatch(/^\s+at |\.ts:\d|node_modules|Error:|Bun v/m)
  expect(stderr.length).toBeLessThan(1000)
}

describe('--help', () => {
  const helpOf = async (...call: string[]) => {
    const { exitCode, stdout, stderr } = await vidimus(NOTHING_MADE, call)
    expect({ call, exitCode, stderr }).toEqual({ call, exitCode: 0, stderr: '' })
    return stdout
  }

  test('without a command lists all of them; each prints its usage in 100 columns with an example, and touches nothing', async () => {
    const list = await helpOf('--help')
    expect([await helpOf('-h'), await helpOf('help')]).toEqual([list, list])
    expect(list).toMatch(/^usage: vidimus \[COMMAND\]/m)
    const verbs = [...list.matchAll(/^ {2}([a-z-]+) {2,}\w/gm)].map(([, verb = '']) => verb)
    expect(verbs).toHaveLength(27)
    for (const verb of verbs) {
      const [usage = '', ...rest] = (await helpOf(verb, '--help')).split('\n\n')
      expect(usage).toStartWith(`usage: vidimus ${verb} `)
      expect(Math.max(...usage.split('\n').map(line => line.length))).toBeLessThanOrEqual(100)
      expect(rest.at(-1)).toMatch(new RegExp(`^example: (\\w+=\\S+ )*vidimus ${verb}`))
    }
    expect(existsSync(NOTHING_MADE)).toBe(false)
  })

  test('of a command is the same for each of its subcommands, and shows what each takes', async () => {
    const help = await helpOf('key', '--help')
    expect(help).toStartWith(`usage: vidimus key create --tenant ID --env test|live [--scopes SCOPE,…] [--expires-days 30|90|365]
                          [--label TEXT] [--json]
       vidimus key list --tenant ID [--json]
       vidimus key revoke ID [--json]
       vidimus key roll ID [--old-expires now|1h|24h|7d] [--json]

`)
    expect(help).toContain('  --old-expires  how long the old key keeps working (24h by default)\n')
    expect(await helpOf('key', 'roll', '-h')).toBe(help)
    expect(await helpOf('key', 'roll', '--old-expires', 'never', '--help')).toBe(help)
  })

  test('of serve lists the variables with their defaults', async () => {
    expect(await helpOf('serve', '--help')).toMatch(/^VIDIMUS_DATA_DIR +\.\/data +\w/m)
  })
})

describe('--json prints exactly one object on standard output', () => {
  test('tenant create, list and set', async () => {
    const own = join(temporaryDir(), 'data')
    const made = await vidimusJson<NewTenant>(own, 'tenant', 'create', '--name', ' Bakery ')
    expect(made).toEqual({
      id: expect.stringMatching(/^ten_[0-9A-Za-z]{16}$/),
      name: 'Bakery',
      plan: 'standard',
      daily_quota: 10_000,
      quota_override: null,
      retention_days: null,
      app_schemes: [],
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{40}$/),
      webhook_secret_live: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{40}$/),
    })
    const { webhook_secret, webhook_secret_live, ...kept } = made
    expect(webhook_secret).not.toBe(webhook_secret_live)
    const shown = { ...kept, webhook_endpoints: { test: null, live: null } }
    expect(await vidimusJson<{ data: Tenant[] }>(own, 'tenant', 'list')).toEqual({ data: [shown] })
    const changes = ['--name', 'Bakery 2', '--plan', 'trial', '--retention-days', '30']
    const changed = { ...shown, name: 'Bakery 2', plan: 'trial' as const, daily_quota: 100, retention_days: 30 }
    expect(await vidimusJson<Tenant>(own, 'tenant', 'set', made.id, ...changes)).toEqual(changed)
    expect(await vidimusJson<{ data: Tenant[] }>(own, 'tenant', 'list')).toEqual({ data: [changed] })
    const back = await vidimusJson<Tenant>(own, 'tenant', 'set', made.id, '--daily-quota', 'plan', '--retention-days', 'off')
    expect(back).toEqual({ ...changed, retention_days: null })
    const listed = await vidimusJson<Tenant>(own, 'tenant', 'set', made.id, '--app-scheme', 'shop-app,Bakery:')
    expect(listed).toEqual({ ...back, app_schemes: ['shop-app', 'bakery'] })
    expect(await vidimusJson<Tenant>(own, 'tenant', 'set', made.id, '--app-scheme', 'none')).toEqual(back)
  })

  test('tenant set says in which number of days sessions are erased, in the singular too', async () => {
    const own = temporaryDir()
    const { id } = await vidimusJson<Tenant>(own, 'tenant', 'create', '--name', 'Bakery')
    const set = async (days: string) => (await vidimus(own, ['tenant', 'set', id, '--retention-days', days])).stdout
    for (const [days, kept] of [
      ['0', '0 days'],
      ['1', '1 day'],
      ['2', '2 days'],
    ] as const)
      expect(await set(days)).toContain(`, kept ${kept}.\n`)
  })

  test('tenant set --webhook-url, which shows only the origin, and "none", which removes the endpoint', async () => {
    const own = join(temporaryDir(), 'data')
    const { id } = await vidimusJson<NewTenant>(own, 'tenant', 'create', '--name', 'Bakery')
    const set = (...flags: string[]) => vidimusJson<object>(own, 'tenant', 'set', id, ...flags)
    const both = ['--webhook-url', 'https://192.88.0.1/hooks/token-77', '--env', 'live', '--plan', 'trial']
    const endpoints = { test: null, live: 'https://192.88.0.1' }
    expect(await set(...both)).toMatchObject({ plan: 'trial', webhook_endpoints: endpoints })
    expect(await vidimusJson<object>(own, 'tenant', 'list')).toMatchObject({ data: [{ webhook_endpoints: endpoints }] })
    const { stdout } = await vidimus(own, ['tenant', 'set', id, '--plan', 'trial'])
    expect(stdout).toContain('Webhook endpoints: test none, live https://192.88.0.1.')
    expect(stdout).not.toContain('token-77')
    const refused = await vidimus(own, ['tenant', 'set', id, '--webhook-url', 'http://10.0.0.1/', '--env', 'live'])
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^vidimus: --webhook-url: [^\n]+ does not lead to the public internet[^\n]+\n$/)
    expect(await set('--webhook-url', 'none', '--env', 'test')).toMatchObject({ webhook_endpoints: endpoints })
    expect(await set('--webhook-url', 'none', '--env', 'live')).toMatchObject({ webhook_endpoints: { test: null, live: null } })
    for (const flags of [
      ['--webhook-url', 'none'],
      ['--env', 'live'],
      ['--webhook-url', 'none', '--env', 'both'],
    ])
      expect((await vidimus(own, ['tenant', 'set', id, ...flags])).exitCode).toBe(2)
  })

  test('key create, list, revoke and roll', async () => {
    const made = await vidimusJson<NewKey>(dir, 'key', 'create', '--tenant', tenant.id, '--env', 'live', '--label', 'till')
    expect(made).toEqual({
      id: expect.stringMatching(/^key_[0-9A-Za-z]{16}$/),
      key: expect.stringMatching(/^vk_live_[0-9A-Za-z]{38}$/),
      prefix: made.key.slice(0, 12),
      environment: 'live',
      scopes: ['verifications:create', 'verifications:read', 'devices:manage'],
      label: 'till',
      status: 'active',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
    })
    const { key: _, ...shown } = made
    const rolled = await vidimusJson<NewKey>(dir, 'key', 'roll', made.id, '--old-expires', '1h')
    expect(rolled.key).toMatch(/^vk_live_/)
    expect([rolled.id, rolled.key]).not.toContainAnyValues([made.id, made.key])
    expect(rolled).toMatchObject({ environment: 'live', scopes: made.scopes, label: 'till', expires_at: null })
    const revoked = await vidimusJson<Key>(dir, 'key', 'revoke', rolled.id)
    expect(revoked).toMatchObject({ id: rolled.id, prefix: rolled.prefix, revoked_at: expect.stringMatching(/Z$/) })
    expect(revoked).not.toHaveProperty('key')
    // Revoking again changes nothing, and is no failure.
    expect(await vidimusJson<Key>(dir, 'key', 'revoke', rolled.id)).toEqual(revoked)
    const { data } = await vidimusJson<{ data: Key[] }>(dir, 'key', 'list', '--tenant', tenant.id)
    const old = data.find(({ id }) => id === made.id)
    expect(old).toEqual({ ...shown, expires_at: expect.any(String) })
    expect(Date.parse(old?.expires_at ?? '') - Date.parse(rolled.created_at)).toBe(3_600_000)
    for (const listed of data) expect(Object.keys(listed).sort()).toEqual(Object.keys(shown).sort())
  })

  test('template put, list and delete', async () => {
    const put = ['template', 'put', '--tenant', tenant.id, '--key', 'membership', '--file', queryFile]
    expect(await vidimusJson<Template>(dir, ...put)).toEqual({
      key: 'membership',
      title: 'membership',
      builtin: false,
    } as Template)
    await vidimusJson(dir, ...put, '--title', 'Member of the club')
    const { data } = await vidimusJson<{ data: Template[] }>(dir, 'template', 'list', '--tenant', tenant.id)
    const own = data.filter(({ builtin }) => !builtin)
    expect(own).toMatchObject([{ key: 'membership', title: 'Member of the club', query: QUERY }])
    expect(data.find(each => each.key === 'age_over_18')).toMatchObject({ builtin: true, title: expect.any(String) })
    const everybody = await vidimusJson<{ data: Template[] }>(dir, 'template', 'list')
    expect(everybody.data.every(({ builtin }) => builtin)).toBe(true)
    const all = await vidimusJson<{ data: Template[] }>(dir, 'template', 'list', '--all')
    expect([everybody.data.length, all.data.length]).toEqual([14, 36])
    expect(all.data.find(({ key }) => key === 'age_over_18_mdoc')).toMatchObject({
      title: 'Age 18 or over (mdoc only)',
      formats: ['mso_mdoc'],
    })
    const gone = await vidimusJson<object>(dir, 'template', 'delete', '--tenant', tenant.id, '--key', 'membership')
    expect(gone).toEqual({ key: 'membership', deleted: true })
    const after = await vidimusJson<{ data: Template[] }>(dir, 'template', 'list', '--tenant', tenant.id)
    expect(after.data.filter(({ builtin }) => !builtin)).toEqual([])
  })

  test('audit verify and export, with the same verdict on both', async () => {
    const target = join(files, 'audit.jsonl')
    const exported = await vidimusJson<Verdict>(dir, 'audit', 'export', target)
    expect(exported).toEqual({
      ok: true,
      count: expect.any(Number),
      head: expect.stringMatching(/^[0-9a-f]{64}$/),
      signed_to: exported.count,
      public_key: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      file: target,
    })
    expect(statSync(target).mode & 0o777).toBe(0o600)
    const kept = readFileSync(target, 'utf8')
    const again = await vidimus(dir, ['audit', 'export', target])
    expectFailure(again, { exitCode: 1, says: /audit\.jsonl exists already; choose another name, or replace it with --force/ })
    expect(readFileSync(target, 'utf8')).toBe(kept)
    const { file: _, ...verdict } = exported
    expect(await vidimusJson<Verdict>(NOTHING_MADE, 'audit', 'verify', '--file', target)).toEqual(verdict)
    expect(existsSync(NOTHING_MADE)).toBe(false)
    const own = await vidimusJson<Verdict>(dir, 'audit', 'verify')
    expect(own).toMatchObject({ ok: true, public_key: verdict.public_key })
    expect(await vidimusJson<Verdict>(dir, 'audit', 'export', target, '--force')).toMatchObject({ ok: true, file: target })
  })

  test('version', async () => {
    const version = await vidimusJson<object>(NOTHING_MADE, 'version')
    expect(version).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      bun: Bun.version,
      sqlite: expect.stringMatching(/^3\./),
    })
  })
})

test('licences names every dependency of the program, its own ones and the runtime with them, each with a licence', async () => {
  type Part = { name: string; version: string; licence: string; text: string }
  const { parts } = await vidimusJson<{ parts: Part[] }>(NOTHING_MADE, 'licences')
  const { dependencies } = await Bun.file(join(import.meta.dir, '../../package.json')).json()
  const named = parts.map(({ name, version }) => `${name} ${version}`)
  const wanted = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`)
  expect(wanted.filter(each => !named.includes(each))).toEqual([])
  // Found below the folder of another package only.
  expect(named).toContain(`bun ${Bun.version}`)
  expect(named).toContain('@peculiar/asn1-schema 2.11.1')
  expect(parts.filter(({ licence }) => !/^[\w.-]+( (OR|AND) [\w.-]+)*$|^\(.+\)$/.test(licence) || licence === 'unknown')).toEqual(
    [],
  )
  expect(parts.find(({ name }) => name === 'jose')?.text).toContain('Permission is hereby granted')
})

describe('output for people', () => {
  test('says what was done and what comes next', async () => {
    const own = join(temporaryDir(), 'data')
    const made = await vidimus(own, ['tenant', 'create', '--name', 'Café'])
    expect(made.stdout).toMatch(
      /^Tenant ten_\w+ \(Café\), 10000 verifications a day\.\nNext: vidimus key create --tenant ten_\w+ --env test\n$/,
    )
    const list = await vidimus(own, ['tenant', 'list'])
    expect(list.stdout).toMatch(/^ID +NAME +A DAY +KEPT\nten_\w+ +Café +10000 +for ever\n$/)
    const templates = await vidimus(own, ['template', 'list'])
    expect(templates.stdout).toMatch(/^KEY +TITLE +FORMATS +RULES +PURPOSE\n(?:.+ built in .+\n)+$/)
    const verdict = await vidimus(own, ['audit', 'verify'])
    expect(verdict.stdout).toMatch(
      /^The chain is whole: 1 records, head [0-9a-f]{64}\.\nSigned up to record 0, public key \S+\n$/,
    )
    const version = await vidimus(own, ['version'])
    expect(version.stdout).toMatch(/^vidimus \S+ \(bun \S+, sqlite \S+\)\n$/)
    expect(await vidimus(own, ['--version'])).toEqual(version)
    for (const { stderr, exitCode } of [made, list, templates, verdict, version])
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  })

  test('exits 0 when the reader closes the pipe early', async () => {
    const child = Bun.spawn(['sh', '-c', '"$0" src/main.ts template list --json | true', process.execPath], { stderr: 'pipe' })
    expect(await new Response(child.stderr).text()).toBe('')
    expect(await child.exited).toBe(0)
  })
})

describe('a wrong call exits 2 and says what is wrong', () => {
  const CALLS: [string, RegExp][] = [
    ['frobnicate', /there is no command "frobnicate"; --help/],
    ['srve', /there is no command "srve"; did you mean serve\?/],
    ['tennat create', /there is no command "tennat"; did you mean tenant\?/],
    ['tenant craete --name x', /there is no "tenant craete"; did you mean tenant create\?/],
    ['key lst --tenant TENANT', /there is no "key lst"; did you mean key list\?/],
    ['tenant create --nmae x', /'--nmae'; did you mean --name\?/],
    ['version --jsno', /'--jsno'; did you mean --json\?/],
    ['tenant create --name x --daily-quota -1', /--daily-quota: "-1" is not a whole number from 0 to 10000000/],
    ['tenant create --name --plan large', /--name needs a value; one that begins with a dash is written --name=VALUE/],
    ['tenant create --plan large --name', /--name needs a value/],
    ['constructor', /there is no command "constructor"/],
    ['__proto__', /there is no command "__proto__"/],
    ['--nope', /'--nope'; --help/],
    ['serve --nope', /'--nope'/],
    ['serve now', /serve takes no "now"/],
    ['version --verbose', /'--verbose'/],
    ['version please', /version takes no "please"/],
    ['doctor more', /doctor takes no "more"/],
    ['tenant', /tenant needs a subcommand: tenant create, tenant list, tenant set;/],
    ['tenant destroy', /there is no "tenant destroy"; choose one of tenant create, tenant list, tenant set;/],
    ['tenant create', /--name is missing/],
    ['tenant create --name', /--name/],
    ['tenant create --name=', /--name is missing/],
    ['tenant create --nam=x', /'--nam'/],
    ['tenant create --json=x', /--json/],
    ['tenant create --name x --plan gold', /--plan: "gold" is not one of trial, standard, large/],
    ['tenant create x --name y', /tenant create takes no "x"/],
    ['tenant list --name x', /tenant list takes no --name/],
    ['tenant set', /the tenant id is missing/],
    ['tenant set TENANT', /nothing to change: give --name/],
    ['tenant set TENANT --name= --plan trial', /--name is missing/],
    ['tenant create --name x --app-scheme shop', /tenant create takes no --app-scheme/],
    ['tenant set TENANT --app-scheme javascript', /--app-scheme: "javascript" has a meaning of its own in browsers or systems/],
    ['tenant set TENANT --app-scheme shop,ms-msdt', /--app-scheme: "ms-msdt" has a meaning of its own/],
    ['tenant set TENANT --app-scheme s', /--app-scheme: "s" is no scheme: write 2 to 32 letters/],
    ['tenant set TENANT --app-scheme a1,a2,a3,a4,a5,a6,a7,a8,a9,b1,b2', /--app-scheme: at most 10 schemes can be listed/],
    ['key', /key needs a subcommand: key create, key list, key revoke, key roll;/],
    ['key create --env test', /--tenant is missing/],
    ['key create --tenant TENANT', /--env is missing/],
    ['key create --tenant TENANT --env prod', /--env: "prod" is not one of test, live/],
    [
      'key create --tenant TENANT --env test --scopes verifications:all',
      /"verifications:all" is not one of verifications:create,/,
    ],
    ['key create --tenant TENANT --env test --scopes=', /--scopes: "" is not one of/],
    ['key list', /--tenant is missing/],
    ['key revoke', /the key id is missing/],
    ['key revoke KEY KEY', /key revoke takes no "key_/],
    ['key revoke KEY --tenant TENANT', /key revoke takes no --tenant/],
    ['key roll KEY --scopes verifications:read', /key roll takes no --scopes/],
    ['key roll KEY --old-expires 2h', /--old-expires: "2h" is not one of now, 1h, 24h, 7d/],
    ['template', /needs a subcommand: template put, template list, template delete;/],
    ['template put --key k --file QUERY', /--tenant is missing/],
    ['template put --tenant TENANT --file QUERY', /--key is missing/],
    ['template put --tenant TENANT --key k', /--file is missing/],
    ['template put --tenant TENANT --key a-b --file QUERY', /--key: .*up to 64 small letters, digits and underscores/],
    ['template put --tenant TENANT --key Ab --file QUERY', /--key: /],
    [`template put --tenant TENANT --key ${'k'.repeat(65)} --file QUERY`, /--key: /],
    ['template delete --tenant TENANT', /--key is missing/],
    ['template list --file QUERY', /template list takes no --file/],
    ['audit', /needs a subcommand: audit verify, audit export;/],
    ['audit export', /the file to write is missing/],
    // It would verify the database, and seem to say that the file is whole.
    ['audit verify QUERY', /audit verify takes no "/],
    ['audit export --file QUERY', /audit export takes no --file/],
  ]

  test.each(CALLS)('%s', async (call, says) => {
    expectFailure(await vidimus(dir, filled(call)), { exitCode: 2, says })
  })

  test('a process prints the answer, or the failure on standard error, and exits with the code of the call', async () => {
    const version = await spawnVidimus(NOTHING_MADE, ['version', '--json'])
    expect(version).toEqual(await vidimus(NOTHING_MADE, ['version', '--json']))
    expectFailure(await spawnVidimus(NOTHING_MADE, ['frobnicate']), { exitCode: 2, says: /there is no command "frobnicate"/ })
    expectFailure(await spawnVidimus(NOTHING_MADE, ['tenant', 'list']), { exitCode: 1, says: NOTHING_THERE })
  })

  test('a message that quotes the call contains no line break and no escape sequence of it', async () => {
    const run = await vidimus(dir, ['key', 'create', '--tenant', tenant.id, '--env', 'te\nst\u001b[31m'])
    expectFailure(run, { exitCode: 2, says: /--env: "te st \[31m" is not one of/ })
  })
})

describe('a call that cannot be carried out exits 1 and says what to do', () => {
  const broken = file('broken.json', '{"credentials":')
  const foreign = file('foreign.json', '{"credentials":[]}')
  const large = file('large.json', JSON.stringify(QUERY).padEnd(64 * 1024 + 1))
  const put = 'template put --tenant TENANT --key k --file'
  const CALLS: [string, RegExp][] = [
    ['tenant set ten_nobody --daily-quota 5', /there is no tenant ten_nobody; "vidimus tenant list" shows all/],
    ['key create --tenant ten_nobody --env test', /there is no tenant ten_nobody; "vidimus tenant list" shows all/],
    ['key list --tenant ten_nobody', /there is no tenant ten_nobody; "vidimus tenant list" shows all/],
    ['key revoke key_nothing', /there is no valid key key_nothing; "vidimus key list --tenant ID" shows/],
    ['key roll key_nothing', /there is no valid key key_nothing; "vidimus key list --tenant ID" shows/],
    ['template put --tenant ten_nobody --key k --file QUERY', /there is no tenant ten_nobody/],
    [
      'template put --tenant TENANT --key age_over_18 --file QUERY',
      /age_over_18 is a name of a built-in template; choose another key/,
    ],
    [`${put} /nowhere/query.json`, /cannot read \/nowhere\/query\.json; give the path of a JSON file/],
    [`${put} ${broken}`, /broken\.json: not valid JSON; give a DCQL query/],
    [`${put} ${foreign}`, /foreign\.json: credentials: .*1 to 20/],
    [`${put} ${large}`, /large\.json is larger than 64 KiB; shorten/],
    // It has no end.
    [`${put} /dev/zero`, /\/dev\/zero is larger than 64 KiB; shorten it, or give another/],
    ['signing import --chain /dev/zero', /\/dev\/zero is larger than 256 KiB; shorten it, or give another/],
    ['template list --tenant ten_nobody', /there is no tenant ten_nobody/],
    [
      'template delete --tenant TENANT --key nothing',
      /has no template nothing; "vidimus template list --tenant ten_\w+" shows all/,
    ],
    ['template delete --tenant TENANT --key age_over_18', /age_over_18 is a built-in template and stays; delete only your own/],
    ['audit verify --file /nowhere/audit.jsonl', /cannot read \/nowhere\/audit\.jsonl; give the path of an audit export/],
    [`audit verify --file ${files}`, /cannot read .*; give the path of an audit export/],
    ['audit export /nowhere/audit.jsonl', /cannot write \/nowhere\/audit\.jsonl; give a path in a directory that exists/],
  ]

  test.each(CALLS)('%s', async (call, says) => {
    expectFailure(await vidimus(dir, [...filled(call), '--json']), { exitCode: 1, says })
  })

  test('a revoked key and one that a roll has ended cannot be rolled', async () => {
    const make = () => vidimusJson<NewKey>(dir, 'key', 'create', '--tenant', tenant.id, '--env', 'test')
    const [revoked, ended] = await Promise.all([make(), make()])
    await vidimusJson(dir, 'key', 'revoke', revoked.id)
    await vidimusJson(dir, 'key', 'roll', ended.id, '--old-expires', 'now')
    for (const { id } of [revoked, ended])
      expectFailure(await vidimus(dir, ['key', 'roll', id]), { exitCode: 1, says: new RegExp(`there is no valid key ${id}`) })
  })

  test('a key that was rolled already cannot be rolled again, but its successor can', async () => {
    const made = await vidimusJson<NewKey>(dir, 'key', 'create', '--tenant', tenant.id, '--env', 'test')
    const { id } = await vidimusJson<NewKey>(dir, 'key', 'roll', made.id)
    const says = new RegExp(`${made.id} was rolled already; roll its successor ${id}`)
    expectFailure(await vidimus(dir, ['key', 'roll', made.id]), { exitCode: 1, says })
    expect(await vidimusJson<NewKey>(dir, 'key', 'roll', id)).toMatchObject({ expires_at: null })
  })

  test('an unexpected error is reported with its kind and place, without trace or values', async () => {
    const own = join(temporaryDir(), 'data')
    await vidimusJson(own, 'tenant', 'create', '--name', 'Shop')
    editRows(own, 'ALTER TABLE tenants RENAME TO elsewhere')
    const { exitCode, stdout, stderr } = await vidimus(own, ['tenant', 'create', '--name', 'canary', '--json'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^vidimus: unexpected error: \w*Error .*; if it happens again, report this line\n$/)
    expect(stderr).not.toContain('canary')
  })

  test('serve names a port that another program uses', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    try {
      const run = await spawnVidimus(join(temporaryDir(), 'data'), ['serve', '--json'], { PORT: String(taken.port) })
      const says = /cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\), which another program uses; stop .* or choose another PORT/
      expectFailure(run, { exitCode: 1, says })
    } finally {
      taken.stop(true)
    }
  })

  sqliteOnly('a database has many servers')(
    'a directory that cannot be created exits 18, and one that a server uses 11',
    async () => {
      const run = await vidimus(join(queryFile, 'data'), ['tenant', 'create', '--name', 'Shop'])
      expectFailure(run, {
        exitCode: 18,
        says: /cannot use .*: a file is in its place, or above it; choose another with VIDIMUS_DATA_DIR/,
      })
      const used = join(temporaryDir(), 'data')
      await serve(used)
      const second = await spawnVidimus(used, ['serve', '--json'], { PORT: '0' })
      expectFailure(second, { exitCode: 11, says: /another server uses .*; stop it, or give this one its own VIDIMUS_DATA_DIR/ })
    },
  )
})

describe('a call that reads or changes an installation does not create one', () => {
  const CALLS = [
    'tenant list',
    'tenant set ten_x --name y',
    'key create --tenant ten_x --env test',
    'key list --tenant ten_x',
    'key revoke key_x',
    'key roll key_x',
    'device register --tenant ten_x --env test --name Till --templates age_over_18',
    'device list --tenant ten_x',
    'device set dev_x --name Till',
    'device pair dev_x',
    'device revoke dev_x',
    'webhook-secret show --tenant ten_x',
    'deliveries list --tenant ten_x',
    'deliveries replay whd_x',
    'listen --forward http://localhost:4000',
    'template put --tenant ten_x --key k --file QUERY',
    'template list --tenant ten_x',
    'template delete --tenant ten_x --key k',
    'trust list',
    'trust remove anc_x',
    'signing show',
    'signing csr',
    'user list',
    'user reset olivia',
    'audit verify',
    `audit export ${join(files, 'never.jsonl')}`,
    // On PostgreSQL the first two are refused anyway, and the last one makes a schema.
    ...(isOnPostgres ? [] : [`backup ${join(files, 'never.db')}`, 'rekey', 'upgrade']),
  ]

  test.each(CALLS)('%s', async call => {
    const own = join(temporaryDir(), 'data')
    const run = await vidimus(own, filled(call))
    expectFailure(run, { exitCode: 1, says: NOTHING_THERE })
    expect([own, join(files, 'never.jsonl'), join(files, 'never.db')].filter(existsSync)).toEqual([])
  })

  test('audit verify creates nothing in an empty directory', async () => {
    const own = temporaryDir()
    expectFailure(await vidimus(own, ['audit', 'verify', '--json']), { exitCode: 1, says: NOTHING_THERE })
    expect(readdirSync(own)).toEqual([])
  })
})

describe('an invalid variable is named, and nothing is created', () => {
  const VARIABLES: [string, string, RegExp][] = [
    ['VIDIMUS_NOPE', '1', /there is no such setting; known are PORT, HOST, VIDIMUS_PUBLIC_URL/],
    ['VIDIMUS_DATADIR', '/tmp', /there is no such setting/],
    ['PORT', '65536', /not a whole number from 0 to 65535/],
    ['VIDIMUS_PUBLIC_URL', 'ftp://shop.example', /not an http\(s\) address like https:/],
    ['VIDIMUS_LOG', 'loud', /not one of debug, info, warn, error, silent/],
    ['VIDIMUS_EGRESS_ALLOW', 'everything', /everything/],
    ['VIDIMUS_TRUSTED_PROXIES', 'everybody', /everybody/],
    ['VIDIMUS_TLS_KEY', 'key.pem', /VIDIMUS_TLS_CERT: .*certificate file must be named too/],
    ['VIDIMUS_RATE_LIMIT_SCALE', '-1', /not a number from 0 to 1000, like 0, 0\.5 or 10/],
    ['VIDIMUS_WEBHOOK_DELAYS', 'soon', /not a wait like 0s, 5s, 10m or 2h/],
    ['VIDIMUS_DATABASE_URL', 'postgres://localhost/x', /the name of the user is missing/],
  ]

  const CALLS = [['serve', '--json'], ['tenant', 'list'], ['--json'], ['audit', 'verify', '--json']]

  test.each(VARIABLES.map((row, i) => [...row, CALLS[i % CALLS.length] ?? []] as const))(
    '%s=%s',
    async (name, value, hint, call) => {
      const run = await vidimus(NOTHING_MADE, call, { [name]: value })
      expectFailure(run, { exitCode: 1, says: hint })
      expect(run.stderr).toContain(name)
      expect(existsSync(NOTHING_MADE)).toBe(false)
    },
  )
})

describe('limits', () => {
  const accepts = async (call: string, member: string, value: unknown) =>
    expect(await vidimusJson<Record<string, unknown>>(dir, ...filled(call))).toHaveProperty(member, value)
  const refuses = async (call: string, says: RegExp) => expectFailure(await vidimus(dir, filled(call)), { exitCode: 2, says })

  test('a daily quota is a whole number from 0 to 10,000,000', async () => {
    await accepts('tenant create --name x0 --daily-quota 0', 'daily_quota', 0)
    await accepts('tenant create --name x1 --daily-quota 10000000', 'daily_quota', 10_000_000)
    await accepts('tenant create --name x2 --daily-quota plan --plan large', 'daily_quota', 100_000)
    for (const value of ['10000001', '-1', '1.5', '1e3', ''])
      await refuses(
        `tenant create --name x --daily-quota=${value}`,
        /--daily-quota: ".*" is not a whole number from 0 to 10000000/,
      )
    await refuses('tenant set TENANT --daily-quota=10000001', /--daily-quota/)
  })

  test('retention is 0 to 3650 days, or off', async () => {
    await accepts('tenant create --name x3 --retention-days 0', 'retention_days', 0)
    await accepts('tenant create --name x4 --retention-days 3650', 'retention_days', 3650)
    await accepts('tenant create --name x5 --retention-days off', 'retention_days', null)
    for (const value of ['3651', '-1', 'never'])
      await refuses(
        `tenant create --name x --retention-days=${value}`,
        /--retention-days: ".*" is not a whole number from 0 to 3650/,
      )
  })

  test('a name has 1 to 100 characters on one line, one of them visible', async () => {
    for (const name of ['x', 'x'.repeat(100), '🥐'.repeat(100)]) await accepts(`tenant create --name ${name}`, 'name', name)
    for (const name of ['x'.repeat(101), '🥐'.repeat(101)])
      await refuses(`tenant create --name ${name}`, /--name: longer than 100 characters/)
    await refuses('tenant create --name two\nlines', /--name: remove line breaks and control characters/)
    await refuses('tenant create --name \u00ad', /--name: it needs at least one visible character/)
    await refuses(`tenant set TENANT --name ${'x'.repeat(101)}`, /--name: longer than 100 characters/)
  })

  test('a label has at most 100 characters, and may be left out', async () => {
    const create = 'key create --tenant TENANT --env test'
    await accepts(create, 'label', '')
    await accepts(`${create} --label ${'é'.repeat(100)}`, 'label', 'é'.repeat(100))
    await refuses(`${create} --label ${'é'.repeat(101)}`, /--label: longer than 100 characters/)
  })

  test('a template key has 1 to 64 characters, its title 100, its file 64 KiB', async () => {
    const put = (templateKey: string, title: string, from = 'QUERY') =>
      `template put --tenant TENANT --key ${templateKey} --title ${title} --file ${from}`
    const largest = file('largest.json', JSON.stringify(QUERY).padEnd(64 * 1024))
    await accepts(put('k'.repeat(64), 't'.repeat(100), largest), 'key', 'k'.repeat(64))
    await refuses(put('k'.repeat(65), 't'), /--key: .* up to 64 small letters/)
    await refuses(put('k', 't'.repeat(101)), /--title: longer than 100 characters/)
  })

  test('a key expires after exactly 30, 90 or 365 days, or never', async () => {
    const create = ['key', 'create', '--tenant', tenant.id, '--env', 'test']
    for (const days of [30, 90, 365]) {
      const made = await vidimusJson<NewKey>(dir, ...create, '--expires-days', String(days))
      expect(Date.parse(made.expires_at ?? '') - Date.parse(made.created_at)).toBe(days * DAY_MS)
    }
    for (const days of ['0', '31', '366', '030', '-30', ''])
      await refuses(
        `key create --tenant TENANT --env test --expires-days=${days}`,
        /--expires-days: ".*" is not one of 30, 90, 365/,
      )
  })

  test('a key has all scopes but verifications:delete, or exactly those of --scopes, each once', async () => {
    const create = ['key', 'create', '--tenant', tenant.id, '--env', 'test']
    expect(key.scopes).toEqual(['verifications:create', 'verifications:read', 'devices:manage'])
    const asked = await vidimusJson<NewKey>(
      dir,
      ...create,
      '--scopes',
      'verifications:delete, verifications:read,verifications:delete',
    )
    expect(asked.scopes.toSorted()).toEqual(['verifications:delete', 'verifications:read'])
  })
})

describe('secrets', () => {
  test('a key is printed once; the data directory contains only its hash and its first 12 characters', async () => {
    const own = join(temporaryDir(), 'data')
    const { id } = await vidimusJson<NewTenant>(own, 'tenant', 'create', '--name', 'x')
    const { stdout } = await vidimus(own, ['key', 'create', '--tenant', id, '--env', 'test'])
    const [secret = '', ...rest] = stdout.match(/vk_test_\w+/g) ?? []
    expect(secret).toMatch(/^vk_test_[0-9A-Za-z]{38}$/)
    expect(rest).toEqual([])
    expect(stdout).toMatch(/only time the key key_\w+ is shown/)
    const keyId = /key_\w+/.exec(stdout)?.[0] ?? ''
    const successor = await vidimusJson<NewKey>(own, 'key', 'roll', keyId)
    const list = await vidimus(own, ['key', 'list', '--tenant', id])
    expect(list.stdout).toContain(`${secret.slice(0, 12)}…`)

    for (const each of [secret, successor.key]) {
      expect(list.stdout).not.toContain(each.slice(0, 13))
      expect(filesContaining(own, each)).toEqual([])
      expect(filesContaining(own, each.slice(12))).toEqual([])
      expect(filesContaining(own, Buffer.from(each).toString('base64').slice(16, -4))).toEqual([])
      expect(filesContaining(own, createHash('sha256').update(each).digest('hex'))).toContain(
        isOnPostgres ? 'api_keys' : 'vidimus.db',
      )
      expect(filesContaining(own, each.slice(0, 12))).toContain(isOnPostgres ? 'api_keys' : 'vidimus.db')
    }
  })

  test('a webhook secret is in no file in clear text, and no later command prints it', async () => {
    const own = join(temporaryDir(), 'data')
    const { id, webhook_secret, webhook_secret_live } = await vidimusJson<NewTenant>(own, 'tenant', 'create', '--name', 'x')
    for (const body of [webhook_secret, webhook_secret_live].map(secret => secret.slice('whsec_'.length))) {
      expect(filesContaining(own, body)).toEqual([])
      expect(filesContaining(own, Buffer.from(body, 'base64'))).toEqual([])
      expect(filesContaining(own, Buffer.from(body, 'base64').toString('hex'))).toEqual([])
    }
    const target = join(own, 'audit.jsonl')
    const later = await Promise.all([
      vidimus(own, ['tenant', 'list', '--json']),
      vidimus(own, ['tenant', 'set', id, '--plan', 'trial', '--json']),
      vidimus(own, ['audit', 'export', target, '--json']),
    ])
    for (const { exitCode, stdout } of later) {
      expect(exitCode).toBe(0)
      expect(stdout).not.toContain('whsec_')
    }
    expect(filesContaining(own, 'whsec_')).toEqual([])
  })
})

/** A call as it is typed, with the fixtures' names filled in. No value contains a space. */
const filled = (call: string): string[] =>
  call.split(' ').map(word =>
    word
      .replace(/^TENANT$/, tenant.id)
      .replace(/^KEY$/, key.id)
      .replace(/^QUERY$/, queryFile),
  )

describe('a path that cannot be used is refused with what to give', () => {
  const LEADS_NOWHERE: [string, string][] = [
    ['a name of 300 characters', 'a'.repeat(300)],
    ['a path below a file', join(queryFile, 'below')],
  ]

  test.skipIf(isOnPostgres).each(LEADS_NOWHERE)('restore with %s', async (_, path) => {
    const says = /there is no file \S+; give the path of a backup/
    expectFailure(await vidimus(dir, ['restore', path]), { exitCode: 1, says })
  })

  test.skipIf(isOnPostgres)('backup with a name that is too long, also with what a part adds to it', async () => {
    for (const length of [300, 250])
      expectFailure(await vidimus(dir, ['backup', join(files, 'a'.repeat(length))]), {
        exitCode: 1,
        says: /cannot write \S+: its name is too long; choose a shorter one/,
      })
  })

  test.each(LEADS_NOWHERE)('trust bundle export with %s', async (_, path) => {
    expectFailure(await vidimus(dir, ['trust', 'bundle', 'export', path]), {
      exitCode: 1,
      says: /cannot write \S+.*; give a path in a directory that/,
    })
  })

  test('erase-again and VIDIMUS_REGISTRATION_CERT with a directory', async () => {
    const again = await vidimus(dir, ['erase-again', files])
    expectFailure(again, { exitCode: 1, says: /cannot read \S+; give the erasures.log of every node/ })
    const list = await vidimus(dir, ['tenant', 'list'], { VIDIMUS_REGISTRATION_CERT: files })
    expectFailure(list, {
      exitCode: 1,
      says: /VIDIMUS_REGISTRATION_CERT: cannot read \S+ \(EISDIR\); check the path, and that this user may read it/,
    })
  })
})

test('a failure that quotes the call changes no direction of the text', async () => {
  const { stderr } = await vidimus(dir, ['user', 'reset', 'a\u202eb'])
  expect(stderr).toBe('vidimus: there is no user a?b; "vidimus user list" shows all\n')
})
