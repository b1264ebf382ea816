#!/usr/bin/env bun
// Builds the release and tries all of it in a folder without any source: every verb, every page, one exchange with its webhook,
// a restored backup, an erasure that survives the restore. Ends with figures, which are no test: they depend on the machine.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256Hex } from '../../src/base/hash.ts'
import { verifyWebhook } from '../../src/sdk/webhook.ts'
import { compareStarts, describeStart } from '../bench/start.ts'
import { checkPage } from './pages.ts'
import { must, programIn, type Running } from './program.ts'
import { checkVerbList, type Shop, tryVerbs, until } from './verbs.ts'

const ROOT = join(import.meta.dir, '../..')
const PAGES = ['/docs', '/docs/start', '/docs/api', '/docs/api/try', '/dashboard', '/till', '/sandbox']

async function smoke(scratch: string): Promise<void> {
  const built = join(scratch, 'built')
  await child([process.execPath, join(import.meta.dir, '../build/program.ts'), '--out', built])
  const folder = join(scratch, 'elsewhere')
  mkdirSync(folder)
  copyFileSync(join(built, 'vidimus'), join(folder, 'vidimus'))
  rmSync(built, { recursive: true })
  const program = programIn(folder)

  checkBytes(program.path)
  const verbs = await checkVerbList(program)
  const starts = await compareStarts(program.path, join(folder, 'data'))
  const received: { header: string | null; body: string }[] = []
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      received.push({ header: request.headers.get('x-service-signature'), body: await request.text() })
      return new Response(null, { status: 204 })
    },
  })
  const server = await program.start(['serve'], { VIDIMUS_EGRESS_ALLOW: `127.0.0.1:${receiver.port}` })

  const tenant = await program.json<{ id: string; webhook_secret: string }>('tenant', 'create', '--name', 'Corner shop')
  const scopes = 'verifications:create,verifications:read,verifications:delete'
  const create = ['key', 'create', '--tenant', tenant.id, '--env', 'test', '--scopes', scopes]
  const { key } = await program.json<{ key: string }>(...create)
  const api = caller(server.url, key)
  const hook = `http://127.0.0.1:${receiver.port}/hook`
  const verificationId = await exchange(api, program.folder, hook)
  await until('the webhook', () => received.length > 0)
  const [message] = received
  const event = await verifyWebhook({ payload: message!.body, header: message!.header, secret: tenant.webhook_secret })
  must(event.type === 'verification.completed', `the webhook is ${event.type}`)

  let files = 0
  for (const path of [...PAGES, `/v/${verificationId}`]) files += await checkPage(server.url, path)
  await checkService(server)
  const shop: Shop = { program, tenantId: tenant.id, url: server.url, hook, deliveries: () => received.length }
  await tryVerbs(shop, 'beside')

  const backup = join(folder, 'copy.db')
  await program.json('backup', backup)
  const erased = await api('DELETE', `/v1/verifications/${verificationId}`)
  must(erased.status === 200, `erasing answers ${erased.status}`)
  await server.stop()
  await program.json('restore', backup)
  await tryVerbs(shop, 'alone')
  await receiver.stop(true)
  const again = await program.start(['serve'])
  const gone = await caller(again.url, key)('GET', `/v1/verifications/${verificationId}`)
  must(gone.status === 404, `what was erased answers ${gone.status} after a restore`)
  await again.stop()

  const demo = await program.start(['demo', '--no-open', '--port', '0'])
  for (const path of ['/demo', ...PAGES]) files += await checkPage(demo.url, path)
  await demo.stop()

  console.log(`${verbs.length} verbs, ${files} files of ${PAGES.length + 2} pages, one exchange`)
  console.log(describeStart(starts))
  console.log(`sha256: ${sha256Hex(readFileSync(program.path))}`)
}

/** A thread that is not an entry point is not in the program; native code that is looked for on the disk could be anybody's. */
function checkBytes(file: string): void {
  const bytes = readFileSync(file)
  for (const thread of ['webhooks/delivery/poster-thread', 'upkeep/backup-worker'])
    must(bytes.includes(`/$bunfs/root/${thread}.js`), `the program lacks its thread ${thread}`)
  must(!bytes.includes('"prebuilds"'), 'the program looks for native code on the disk')
  must(!bytes.includes(join(ROOT, 'node_modules')), 'the program knows where it was built, and may look there')
}

type Api = (method: string, path: string, body?: object) => Promise<{ status: number; body: Record<string, unknown> }>

function caller(url: string, key: string): Api {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(`${url}${path}`, { method, headers, body: body && JSON.stringify(body) })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
}

/** One verification from its creation to its result, with the sandbox wallet. Gives its id. */
async function exchange(api: Api, folder: string, hook: string): Promise<string> {
  const created = await api('POST', '/v1/verifications', { template: 'age_over_18', webhook_url: hook })
  must(created.status === 201, `a creation answers ${created.status}`)
  const id = String(created.body.id)
  const wallet = [process.execPath, join(import.meta.dir, '../sandbox-wallet.ts'), String(created.body.wallet_uri)]
  await child(wallet, { VIDIMUS_DATA_DIR: join(folder, 'data'), VIDIMUS_LOG: 'silent' })
  const { body } = await api('GET', `/v1/verifications/${id}`)
  must(body.status === 'completed', `the verification is ${body.status}: ${JSON.stringify(body.error)}`)
  return id
}

async function checkService({ url }: Running): Promise<void> {
  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
    const answer = await fetch(`${url}${path}`)
    must(answer.status === 200 && (await answer.text()).length > 0, `${path} answers ${answer.status}`)
  }
}

async function child(command: string[], env: Record<string, string> = {}): Promise<void> {
  const { PATH = '', HOME = '' } = process.env
  const started = Bun.spawn(command, { cwd: ROOT, env: { PATH, HOME, ...env }, stdout: 'ignore', stderr: 'pipe' })
  const complaints = await new Response(started.stderr).text()
  must((await started.exited) === 0, `${command.slice(1, 2)}: ${complaints}`)
}

const scratch = mkdtempSync(join(tmpdir(), 'vidimus-smoke-'))
const remove = () => rmSync(scratch, { recursive: true, force: true })
process.once('exit', remove)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
try {
  await smoke(scratch)
} catch (error) {
  console.error(`smoke: ${(error as Error).message}`)
  process.exit(1)
}
