import { afterAll, expect, test } from 'bun:test'
import { decodeProtectedHeader } from 'jose'
import { addRegistration, isOfListed } from '../../src/signing/registrations.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { AGE_OF_PIDS, getCertificate, loadAccessList, newAuthority, newRegistrar } from '../helpers/access.ts'
import { cleanUp, createVerification, startApp, type TestApp } from '../helpers/app.ts'
import { DAY_MS, issue, issueAuthority, pemOf } from '../helpers/certificates.ts'
import { examine } from '../helpers/doctor.ts'

afterAll(cleanUp)

const QUERY = {
  credentials: [
    {
      id: 'pid',
      format: 'dc+sd-jwt' as const,
      meta: { vct_values: ['urn:eudi:pid:1'] },
      claims: [{ path: ['age_equal_or_over', '18'] }],
    },
  ],
}
const MORE = {
  credentials: [{ ...QUERY.credentials[0]!, claims: [{ path: ['age_equal_or_over', '18'] }, { path: ['address'] }] }],
}

const found = async (app: TestApp) => {
  const { status, detail } = (await examine(app.deps, true)).find(({ name }) => name === 'registration')!
  return [status, detail]
}

async function start() {
  const app = await startApp({ resolve: async () => ['127.0.0.1'] })
  const shop = await app.tenant()
  const register = await newRegistrar(app)
  const add = async (said: object = {}) => {
    app.clock.advance(1)
    return (await addRegistration(app.deps, { text: await register({ ...said }), owner: null, templates: [] }, 'test')).row
  }
  const save = (query: typeof QUERY) => saveTemplate(app.deps, { tenantId: shop.id, key: 'wine', title: 'Wine', query }, 'test')
  return { app, ...shop, add, save }
}

test('a template in live use that asks for PID data needs a registration certificate', async () => {
  const { app, liveKey, add } = await start()
  expect(await found(app)).toEqual(['ok', 'No template in live use needs a registration certificate.'])
  await createVerification(app, liveKey, { template: 'eu_av_age_18' })
  await createVerification(app, liveKey, { template: 'driving_licence' })
  expect((await found(app))[0]).toBe('ok')
  await createVerification(app, liveKey, { template: 'age_over_18' })
  expect(await found(app)).toEqual([
    'warning',
    'There is no registration certificate for what age_over_18 asks for: EU wallets may warn, or refuse.',
  ])
  // The built-in template also takes documents that are not registered.
  await add()
  expect((await found(app))[1]).toMatch(/^Wallets will warn that age_over_18, driving_licence asks for more than registered/)
})

test('a template that asks for more than registered is named, and one within it is not', async () => {
  const { app, add, save } = await start()
  await save(QUERY)
  await add()
  const until = new Date(app.clock.now() + 300 * DAY_MS).toISOString().slice(0, 10)
  expect(await found(app)).toEqual(['ok', `Registration certificates: To check your age (until ${until}).`])
  await save(MORE)
  expect(await found(app)).toEqual(['warning', 'Wallets will warn that wine asks for more than registered.'])
})

test('one of another organisation is a problem once the certificate that wallets see names one', async () => {
  const { app, add } = await start()
  await add({ sub: 'VATDE-2' })
  expect((await found(app))[0]).toBe('ok')
  await getCertificate(app)
  expect(await found(app)).toEqual([
    'problem',
    expect.stringMatching(
      /^Registration certificates are of another organisation than the certificate that wallets see: To check/,
    ),
  ])
})

test('one that ends soon is a warning, and one that has ended a problem', async () => {
  const { app, add } = await start()
  await add({ exp: Math.floor(app.clock.now() / 1000) + 40 * 86_400 })
  expect((await found(app))[0]).toBe('ok')
  app.clock.advance(11 * DAY_MS)
  expect(await found(app)).toEqual(['warning', expect.stringMatching(/^Registration certificates end soon: To check your age/)])
  app.clock.advance(30 * DAY_MS)
  expect(await found(app)).toEqual(['problem', expect.stringMatching(/^Registration certificates have ended: To check your age/)])
})

test('one that its registrar revoked is a problem, and one whose list cannot be read a warning', async () => {
  const { app, add } = await start()
  // Odd indexes of the list of the sandbox issuer are revoked; it is read without a network.
  const { issuer } = await app.deps.sandbox()
  const status = (idx: number) => ({ status: { status_list: { uri: issuer.statusListUri, idx } }, credentials: AGE_OF_PIDS })
  await add(status(2))
  expect((await found(app))[0]).toBe('ok')
  await add({ ...status(0), status: { status_list: { uri: 'https://registrar.example/list', idx: 0 } } })
  expect(await found(app)).toEqual(['warning', expect.stringMatching(/^Whether these registration certificates were revoked/)])
  await add(status(3))
  expect(await found(app)).toEqual([
    'problem',
    expect.stringMatching(/^Registration certificates were revoked: To check your age/),
  ])
})

test('a registration certificate must lead to a registrar on the list, once one is loaded', async () => {
  const { app, add } = await start()
  const { jwt } = await add()
  const fine = await found(app)
  expect(fine[0]).toBe('ok')
  const another = await newAuthority(app)
  // A list of access authorities says nothing about registrars.
  await loadAccessList(app, pemOf(another.der))
  expect(await found(app)).toEqual(fine)
  await loadAccessList(app, pemOf(another.der), 'WRPRC')
  expect(await found(app)).toEqual([
    'warning',
    expect.stringMatching(
      /^Registration certificates lead to no registrar on the loaded list, so EU wallets will warn: To check your age/,
    ),
  ])
  const [leaf] = decodeProtectedHeader(jwt).x5c!
  await loadAccessList(app, pemOf(Buffer.from(leaf!, 'base64')), 'WRPRC')
  expect(await found(app)).toEqual(fine)
})

test('a registrar below a listed authority is listed too, and one that only sends its certificate is not', async () => {
  const { app } = await start()
  const [root, other] = [await newAuthority(app), await newAuthority(app)]
  const life = { notBefore: app.clock.now() - DAY_MS, notAfter: app.clock.now() + 300 * DAY_MS }
  const below = await issueAuthority({ ...life, name: 'CN=Below', issuer: root })
  const leaf = await issue({ ...life, name: 'CN=Registrar', issuer: below })
  const signedWith = (...chain: Uint8Array[]) => ({
    jwt: `${Buffer.from(JSON.stringify({ x5c: chain.map(der => Buffer.from(der).toString('base64')) })).toString('base64url')}.e30.AA`,
  })
  const listed = [pemOf(root.der)]
  expect(isOfListed(signedWith(leaf.der, below.der), listed)).toBe(true)
  expect(isOfListed(signedWith(leaf.der, below.der, root.der), listed)).toBe(true)
  expect(isOfListed(signedWith(leaf.der), listed)).toBe(false)
  expect(isOfListed(signedWith(leaf.der, root.der), listed)).toBe(false)
  expect(isOfListed(signedWith(leaf.der, below.der), [pemOf(other.der)])).toBe(false)
})
