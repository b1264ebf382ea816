// Which registration certificate goes with a request.
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { deleteRegistration } from '../../src/signing/registration-store.ts'
import { addRegistration, removeRegistration } from '../../src/signing/registrations.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { AGE_OF_PIDS, getCertificate, newRegistrar } from '../helpers/access.ts'
import { cleanUp, createVerification, startWithTenant, type TestApp, temporaryDir } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { ask, listOrigin } from '../helpers/dc.ts'
import { sentencesOf } from '../helpers/doctor.ts'
import { makePhone, takeEstablishment } from '../helpers/engagement.ts'
import { bytesOf, scan } from '../helpers/in-person.ts'

afterAll(cleanUp)

type Claims = string[]

const pid = (...claims: Claims) => ({
  format: 'dc+sd-jwt' as const,
  meta: { vct_values: ['urn:eudi:pid:1'] },
  claims: claims.map(name => ({ path: [name] })),
})
const queryFor = (...claims: Claims) => ({ credentials: [{ id: 'pid', ...pid(...claims) }] })
const NAMES = ['family_name', 'given_name']

/** A shop with registrations for names, for names and birth dates, and for everything. */
async function startRegistered() {
  const shop = await startWithTenant()
  const { app } = shop
  const register = await newRegistrar(app)
  const add = async (said: object, options: { templates?: string[]; owner?: string | null } = {}) => {
    app.clock.advance(1)
    const { row, notes } = await addRegistration(
      app.deps,
      { text: await register({ ...said }), owner: null, templates: [], ...options },
      'test',
    )
    return { ...row, notes: sentencesOf(notes) }
  }
  return { ...shop, register, add }
}

const infoFor = async (app: TestApp, key: string, body: object): Promise<unknown> => {
  const { id } = await createVerification(app, key, body)
  return decodeJwt((await app.call('GET', `/wallet/request/${id}`)).text).verifier_info
}

const only = ({ jwt }: { jwt: string }) => [{ format: 'registration_cert', data: jwt }]

/** Creations take a template or a query, not both. */
const asking = (...claims: Claims) => ({ template: undefined, query: queryFor(...claims) })

describe('the choice', () => {
  test('of those that cover the query, the one with the fewest claims is sent', async () => {
    const { app, key, add } = await startRegistered()
    const names = await add({ credentials: [pid(...NAMES)] })
    const more = await add({ credentials: [pid(...NAMES, 'birthdate')] })
    const all = await add({ credentials: [{ ...pid(), claims: undefined }] })
    expect(await infoFor(app, key, asking('given_name'))).toEqual(only(names))
    expect(await infoFor(app, key, asking(...NAMES, 'birthdate'))).toEqual(only(more))
    expect(await infoFor(app, key, asking('birthdate', 'address'))).toEqual(only(all))
  })

  test('a signed request through the browser carries the same one as the QR code', async () => {
    const { app, id: tenantId, key, add } = await startRegistered()
    app.deps.config.dcApi.mode = 'signed'
    await listOrigin(app, tenantId)
    const names = await add({ credentials: [pid(...NAMES)] })
    const { id } = await createVerification(app, key, asking('given_name'))
    const { request } = (await ask(app, id)).body.requests[0]!.data as { request: string }
    expect(decodeJwt(request).verifier_info).toEqual(only(names))
  })

  test('a request for mdocs carries it too, through the browser and in person, and one to the EU age app none', async () => {
    const { app, id: tenantId, key, add } = await startRegistered()
    await listOrigin(app, tenantId)
    const { jwt } = await add({ credentials: AGE_OF_PIDS })
    const copiesIn = (request: Buffer) => request.toString('latin1').split(jwt).length - 1
    const carried = async (template: string) => {
      const { id } = await createVerification(app, key, { template })
      const { body } = await ask(app, id)
      const { deviceRequest } = body.requests.find(({ protocol }) => protocol === 'org-iso-mdoc')!.data as {
        deviceRequest: string
      }
      const phone = await makePhone()
      const { message } = (await scan({ app, key }, id, phone.text)).body
      const { request } = await takeEstablishment(phone, bytesOf(message))
      return [copiesIn(Buffer.from(deviceRequest, 'base64url')), copiesIn(request)]
    }
    expect(await carried('driving_licence')).toEqual([1, 1])
    expect(await carried('photo_id')).toEqual([3, 3])
    expect(await carried('eu_av_age_18')).toEqual([0, 0])
  })

  test('when none covers the query, the nearest one is sent', async () => {
    const { app, key, add } = await startRegistered()
    await add({ credentials: [pid('nationalities')] })
    const near = await add({ credentials: [pid(...NAMES)] })
    await add({ credentials: AGE_OF_PIDS })
    expect(await infoFor(app, key, asking(...NAMES, 'birthdate'))).toEqual(only(near))
  })

  test('the one assigned to the template is sent, whatever the others cover', async () => {
    const { app, id, key, add } = await startRegistered()
    for (const template of ['names', 'other'])
      await saveTemplate(app.deps, { tenantId: id, key: template, title: template, query: queryFor('given_name') }, 'test')
    const covering = await add({ credentials: [pid('given_name')] })
    const assigned = await add({ credentials: AGE_OF_PIDS }, { templates: ['names'] })
    expect(await infoFor(app, key, { template: 'names' })).toEqual(only(assigned))
    expect(await infoFor(app, key, { template: 'other' })).toEqual(only(covering))
    await expect(add({ sub: 'VATDE-9' }, { templates: ['unknown'] })).rejects.toThrow('there is no template unknown')
    // A renewed one replaces it, and takes its place back when that is removed.
    const renewed = await add({ credentials: AGE_OF_PIDS, intended_use_id: 'again' }, { templates: ['names'] })
    expect(await infoFor(app, key, { template: 'names' })).toEqual(only(renewed))
    await removeRegistration(app.deps, renewed.id, 'test')
    expect(await infoFor(app, key, { template: 'names' })).toEqual(only(assigned))
  })

  test('one that has ended, or does not count yet, is not sent: another, or none', async () => {
    const { app, id, key, add } = await startRegistered()
    await saveTemplate(app.deps, { tenantId: id, key: 'names', title: 'Names', query: queryFor('given_name') }, 'test')
    const seconds = (days: number) => Math.floor(app.clock.now() / 1000) + days * 86_400
    const short = await add({ credentials: [pid('given_name')], exp: seconds(10) })
    const later = await add({ credentials: [pid('given_name')], nbf: seconds(5), exp: seconds(20) })
    expect(later.notes).toContain(`It counts from ${new Date(seconds(5) * 1000).toISOString()} on.`)
    const start = app.clock.now()
    const sent = async (days: number) => {
      app.clock.set(start + days * DAY_MS)
      return await infoFor(app, key, { template: 'names' })
    }
    expect(await sent(4)).toEqual(only(short))
    expect(await sent(6)).toEqual(only(later))
    expect(await sent(11)).toEqual(only(later))
    expect(await sent(21)).toBeUndefined()
  })

  test('one of another organisation than the access certificate is not sent', async () => {
    const { app, key, add } = await startRegistered()
    const foreign = await add({ sub: 'VATDE-2', credentials: [pid('given_name')] })
    // The certificate of the first start names no organisation.
    expect(foreign.notes).toEqual(['The certificate that wallets see names no organisation, so the two could not be compared.'])
    expect(await infoFor(app, key, asking('given_name'))).toEqual(only(foreign))
    await getCertificate(app)
    expect(await infoFor(app, key, asking('given_name'))).toBeUndefined()
    const own = await add({ sub: 'vatde-123456789', credentials: AGE_OF_PIDS })
    expect(await infoFor(app, key, asking('given_name'))).toEqual(only(own))
    const again = await add({ sub: 'VATDE-3' })
    expect(again.notes).toEqual(['It is of VATDE-3, but the certificate that wallets see is of VATDE-123456789: it is not sent.'])
  })

  test("a tenant with a certificate of its own sends only its own registrations, and others the installation's", async () => {
    const { app, id, key, add } = await startRegistered()
    const other = await app.tenant({ name: 'Bakery' })
    const shared = await add({ credentials: [pid('given_name')] })
    expect(await infoFor(app, key, asking('given_name'))).toEqual(only(shared))
    await getCertificate(app, { owner: id })
    expect(await infoFor(app, key, asking('given_name'))).toBeUndefined()
    const own = await add({ credentials: [pid('given_name')], intended_use_id: 'own' }, { owner: id })
    expect(await infoFor(app, key, asking('given_name'))).toEqual(only(own))
    expect(await infoFor(app, other.key, asking('given_name'))).toEqual(only(shared))
  })

  test('requests to the EU age app carry none', async () => {
    const { app, key, add } = await startRegistered()
    await add({ credentials: AGE_OF_PIDS })
    const { wallet_uri } = await createVerification(app, key, { template: 'eu_av_age_18' })
    expect(wallet_uri).toStartWith('av://')
    expect(wallet_uri).not.toContain('verifier_info')
  })
})

test('VIDIMUS_REGISTRATION_CERT counts while nothing is stored', async () => {
  const file = join(temporaryDir(), 'registration.jwt')
  writeFileSync(file, 'aaa.bbb.ccc\n')
  const wallet = {
    profile: 'haip',
    linkStart: 'openid4vp',
    clientIdPrefix: 'x509_hash',
    registrationCertFile: file,
    requestUriMethod: 'get',
    verifierInfoData: 'jwt',
  } as const
  const { app, key } = await startWithTenant({ config: { wallet } })
  const text = await (await newRegistrar(app))()
  const sent = () => infoFor(app, key, { template: 'age_over_18' })
  expect(await sent()).toEqual(only({ jwt: 'aaa.bbb.ccc' }))
  const { row } = await addRegistration(app.deps, { text, owner: null, templates: [] }, 'test')
  expect(await sent()).toEqual(only(row))
  await removeRegistration(app.deps, row.id, 'test')
  expect(await sent()).toEqual(only({ jwt: 'aaa.bbb.ccc' }))
})

test('the registration certificates of a template are read again when settings were written, and only then', async () => {
  const { app, key, add } = await startRegistered()
  const stored = await add({ credentials: AGE_OF_PIDS })
  const session = await createVerification(app, key)
  const fetchOne = async () => decodeJwt((await app.call('GET', `/wallet/request/${session.id}`)).text).verifier_info
  expect(await fetchOne()).toEqual(only(stored))
  // Behind the back of the service.
  await app.deps.write(tx => deleteRegistration(tx, stored.id))
  expect(await fetchOne()).toEqual(only(stored))
  await app.deps.writeSettings(async () => {})
  expect(await fetchOne()).toBeUndefined()
})

test('a registration certificate too long for a copy in each document request is logged, by its template and without its text', async () => {
  const { app, id: tenantId, key, add } = await startRegistered()
  await listOrigin(app, tenantId)
  const mdoc = (id: string) => ({
    id,
    format: 'mso_mdoc' as const,
    meta: { doctype_value: 'eu.europa.ec.eudi.pid.1' },
    claims: [{ path: ['eu.europa.ec.eudi.pid.1', id] }],
  })
  const save = (key: string, ...ids: string[]) =>
    saveTemplate(app.deps, { tenantId, key, title: 'Names', query: { credentials: ids.map(mdoc) } }, 'test')
  await save('one', 'family_name')
  await save('two', 'family_name', 'given_name')
  const { jwt } = await add({ credentials: [], long: 'x'.repeat(19_000) })
  expect(jwt.length).toBeGreaterThan(24 * 1024)
  const logged = () => app.logs.filter(line => line.includes('signing.registration_large')).map(line => JSON.parse(line).detail)
  const scanIt = async (template: string) => {
    const { id } = await createVerification(app, key, { template })
    await scan({ app, key }, id, (await makePhone()).text)
  }
  await ask(app, (await createVerification(app, key, { template: 'one' })).id)
  await scanIt('one')
  expect(logged()).toEqual([])
  await ask(app, (await createVerification(app, key, { template: 'two' })).id)
  expect(logged()).toEqual(['two'])
  await scanIt('two')
  expect(logged()).toEqual(['two', 'two'])
  expect(app.logs.filter(line => line.includes(jwt.slice(-40)))).toEqual([])
})
