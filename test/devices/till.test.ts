// The data of the till's page.
import { expect, test } from 'bun:test'
import type { Till } from '../../src/devices/schema.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { startApp } from '../helpers/app.ts'
import { outcome, pair } from '../helpers/devices.ts'

const MEMBER = {
  credentials: [{ id: 'member', format: 'dc+sd-jwt' as const, meta: { vct_values: ['https://club.example/member'] } }],
}

test('/till/data returns the name, merchant and templates in order; a template that does not exist yet has no title', async () => {
  const app = await startApp()
  const { id, key } = await app.tenant({ name: 'Wine & Co' })
  const other = await app.tenant()
  await saveTemplate(app.deps, { tenantId: id, key: 'member', title: 'Club member', query: MEMBER }, 'test')
  const query = { credentials: [{ ...MEMBER.credentials[0]!, claims: [{ path: ['active'] }] }] }
  const rules = [{ claim: 'active', is: true }]
  await saveTemplate(app.deps, { tenantId: id, key: 'active', title: 'Active', query, rules }, 'test')
  await saveTemplate(app.deps, { tenantId: other.id, key: 'foreign', title: 'Of somebody else', query: MEMBER }, 'test')
  const till = await pair(app, key, { allowed_templates: ['member', 'active', 'age_over_18', 'of_tomorrow', 'foreign'] })
  const { status, body } = await app.call<Till>('GET', '/till/data', { key: till.access_token })
  expect([status, body]).toEqual([
    200,
    {
      name: 'Till 1',
      environment: 'test',
      tenant: 'Wine & Co',
      ways: ['qr', 'in_person', 'dc_api'],
      templates: [
        { key: 'member', title: { en: 'Club member', de: 'Club member' }, in_person: false, ruled: [] },
        { key: 'active', title: { en: 'Active', de: 'Active' }, in_person: false, ruled: ['active'] },
        {
          key: 'age_over_18',
          title: { en: 'Age 18 or over', de: 'Ab 18 Jahren' },
          in_person: true,
          ruled: ['age_over_18'],
          age_over: 18,
        },
        { key: 'of_tomorrow' },
        { key: 'foreign' },
      ],
      now: '2026-03-04T12:00:00.000Z',
    },
  ])
})

test('/till/data refuses API keys and callers without a token', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { access_token } = await pair(app, key)
  expect(outcome(await app.call('GET', '/till/data'))).toBe('401 invalid_api_key')
  expect(outcome(await app.call('GET', '/till/data', { key }))).toBe('403 insufficient_scope')
  app.clock.advance(3_600_000)
  expect(outcome(await app.call('GET', '/till/data', { key: access_token }))).toBe('401 api_key_expired')
})

test('/till/data is not in the API document', async () => {
  const app = await startApp()
  expect((await app.call('GET', '/openapi.json')).text).not.toContain('/till/data')
})
