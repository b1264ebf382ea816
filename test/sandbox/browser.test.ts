import { afterAll, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import type { VpToken } from '../../src/sandbox/wallet/wallet.ts'
import { fetchRequest } from '../../src/sandbox/wallet/wallet.ts'
import { verifyMdoc, verifySdJwt } from './foreign.ts'
import { holderOf, mdlQuery, NOW, newSession, sdJwtQuery } from './world.ts'

const SANDBOX = join(import.meta.dir, '../../src/sandbox')

async function bundled(entry: string): Promise<string> {
  const built = await Bun.build({ entrypoints: [join(SANDBOX, entry)], target: 'browser' })
  expect(built.success).toBe(true)
  return built.outputs[0]!.text()
}

const ENTRIES = {
  'wallet/wallet.ts': 'OpenID4VPHandover',
  'wallet/dc-wallet.ts': 'OpenID4VPHandover',
  'phone/phone.ts': 'SKDevice',
}

test('the bundles of wallet and phone ask for no node: module and evaluate no text, which the page forbids', async () => {
  for (const [entry, part] of Object.entries(ENTRIES)) {
    const text = await bundled(entry)
    expect(text).toContain(part)
    expect(text).not.toMatch(/["']node:/)
    expect(text).not.toMatch(/\beval\(|new Function\(/)
    expect(text).not.toContain('MII')
  }
})

const urls: string[] = []
afterAll(() => urls.forEach(URL.revokeObjectURL))

test('the bundle of the wallet presents both formats where there is no Buffer and no process', async () => {
  const query = { credentials: [...sdJwtQuery(['birthdate']).credentials, ...mdlQuery('birth_date').credentials] }
  const session = await newSession({ query })
  const request = await fetchRequest(session.walletUri, session.fetch, { now: NOW })
  const token = await presentedWithoutBuffer({ request, holder: await holderOf('adult'), now: NOW })
  expect(await verifySdJwt(token.pid![0]!, session)).toMatchObject({ birthdate: '1990-08-12' })
  expect((await verifyMdoc(token.mdl![0]!, session)).docType).toBe('org.iso.18013.5.1.mDL')
})

async function presentedWithoutBuffer(input: object): Promise<VpToken> {
  const [wallet, page] = [
    urlOf(await bundled('wallet/wallet.ts')),
    urlOf(`
    delete globalThis.Buffer
    delete globalThis.process
    onmessage = async ({ data: { wallet, request, holder, now } }) => {
      const { vpToken } = await import(wallet)
      postMessage({ token: await vpToken(request, holder, { now }), has: typeof Buffer + typeof process })
    }
  `),
  ]
  const worker = new Worker(page)
  try {
    return await new Promise<VpToken>((resolve, reject) => {
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.onmessage = ({ data }) => {
        expect(data.has).toBe('undefinedundefined')
        resolve(data.token)
      }
      worker.postMessage({ wallet, ...input })
    })
  } finally {
    worker.terminate()
  }
}

function urlOf(text: string): string {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
  urls.push(url)
  return url
}

/** The service's side of the sandbox: its routes, their schemas, and its row in the database with who seals it. */
const SERVICE_SIDE = ['routes.ts', 'schema.ts', 'store.ts', 'world.ts']

test('issuer and wallet take nothing but types from the service, so that an error of one is not an error of both', async () => {
  const files = await Array.fromAsync(new Bun.Glob('**/*.ts').scan(SANDBOX))
  expect(files.length).toBeGreaterThan(15)
  for (const file of files.filter(name => !SERVICE_SIDE.includes(name))) {
    const text = await Bun.file(join(SANDBOX, file)).text()
    const taken = [...text.matchAll(/^(?:import|export) (.*) from '(\.[^']+)'$/gm)].filter(
      ([, , path]) => !join(SANDBOX, dirname(file), path!).startsWith(SANDBOX),
    )
    expect(taken.filter(([, names]) => !names!.startsWith('type ')).map(([line]) => `${file}: ${line}`)).toEqual([])
  }
})
