// One line for each verb of the program, and none without: a new verb that is not tried here fails the run.
import { createHash, sign, X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/db/refusal.ts'
import { must, type Program } from './program.ts'

export type Shop = {
  program: Program
  tenantId: string
  url: string
  hook: string
  deliveries: () => number
}

/** `beside` a running server, or `alone` on its directory; `elsewhere` is the run itself, which is about this verb. */
type Trial = 'elsewhere' | { when: 'beside' | 'alone'; does: (shop: Shop) => Promise<unknown> }

const beside = (does: (shop: Shop) => Promise<unknown>): Trial => ({ when: 'beside', does })
const alone = (does: (shop: Shop) => Promise<unknown>): Trial => ({ when: 'alone', does })

const TRIALS: Record<string, Trial> = {
  serve: 'elsewhere',
  demo: 'elsewhere',
  tenant: beside(({ program, tenantId }) => program.json('tenant', 'set', tenantId, '--daily-quota', '500')),
  key: beside(async ({ program, tenantId }) => {
    const { id } = await program.json<{ id: string }>('key', 'create', '--tenant', tenantId, '--env', 'live')
    await program.json('key', 'roll', id)
    await program.json('key', 'list', '--tenant', tenantId)
  }),
  device: beside(async ({ program, tenantId }) => {
    const till = ['--tenant', tenantId, '--env', 'test', '--name', 'Till 1', '--templates', 'age_over_18']
    must((await program.text('device', 'register', ...till)).includes('VD-'), 'device register prints no pairing code')
    const { data } = await program.json<{ data: { id: string }[] }>('device', 'list', '--tenant', tenantId)
    await program.json('device', 'set', data[0]!.id, '--name', 'Till 2')
    await program.json('device', 'pair', data[0]!.id)
  }),
  client: beside(async ({ program, tenantId }) => {
    const call = ['--name', 'Smoke', '--redirect-uri', 'https://shop.example/callback', '--template', 'age_over_18']
    const { id } = await program.json<{ id: string }>('client', 'create', '--tenant', tenantId, '--env', 'test', ...call)
    await program.json('client', 'set', id, '--id-token-alg', 'ES256')
    await program.json('client', 'secret', id, '--old-expires', 'now')
    await program.json('client', 'keys', '--tenant', tenantId, '--env', 'test', '--rotate')
    must((await program.text('client', 'list', '--tenant', tenantId)).includes(id), 'client list lacks what was created')
    await program.json('client', 'remove', id)
  }),
  origin: beside(async ({ program, tenantId }) => {
    const of = ['--tenant', tenantId, '--env', 'test']
    await program.json('origin', 'add', 'https://shop.example', ...of)
    must((await program.text('origin', 'list', ...of)).includes('https://shop.example'), 'origin list lacks what was added')
    await program.json('origin', 'remove', 'https://shop.example', ...of)
  }),
  'webhook-secret': beside(({ program, tenantId }) => program.json('webhook-secret', 'rotate', '--tenant', tenantId)),
  deliveries: beside(async ({ program, tenantId, deliveries }) => {
    const { data } = await program.json<{ data: { id: string; status: string }[] }>('deliveries', 'list', '--tenant', tenantId)
    must(data[0]?.status === 'delivered', 'the delivery log does not have what was delivered')
    const before = deliveries()
    await program.json('deliveries', 'replay', data[0].id)
    await until('a replayed webhook', () => deliveries() > before)
  }),
  listen: beside(async ({ program, tenantId, hook }) => {
    const child = program.spawn(['listen', '--forward', hook, '--tenant', tenantId, '--json'], {})
    child.kill('SIGTERM')
    must((await child.exited) === 0 || child.signalCode === 'SIGTERM', 'listen does not end')
    must((await program.run(['listen', '--forward', 'nowhere'])).exitCode === 2, 'listen takes any address')
  }),
  template: beside(async ({ program, tenantId }) => {
    const file = join(program.folder, 'query.json')
    const claims = [{ path: ['age_over_21'] }]
    writeFileSync(
      file,
      JSON.stringify({
        credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims }],
      }),
    )
    await program.json('template', 'put', '--tenant', tenantId, '--key', 'smoke', '--file', file)
    must((await program.text('template', 'list', '--tenant', tenantId)).includes('smoke'), 'template list lacks what was put')
  }),
  trust: beside(async ({ program }) => {
    const file = join(program.folder, 'anchor.pem')
    const { authority } = await program.json<{ authority: string }>('signing', 'show')
    writeFileSync(file, authority)
    await program.json('trust', 'add', file, '--env', 'live')
    await program.json('trust', 'list')
  }),
  'trust source': beside(async ({ program }) => {
    const { file, fingerprint } = await makeList(program)
    const source = ['--kind', 'lote', '--env', 'live', '--signer', fingerprint]
    const { id, entries } = await program.json<{ id: string; entries: number }>('trust', 'source', 'add', file, ...source)
    must(entries === 1, 'trust source add does not take the issuer of a list')
    await program.json('trust', 'source', 'refresh', id)
    must((await program.text('trust', 'source', 'list')).includes('fresh'), 'trust source list lacks what was added')
    await program.json('trust', 'source', 'remove', id)
  }),
  'trust bundle': beside(async ({ program }) => {
    const file = join(program.folder, 'trust.bundle')
    const { signer } = await program.json<{ signer: string }>('trust', 'bundle', 'export', file)
    must((await program.text('trust', 'bundle', 'inspect', file)).includes(signer), 'trust bundle inspect names another signer')
    await program.json('trust', 'bundle', 'import', file, '--from', signer)
  }),
  'trust status': beside(async ({ program }) => {
    await program.json('trust', 'status', 'refresh')
    await program.json('trust', 'status', 'list')
  }),
  signing: beside(async ({ program }) => {
    must((await program.text('signing', 'csr')).startsWith('-----BEGIN CERTIFICATE REQUEST-----'), 'signing csr makes no request')
  }),
  registration: beside(({ program }) => program.json('registration', 'list')),
  user: beside(async ({ program }) => {
    await program.json('user', 'invite', '--name', 'alex')
    must((await program.text('user', 'list')).includes('alex'), 'user list lacks who was invited')
  }),
  audit: beside(async ({ program }) => {
    const file = join(program.folder, 'chain.jsonl')
    await program.text('audit', 'export', file)
    for (const more of [[], ['--file', file]])
      must((await program.json<{ ok: boolean }>('audit', 'verify', ...more)).ok, 'the audit chain does not verify')
  }),
  tls: beside(async ({ program }) => {
    const made = await program.json<object>('tls', 'init', '--host', 'till.lan', '--out', join(program.folder, 'tls'))
    must(JSON.stringify(made).includes('ca.pem'), 'tls init names no certificate for the tills')
  }),
  doctor: beside(async ({ program }) => {
    const { stdout } = await program.run(['doctor', '--json'])
    const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string }[] }
    must(
      checks.some(({ name, status }) => name === 'database' && status === 'ok'),
      'doctor cannot read the database',
    )
  }),
  backup: 'elsewhere',
  restore: 'elsewhere',
  upgrade: beside(async ({ program }) => {
    const { migrations } = await program.json<{ migrations: string[] }>('upgrade', '--dry-run')
    must(migrations.length === 0, 'a new database is not up to date')
  }),
  openapi: beside(async ({ program, url }) => {
    const [printed, served] = [await program.text('openapi'), await (await fetch(`${url}/openapi.json`)).text()]
    const pathsOf = (text: string) => Object.keys((JSON.parse(text) as { paths: object }).paths)
    must(pathsOf(printed).join() === pathsOf(served).join(), 'openapi prints another document than is served')
  }),
  licences: beside(async ({ program }) => {
    const { parts } = await program.json<{ parts: { name: string; text: string }[] }>('licences')
    const known = parts.filter(({ name, text }) => ['jose', 'elysia', 'cbor-x'].includes(name) && text.length > 500)
    must(known.length === 3, 'licences leaves out parts of the program, or their texts')
  }),
  version: beside(async ({ program }) => {
    must(/^vidimus \d+\.\d+\.\d+ /.test(await program.text('version')), 'version prints no version')
  }),
  'erase-again': beside(async ({ program }) => {
    must((await program.run(['erase-again', 'nowhere.log'])).exitCode === 1, 'erase-again takes a log that is not there')
  }),
  move: alone(async ({ program }) => {
    const { exitCode } = await program.run(['move', '--to', 'postgres://vidimus@127.0.0.1:1/vidimus', '--dry-run'])
    must(exitCode === REFUSALS.database_unreachable, 'move does not say that there is no database')
  }),
  rekey: alone(({ program }) => program.json('rekey')),
}

/** A signed list of one issuer. Its signer is a certificate that the program makes for https. */
async function makeList(program: Program): Promise<{ file: string; fingerprint: string }> {
  const out = join(program.folder, 'operator')
  await program.json('tls', 'init', '--host', 'lists.lan', '--out', out)
  const [signer, issuer] = ['cert.pem', 'ca.pem'].map(name => new X509Certificate(readFileSync(join(out, name))).raw)
  const text = (value: string) => [{ lang: 'en', value }]
  const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`
  const information = {
    ServiceName: text('PIDs'),
    ServiceTypeIdentifier: 'http://uri.etsi.org/19602/SvcType/PID/Issuance',
    ServiceDigitalIdentity: { X509Certificates: [{ val: issuer!.toString('base64') }] },
  }
  const list = {
    ListAndSchemeInformation: {
      LoTEVersionIdentifier: 1,
      LoTESequenceNumber: 1,
      LoTEType: 'http://uri.etsi.org/19602/LoTEType/EUPIDProvidersList',
      SchemeOperatorName: text('Operator'),
      SchemeName: text('Smoke list'),
      SchemeTerritory: 'EU',
      ListIssueDateTime: time(Date.now() - 60_000),
      NextUpdate: time(Date.now() + 86_400_000),
    },
    TrustedEntitiesList: [
      { TrustedEntityInformation: { TEName: text('Issuer') }, TrustedEntityServices: [{ ServiceInformation: information }] },
    ],
  }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'ES256', x5c: [signer!.toString('base64')] })}.${part({ LoTE: list })}`
  const key = { key: readFileSync(join(out, 'key.pem')), dsaEncoding: 'ieee-p1363' } as const
  const file = join(program.folder, 'list.jwt')
  writeFileSync(file, `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`)
  return { file, fingerprint: createHash('sha256').update(signer!).digest('hex') }
}

/** The verbs as the program itself lists them. */
export async function checkVerbList(program: Program): Promise<string[]> {
  const verbs = [...(await program.text('--help')).matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?) {2,}\S/gm)].map(([, verb]) => verb ?? '')
  const untried = verbs.filter(verb => !Object.hasOwn(TRIALS, verb))
  must(untried.length === 0, `scripts/smoke/verbs.ts tries no ${untried.join(', ')}`)
  const gone = Object.keys(TRIALS).filter(verb => !verbs.includes(verb))
  must(gone.length === 0, `the program has no ${gone.join(', ')}`)
  for (const verb of verbs)
    must(/^usage: /.test(await program.text(...verb.split(' '), '--help')), `${verb} --help explains nothing`)
  return verbs
}

export async function tryVerbs(shop: Shop, when: 'beside' | 'alone'): Promise<void> {
  for (const trial of Object.values(TRIALS)) {
    if (trial !== 'elsewhere' && trial.when === when) await trial.does(shop)
  }
}

/** Waits for what happens by itself, with a bound. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if (await holds()) return
    await Bun.sleep(5)
  }
  throw new Error(`waited in vain for ${what}`)
}
