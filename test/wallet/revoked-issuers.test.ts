// Revocation lists of issuers' certificates, from the wallet's answer to the verdict: real
// certificates, a real list on a real server.
import { afterAll, describe, expect, test } from 'bun:test'
import { deflateSync } from 'node:zlib'
import { parseAllowList } from '../../src/egress/addresses.ts'
import { createStatusChecker } from '../../src/openid4vp/status/list.ts'
import { describeCertificate } from '../../src/openid4vp/x509/x509.ts'
import { signJwt } from '../../src/sandbox/es256.ts'
import { NOON, startApp } from '../helpers/app.ts'
import { crlPoint, DAY_MS, makeCrl, Usage, usages } from '../helpers/certificates.ts'
import { presentBy } from '../helpers/exchange.ts'
import {
  forgeIsoSigner,
  forgeMdoc,
  forgeSdJwt,
  holderWith,
  MDL_NAMESPACE,
  newLeaf,
  signerFrom,
  trust,
} from '../helpers/forger.ts'
import { hostLists } from '../helpers/list-host.ts'
import { mdocQuery, sdJwtQuery } from '../helpers/queries.ts'

const MDOC = { query: { credentials: [mdocQuery('mdl', [[MDL_NAMESPACE, 'family_name']])] } }
const SD_JWT = { query: { credentials: [sdJwtQuery('pid', [['family_name']])] } }
const DATES = { thisUpdate: NOON - DAY_MS, nextUpdate: NOON + DAY_MS }

const lists = new Map()
/** The place to which the server sends those who ask for a list. */
const moved = new Map<string, string>()
const fetches: string[] = []
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url)
    fetches.push(pathname)
    const place = moved.get(pathname)
    if (place) return Response.redirect(place, 301)
    const list = lists.get(pathname)
    return list ? new Response(list, { headers: { 'content-type': 'application/pkix-crl' } }) : new Response('', { status: 503 })
  },
})
const secure = await hostLists()
const app = await startApp({
  config: { egressAllow: [...parseAllowList(`127.0.0.1:${server.port}`), secure.allow], extraCaFile: secure.caFile },
  resolve: async () => ['127.0.0.1'],
})
const party = { app, key: (await app.tenant()).key }

afterAll(() => server.stop(true))

let made = 0

/** A document signer under a root of its own, whose certificate names a list on the server. */
async function makeIssuer(origin = `http://127.0.0.1:${server.port}`) {
  const path = `/${++made}.crl`
  const { signer, root } = await forgeIsoSigner({ crl: [`${origin}${path}`] })
  const { serialNumber } = describeCertificate(signer.chain[0]!)!
  return {
    path,
    root,
    signer,
    publish: async (revoked: string[]) => void lists.set(path, await makeCrl(root, { ...DATES, revoked })),
    serialNumber,
  }
}

const presentMdl = async ({ signer }: Awaited<ReturnType<typeof makeIssuer>>) =>
  (await presentBy(party, await holderWith(async key => [await forgeMdoc(signer, key)]), { body: MDOC })).verification

const presentPid = async ({ signer }: Awaited<ReturnType<typeof makeIssuer>>) =>
  (await presentBy(party, await holderWith(async key => [await forgeSdJwt(signer, key)]), { body: SD_JWT })).verification

describe('a document whose signer names a revocation list', () => {
  test('a document completes while the list does not name its signer, and the list is fetched once', async () => {
    const issuer = await makeIssuer()
    await trust(app, issuer.signer, { mode: 'iso' })
    await issuer.publish(['77'])
    expect((await presentMdl(issuer)).status).toBe('completed')
    expect((await presentMdl(issuer)).status).toBe('completed')
    expect(fetches.filter(path => path === issuer.path)).toHaveLength(1)
  })

  test('a document fails as issuer_untrusted, without claims, once its signer was revoked', async () => {
    const issuer = await makeIssuer()
    await trust(app, issuer.signer, { mode: 'iso' })
    await issuer.publish([issuer.serialNumber])
    const { status, error, credentials } = await presentMdl(issuer)
    expect([status, error?.code, credentials?.[0]?.trusted]).toEqual(['failed', 'issuer_untrusted', false])
    expect(credentials?.[0]?.findings).toEqual([
      { check: 'issuer_chain', status: 'fail', detail: 'The authority of the issuer has revoked its certificate.' },
    ])
  })

  test('a list whose server sends everybody to https is read there', async () => {
    const [good, revoked] = [await makeIssuer(), await makeIssuer()]
    for (const [{ path, root, signer }, serials] of [
      [good, []],
      [revoked, [revoked.serialNumber]],
    ] as const) {
      await trust(app, signer, { mode: 'iso' })
      moved.set(path, secure.url(path))
      lists.set(secure.url(path), await makeCrl(root, { ...DATES, revoked: [...serials] }))
    }
    secure.answer(({ url }) => new Response(lists.get(secure.url(new URL(url).pathname))))
    expect((await presentMdl(good)).status).toBe('completed')
    expect((await presentMdl(revoked)).credentials?.[0]?.findings[0]?.detail).toContain('has revoked its certificate')
  })

  test('while the list cannot be read, a document fails as issuer_status_unknown in mode iso and completes with a warning in mode pkix', async () => {
    const strict = await makeIssuer()
    await trust(app, strict.signer, { mode: 'iso' })
    const refused = await presentMdl(strict)
    expect([refused.status, refused.error]).toEqual([
      'failed',
      {
        code: 'issuer_status_unknown',
        message: "Whether the certificate of the document's issuer was revoked could not be found out.",
      },
    ])
    // The issuer is the right one: nobody need add it again.
    expect(refused.credentials?.[0]?.trusted).toBe(true)
    expect(refused.credentials?.[0]?.findings).toEqual([
      {
        check: 'status',
        status: 'fail',
        detail:
          "The revocation list for the issuer's certificate could not be used: its server answered 503. The certificate may be revoked. Try again later.",
      },
    ])

    const lenient = await makeIssuer()
    await trust(app, lenient.signer, { mode: 'pkix' })
    const { status, credentials } = await presentPid(lenient)
    expect(status).toBe('completed')
    expect(credentials?.[0]?.findings).toEqual([
      {
        check: 'status',
        status: 'warning',
        detail: "The revocation list for the issuer's certificate could not be used: its server answered 503.",
      },
    ])
  })

  test('the warning on a list that may not be called is about lists, not about webhooks', async () => {
    const issuer = await makeIssuer('http://10.1.2.3')
    await trust(app, issuer.signer, { mode: 'pkix' })
    const { status, credentials } = await presentPid(issuer)
    const warning = credentials?.[0]?.findings.find(({ check }) => check === 'status')
    expect([status, warning?.detail]).toEqual([
      'completed',
      "The revocation list for the issuer's certificate could not be used: it is not on the public internet. Its issuer must publish it there; only an address in a private network can be opened by the operator of this service (VIDIMUS_EGRESS_ALLOW).",
    ])
  })

  test('the operator can choose for an anchor whether a list is required, is only warned of, or is not read', async () => {
    const required = await makeIssuer()
    await trust(app, required.signer, { mode: 'pkix', crl: 'require' })
    expect((await presentPid(required)).status).toBe('failed')

    const warned = await makeIssuer()
    await trust(app, warned.signer, { mode: 'iso', crl: 'warn' })
    expect((await presentMdl(warned)).status).toBe('completed')

    const off = await makeIssuer()
    await trust(app, off.signer, { mode: 'iso', crl: 'off' })
    await off.publish([off.serialNumber])
    expect((await presentMdl(off)).status).toBe('completed')
    expect(fetches).not.toContain(off.path)
  })

  test('no list is fetched while the issuer is not trusted', async () => {
    const issuer = await makeIssuer()
    await issuer.publish([])
    expect((await presentMdl(issuer)).error?.code).toBe('issuer_untrusted')
    expect(fetches).not.toContain(issuer.path)
  })
})

describe('a status list whose signer names a revocation list', () => {
  const URI = 'https://status.example/1'

  /** A trusted issuer, and a signer of its status list under the same root. */
  async function makeIssuerWithStatus(options: Parameters<typeof trust>[2]) {
    const issuer = await makeIssuer()
    await issuer.publish([])
    await trust(app, issuer.signer, options)
    const path = `/${++made}.crl`
    const extensions = [usages(Usage.digitalSignature), crlPoint(`http://127.0.0.1:${server.port}${path}`)]
    const { key, chain } = await signerFrom(await newLeaf(issuer.root, { extensions }), { root: issuer.root })
    const header = { typ: 'statuslist+jwt', x5c: chain.map(der => Buffer.from(der).toString('base64')) }
    const status_list = { bits: 1, lst: deflateSync(Buffer.of(0)).toString('base64url') }
    const body = Buffer.from(await signJwt(key, header, { sub: URI, iat: NOON / 1000, status_list }))
    app.deps.status = createStatusChecker(
      async () => ({ ok: true, contentType: 'application/statuslist+jwt', body }),
      app.deps.now,
    )
    const { serialNumber } = describeCertificate(chain[0]!)!
    return {
      ...issuer,
      publishForStatus: async (revoked: string[]) => void lists.set(path, await makeCrl(issuer.root, { ...DATES, revoked })),
      statusSerialNumber: serialNumber,
      async present() {
        const wish = { payload: { status: { status_list: { uri: URI, idx: 0 } } } }
        const holder = await holderWith(async own => [await forgeSdJwt(issuer.signer, own, wish)])
        return (await presentBy(party, holder, { body: SD_JWT })).verification
      },
    }
  }

  test('a document completes while its signer is not revoked, and is status_unknown once it is', async () => {
    const issuer = await makeIssuerWithStatus({ mode: 'pkix' })
    await issuer.publishForStatus(['77'])
    expect((await issuer.present()).status).toBe('completed')

    const revoked = await makeIssuerWithStatus({ mode: 'pkix' })
    await revoked.publishForStatus([revoked.statusSerialNumber])
    const { error, credentials } = await revoked.present()
    expect([error?.code, credentials?.[0]?.trusted]).toEqual(['status_unknown', true])
    expect(credentials?.[0]?.findings).toEqual([
      {
        check: 'status',
        status: 'fail',
        detail: "The certificate that the issuer's status list is signed with was revoked, so the credential may be revoked.",
      },
    ])
  })

  test('while the revocation list cannot be read, the anchor decides: a warning, status_unknown, or nothing is read', async () => {
    const warned = await (await makeIssuerWithStatus({ mode: 'pkix' })).present()
    expect(warned.status).toBe('completed')
    expect(warned.credentials?.[0]?.findings).toEqual([
      {
        check: 'status',
        status: 'warning',
        detail: 'The revocation list for the signer of the status list could not be used: its server answered 503.',
      },
    ])
    const required = await (await makeIssuerWithStatus({ mode: 'pkix', crl: 'require' })).present()
    expect(required.error?.code).toBe('status_unknown')
    const off = await makeIssuerWithStatus({ mode: 'pkix', crl: 'off' })
    await off.publishForStatus([off.statusSerialNumber])
    expect((await off.present()).status).toBe('completed')
  })
})

test('the sandbox issuer publishes an empty list, signed by its root', async () => {
  const { status, headers } = await app.call('GET', '/sandbox/crl')
  expect([status, headers.get('content-type')]).toEqual([200, 'application/pkix-crl'])
  const { X509Crl, X509Certificate } = await import('@peculiar/x509')
  const { issuer } = await app.deps.sandbox()
  const crl = new X509Crl(await (await fetch(`${app.url}/sandbox/crl`)).arrayBuffer())
  expect(crl.entries).toHaveLength(0)
  expect(await crl.verify({ publicKey: new X509Certificate(Buffer.from(issuer.anchor)).publicKey })).toBe(true)
})
