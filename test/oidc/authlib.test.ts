// Authlib in a Flask shop. Its packages come from PyPI.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { freePort } from '../helpers/free-port.ts'
import { browser, logIn } from './customer.ts'
import { type Provider, startProvider, stopProviders } from './provider.ts'
import { pythonWith } from './python.ts'

const HOME = join(import.meta.dir, 'authlib')
const python = await pythonWith(join(HOME, 'requirements.txt'))

const authlibTest = (title: string, act: () => Promise<void>) => {
  if ('program' in python) test(title, act)
  else test.skip(`SKIPPED, as ${python.missing}: ${title}`, () => {})
}

let provider: Provider
let shop: string
const children: Bun.Subprocess[] = []

beforeAll(async () => {
  if (!('program' in python)) return
  provider = await startProvider()
  shop = await startShop(python.program)
})
afterAll(async () => {
  for (const child of children) child.kill()
  await Promise.all(children.map(({ exited }) => exited))
  stopProviders()
})

async function startShop(program: string, alg: 'RS256' | 'ES256' = 'RS256'): Promise<string> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const client = await provider.client({ redirect_uris: [`${url}/callback`], id_token_alg: alg })
  const child = Bun.spawn([program, join(HOME, 'shop.py'), String(port)], {
    env: {
      PATH: process.env.PATH ?? '',
      PYTHONDONTWRITEBYTECODE: '1',
      ISSUER: provider.issuer,
      CLIENT_ID: client.id,
      CLIENT_SECRET: client.secret ?? '',
      no_proxy: '*',
    },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  children.push(child)
  const { value, done } = await child.stdout.getReader().read()
  if (done || !new TextDecoder().decode(value).includes('ready')) throw new Error('the shop did not start')
  return url
}

type Shown = { refused?: string; error?: string; id_token?: Record<string, unknown>; userinfo?: Record<string, unknown> }

async function visit(url: string, persona?: Parameters<typeof logIn>[2]): Promise<Shown> {
  const customer = browser()
  const begun = await customer.open(`${url}/login`)
  const back = await logIn(provider.app, begun.headers.get('location') ?? '', persona)
  return (await (await customer.open(back)).json()) as Shown
}

authlibTest('Authlib logs in with RS256, checks the ID token, and reads userinfo', async () => {
  const { id_token, userinfo } = await visit(shop)
  expect(id_token).toMatchObject({ iss: provider.issuer, acr: 'urn:vidimus:acr:test' })
  expect(userinfo).toMatchObject({ sub: id_token?.sub, given_name: 'Erika' })
})

authlibTest('Authlib logs in with ES256', async () => {
  const url = await startShop((python as { program: string }).program, 'ES256')
  expect((await visit(url)).userinfo).toMatchObject({ given_name: 'Erika' })
})

authlibTest('Authlib refuses a wrong issuer, nonce or signature, and takes a token that was only signed anew', async () => {
  const seen: Record<string, string | undefined> = {}
  for (const what of ['nothing', 'iss', 'nonce', 'signature'] as const) {
    provider.spoil(what)
    seen[what] = (await visit(shop)).refused ?? 'taken'
  }
  provider.spoil('nothing')
  expect(seen).toEqual({ nothing: 'taken', iss: 'InvalidClaimError', nonce: 'InvalidClaimError', signature: 'BadSignatureError' })
})

authlibTest('Authlib gets error and reason of a customer who declined', async () => {
  expect(await visit(shop, 'declines')).toMatchObject({ error: 'access_denied' })
})
