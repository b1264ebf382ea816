// Title and purpose of a shop's own template, in its own language and in others.
import { afterAll, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import type { AuditRecord } from '../../src/dashboard/settings/audit/schema.ts'
import type { Template } from '../../src/dashboard/templates/schema.ts'
import type { Till } from '../../src/devices/schema.ts'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import type { HostedVerification, Verification } from '../../src/verifications/schema.ts'
import { findVerification } from '../../src/verifications/store.ts'
import { LANGUAGES } from '../../src/words/languages.ts'
import { cleanUp, createVerification } from '../helpers/app.ts'
import { outcome, startOwned } from '../helpers/dashboard.ts'
import { pair } from '../helpers/devices.ts'

afterAll(cleanUp)

const { app, boss, key, liveKey, id: tenant } = await startOwned()
const { query } = BUILTIN_TEMPLATES.get('age_over_16')!
const BEER = {
  title: 'Bier',
  purpose: 'Um Ihnen ein Bier zu verkaufen',
  query,
  translations: { en: { title: 'Beer' }, fr: { purpose: 'Pour vous vendre une bière' } },
}
const save = (name: string, changed: object = {}) =>
  boss.put<Template>(`/tenants/${tenant}/templates/${name}`, { ...BEER, ...changed })
await save('beer')

async function toldTo({ request_uri = '' }: Pick<Verification, 'request_uri'>, language?: string) {
  const { pathname, search } = new URL(request_uri)
  const headers = language === undefined ? undefined : { 'accept-language': language }
  const { text } = await app.call('GET', pathname + search, { headers })
  return (decodeJwt(text).dcql_query as DcqlQuery).credential_sets?.[0]?.purpose
}

const purposeOnPage = async ({ id }: Verification) => (await app.call<HostedVerification>('GET', `/v/${id}/data`)).body.purpose

test('a till shows the title in the language of its staff, and the API that of the shop', async () => {
  const till = await pair(app, key, { allowed_templates: ['beer'] })
  const { body } = await app.call<Till>('GET', '/till/data', { key: till.access_token })
  expect(body.templates[0]?.title).toEqual({ en: 'Beer', de: 'Bier' })
  const { body: list } = await app.call<{ data: Template[] }>('GET', '/v1/templates', { key })
  expect(list.data.find(each => each.key === 'beer')?.title).toBe('Bier')
  const { body: known } = await boss.get<{ data: Template[] }>(`/tenants/${tenant}/templates`)
  const beer = known.data.find(each => each.key === 'beer')
  expect(beer).toMatchObject({ title: 'Bier', purpose: BEER.purpose, translations: BEER.translations })
  expect(beer?.localized).toEqual({ title: { en: 'Beer', de: 'Bier' }, purpose: { en: BEER.purpose, de: BEER.purpose } })
})

test('page and wallet say the purpose in the language of the holder, or else in that of the shop', async () => {
  const session = await createVerification(app, key, { template: 'beer' })
  expect(session.purpose).toBe(BEER.purpose)
  const french = BEER.translations.fr.purpose
  expect(await purposeOnPage(session)).toEqual(
    Object.fromEntries(LANGUAGES.map(each => [each, each === 'fr' ? french : BEER.purpose])) as never,
  )
  expect(await toldTo(session, 'fr-CH')).toBe(french)
  for (const language of [undefined, 'en', 'de', 'sv']) expect(await toldTo(session, language)).toBe(BEER.purpose)
})

test('a session keeps the languages that its template had at its creation', async () => {
  await save('changing')
  const session = await createVerification(app, key, { template: 'changing' })
  await save('changing', { purpose: 'Etwas anderes', translations: { fr: { purpose: 'Autre chose' } } })
  expect(await toldTo(session, 'fr')).toBe(BEER.translations.fr.purpose)
  await save('changing', { translations: null })
  expect(await purposeOnPage(session)).toMatchObject({ fr: BEER.translations.fr.purpose })
  const later = await createVerification(app, key, { template: 'changing' })
  expect([await purposeOnPage(later), await toldTo(later, 'fr')]).toEqual([BEER.purpose, BEER.purpose])
})

test('a purpose of the request itself is said in every language', async () => {
  const session = await createVerification(app, key, { template: 'beer', purpose: 'Order 7' })
  expect([await purposeOnPage(session), await toldTo(session, 'fr')]).toEqual(['Order 7', 'Order 7'])
})

test('a translation without a purpose of the shop is not said', async () => {
  await save('silent', { purpose: null })
  const session = await createVerification(app, key, { template: 'silent' })
  expect([session.purpose, await purposeOnPage(session), await toldTo(session, 'fr')]).toEqual([undefined, undefined, undefined])
})

test('languages are no part of a version, need no fresh log-in and are named on the audit chain', async () => {
  await save('spirits')
  const first = await createVerification(app, liveKey, { template: 'spirits' })
  app.clock.advance(10 * 60_000)
  expect(await outcome(await save('spirits', { query: BUILTIN_TEMPLATES.get('age_over_18')!.query }))).toBe(
    '403 reauthentication_required',
  )
  expect(await outcome(await save('spirits', { translations: { pl: { purpose: 'Aby sprzedać Panu piwo' } } }))).toBe('200')
  const second = await createVerification(app, liveKey, { template: 'spirits' })
  const owner = { tenantId: tenant, environment: 'live' as const }
  const rows = await Promise.all([first, second].map(({ id }) => findVerification(app.deps.db, owner, id)))
  expect(rows[0]?.verification.templateVersion).toBe(rows[1]?.verification.templateVersion ?? '')
  const { body } = await boss.get<{ data: AuditRecord[] }>('/audit?limit=20')
  const saved = body.data.filter(({ action }) => action === 'template.saved')
  expect(saved[0]?.details).toMatchObject({ key: 'spirits', changed: ['translations'] })
})

test.each([
  ['a title of 101 characters', { de: { title: 'x'.repeat(101) } }],
  ['an empty purpose', { de: { purpose: '' } }],
  ['a purpose of 301 characters', { de: { purpose: 'x'.repeat(301) } }],
  ['a language that nobody here reads', { sv: { purpose: 'Öl' } }],
  ['another part', { de: { query: 'x' } }],
])('translations with %s are refused', async (_, translations) => {
  expect(await outcome(await save('long', { translations }))).toBe('400 invalid_request')
})

test('translations as long as they may be are saved', async () => {
  const translations = { de: { title: 'x'.repeat(100), purpose: 'y'.repeat(300) } }
  expect((await save('long', { translations })).body.translations).toEqual(translations)
})
