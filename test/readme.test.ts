// Runs every command of README.md and of the handbook unchanged and in order, with a shell and curl; only the port differs. A
// block that cannot run says why behind its language: ```sh (not run: needs Docker). Recipes are run by tests of their own.
import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type HolderPhone, phoneOf } from '../scripts/persona-phone.ts'
import { COMMANDS } from '../src/cli/index.ts'
import { PAGES } from '../src/handbook/contents.ts'
import { type Holder, newPrivateJwk, publicJwk } from '../src/sandbox/wallet/wallet.ts'
import { temporaryDir, until } from './helpers/app.ts'
import { DAY_MS, issueAuthority, pemOf } from './helpers/certificates.ts'
import { freePort } from './helpers/free-port.ts'
import { PROGRAM } from './helpers/program.ts'
import { runOf } from './helpers/run.ts'
import { pidList } from './helpers/trusted-lists.ts'
import { begin, browser, comeBack } from './oidc/customer.ts'
import { makeIssuer, makeSigner } from './trust-lists/make.ts'

const ROOT = resolve(import.meta.dir, '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const pages = PAGES.map(({ slug, file }) => ({ slug, text: readFileSync(file, 'utf8') }))
const pageOf = (slug: string): string => pages.find(page => page.slug === slug)?.text ?? ''

/** Blocks of commands; those of recipes have a mark for their own tests. */
const blocksIn = (text: string): string[] =>
  [...text.matchAll(/^```sh( \(not run: .+\))?\n([\s\S]*?)^```$/gm)]
    .filter(([, reason, block = '']) => reason === undefined && !/^\S+ vidimus: /.test(block))
    .map(([, , block = '']) => block)

const canType = Bun.which('curl') !== null

const checkout = checkOut()
const typed = new Set<string>()
const background: Bun.Subprocess[] = []
/** Values that a reader copies from one response into the next command. */
const known: Record<string, string> = {}

afterAll(async () => {
  for (const { pid } of background) process.kill(-pid, 'SIGKILL')
  await Promise.all(background.map(({ exited }) => exited))
})

/** A directory like a clone of the repository, with its own `data`, and `vidimus` as an installed program. */
function checkOut(): string {
  const dir = temporaryDir()
  for (const name of readdirSync(ROOT)) {
    if (!['.git', 'data', 'dist'].includes(name)) symlinkSync(join(ROOT, name), join(dir, name))
  }
  mkdirSync(join(dir, 'bin'))
  symlinkSync(PROGRAM, join(dir, 'bin/vidimus'))
  return dir
}

const environment = () => ({
  PATH: `${join(checkout, 'bin')}:${process.env.PATH}`,
  HOME: process.env.HOME ?? '',
  no_proxy: '*',
  PORT: '0',
  ...known,
})

async function type(text: string): Promise<string> {
  const here = text.replaceAll('http://localhost:3000', known.URL ?? '')
  const shell = Bun.spawn(['sh', '-ec', here], { cwd: checkout, env: environment(), stdout: 'pipe', stderr: 'pipe' })
  const { exitCode, stdout, stderr } = await runOf(shell)
  expect({ text, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ text, exitCode: 0, stderr: '' })
  return stdout
}

/** A running command and its output so far. */
function typeAndLeave(text: string): () => string {
  const options = { cwd: checkout, env: environment(), stdout: 'pipe', stderr: 'pipe', detached: true } as const
  const shell = Bun.spawn(['sh', '-ec', text], options)
  background.push(shell)
  let output = ''
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) output += decoder.decode(chunk, { stream: true })
  }
  void collect(shell.stdout)
  void collect(shell.stderr)
  return () => output
}

const step = (title: string, act: () => Promise<void>) =>
  test.skipIf(!canType)(canType ? title : `SKIPPED, as there is no curl here: ${title}`, act)

const linesOf = (block: string): string[] => block.replaceAll('\\\n', ' ').trimEnd().split('\n')

/** The lines of a page, in order. Each counts as typed: the step that asks for them types them all. */
function linesIn(text: string): string[] {
  const lines = blocksIn(text).flatMap(linesOf)
  for (const line of lines) typed.add(line)
  return lines
}

/** A file that a page shows. */
const blockOf = (text: string, language: string, beginning: string): string =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))]
    .map(([, block = '']) => block)
    .find(block => block.startsWith(beginning)) ?? ''

async function create(body: object = {}): Promise<{ id: string; wallet_uri: string }> {
  const headers = { authorization: `Bearer ${known.KEY}`, 'content-type': 'application/json' }
  const answer = await fetch(`${known.URL}/v1/verifications`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ template: 'age_over_18', ...body }),
  })
  return (await answer.json()) as { id: string; wallet_uri: string }
}

const answer = (walletUri: string, persona: string) =>
  type(`${process.execPath} scripts/sandbox-wallet.ts "${walletUri}" --persona ${persona}`)

/** A file with the code of a page, and what it prints. */
const runCode = (name: string, code: string, env: string) => {
  writeFileSync(join(checkout, name), code)
  return `${env} ./scripts/bun ${join(checkout, name)}`
}

step('README: the demo starts, and prints its page and four commands', async () => {
  const [demo = ''] = linesIn(README)
  expect(demo).toBe('./scripts/bun run demo')
  const output = typeAndLeave(demo)
  await until(async () => (output().match(/curl -s/g)?.length ?? 0) >= 4)
  expect(output()).toContain('/demo')
})

step('README: dev serves, and prints a test key; test is what runs this', async () => {
  const [, dev = '', tests] = linesIn(README)
  const output = typeAndLeave(dev)
  await until(async () => /vk_test_\w+/.test(output()))
  known.URL = /listens on (\S+)/.exec(output())?.[1] ?? ''
  known.KEY = /vk_test_\w+/.exec(output())?.[0] ?? ''
  expect(existsSync(join(checkout, 'data/vidimus.db'))).toBe(true)
  expect(tests).toBe('./scripts/bun run test')
  expect(readFileSync(join(ROOT, '.ci/run'), 'utf8')).toContain(`\ntold ${tests}\n`)
  const { data } = JSON.parse(await type('vidimus tenant list --json')) as { data: { id: string }[] }
  known.TENANT = data[0]?.id ?? ''
})

step('README: a first verification is created, answered by the sandbox wallet, followed and read', async () => {
  const [, , , , ask = '', , wallet = '', status = '', read = ''] = linesIn(README)
  const created = JSON.parse(await type(ask)) as { id: string; wallet_uri: string; metadata: object }
  expect(created.metadata).toEqual({ order: '1001' })
  known.ID = created.id
  known.WALLET_URI = created.wallet_uri
  await type(wallet)
  expect(JSON.parse(await type(status)).status).toBe('completed')
  expect(JSON.parse(await type(read)).claims).toEqual({ age_over_18: true })
})

step('README: the receiver takes the result that listen forwards', async () => {
  known.WEBHOOK_SECRET = JSON.parse(await type('vidimus webhook-secret show --tenant $TENANT --json')).webhook_secret
  const session = await create()
  known.ID = session.id
  const code = blockOf(README, 'ts', 'import { verifyWebhook')
    .replace('port: 4000', 'port: 0')
    .replace('Bun.serve(', 'const server = Bun.serve(')
  const output = typeAndLeave(runCode('receiver.ts', `${code}\nconsole.log('port', server.port)`, ''))
  await until(async () => /port \d+/.test(output()))
  const [, listen = ''] = /`(\.\/scripts\/bun src\/main\.ts listen [^`]+)`/.exec(README) ?? []
  const target = `localhost:${/port (\d+)/.exec(output())?.[1]}`
  const listening = typeAndLeave(listen.replace('localhost:4000', target))
  await until(async () => listening().includes(target))
  await answer(session.wallet_uri, 'declines')
  await until(async () => output().includes('verification.failed'))
})

/** What a reader has done before the commands of a page, and how some of them end. */
type Scene = { before?: () => Promise<unknown>; says?: Record<string, RegExp | string>; run?: (line: string) => Promise<string> }

const completed = async (body: object = {}) => {
  const session = await create(body)
  known.ID = session.id
  return await answer(session.wallet_uri, 'adult')
}

let phone: HolderPhone | undefined

/** The program of openid-connect.md, on a port of its own. */
const ofClub = (text: string): string =>
  text.replaceAll('localhost:4000', `localhost:${known.CLUB}`).replace('port: 4000', `port: ${known.CLUB}`)

/** A wallet with documents of the running service. */
async function holderHere(): Promise<Holder> {
  const deviceKey = await newPrivateJwk()
  const body = JSON.stringify({ persona: 'adult', holder_key: publicJwk(deviceKey) })
  const headers = { 'content-type': 'application/json' }
  const issued = await fetch(`${known.URL}/sandbox/documents`, { method: 'POST', headers, body })
  return { persona: 'adult', deviceKey, ...((await issued.json()) as Pick<Holder, 'credentials'>) }
}

const SCENES: Record<string, Scene> = {
  start: {
    before: () => completed(),
    says: { 'curl http://localhost:3000/v1/verifications/$ID -H': /"age_over_18":true/ },
    // Running already.
    run: line => (line === './scripts/bun run dev' ? Promise.resolve('') : type(line)),
  },
  verifications: {
    async before() {
      known.PENDING_ID = (await create()).id
      await completed()
    },
    says: {
      'curl -i': /HTTP\/1.1 201 Created[\s\S]*"wallet_uri"/,
      'curl -N': 'completed',
      'curl -X POST': /"code":"cancelled"/,
      'curl -X DELETE': /"verification_sessions":1/,
    },
  },
  templates: {
    before: async () => {
      writeFileSync(join(checkout, 'member.json'), blockOf(pageOf('templates'), 'json', '{'))
      writeFileSync(join(checkout, 'rules.json'), blockOf(pageOf('templates'), 'json', '['))
    },
    says: { 'vidimus template list': 'member' },
  },
  redirect: {
    before: async () => {
      const answered = await completed({ redirect_url: 'https://shop.example/done' })
      known.CODE = /response_code=([\w-]+)/.exec(answered)?.[1] ?? ''
    },
    says: { curl: /"status":"completed"/ },
  },
  webhooks: {
    // Nothing listens at its webhook address, so there is a delivery to list and to replay.
    before: async () => {
      const { wallet_uri } = await create({ webhook_url: 'https://shop.invalid.example/hook' })
      await answer(wallet_uri, 'declines')
      const { data } = JSON.parse(await type('vidimus deliveries list --tenant $TENANT --json')) as { data: { id: string }[] }
      known.DELIVERY = data[0]?.id ?? ''
    },
    says: { 'vidimus webhook-secret': 'whsec_', 'vidimus tenant set': 'live https://shop.example' },
  },
  tills: {
    before: async () => {
      known.KEY_OF_YOURS = 'till-1-first-pairing'
    },
    async run(line) {
      const output = await type(line)
      known.PAIRING_CODE = /VD-\w{4}-\w{4}/.exec(output)?.[0] ?? known.PAIRING_CODE ?? ''
      if (line.startsWith('curl')) known.REFRESH_TOKEN = JSON.parse(output).refresh_token
      return output
    },
    says: { curl: 'vdr_' },
  },
  'going-live': { says: { 'vidimus signing show': 'BEGIN CERTIFICATE' } },
  trust: {
    before: async () => {
      // Any authority works: this one issued the certificate of the service.
      writeFileSync(join(checkout, 'issuer-ca.pem'), JSON.parse(await type('vidimus signing show --json')).authority)
      const valid = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + 30 * DAY_MS }
      const signer = await makeSigner(valid)
      writeFileSync(join(checkout, 'status-signer.pem'), pemOf((await issueAuthority()).der))
      const dates = { issuedAt: Date.now() - DAY_MS, nextUpdate: Date.now() + DAY_MS }
      writeFileSync(join(checkout, 'pid-providers.jwt'), pidList(signer, [await makeIssuer()], dates))
      known.FINGERPRINT = signer.fingerprint
    },
    // Bundles are imported in a venue with a data directory of its own.
    async run(line) {
      const output = await type(line.includes('bundle import') ? `export VIDIMUS_DATA_DIR=venue-data\n${line}` : line)
      known.BUNDLE_FINGERPRINT = /--from (\w{64})/.exec(output)?.[1] ?? known.BUNDLE_FINGERPRINT ?? ''
      return output
    },
    says: {
      'vidimus trust add': 'urn:eudi:pid:1',
      'vidimus trust source check': /Fingerprint +\w{64}/,
      'vidimus trust source add': /Test List is added to live \(src_\w+\): 1 issuer /,
      'vidimus trust bundle import': /list +live +Test List +(added|the same as here)/,
    },
  },
  'openid-connect': {
    before: async () => {
      known.CLUB = String(await freePort())
      writeFileSync(join(checkout, 'club.ts'), ofClub(blockOf(pageOf('openid-connect'), 'ts', 'import * as oidc')))
    },
    // The customer at the page that the program leads to, and the program's answer.
    async run(line) {
      if (line.startsWith('vidimus')) {
        const made = JSON.parse(await type(`${ofClub(line)} --json`)) as Record<string, string>
        const service = known.URL?.replace('127.0.0.1', 'localhost')
        const issuer = `${service}${made.issuer?.replace(/^https?:\/\/[^/]+/, '')}`
        Object.assign(known, { ISSUER: issuer, CLIENT_ID: made.id, CLIENT_SECRET: made.client_secret })
        return JSON.stringify(made)
      }
      typeAndLeave(line)
      const club = `http://localhost:${known.CLUB}`
      const customer = browser()
      let begun: Response | undefined
      await until(async () => {
        begun = await customer.open(club).catch(() => undefined)
        return begun !== undefined
      })
      const login = await begin(begun?.headers.get('location') ?? '', customer)
      const redirect = /https?:\/\/\S+#response_code=[\w-]+/.exec(await answer(login.walletUri, 'adult'))?.[0] ?? ''
      const { location } = (await (await comeBack(login, redirect)).json()) as { location: string }
      return await (await customer.open(location)).text()
    },
    says: { 'vidimus client create': /"client_secret":"ocs_/, 'ISSUER=': /"given_name":"Erika"/ },
  },
  'in-person': {
    before: async () => {
      known.ID = (await create()).id
      phone = await phoneOf(await holderHere())
      known.CODE = phone.code
    },
    // The reader carries the message to the phone, and its answer back.
    async run(line) {
      const output = await type(line)
      const { message, status } = JSON.parse(output) as { message: string; status?: string }
      const answer = status === undefined ? await phone?.receive(Buffer.from(message, 'base64url')) : undefined
      if (answer) known.ANSWER = Buffer.from(answer).toString('base64url')
      return output
    },
    says: { 'curl http://localhost:3000/v1/verifications/$ID/in-person-response': /"status":"completed"/ },
  },
  // A phone cannot reach this service, which is a problem with exit code 1.
  doctor: { run: line => type(`${line} || test $? = 1`), says: { vidimus: 'database' } },
}

for (const { slug, text } of pages.filter(page => blocksIn(page.text).length > 0)) {
  step(`${slug}: every command works as it stands on the page`, async () => {
    const { before, says = {}, run = type } = SCENES[slug] ?? {}
    await before?.()
    for (const line of linesIn(text)) {
      const output = await run(line)
      for (const [beginning, wanted] of Object.entries(says))
        if (line.startsWith(beginning)) expect({ line, output }).toEqual({ line, output: expect.stringMatching(wanted) })
    }
  })
}

step('sdk: the client creates, waits and erases', async () => {
  const code = blockOf(pageOf('sdk'), 'ts', 'import { createClient').replace('https://verify.example', known.URL ?? '')
  const more = 'console.log(status, claims, wallet_uri.length > 0, pageUrl.includes(id), VidimusError.name)'
  const pending = async () => {
    const list = await fetch(`${known.URL}/v1/verifications`, { headers: { authorization: `Bearer ${known.KEY}` } })
    const { data } = (await list.json()) as { data: { id: string; status: string; wallet_uri: string }[] }
    return data.filter(({ status }) => status === 'pending')
  }
  const before = (await pending()).map(({ id }) => id)
  const done = type(runCode('client.ts', `${code}\n${more}\n`, 'API_KEY=$KEY'))
  let waiting: { wallet_uri: string } | undefined
  await until(async () => {
    waiting = (await pending()).find(({ id }) => !before.includes(id))
    return waiting !== undefined
  })
  await answer(waiting?.wallet_uri ?? '', 'adult')
  expect(await done).toMatch(/completed .*age_over_18: true.* true true VidimusError/s)
})

test('every command of README and handbook was run', () => {
  const lines = [README, ...pages.map(({ text }) => text)].flatMap(blocksIn).flatMap(linesOf)
  if (canType) expect(lines.filter(line => !typed.has(line))).toEqual([])
  expect(lines.length).toBeGreaterThan(40)
})

test('README has at most 120 lines, and its picture is smaller than 150 KB', () => {
  expect(README.split('\n').length - 1).toBeLessThanOrEqual(120)
  const [, picture = ''] = /!\[.+\]\((\S+\.webp)\)/.exec(README) ?? []
  const bytes = readFileSync(join(ROOT, picture)).length
  expect([bytes > 10_000, bytes <= 150 * 1024]).toEqual([true, true])
})

test('scripts, test files, npm scripts and files that README and handbook name exist', () => {
  const all = [README, ...pages.map(({ text }) => text)].join('\n')
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  const inline = [...all.matchAll(/`(\.\/scripts\/bun [^`\n]+)`/g)].map(([, text = '']) => text.split(' ').slice(1))
  expect(inline.length).toBeGreaterThan(20)
  const missing = inline.filter(([first = '', ...rest]) => {
    if (first === 'run') return !(rest[0] && rest[0] in scripts)
    if (first === 'test') return rest.some(path => !existsSync(join(ROOT, path)))
    return !existsSync(join(ROOT, first))
  })
  expect(missing).toEqual([])
  const linked = [...README.matchAll(/\]\(((?:scripts|test|src)\/[^)#]+)/g)].map(([, path = '']) => path)
  expect(linked.length).toBeGreaterThan(20)
  expect(linked.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
})

test('commands that README and handbook name in a sentence exist, with their flags', async () => {
  const all = [README, ...pages.map(({ text }) => text)].join('\n').replace(/^```[\s\S]*?^```$/gm, '')
  const calls = [...all.matchAll(/`vidimus ([a-z][^`]*)`/g)].map(([, call = '']) => call.replace(/\s+/g, ' '))
  expect(calls.length).toBeGreaterThan(30)
  const wrong = await Promise.all(
    calls.map(async call => {
      const words = call.split(' ')
      const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find(each => COMMANDS.has(each))
      if (name === undefined) return words[0] === 'help' ? [] : [call]
      const { subcommands } = (await COMMANDS.get(name)!()).command
      const flags = new Set([
        'json',
        'help',
        'dev',
        ...subcommands.flatMap(({ chosenBy, flags = {} }) => [chosenBy, ...Object.keys(flags)]),
      ])
      return [...call.matchAll(/ --([a-z-]+)/g)].filter(([, flag]) => !flags.has(flag)).map(([flag]) => `${name}${flag}`)
    }),
  )
  expect(wrong.flat()).toEqual([])
})
