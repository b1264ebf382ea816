import { afterAll, expect, test } from 'bun:test'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import type { Template } from '../../src/templates/schema.ts'
import { cleanUp, startWithTenant } from '../helpers/app.ts'
import { outcome, pair } from '../helpers/devices.ts'

afterAll(cleanUp)

const QUERY: DcqlQuery = {
  credentials: [
    {
      id: 'a',
      format: 'dc+sd-jwt',
      meta: { vct_values: ['urn:eudi:pid:1', 'urn:eudi:pid:de:1'] },
      claims: [{ path: ['age_equal_or_over', '18'] }, { path: ['nationalities', null] }],
    },
    {
      id: 'b',
      format: 'mso_mdoc',
      meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
      claims: [{ path: ['org.iso.18013.5.1', 'age_over_18'] }, { path: ['org.iso.18013.5.1', 'resident_country'] }],
    },
  ],
  credential_sets: [{ options: [['a'], ['b']] }],
}

const { app, ...tenant } = await startWithTenant()
const own = { tenantId: tenant.id, title: 'Own', query: QUERY }
await saveTemplate(app.deps, { ...own, key: 'by_default' }, 'test')
await saveTemplate(app.deps, { ...own, key: 'without', rules: [] }, 'test')
await saveTemplate(app.deps, { ...own, key: 'with', rules: [{ claim: 'nationalities', one_of: ['DE'] }] }, 'test')
await saveTemplate(app.deps, { ...own, tenantId: (await app.tenant()).id, key: 'foreign' }, 'test')

const list = async (key: string) => (await app.call<{ data: Template[] }>('GET', '/v1/templates', { key })).body.data

test('a key gets the built-in templates and its own, with documents, claims and the rules that hold', async () => {
  const data = await list(tenant.key)
  expect(data.map(({ key }) => key)).toEqual([...BUILTIN_TEMPLATES.keys(), 'by_default', 'with', 'without'])
  expect(data.at(-3)).toEqual({
    key: 'by_default',
    title: 'Own',
    builtin: false,
    formats: ['dc+sd-jwt', 'mso_mdoc'],
    documents: ['urn:eudi:pid:1', 'urn:eudi:pid:de:1', 'org.iso.18013.5.1.mDL'],
    claims: ['age_over_18', 'nationalities', 'address.country'],
    rules: [{ claim: 'age_over_18', is: true }],
  })
  expect(data.slice(-2).map(({ rules }) => rules)).toEqual([[{ claim: 'nationalities', one_of: ['DE'] }], []])
})

test('built-in templates show the rule that decides them: the age of age templates, none of others', async () => {
  const builtin = (await list(tenant.liveKey)).filter(template => template.builtin)
  const ages = [...BUILTIN_TEMPLATES.values()].map(({ ageOver }) =>
    ageOver === undefined ? [] : [{ claim: `age_over_${ageOver}`, is: true }],
  )
  expect(builtin.map(({ rules }) => rules)).toEqual(ages as never)
  expect(builtin[0]).toMatchObject({ key: 'age_over_16', title: 'Age 16 or over', claims: ['age_over_16'] })
})

test('a device gets those of its allowed templates that exist, and no other', async () => {
  const { access_token } = await pair(app, tenant.key, { allowed_templates: ['with', 'of_tomorrow', 'foreign', 'age_over_18'] })
  expect((await list(access_token)).map(({ key }) => key)).toEqual(['age_over_18', 'with'])
})

test('listing templates is 403 without the scope verifications:create, and 401 without a key', async () => {
  const reader = await app.key(tenant.id, { scopes: ['verifications:read'] })
  expect(outcome(await app.call('GET', '/v1/templates', { key: reader }))).toBe('403 insufficient_scope')
  expect(outcome(await app.call('GET', '/v1/templates'))).toBe('401 invalid_api_key')
})

test('listing templates is charged to the budget of the key, as other reads are', async () => {
  const { app: limited, key } = await startWithTenant({ rateLimitScale: 1 })
  const { headers } = await limited.call('GET', '/v1/templates', { key })
  expect(headers.get('ratelimit')).toMatch(/r=\d+/)
})
