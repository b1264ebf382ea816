// Templates in one format: `formats` at creation, and the aliases of built-in templates.
import { afterAll, describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { browseAudit } from '../../src/audit/browse.ts'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { addRegistration } from '../../src/signing/registrations.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { resolveTemplate } from '../../src/templates/resolve.ts'
import { removeTemplate, saveTemplate } from '../../src/templates/save.ts'
import type { Template } from '../../src/templates/schema.ts'
import { upsertTemplate } from '../../src/templates/store.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { purposeOf } from '../../src/words/purposes.ts'
import { AGE_OF_PIDS, newRegistrar } from '../helpers/access.ts'
import { cleanUp, createVerification, outcome, startWithTenant } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { ask, listOrigin } from '../helpers/dc.ts'
import { pair } from '../helpers/devices.ts'
import { verifyWith } from '../helpers/wallet.ts'
import released from '../templates/versions-0.1.0.json'

afterAll(cleanUp)

const { app, id: tenantId, key } = await startWithTenant()
await listOrigin(app, tenantId)

const PID = {
  id: 'pid',
  format: 'dc+sd-jwt',
  meta: { vct_values: ['urn:eudi:pid:1'] },
  claims: [{ path: ['family_name'] }],
} as const
const MDL = {
  id: 'mdl',
  format: 'mso_mdoc',
  meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
  claims: [{ path: ['org.iso.18013.5.1', 'portrait'] }],
} as const
const either: DcqlQuery = { credentials: [PID, MDL], credential_sets: [{ options: [['pid'], ['mdl']] }] }
const both: DcqlQuery = { credentials: [PID, MDL] }
const own = (template: string, query: DcqlQuery) =>
  saveTemplate(app.deps, { tenantId, key: template, title: template, query }, 'test')
await own('either', either)
await own('both', both)

const create = (body: object, options: { key?: string; headers?: Record<string, string> } = {}) =>
  app.call<Verification>('POST', '/v1/verifications', { key, body, ...options })
const versionOf = (id: string) =>
  rowsOf<{ version: string }>(app, 'SELECT template_version AS version FROM verification_sessions WHERE id = ?', id)[0]?.version
const askedFormats = async (id: string) => {
  const { dcql_query: query } = decodeJwt((await app.call('GET', `/wallet/request/${id}`)).text) as { dcql_query: DcqlQuery }
  return [...new Set(query.credentials.map(({ format }) => format))].sort()
}
const refusal = async (body: object) => {
  const answer = await create(body)
  expect(outcome(answer)).toBe('400 invalid_request')
  return (answer.body as unknown as { error: { message: string } }).error.message
}

describe('versions', () => {
  test.each(Object.entries(released))('the version of %s is that of 0.1.0', async (template, version) => {
    const resolved = await resolveTemplate(app.deps.db, tenantId, template)
    expect(resolved?.version).toBe(version)
  })

  test('0.1.0 had the 14 built-in templates and 11 doubles', () => {
    const doubles = Object.keys(released).filter(name => name.endsWith('_mdoc'))
    expect([...BUILTIN_TEMPLATES.keys(), ...doubles].sort()).toEqual(Object.keys(released).sort())
    expect([BUILTIN_TEMPLATES.size, doubles.length]).toEqual([14, 11])
  })

  test('a template in one format and its alias have the same version', async () => {
    for (const [format, ending] of [
      ['mso_mdoc', 'mdoc'],
      ['dc+sd-jwt', 'sd_jwt'],
    ] as const) {
      const narrowed = await createVerification(app, key, { template: 'identity_basic', formats: [format] })
      const alias = await createVerification(app, key, { template: `identity_basic_${ending}` })
      expect(versionOf(narrowed.id)).toBe(versionOf(alias.id)!)
      expect([narrowed.template, alias.template]).toEqual(['identity_basic', `identity_basic_${ending}`])
    }
  })
})

describe('formats', () => {
  test('the request asks for the given format only, in built-in and own templates, and no wallet gets the other', async () => {
    for (const template of ['age_over_18', 'either'])
      for (const format of ['dc+sd-jwt', 'mso_mdoc'] as const) {
        const { id } = await createVerification(app, key, { template, formats: [format] })
        expect(await askedFormats(id)).toEqual([format])
      }
  })

  test('both formats ask what no formats ask', async () => {
    const whole = await createVerification(app, key, { template: 'either' })
    for (const formats of [
      ['dc+sd-jwt', 'mso_mdoc'],
      ['mso_mdoc', 'dc+sd-jwt'],
    ]) {
      const { id } = await createVerification(app, key, { template: 'either', formats })
      expect(versionOf(id)).toBe(versionOf(whole.id)!)
    }
    expect((await create({ template: 'driving_licence', formats: ['dc+sd-jwt', 'mso_mdoc'] })).status).toBe(201)
  })

  test('a creation is refused where the formats cannot be asked for', async () => {
    expect(await refusal({ query: either, formats: ['mso_mdoc'] })).toBe(
      'formats: only with a template; leave the other format out of the query',
    )
    expect(await refusal({ template: 'driving_licence', formats: ['dc+sd-jwt'] })).toBe(
      'formats: the template driving_licence has no form in dc+sd-jwt; it has mso_mdoc',
    )
    expect(await refusal({ template: 'age_over_18_mdoc', formats: ['dc+sd-jwt'] })).toBe(
      'formats: the template age_over_18_mdoc has no form in dc+sd-jwt; it has mso_mdoc',
    )
    expect(await refusal({ template: 'both', formats: ['dc+sd-jwt'] })).toBe(
      'formats: without mso_mdoc this template cannot be answered',
    )
    for (const formats of [[], ['ldp_vc'], ['mso_mdoc', 'mso_mdoc'], 'mso_mdoc', ['mso_mdoc', 'dc+sd-jwt', 'ldp_vc'], [null]])
      expect(await refusal({ template: 'age_over_18', formats })).toStartWith('formats')
  })

  test('formats are part of an idempotent body', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const body = { template: 'age_over_18', formats: ['mso_mdoc'] }
    const first = await create(body, { headers })
    expect((await create(body, { headers })).body.id).toBe(first.body.id)
    expect(outcome(await create({ template: 'age_over_18' }, { headers }))).toBe('422 idempotency_key_reused')
  })

  test('a device may narrow what it may ask for, and nothing more', async () => {
    const { access_token: whole } = await pair(app, key, { allowed_templates: ['age_over_18'] })
    const { access_token: part } = await pair(app, key, { allowed_templates: ['age_over_18_mdoc'] })
    expect((await create({ template: 'age_over_18', formats: ['mso_mdoc'] }, { key: whole })).status).toBe(201)
    expect((await create({ template: 'age_over_18_mdoc' }, { key: part })).status).toBe(201)
    expect(outcome(await create({ template: 'age_over_18' }, { key: part }))).toBe('403 insufficient_scope')
    expect(outcome(await create({ template: 'age_over_18', formats: ['mso_mdoc'] }, { key: part }))).toBe(
      '403 insufficient_scope',
    )
    expect(outcome(await create({ template: 'age_over_18_mdoc' }, { key: whole }))).toBe('403 insufficient_scope')
  })

  test('the wallet call of a browser offers no org-iso-mdoc without mdoc, and nothing else changes', async () => {
    const offered = async (body: object) =>
      (await ask(app, (await createVerification(app, key, body)).id)).body.requests.map(({ protocol }) => protocol)
    expect(await offered({ template: 'age_over_18', formats: ['dc+sd-jwt'] })).toEqual(['openid4vp-v1-unsigned'])
    expect(await offered({ template: 'age_over_18', formats: ['mso_mdoc'] })).toEqual(['openid4vp-v1-unsigned', 'org-iso-mdoc'])
  })

  test('the record of a creation names the formats, and only where they were given', async () => {
    await createVerification(app, key, { template: 'age_over_18' })
    await createVerification(app, key, { template: 'age_over_18', formats: ['mso_mdoc'] })
    const { records } = await browseAudit(app.deps, { limit: 2, tenantId })
    const told = records.map(({ details }): object => ({ ...details, id: undefined }))
    expect(told).toEqual([
      { environment: 'test', template: 'age_over_18', formats: ['mso_mdoc'], id: undefined },
      { environment: 'test', template: 'age_over_18', id: undefined },
    ])
  })

  test('age, kept claims and purpose are those of the template, in either format and under either name', async () => {
    const names = { mso_mdoc: 'age_over_18_or_birthdate_mdoc', 'dc+sd-jwt': 'age_over_18_or_birthdate_sd_jwt' }
    for (const format of ['mso_mdoc', 'dc+sd-jwt'] as const)
      for (const body of [{ template: 'age_over_18_or_birthdate', formats: [format] }, { template: names[format] }]) {
        const accept = ({ type }: { type: string }) => type === 'eu.europa.ec.eudi.pid.1' || type.startsWith('urn:')
        const { verification } = await verifyWith(app, key, 'adult', { body, accept })
        expect([verification.status, verification.claims]).toEqual(['completed', { age_over_18: true }])
        const page = await app.call<{ purpose: object }>('GET', `/v/${verification.id}/data`)
        expect(page.body.purpose).toEqual(purposeOf('age_over_18_or_birthdate'))
      }
  })
})

describe('names', () => {
  const list = async (token: string) => (await app.call<{ data: Template[] }>('GET', '/v1/templates', { key: token })).body.data

  test('a key is told 14 built-in templates with their formats, and a device its names', async () => {
    const builtin = (await list(key)).filter(template => template.builtin)
    expect(builtin.map(template => template.key)).toEqual([...BUILTIN_TEMPLATES.keys()])
    const formatsOf = (name: string) => builtin.find(template => template.key === name)?.formats
    expect([formatsOf('age_over_18'), formatsOf('driving_licence')]).toEqual([['dc+sd-jwt', 'mso_mdoc'], ['mso_mdoc']])
    const allowed_templates = ['age_over_18_mdoc', 'age_over_18_sd_jwt', 'driving_licence', 'driving_licence_mdoc']
    const { access_token } = await pair(app, key, { allowed_templates })
    expect((await list(access_token)).map(({ key: name, title, formats }) => [name, title, formats])).toEqual([
      ['age_over_18_sd_jwt', 'Age 18 or over (SD-JWT only)', ['dc+sd-jwt']],
      ['age_over_18_mdoc', 'Age 18 or over (mdoc only)', ['mso_mdoc']],
      ['driving_licence', 'Driving licence', ['mso_mdoc']],
    ])
    const till = await app.call<{ templates: object[] }>('GET', '/till/data', { key: access_token })
    expect(till.body.templates[0]).toMatchObject({
      key: 'age_over_18_mdoc',
      title: { de: 'Ab 18 Jahren (nur mdoc)' },
      age_over: 18,
    })
  })

  test('a template with one format has no alias', async () => {
    for (const template of ['driving_licence_mdoc', 'eu_av_age_18_mdoc', 'may_drive_sd_jwt', 'age_over_18_sdjwt'])
      expect(outcome(await create({ template }))).toBe('422 unknown_template')
  })

  test('no new template of a tenant is called as an alias; one that was there before keeps its name and its query', async () => {
    for (const name of ['age_over_18', 'age_over_18_mdoc', 'age_over_18_sd_jwt']) {
      await expect(own(name, either)).rejects.toThrow(`${name} is a name of a built-in template`)
      await expect(removeTemplate(app.deps, { tenantId, key: name }, 'test')).rejects.toThrow(
        `${name} is a built-in template and stays`,
      )
    }
    const older = await app.tenant()
    const name = 'age_over_18_or_birthdate_sd_jwt'
    const row = { tenantId: older.id, key: name, title: 'Ours', query: { credentials: [PID] } as DcqlQuery, profile: null }
    const times = { createdAt: 1, updatedAt: 1, liveSince: null }
    await app.deps.writeSettings(tx => upsertTemplate(tx, { ...row, rules: null, purpose: null, translations: null, ...times }))
    const { verification } = await verifyWith(app, older.key, 'adult', { body: { template: name } })
    expect(verification.claims).toEqual({ family_name: expect.any(String) })
    const named = (await list(older.key)).filter(template => template.key === name)
    expect(named.map(({ title, builtin }) => [title, builtin])).toEqual([['Ours', false]])
    const till = await pair(app, older.key, { allowed_templates: [name] })
    expect((await list(till.access_token)).map(({ title }) => title)).toEqual(['Ours'])
    const { title, query } = { title: 'Still ours', query: { credentials: [PID] } as DcqlQuery }
    await saveTemplate(app.deps, { tenantId: older.id, key: name, title, query }, 'test')
    expect(await removeTemplate(app.deps, { tenantId: older.id, key: name }, 'test')).toBe(true)
    const { body } = await app.call<Verification>('POST', '/v1/verifications', { key: older.key, body: { template: name } })
    expect(await askedFormats(body.id)).toEqual(['dc+sd-jwt'])
  })

  test('a registration certificate of a template goes with its aliases, unless one is assigned to the alias', async () => {
    const shop = await startWithTenant()
    const register = await newRegistrar(shop.app)
    const add = async (said: object, templates: string[]) => {
      shop.app.clock.advance(1)
      const options = { text: await register({ credentials: AGE_OF_PIDS, ...said }), owner: null, templates }
      return (await addRegistration(shop.app.deps, options, 'test')).row.jwt
    }
    const sent = async (body: object) => {
      const { id } = await createVerification(shop.app, shop.key, body)
      const { verifier_info } = decodeJwt((await shop.app.call('GET', `/wallet/request/${id}`)).text)
      return (verifier_info as [{ data: string }])[0].data
    }
    const named = await add({ intended_use_id: 'whole' }, ['identity_basic'])
    await add({ intended_use_id: 'newer' }, [])
    for (const name of ['identity_basic', 'identity_basic_mdoc', 'identity_basic_sd_jwt'])
      expect(await sent({ template: name })).toBe(named)
    expect(await sent({ template: 'identity_basic', formats: ['mso_mdoc'] })).toBe(named)
    const ofAlias = await add({ intended_use_id: 'alias' }, ['identity_basic_mdoc'])
    expect(await sent({ template: 'identity_basic_mdoc' })).toBe(ofAlias)
    expect(await sent({ template: 'identity_basic' })).toBe(named)
  })
})
