// Status lists that are not on the public internet: those of a developer's test wallet, and those the operator opened.
import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import { makeLocalTls } from '../../src/cli/tls/local-tls.ts'
import type { Config } from '../../src/config.ts'
import { parseAllowList } from '../../src/egress/addresses.ts'
import { signJwt } from '../../src/sandbox/es256.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, NOON, startApp, startWithTenant, temporaryDir } from '../helpers/app.ts'
import { examine } from '../helpers/doctor.ts'
import { presentBy, verdictOf } from '../helpers/exchange.ts'
import { forgeSdJwt, forgeSigner, holderWith, trust } from '../helpers/forger.ts'
import { sdJwtQuery } from '../helpers/queries.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const QUERY = { query: { credentials: [sdJwtQuery('pid', [['family_name']])] } }

const signer = await forgeSigner()
const folder = temporaryDir()
const random = (count: number) => new Uint8Array(randomBytes(count))
const tls = await makeLocalTls({ folder, hosts: ['localhost'], hostsDefault: [], at: Date.now(), random })
const caFile = tls.caFile
const serve = (pair?: { cert: string; key: string }) =>
  Bun.serve({ port: 0, hostname: '127.0.0.1', ...(pair && { tls: pair }), fetch: request => listAt(request.url) })
const plain = serve()
const encrypted = serve({ cert: readFileSync(tls.certFile, 'utf8'), key: readFileSync(tls.keyFile, 'utf8') })
afterAll(async () => {
  await plain.stop(true)
  await encrypted.stop(true)
  await cleanUp()
})

async function listAt(sub: string): Promise<Response> {
  const header = { typ: 'statuslist+jwt', x5c: signer.chain.map(der => Buffer.from(der).toString('base64')) }
  const status_list = { bits: 1, lst: deflateSync(Uint8Array.of(0)).toString('base64url') }
  const token = await signJwt(signer.key, header, { sub, iat: NOON / 1000, exp: NOON / 1000 + 3600, ttl: 300, status_list })
  return new Response(token, { headers: { 'content-type': 'application/statuslist+jwt' } })
}

async function startVerifier(config: Partial<Config>, resolve = async () => ['127.0.0.1']) {
  const app = await startApp({ config, resolve })
  await trust(app, signer)
  await trust(app, signer, { environment: 'live' })
  const { key, liveKey } = await app.tenant()
  return { app, key, liveKey }
}

async function present({ app }: Pick<Awaited<ReturnType<typeof startVerifier>>, 'app'>, key: string, uri: string) {
  const holder = await holderWith(async holderKey => [
    await forgeSdJwt(signer, holderKey, { payload: { status: { status_list: { uri, idx: 0 } } } }),
  ])
  const { verification } = await presentBy({ app, key }, holder, { body: QUERY })
  const findings = verification.credentials?.[0]?.findings ?? []
  const status = findings.filter(({ check, status }) => check === 'status' && status !== 'pass')
  return { outcome: verdictOf(verification).outcome, findings: status.map(({ status, detail }) => `${status}: ${detail}`) }
}

describe('local lists under serve --dev', () => {
  test('serve --dev: a test session reads a list from this machine, over http too, with a warning', async () => {
    const verifier = await startVerifier({ isDev: true })
    for (const uri of [`http://localhost:${plain.port}/1`, `http://127.0.0.1:${plain.port}/2`]) {
      const { outcome, findings } = await present(verifier, verifier.key, uri)
      expect(outcome).toBe('completed')
      expect(findings).toEqual([expect.stringMatching(/^warning: .*read from this machine.*serve --dev/)])
    }
    const checks = await examine(verifier.app.deps, true)
    expect(checks.find(({ name }) => name === 'status_lists')).toMatchObject({ status: 'ok' })
  })

  test("serve --dev: the sandbox issuer's own list, which needs no network, has no warning", async () => {
    const { app, key } = await startWithTenant({ config: { isDev: true, publicUrl: '' } })
    const session = await createVerification(app, key)
    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    const { body } = await app.call<Verification>('GET', `/v1/verifications/${session.id}`, { key })
    expect(body.status).toBe('completed')
    expect(body.credentials?.[0]?.findings.map(({ check }) => check)).toEqual(['environment'])
  })

  test('serve --dev: a live session reads no list of this machine, not even one that a test session has read', async () => {
    const verifier = await startVerifier({ isDev: true, extraCaFile: caFile })
    const uri = `https://localhost:${encrypted.port}/1`
    expect((await present(verifier, verifier.key, uri)).outcome).toBe('completed')
    expect((await present(verifier, verifier.liveKey, uri)).outcome).toBe('status_unknown')
    expect((await present(verifier, verifier.liveKey, `http://localhost:${plain.port}/1`)).outcome).toBe('status_unknown')
  })

  test('serve --dev: a list at another name for this machine, or at our own listener, is unknown', async () => {
    const verifier = await startVerifier({ isDev: true })
    expect((await present(verifier, verifier.key, `http://wallet.example:${plain.port}/1`)).outcome).toBe('status_unknown')
    expect((await present(verifier, verifier.key, `http://localhost:${new URL(verifier.app.url).port}/1`)).outcome).toBe(
      'status_unknown',
    )
  })
})

describe('elsewhere', () => {
  test('without serve --dev a list on this machine is unknown', async () => {
    const verifier = await startVerifier({ extraCaFile: caFile })
    for (const uri of [`https://localhost:${encrypted.port}/1`, `http://localhost:${plain.port}/1`]) {
      expect((await present(verifier, verifier.key, uri)).outcome).toBe('status_unknown')
    }
  })

  test('VIDIMUS_EGRESS_ALLOW opens localhost, for live sessions too and without a warning', async () => {
    const egressAllow = parseAllowList(`127.0.0.1:${encrypted.port}`)
    const verifier = await startVerifier({ egressAllow, extraCaFile: caFile })
    const uri = `https://localhost:${encrypted.port}/1`
    expect(await present(verifier, verifier.liveKey, uri)).toEqual({ outcome: 'completed', findings: [] })
  })

  test('an authority that nobody named in VIDIMUS_EXTRA_CA is not trusted, and the finding says what to do', async () => {
    const verifier = await startVerifier({ egressAllow: parseAllowList(`127.0.0.1:${encrypted.port}`) })
    const { outcome, findings } = await present(verifier, verifier.key, `https://localhost:${encrypted.port}/1`)
    expect(outcome).toBe('status_unknown')
    expect(findings).toEqual([expect.stringMatching(/certificate of its server is not trusted.*VIDIMUS_EXTRA_CA/)])
  })
})

describe('the finding of a list that is not read', () => {
  /** True of link-local addresses as well, which nobody can open. */
  const NOT_PUBLIC =
    /not on the public internet\. Its issuer must publish it there; only .* in a private network can be opened .*VIDIMUS_EGRESS_ALLOW/
  test.each([
    ['https://localhost/1', NOT_PUBLIC],
    ['https://10.0.0.1/1', NOT_PUBLIC],
    ['https://inside.example/1', NOT_PUBLIC],
    ['https://169.254.0.7/1', NOT_PUBLIC],
    ['https://[fe80::7]/1', NOT_PUBLIC],
    ['https://issuer.example:6379/1', /not one that may be called.*usual https address/],
    ['https://me:secret@issuer.example/1', /not one that may be called.*usual https address/],
    ['https://gone.example/1', /name of its server was not found. Try again later/],
  ])('the finding on a list at %s names the list and says what to do', async (uri, expected) => {
    const resolve = async (host?: string) => (host === 'gone.example' ? [] : ['10.0.0.7'])
    const { app, key } = await startVerifier({}, resolve)
    const { findings } = await present({ app }, key, uri)
    expect(findings).toEqual([expect.stringMatching(expected)])
    expect(findings[0]).toContain("The issuer's status list")
    expect(findings[0]).not.toMatch(/webhook|vidimus listen|\.\.|10\.0\.0\.7|secret/)
  })
})
