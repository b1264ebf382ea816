// A purpose that nobody gave is that of the built-in template, in a language that the holder reads.
import { afterAll, describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { exportAudit } from '../../src/audit/export.ts'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import type { HostedVerification, Verification } from '../../src/verifications/schema.ts'
import { LANGUAGES, preferredLanguage } from '../../src/words/languages.ts'
import { purposeOf } from '../../src/words/purposes.ts'
import { cleanUp, createVerification, startWithTenant } from '../helpers/app.ts'
import { listOrigin, ORIGIN } from '../helpers/dc.ts'

afterAll(cleanUp)

const { app, key, id: tenantId } = await startWithTenant()
await listOrigin(app, tenantId)
const PURPOSES = purposeOf('age_over_18')
const accepting = (language: string | undefined): Record<string, string> =>
  language === undefined ? {} : { 'accept-language': language }
const purposesIn = ({ credential_sets }: DcqlQuery) => [...new Set(credential_sets?.map(({ purpose }) => purpose))]

/** What a wallet reads that fetches the request of a link. */
async function toldTo({ request_uri = '' }: Pick<Verification, 'request_uri'>, language?: string, form?: object) {
  const { pathname, search } = new URL(request_uri)
  const { text } = await app.call(form ? 'POST' : 'GET', pathname + search, {
    headers: { ...accepting(language), ...(form && { 'content-type': 'application/x-www-form-urlencoded' }) },
    ...(form && { raw: new URLSearchParams() }),
  })
  return purposesIn(decodeJwt(text).dcql_query as DcqlQuery)
}

/** The links of the page, for a browser in that language. */
async function pageIn(id: string, language: string | undefined) {
  const { body } = await app.call<HostedVerification>('GET', `/v/${id}/data`, { headers: accepting(language) })
  const requestOf = (link = '') => new URL(link).searchParams.get('request_uri') ?? ''
  return { ...body, links: [body.wallet_uri, body.qr_uri, ...(body.further_uris ?? [])].map(requestOf) }
}

test.each([
  ['nothing', null, undefined],
  ['a language of ours', 'fr', 'fr'],
  ['a region of one', 'pl-PL', 'pl'],
  ['capitals', 'DE-at', 'de'],
  ['the first of equals', 'it, de', 'it'],
  ['the heaviest', 'de;q=0.5, nl;q=0.8, sv', 'nl'],
  ['spaces around a weight', 'de ; q=0.2 , es ; q=0.9', 'es'],
  ['a language that is not wanted', 'fr;q=0, sv', undefined],
  ['any language', '*', undefined],
  ['a language of nobody here', 'sv-SE, da', undefined],
  ['a name of every object', 'constructor', undefined],
  ['no header at all', 'de;;q', undefined],
  ['a language after 500 characters', `${'sv,'.repeat(200)}de`, undefined],
])('the language for %s (%p) is %p', (_, header, language) => {
  expect(preferredLanguage(header)).toBe(language as never)
})

describe('a purpose that nobody gave', () => {
  test("is said in the wallet's language, or else in that of the page with the link, or else in English", async () => {
    const session = await createVerification(app, key, { template: 'age_over_18' })
    expect(await toldTo(session)).toEqual([PURPOSES.en])
    for (const language of LANGUAGES) {
      expect(await toldTo(session, language)).toEqual([PURPOSES[language]])
      expect(await toldTo(session, language, {})).toEqual([PURPOSES[language]])
      const { links } = await pageIn(session.id, language)
      for (const request_uri of links) {
        expect(await toldTo({ request_uri })).toEqual([PURPOSES[language]])
        expect(await toldTo({ request_uri }, 'sv')).toEqual([PURPOSES[language]])
        expect(await toldTo({ request_uri }, 'nl')).toEqual([PURPOSES.nl])
      }
    }
    const unknown = `${session.request_uri}?language=tlh`
    expect(await toldTo({ request_uri: unknown })).toEqual([PURPOSES.en])
  })

  test('is in the link itself where that is the request', async () => {
    const { id, wallet_uri } = await createVerification(app, key, { template: 'eu_av_age_18' })
    const inLink = (link = '') => purposesIn(JSON.parse(new URL(link).searchParams.get('dcql_query') ?? '{}'))
    expect(inLink(wallet_uri)).toEqual([PURPOSES.en])
    expect(inLink((await pageIn(id, 'it')).wallet_uri)).toEqual([PURPOSES.it])
  })

  test("is said in the browser's language when a page asks its wallet", async () => {
    const { id } = await createVerification(app, key, { template: 'age_over_18' })
    const { body } = await app.call<{ requests: { protocol: string; data: { dcql_query: DcqlQuery } }[] }>(
      'POST',
      `/wallet/dc/request/${id}`,
      { body: {}, headers: { origin: ORIGIN, ...accepting('es-MX, en;q=0.5') } },
    )
    const asked = body.requests.find(({ protocol }) => protocol === 'openid4vp-v1-unsigned')
    expect(purposesIn(asked!.data.dcql_query)).toEqual([PURPOSES.es])
  })

  test('is in neither the session nor the audit chain', async () => {
    const session = await createVerification(app, key, { template: 'age_over_18' })
    await toldTo(session, 'fr')
    const { body } = await app.call<Verification>('GET', `/v1/verifications/${session.id}`, { key })
    expect(body.status).toBe('pending')
    expect(body).not.toHaveProperty('purpose')
    const chain = (await Array.fromAsync(exportAudit(app.deps))).join('\n')
    expect(chain).toContain(session.id)
    for (const purpose of Object.values(PURPOSES)) expect(chain).not.toContain(purpose)
  })
})

test('a purpose that somebody gave is said as it is, and a template of a shop without one says none', async () => {
  const given = await createVerification(app, key, { template: 'age_over_18', purpose: 'To sell you wine' })
  expect(await toldTo(given, 'fr')).toEqual(['To sell you wine'])
  const credentials = [
    {
      id: 'mdl',
      format: 'mso_mdoc' as const,
      meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
      claims: [{ path: ['org.iso.18013.5.1', 'family_name'] }],
    },
  ]
  await saveTemplate(app.deps, { tenantId, key: 'own', title: 'Own', query: { credentials } }, 'boss')
  expect(await toldTo(await createVerification(app, key, { template: 'own' }), 'fr')).toEqual([])
})
