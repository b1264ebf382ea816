// The package as a merchant gets it: built, packed, installed without a network into its own project, and run by Node.js and Bun.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createClient } from 'vidimus/client'
import { verifyWebhook } from 'vidimus/webhook'
import { buildSdk } from '../../scripts/build/sdk.ts'
import { createClient as ownCreateClient } from '../../src/sdk/client.ts'
import { verifyWebhook as ownVerifyWebhook } from '../../src/sdk/webhook.ts'
import { startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { type FaultyProxy, startFaultyProxy, stopProxies } from '../helpers/faulty-proxy.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const ROOT = resolve(import.meta.dir, '../..')
const TSC = join(ROOT, 'node_modules/.bin/tsc')

let app: TestApp
let built: string
/** A merchant's. */
let project: string
let packed: string[]
let proxy: FaultyProxy

beforeAll(async () => {
  app = await startApp()
  built = join(temporaryDir(), 'sdk')
  project = temporaryDir()
  await buildSdk(built)
  const [{ filename, files }] = JSON.parse(npm('pack', built, '--json'))
  packed = files.map(({ path }: { path: string }) => path)
  writeFileSync(join(project, 'package.json'), '{"name":"shop","version":"1.0.0","type":"module"}')
  npm('install', `./${filename}`, '--offline')
  proxy = await startFaultyProxy(app.url)
})
afterAll(stopProxies)

function npm(...args: string[]): string {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', `--cache=${join(project, '.npm')}`]
  return execFileSync('npm', [...args, ...quiet], { cwd: project, encoding: 'utf8' })
}

test('the package has code, declarations, vectors, licence and README, and no dependency', () => {
  const modules = [
    'base-url',
    'browser',
    'client',
    'error',
    'till',
    'transport',
    'verifications',
    'wait',
    'wallet-call',
    'webhook',
  ]
  expect(packed.toSorted()).toEqual(
    [
      ...modules.flatMap(name => [`${name}.js`, `${name}.d.ts`]),
      ...['wire.d.ts', 'webhook-vectors.json', 'package.json', 'README.md', 'LICENSE'],
    ].toSorted(),
  )
  expect(readdirSync(join(project, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual(['vidimus'])
  const manifest = JSON.parse(readFileSync(join(project, 'node_modules/vidimus/package.json'), 'utf8'))
  expect(manifest).not.toHaveProperty('dependencies')
  expect(manifest).not.toHaveProperty('private')
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect([manifest.name, manifest.version]).toEqual(['vidimus', version])
})

test('the package imports only its own modules, in code and declarations', () => {
  const texts = packed.filter(name => /\.(js|d\.ts)$/.test(name)).map(name => readFileSync(join(built, name), 'utf8'))
  const named = texts.flatMap(text => [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(([, name = '']) => name))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(name => !/^\.\/[\w-]+\.js$/.test(name))).toEqual([])
})

test('inside the repository the names of the package resolve to the source', () => {
  expect(createClient).toBe(ownCreateClient)
  expect(verifyWebhook).toBe(ownVerifyWebhook)
})

const SHOP = `
import { createInterface } from 'node:readline'
import { createClient, VidimusError } from 'vidimus/client'
import { signWebhook, verifyWebhook } from 'vidimus/webhook'

const vidimus = createClient({ baseUrl: process.env.BASE_URL, apiKey: process.env.API_KEY })
const { id, wallet_uri } = await vidimus.verifications.create({ template: 'age_over_18', redirect_url: 'https://shop.example/done' })
console.log(JSON.stringify({ id, wallet_uri }))
const ended = await vidimus.verifications.wait(id)
const [code] = await new Promise(resolve => createInterface(process.stdin).once('line', line => resolve([line])))
const redeemed = await vidimus.verifications.redeem(id, code)
const erased = await vidimus.verifications.erase(id)
const error = await vidimus.verifications.get(id).catch(error => error)
const { verifications_created: created } = await vidimus.usage()
const { data: [template] } = await vidimus.templates()
const secret = 'whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGVzdHMsICMx'
const payload = JSON.stringify({ type: 'verification.completed', verification: ended, sent_at: ended.responded_at })
const header = await signWebhook({ payload, secrets: [secret], timestamp: Math.floor(Date.now() / 1000) })
const event = await verifyWebhook({ payload, header, secret })
console.log(JSON.stringify({
  ended: ended.status, redeemed: redeemed.claims, erased: erased.deleted, code: error.code,
  isTyped: error instanceof VidimusError, event: event.type, created, template: template.key, rules: template.rules,
}))
process.exit(0)
`

test.each([
  ['Node', 'node'],
  ['Bun', process.execPath],
])(
  'the client in %s creates once, though an answer is lost, waits, redeems and erases at the real service',
  async (_, program) => {
    const { key } = await app.tenant()
    proxy.next('lose')
    writeFileSync(join(project, 'shop.mjs'), SHOP)
    const shop = Bun.spawn([program, 'shop.mjs'], {
      cwd: project,
      env: { PATH: process.env.PATH, BASE_URL: proxy.url, API_KEY: key },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const complaints = new Response(shop.stderr).text()
    const lines: string[] = []
    for await (const chunk of shop.stdout.pipeThrough(new TextDecoderStream())) {
      lines.push(...chunk.trim().split('\n'))
      if (lines.length > 1) break
      const { body } = await answerWith(app, await holderOf(app), JSON.parse(lines[0] ?? '').wallet_uri)
      const { hash } = new URL((body as { redirect_uri: string }).redirect_uri)
      shop.stdin.write(`${new URLSearchParams(hash.slice(1)).get('response_code')}\n`)
      await shop.stdin.flush()
    }
    expect([await complaints, await shop.exited]).toEqual(['', 0])
    expect(JSON.parse(lines[1] ?? '')).toEqual({
      ended: 'completed',
      redeemed: { age_over_18: true },
      erased: { verification_sessions: 1, verification_results: 1, webhook_deliveries: 0 },
      code: 'session_not_found',
      isTyped: true,
      event: 'verification.completed',
      created: 1,
      template: 'age_over_16',
      rules: [{ claim: 'age_over_16', is: true }],
    })
  },
  30_000,
)

const CONSUMER = `
import { createClient, createTill, VidimusError, type CreateVerification, type Verification } from 'vidimus/client'
import { ask, prefetch, send } from 'vidimus/browser'
import { verifyWebhook, type WebhookEvent } from 'vidimus/webhook'

export async function inPage(id: string, signal: AbortSignal): Promise<string | undefined> {
  const prepared = await prefetch('https://verify.example', id, signal)
  return prepared && (await send('https://verify.example', id, await ask(prepared, signal))).response_code
}
const vidimus = createClient({ baseUrl: 'https://verify.example', apiKey: 'vk_test_x', timeoutMs: 1000 })
const asked: CreateVerification = { template: 'age_over_18', ttl_seconds: 300, metadata: { order: '77' } }
export async function use(signal: AbortSignal): Promise<string | undefined> {
  const made: Verification = await vidimus.verifications.create(asked, { idempotencyKey: 'order-77', signal })
  for await (const { id } of vidimus.verifications.all({ limit: 10 })) await vidimus.verifications.erase(id)
  const event: WebhookEvent = await verifyWebhook({ payload: '', header: null, secret: '' })
  try {
    const { status, credentials = [] } = await vidimus.verifications.wait(made.id, { timeoutMs: 1000 })
    return status === 'completed' ? credentials[0]?.issuer.country : event.type
  } catch (error) {
    if (error instanceof VidimusError && error.code === 'still_pending') return error.requestId
    throw error
  }
}
export async function misuse(error: VidimusError) {
  // @ts-expect-error no such field
  await vidimus.verifications.create({ templat: 'age_over_18' })
  // @ts-expect-error a number
  await vidimus.verifications.create({ template: 'age_over_18', ttl_seconds: '300' })
  // @ts-expect-error fields are as the API has them
  const renamed = (await vidimus.verifications.get('vs_1')).walletUri
  // @ts-expect-error required
  await vidimus.devices.register({ name: 'Till 1' })
  // @ts-expect-error a till erases nothing
  await createTill({ baseUrl: '', storage: { read: () => null, write: () => {} } }).verifications.erase('vs_1')
  // @ts-expect-error no such code
  if (error.code === 'no_such_code') return renamed
  // @ts-expect-error not one of them
  return (await vidimus.verifications.get('vs_1')).status === 'done'
}
`

test('a project is type-checked with the declarations of the package, and a wrong field is an error', () => {
  const dir = join(project, 'src')
  mkdirSync(dir)
  writeFileSync(join(dir, 'consumer.ts'), CONSUMER)
  const options = { module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: [], strict: true, noEmit: true }
  expect(checkTypes(dir, options)).toBe('')
})

const WIRE = [
  'Comparison',
  'CreateVerification',
  'Verification',
  'CredentialResult',
  'Finding',
  'VerificationStatus',
  'ListQuery',
  'ErasureResult',
  'RegisterDevice',
  'RegisteredDevice',
  'Device',
  'TokenPair',
  'Template',
  'Rule',
  'Usage',
  'DcServerRequest',
  'DcRequests',
  'DcAnswered',
  'ErrorCode',
]

test('the declarations of the package equal the types of the service', () => {
  const dir = join(project, 'agreement')
  mkdirSync(dir)
  const equalities = WIRE.map(name => `export const ${name}: Equal<Service.${name}, Package.${name}> = true`)
  writeFileSync(
    join(dir, 'agreement.ts'),
    `import type * as Package from ${JSON.stringify(join(built, 'wire.d.ts'))}
import type * as Service from ${JSON.stringify(join(ROOT, 'src/sdk/wire.ts'))}
type Equal<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false
type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T
${equalities.join('\n')}
// @ts-expect-error the comparison itself notices a field that became optional
export const optional: Equal<Service.Device, Omit<Package.Device, 'name'> & { name?: string }> = true
// @ts-expect-error and one more status
export const wider: Equal<Service.VerificationStatus, { id: string; status: Package.Verification['status'] | 'done' }> = true
`,
  )
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'))
  expect(checkTypes(dir, { ...compilerOptions, typeRoots: [join(ROOT, 'node_modules/@types')], noUnusedLocals: false })).toBe('')
  expect(exportedBy(join(ROOT, 'src/sdk/wire.ts'))).toEqual(WIRE.toSorted())
  expect(exportedBy(join(built, 'wire.d.ts'))).toEqual(WIRE.toSorted())
})

function checkTypes(dir: string, compilerOptions: object): string {
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  return Bun.spawnSync([TSC, '-p', dir], { stdout: 'pipe' }).stdout.toString()
}

function exportedBy(path: string): string[] {
  const text = readFileSync(path, 'utf8')
  const listed = /export type \{([^}]+)\}/.exec(text)?.[1] ?? ''
  const defined = [...text.matchAll(/export type (\w+) =/g)].map(([, name = '']) => name)
  return [...defined, ...listed.split(',').map(name => name.trim())].filter(name => name !== '').toSorted()
}
