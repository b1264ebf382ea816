// Runs every command of README.md unchanged and in order, with a shell and curl; only the port
// differs. A block that no step below runs fails the last test.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { temporaryDir, until } from './helpers/app.ts'
import { DAY_MS } from './helpers/certificates.ts'
import { pidList } from './helpers/trusted-lists.ts'
import { makeIssuer, makeSigner } from './trust-lists/make.ts'

setDefaultTimeout(60_000)

const ROOT = resolve(import.meta.dir, '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const BLOCKS = [...README.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
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

/** A directory like a clone of the repository, with its own `data`. */
function checkOut(): string {
  const dir = temporaryDir()
  for (const name of readdirSync(ROOT)) {
    if (!['.git', 'data', 'dist'].includes(name)) symlinkSync(join(ROOT, name), join(dir, name))
  }
  return dir
}

function command(beginning: string): string {
  const found = BLOCKS.filter(block => block.startsWith(beginning))
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`README.md has ${found.length} blocks that begin "${beginning}"`)
  typed.add(found[0])
  return found[0].replaceAll('http://localhost:3000', known.URL ?? '').replace(/^export KEY=.*\n/, '')
}

const environment = () => ({ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', no_proxy: '*', PORT: '0', ...known })

async function type(text: string): Promise<string> {
  const shell = Bun.spawn(['sh', '-ec', text], { cwd: checkout, env: environment(), stdout: 'pipe', stderr: 'pipe' })
  const [code, output, complaints] = await Promise.all([
    shell.exited,
    new Response(shell.stdout).text(),
    new Response(shell.stderr).text(),
  ])
  expect({ text, code, complaints: code === 0 ? '' : complaints }).toEqual({ text, code: 0, complaints: '' })
  return output
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
const vidimus = (args: string) => type(`./scripts/bun src/main.ts ${args} --json`)

async function create(body: object): Promise<{ id: string; wallet_uri: string }> {
  const headers = { authorization: `Bearer ${known.KEY}`, 'content-type': 'application/json' }
  const answer = await fetch(`${known.URL}/v1/verifications`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as { id: string; wallet_uri: string }
}

step('the demo starts, and prints its page and four commands', async () => {
  const output = typeAndLeave(command('./scripts/bun run demo'))
  await until(async () => (output().match(/curl -s/g)?.length ?? 0) >= 4)
  expect(output()).toContain('/demo')
})

step('dev serves, and prints a test key; test is what runs this', async () => {
  const [dev = '', tests] = linesOf(command('./scripts/bun run dev'))
  const output = typeAndLeave(dev)
  await until(async () => /vk_test_\w+/.test(output()))
  known.URL = /listens on (\S+)/.exec(output())?.[1] ?? ''
  known.KEY = /vk_test_\w+/.exec(output())?.[0] ?? ''
  expect(existsSync(join(checkout, 'data/vidimus.db'))).toBe(true)
  expect(tests).toBe('./scripts/bun run test')
  expect(readFileSync(join(ROOT, '.ci/run'), 'utf8')).toContain(`\n${tests}\n`)
})

step('a first verification is created, answered by the sandbox wallet, followed, read and erased', async () => {
  const created = JSON.parse(await type(command('export KEY='))) as { id: string; wallet_uri: string; metadata: object }
  expect(created.metadata).toEqual({ order: '1001' })
  known.ID = created.id
  known.WALLET_URI = created.wallet_uri
  await type(command('./scripts/bun scripts/sandbox-wallet.ts'))
  const [status, events, read, usage, erase] = linesOf(command('curl http://localhost:3000/v1/verifications/$ID/status'))
  expect(JSON.parse(await type(status!)).status).toBe('completed')
  expect(await type(events!)).toContain('completed')
  expect(JSON.parse(await type(read!)).claims).toEqual({ age_over_18: true })
  expect(JSON.parse(await type(usage!)).recent[0].verifications_created).toBe(1)
  expect(JSON.parse(await type(erase!)).id).toBe(created.id)
})

step('an issuer is trusted', async () => {
  // Any authority works: this one issued the certificate of the service.
  writeFileSync(join(checkout, 'issuer-ca.pem'), JSON.parse(await vidimus('signing show')).authority)
  expect(await type(command('./scripts/bun src/main.ts trust add'))).toContain('urn:eudi:pid:1')
})

step('a trust list is looked at and added', async () => {
  const valid = { notBefore: Date.now() - DAY_MS, notAfter: Date.now() + 30 * DAY_MS }
  const signer = await makeSigner(valid)
  const dates = { issuedAt: Date.now() - DAY_MS, nextUpdate: Date.now() + DAY_MS }
  writeFileSync(join(checkout, 'pid-providers.jwt'), pidList(signer, [await makeIssuer()], dates))
  known.FINGERPRINT = signer.fingerprint
  const output = await type(command('./scripts/bun src/main.ts trust source check'))
  expect(output).toContain(`Fingerprint  ${signer.fingerprint}`)
  expect(output).toMatch(/Test List is added to live \(src_\w+\): 1 issuer /)
})

step('a bundle is exported at home, and imported in a venue with a data directory of its own', async () => {
  const [exporting = '', first = '', next = ''] = linesOf(command('./scripts/bun src/main.ts trust bundle export'))
  known.BUNDLE_FINGERPRINT = /--from (\w{64})/.exec(await type(exporting))?.[1] ?? ''
  const inVenue = (line: string) => type(`export VIDIMUS_DATA_DIR=venue-data\n${line}`)
  expect(await inVenue(first)).toMatch(/list +live +Test List +added/)
  expect(await inVenue(next)).toMatch(/list +live +Test List +the same as here/)
})

step('a response code is redeemed', async () => {
  const session = await create({ template: 'age_over_18', redirect_url: 'https://shop.example/done' })
  const answered = await type(`./scripts/bun scripts/sandbox-wallet.ts "${session.wallet_uri}" --persona adult`)
  known.ID = session.id
  known.CODE = /response_code=([\w-]+)/.exec(answered)?.[1] ?? ''
  expect(JSON.parse(await type(command('curl http://localhost:3000/v1/verifications/$ID/redeem'))).status).toBe('completed')
})

step('the client creates, waits and erases', async () => {
  const [, code = ''] = /^```ts\n(import \{ createClient[\s\S]*?)^```$/m.exec(README) ?? []
  const file = join(checkout, 'snippet.ts')
  writeFileSync(
    file,
    `${code.replace('https://verify.example', known.URL ?? '')}\nconsole.log(status, claims, wallet_uri.length > 0, VidimusError.name)\n`,
  )
  const done = type(`API_KEY=$KEY ./scripts/bun ${file}`)
  const headers = { authorization: `Bearer ${known.KEY}` }
  let waiting: { wallet_uri: string } | undefined
  await until(async () => {
    const list = await fetch(`${known.URL}/v1/verifications`, { headers })
    const { data } = (await list.json()) as { data: { status: string; wallet_uri: string }[] }
    waiting = data.find(({ status }) => status === 'pending')
    return waiting !== undefined
  })
  await type(`./scripts/bun scripts/sandbox-wallet.ts "${waiting?.wallet_uri}" --persona adult`)
  expect(await done).toMatch(/completed .*age_over_18: true.* true VidimusError/s)
})

step(
  'webhooks: the secret is shown, the endpoint set, the log listed, a message replayed, and results are forwarded',
  async () => {
    const { data } = JSON.parse(await vidimus('tenant list')) as { data: { id: string }[] }
    known.TENANT = data[0]?.id ?? ''
    // Nothing listens at its webhook address, so there is a delivery to list and to replay.
    const { wallet_uri } = await create({ template: 'age_over_18', webhook_url: 'https://shop.invalid.example/hook' })
    await type(`./scripts/bun scripts/sandbox-wallet.ts "${wallet_uri}" --persona declines`)
    const lines = linesOf(command('./scripts/bun src/main.ts webhook-secret show'))
    const [secret = '', endpoint = '', list = '', replay = '', listen = ''] = lines
    expect(await type(secret)).toContain('whsec_')
    expect(await type(endpoint)).toContain('live https://shop.example')
    const deliveries = JSON.parse(await type(list.replace(/#.*/, '--json'))) as { data: { id: string }[] }
    known.DELIVERY = deliveries.data[0]?.id ?? ''
    expect(await type(list)).toContain(known.DELIVERY)
    await type(replay)
    const forwarded: string[] = []
    const mine = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async request => {
        forwarded.push(await request.text())
        return new Response()
      },
    })
    const listening = typeAndLeave(listen.replace('http://localhost:4000', `http://localhost:${mine.port}`))
    await until(async () => listening().includes(`localhost:${mine.port}`))
    const next = await create({ template: 'age_over_18' })
    await type(`./scripts/bun scripts/sandbox-wallet.ts "${next.wallet_uri}" --persona declines`)
    await until(async () => forwarded.some(body => body.includes(next.id)))
    await mine.stop(true)
  },
)

step('a till is registered, enrolled and refreshed', async () => {
  const registered = await type(command('./scripts/bun src/main.ts device register'))
  known.PAIRING_CODE = /VD-\w{4}-\w{4}/.exec(registered)?.[0] ?? ''
  known.KEY_OF_YOURS = 'till-1-first-pairing'
  const [enroll = '', refresh = ''] = linesOf(command('curl http://localhost:3000/v1/devices/enroll'))
  known.REFRESH_TOKEN = JSON.parse(await type(enroll)).refresh_token
  expect(JSON.parse(await type(refresh)).refresh_token).toStartWith('vdr_')
})

step('the doctor looks, and a backup is made', async () => {
  const [doctor = '', backup = ''] = linesOf(command('./scripts/bun src/main.ts doctor'))
  // A phone cannot reach this service, which is a problem with exit code 1.
  expect(await type(`${doctor} || test $? = 1`)).toContain('database')
  await type(backup)
  expect(existsSync(join(checkout, 'before-the-storm.db'))).toBe(true)
})

test('every block of commands in the README was run', () => {
  if (canType) expect(BLOCKS.filter(block => !typed.has(block))).toEqual([])
  expect(BLOCKS.length).toBeGreaterThan(8)
})

test('scripts, test files, npm scripts and verbs that the README names exist', async () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  const inline = [...README.matchAll(/`(\.\/scripts\/bun [^`]+)`/g)].map(([, text = '']) => text.split(' ').slice(1))
  expect(inline.length).toBeGreaterThan(20)
  const missing = inline.filter(([first = '', ...rest]) => {
    if (first === 'run') return !(rest[0] && rest[0] in scripts)
    if (first === 'test') return rest.some(path => !existsSync(join(ROOT, path)))
    return !existsSync(join(ROOT, first))
  })
  expect(missing).toEqual([])
  for (const [, path = ''] of README.matchAll(/\]\(((?:scripts|test|src)\/[^)#]+)\)/g))
    expect([path, existsSync(join(ROOT, path))]).toEqual([path, true])
})
