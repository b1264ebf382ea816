// mod_auth_openidc, which guards a folder of an Apache. Both are packages of Debian: apache2-bin, libapache2-mod-auth-openidc.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir, until } from '../helpers/app.ts'
import { freePort } from '../helpers/free-port.ts'
import { recipeBlock, replaced } from '../helpers/recipe.ts'
import { browser, logIn } from './customer.ts'
import { type Client, type Provider, startProvider, stopProviders } from './provider.ts'

const APACHE = Bun.which('apache2', { PATH: `${process.env.PATH}:/usr/sbin` })
const MODULES = '/usr/lib/apache2/modules'
const isThere = APACHE !== null && existsSync(join(MODULES, 'mod_auth_openidc.so'))

const apacheTest = (title: string, act: () => Promise<void>) =>
  test.skipIf(!isThere)(isThere ? title : `SKIPPED, as there is no Apache with mod_auth_openidc: ${title}`, act)

let provider: Provider
let site: string
const children: Bun.Subprocess[] = []

beforeAll(async () => {
  if (!isThere) return
  provider = await startProvider()
  site = await startApache()
})
afterAll(async () => {
  for (const child of children) child.kill()
  await Promise.all(children.map(({ exited }) => exited))
  stopProviders()
})

const LOADED = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'headers', 'dir', 'mime', 'auth_openidc']

/** The lines of the recipe, and what an Apache in a temporary directory needs besides. */
function configurationOf(dir: string, port: number, { id, secret = '' }: Client, alg: string): string {
  const values = [
    ['ISSUER', provider.issuer],
    ['oc_live_the_id', id],
    ['ocs_the_secret', secret],
    ['https://club.example', `http://localhost:${port}`],
    ['RS256', alg],
  ] as const
  const recipe = values.reduce((text, [from, to]) => replaced(text, from, to), recipeBlock('openid-clients.md', 'apache'))
  const user = process.getuid?.() === 0 ? 'User www-data\nGroup www-data\n' : ''
  return `ServerRoot "${dir}"
ServerName localhost
PidFile "${dir}/apache.pid"
Mutex file:${dir} default
ErrorLog "${dir}/error.log"
Listen 127.0.0.1:${port}
${LOADED.map(name => `LoadModule ${name}_module ${MODULES}/mod_${name}.so\n`).join('')}${user}TypesConfig /dev/null
DocumentRoot "${dir}/site"
${recipe}
<Location "/members">
  Header set X-Subject "%{OIDC_CLAIM_sub}e"
  Header set X-Given-Name "%{OIDC_CLAIM_given_name}e"
</Location>
`
}

async function startApache(alg: 'RS256' | 'ES256' = 'RS256'): Promise<string> {
  const [dir, port] = [temporaryDir(), await freePort()]
  const url = `http://localhost:${port}`
  const client = await provider.client({ redirect_uris: [`${url}/members/redirect`], id_token_alg: alg })
  mkdirSync(join(dir, 'site/members'), { recursive: true })
  writeFileSync(join(dir, 'site/members/index.html'), 'for members')
  Bun.spawnSync(['chmod', '-R', 'a+rwX', dir])
  writeFileSync(join(dir, 'apache.conf'), configurationOf(dir, port, client, alg))
  const child = Bun.spawn([APACHE ?? '', '-f', join(dir, 'apache.conf'), '-DFOREGROUND'], {
    env: { PATH: process.env.PATH ?? '', no_proxy: '*' },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  children.push(child)
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`Apache stopped: ${await new Response(child.stderr).text()}`)
    return await fetch(url).then(
      () => true,
      () => false,
    )
  })
  return url
}

/** It shows its errors with the status 200. */
const errorIn = (page: string): string =>
  page
    .replace(/<style[\s\S]*?<\/style>|<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

async function visit(url: string, persona?: Parameters<typeof logIn>[2]) {
  const customer = browser()
  const asked = await customer.open(`${url}/members/index.html`)
  const back = await logIn(provider.app, asked.headers.get('location') ?? '', persona)
  const returned = await customer.open(back)
  if (returned.status !== 302) return { refused: errorIn(await returned.text()) }
  const page = await customer.open(returned.headers.get('location') ?? '')
  const { status, headers } = page
  return { status, text: await page.text(), subject: headers.get('x-subject'), name: headers.get('x-given-name') }
}

apacheTest('mod_auth_openidc lets a customer in who logged in with RS256, and knows his claims', async () => {
  expect(await visit(site)).toEqual({
    status: 200,
    text: 'for members',
    subject: expect.stringMatching(/^[\w-]{43}/),
    name: 'Erika',
  })
})

apacheTest('mod_auth_openidc lets a customer in who logged in with ES256', async () => {
  expect(await visit(await startApache('ES256'))).toMatchObject({ status: 200, name: 'Erika' })
})

apacheTest(
  'mod_auth_openidc refuses a wrong issuer, nonce or signature, and takes a token that was only signed anew',
  async () => {
    const seen: Record<string, string | undefined> = {}
    for (const what of ['nothing', 'iss', 'nonce', 'signature'] as const) {
      provider.spoil(what)
      seen[what] = (await visit(site)).refused
    }
    provider.spoil('nothing')
    const refusal = expect.stringContaining('Error in handling response type')
    expect(seen).toEqual({ nothing: undefined, iss: refusal, nonce: refusal, signature: refusal })
  },
)

// It takes an error with `iss` (RFC 9207) for a log-in that another site begins, which nothing here allows.
apacheTest('mod_auth_openidc shows a customer who declined an error, as openid-clients.md says', async () => {
  expect((await visit(site, 'declines')).refused).toContain('OIDCDefaultURL is not set')
})
