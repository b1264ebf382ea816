// The provider as a shop sees it: a tenant with clients, behind a proxy that can spoil its tokens.
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { createClient } from '../../src/oidc/clients.ts'
import type { NewClient } from '../../src/oidc/schema.ts'
import { startApp, type TestApp } from '../helpers/app.ts'

/** One change of every ID token that passes. */
export type Spoil = 'nothing' | 'iss' | 'nonce' | 'signature'

export type Provider = {
  app: TestApp
  tenantId: string
  issuer: string
  /** From now on. With `nothing` it is signed anew as well, so that a refusal has one cause only. */
  spoil(what: Spoil): void
  client(settings: Partial<NewClient> & Pick<NewClient, 'redirect_uris'>): Promise<Client>
}

export type Client = { id: string; secret: string | undefined }

const open = new Set<() => void>()

/** For the afterAll of every file that starts one. */
export function stopProviders(): void {
  for (const stop of open) stop()
  open.clear()
}

/** On the clock of the machine: foreign programs have no other. */
export async function startProvider(): Promise<Provider> {
  const between = await startSpoiler()
  open.add(between.stop)
  const app = await startApp({ now: Date.now(), config: { publicUrl: between.url } })
  between.leadTo(app.url)
  const { id: tenantId } = await app.tenant({ name: 'Wine shop' })
  return {
    app,
    tenantId,
    issuer: `${between.url}/oidc/${tenantId}/test`,
    spoil: between.spoil,
    async client(settings) {
      const wanted = { name: 'Wine club', templates: ['identity_basic'], ...settings }
      const { id, client_secret: secret } = await createClient(app.deps, { tenantId, environment: 'test' }, wanted, 'test')
      return { id, secret }
    },
  }
}

/** Signs the ID tokens of the real provider with keys of its own, which it publishes in place of the real ones. */
async function startSpoiler() {
  let target = ''
  let what: Spoil = 'nothing'
  const keys = new Map(await Promise.all(['RS256', 'ES256'].map(async alg => [alg, await makeKey(alg)] as const)))

  const signedAnew = async (token: string): Promise<string> => {
    const [head = '', body = ''] = token.split('.').map(part => Buffer.from(part, 'base64url').toString())
    const header = JSON.parse(head) as { alg: string }
    const key = keys.get(header.alg)
    if (!key) throw new Error(`signed with ${header.alg}`)
    const payload = JSON.parse(body)
    if (what === 'iss') payload.iss = `${payload.iss}x`
    if (what === 'nonce') payload.nonce = `${payload.nonce}x`
    const jwt = await new SignJWT(payload).setProtectedHeader({ ...header, kid: key.jwk.kid }).sign(key.privateKey)
    return what === 'signature' ? withOtherSignature(jwt) : jwt
  }

  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      for (const name of ['host', 'connection', 'accept-encoding']) headers.delete(name)
      const body = request.body ? await request.arrayBuffer() : undefined
      const answer = await fetch(`${target}${pathname}${search}`, { method: request.method, headers, body, redirect: 'manual' })
      const passed = new Headers(answer.headers)
      for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) passed.delete(name)
      const { status } = answer
      if (pathname.endsWith('/jwks') && status === 200)
        return Response.json({ keys: [...keys.values()].map(({ jwk }) => jwk) }, { headers: passed })
      if (pathname.endsWith('/token') && status === 200) {
        const tokens = (await answer.json()) as { id_token: string }
        return Response.json({ ...tokens, id_token: await signedAnew(tokens.id_token) }, { headers: passed })
      }
      return new Response(answer.body, { status, headers: passed })
    },
  })
  return {
    url: `http://localhost:${server.port}`,
    leadTo(url: string) {
      target = url
    },
    spoil(given: Spoil) {
      what = given
    },
    stop: () => void server.stop(true),
  }
}

async function makeKey(alg: string): Promise<{ privateKey: CryptoKey; jwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair(alg)
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), alg, use: 'sig', kid: `spoiler-${alg}` } }
}

/** Of the same length, and changed in the middle, where every bit counts. */
function withOtherSignature(jwt: string): string {
  const at = jwt.lastIndexOf('.') + 20
  return jwt.slice(0, at) + (jwt[at] === 'A' ? 'B' : 'A') + jwt.slice(at + 1)
}
