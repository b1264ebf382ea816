// A tenant with a certificate of its own: wallets see the shop, not the operator.
import { afterAll, expect, test } from 'bun:test'
import { browseAudit } from '../../src/audit/browse.ts'
import { signingState, signingStates } from '../../src/signing/certificate.ts'
import { importSigningKey } from '../../src/signing/import.ts'
import { cancelScheduled, removeSigningKeys } from '../../src/signing/remove.ts'
import { certificateRequest, requestNewKey } from '../../src/signing/request.ts'
import { retireSigningKeys } from '../../src/signing/retire.ts'
import { chainOf, clientIdOf, getCertificate, newAuthority, signRequest } from '../helpers/access.ts'
import { cleanUp, createVerification, startWithTenant } from '../helpers/app.ts'
import { contacts, DAY_MS } from '../helpers/certificates.ts'
import { rowsOf } from '../helpers/database.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

afterAll(cleanUp)

test('sessions of a tenant use its own certificate, and those of others the one of the installation', async () => {
  const { app, id: owner, key } = await startWithTenant()
  const other = await app.tenant({ name: 'Bakery' })
  const own = await getCertificate(app, { owner })
  expect(own.state).toMatchObject({ owner, isOwn: true, authority: null })
  const [shop, bakery] = [await createVerification(app, key), await createVerification(app, other.key)]
  expect(clientIdOf(shop)).toBe(own.state.clientId)
  expect(clientIdOf(bakery)).toBe((await signingState(app.deps)).clientId)
  expect((await chainOf(app, shop))[0]?.subject).toContain('O=Corner Shop GmbH')
  expect((await chainOf(app, bakery))[0]?.subject).toBe('CN=Vidimus verify.example')
  for (const { wallet_uri } of [shop, bakery])
    expect((await answerWith(app, await holderOf(app), wallet_uri ?? '')).status).toBe(200)
  expect(await signingState(app.deps, other.id)).toMatchObject({ owner: other.id, isOwn: false })
  // The installation's own is replaced: the tenant keeps its.
  await getCertificate(app)
  app.clock.advance(2 * DAY_MS)
  await retireSigningKeys(app.deps)
  expect(clientIdOf(await createVerification(app, key))).toBe(own.state.clientId)
})

test("a tenant's certificate that starts later takes over from that of the installation, which stays", async () => {
  const { app, id: owner, key } = await startWithTenant()
  const start = app.clock.now() + DAY_MS
  const { state } = await getCertificate(app, { owner, from: start })
  expect(state).toMatchObject({ owner, isOwn: false, next: { startsAt: start } })
  expect(clientIdOf(await createVerification(app, key))).toBe(state.clientId)
  app.clock.set(start)
  expect(clientIdOf(await createVerification(app, key))).toBe(state.next!.clientId)
  app.clock.advance(2 * DAY_MS)
  await retireSigningKeys(app.deps)
  expect((await signingState(app.deps)).clientId).toBe(state.clientId)
})

test('a certificate is imported for the owner of its key only, and a tenant needs a key of its own', async () => {
  const { app, id: owner } = await startWithTenant()
  const request = { owner, host: 'verify.example' }
  await expect(certificateRequest(app.deps, request)).rejects.toThrow('this tenant has no key of its own yet')
  const csr = await requestNewKey(app.deps, request, 'test')
  const chainPem = await signRequest(app, csr, { issuer: await newAuthority(app) })
  const forInstallation = importSigningKey(app.deps, { chainPem, owner: null, authorities: [] }, 'test')
  await expect(forInstallation).rejects.toThrow(`this certificate is for the key of tenant ${owner}; import it there`)
  expect((await signingStates(app.deps)).map(state => [state.owner, state.isOwn])).toEqual([
    [null, true],
    [owner, false],
  ])
})

test('the certificate of a tenant must name the public host with x509_san_dns', async () => {
  const wallet = {
    profile: 'haip',
    linkStart: 'openid4vp',
    clientIdPrefix: 'x509_san_dns',
    registrationCertFile: '',
    requestUriMethod: 'get',
    verifierInfoData: 'jwt',
  } as const
  const { app, id: owner, key } = await startWithTenant({ config: { wallet } })
  const elsewhere = getCertificate(app, { owner, extensions: [contacts({ type: 'dns', value: 'shop.example' })] })
  await expect(elsewhere).rejects.toThrow('the certificate does not name verify.example')
  await getCertificate(app, { owner })
  const session = await createVerification(app, key)
  expect(clientIdOf(session)).toBe('x509_san_dns:verify.example')
  expect((await chainOf(app, session))[0]?.subject).toContain('O=Corner Shop GmbH')
  expect((await answerWith(app, await holderOf(app), session.wallet_uri ?? '')).status).toBe(200)
})

test("new sessions use the installation's certificate once that of the tenant was removed, and open ones are answered", async () => {
  const { app, id: owner, key } = await startWithTenant()
  const { state: own } = await getCertificate(app, { owner })
  const next = await getCertificate(app, { owner, from: app.clock.now() + DAY_MS })
  await requestNewKey(app.deps, { owner, host: 'verify.example' }, 'test')
  const [open, other] = [await createVerification(app, key), (await app.tenant({ name: 'Bakery' })).id]
  const installation = await signingState(app.deps)
  expect(await removeSigningKeys(app.deps, owner, 'boss')).toMatchObject({
    owner,
    isOwn: false,
    clientId: installation.clientId,
    next: null,
    pendingSince: null,
  })
  expect((await browseAudit(app.deps, { tenantId: owner, limit: 1 })).records).toMatchObject([
    {
      action: 'signing.removed',
      actor: 'boss',
      details: { client_ids: expect.arrayContaining([own.clientId, next.state.next!.clientId]), requests: 1 },
    },
  ])
  expect(clientIdOf(await createVerification(app, key))).toBe(installation.clientId)
  expect(clientIdOf(open)).toBe(own.clientId)
  expect((await answerWith(app, await holderOf(app), open.wallet_uri ?? '')).status).toBe(200)
  for (const tenant of [owner, other])
    await expect(removeSigningKeys(app.deps, tenant, 'boss')).rejects.toThrow('this tenant has no certificate or key of its own')
  app.clock.advance(2 * DAY_MS)
  await retireSigningKeys(app.deps)
  const kept = 'SELECT 1 FROM signing_keys WHERE tenant_id IS NOT NULL AND length(sealed) > 0'
  expect(rowsOf(app, kept)).toEqual([])
  expect(clientIdOf(await createVerification(app, key))).toBe(installation.clientId)
})

test('a certificate that was to start later is taken back, and the one in use stays', async () => {
  const { app, id: owner, key } = await startWithTenant()
  const start = app.clock.now() + DAY_MS
  for (const whose of [null, owner]) {
    const { state } = await getCertificate(app, { owner: whose })
    const { state: planned } = await getCertificate(app, { owner: whose, from: start })
    expect(await cancelScheduled(app.deps, whose, 'boss')).toMatchObject({ clientId: state.clientId, next: null })
    await expect(cancelScheduled(app.deps, whose, 'boss')).rejects.toThrow('no certificate is scheduled')
    expect((await browseAudit(app.deps, { tenantId: whose ?? '', limit: 1 })).records).toMatchObject([
      {
        action: 'signing.cancelled',
        actor: 'boss',
        details: { client_id: planned.next!.clientId, starts_at: new Date(start).toISOString() },
      },
    ])
  }
  const inUse = await signingState(app.deps, owner)
  app.clock.set(start)
  expect(clientIdOf(await createVerification(app, key))).toBe(inUse.clientId)
})
