// The builder of templates: documents and claims to a query and back.
import { expect, test } from 'bun:test'
import { type DcqlQuery, findQueryProblem } from '../../src/openid4vp/dcql/dcql.ts'
import { buildQuery, type Choice, readChoice } from '../../src/templates/build.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { claimsOf, DOCUMENTS, hasAges } from '../../src/templates/catalogue.ts'
import { findRulesProblem } from '../../src/templates/rules.ts'
import { words } from '../helpers/words.ts'

const builtin = (key: string): DcqlQuery => BUILTIN_TEMPLATES.get(key)!.query

test.each([
  ['age_over_18', { documents: ['proof_of_age', 'pid', 'mdl', 'photo_id'], claims: ['age_over_18'] }],
  ['eu_av_age_18', { documents: ['proof_of_age'], claims: ['age_over_18'] }],
  ['identity_basic', { documents: ['pid', 'mdl'], claims: ['family_name', 'given_name', 'birthdate'] }],
  ['may_drive', { documents: ['mdl'], claims: ['driving_privileges', 'date_of_expiry', 'picture'] }],
] as [string, Choice][])('the query of %s is read as a choice, which builds it again', (key, choice) => {
  expect(readChoice(builtin(key))).toEqual(choice)
  const again = buildQuery(choice).query!
  expect(again.credentials.map(({ meta, format }) => ({ meta, format }))).toEqual(
    builtin(key).credentials.map(({ meta, format }) => ({ meta, format })),
  )
})

test.each([
  ...words('age_over_18_or_birthdate country photo_id').map(key => [key, builtin(key)] as const),
  ['a claim with values', with_({ claims: [{ path: ['family_name'], values: ['Muster'] }] })],
  [
    'a claim that is kept',
    with_({
      format: 'mso_mdoc',
      meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
      claims: [{ path: ['org.iso.18013.5.1', 'sex'], intent_to_retain: true }],
    }),
  ],
  ['another document', with_({ meta: { vct_values: ['https://club.example/m'] } })],
  ['one national type only', with_({ meta: { vct_values: ['urn:eudi:pid:de:1'] } })],
  ['several of a kind', with_({ multiple: true })],
  ['two that are both required', { credentials: [...with_({}).credentials, { ...with_({}).credentials[0], id: 'b' }] }],
  ['a set that is optional', { ...with_({}), credential_sets: [{ options: [['a']], required: false }] }],
] as [string, DcqlQuery][])('a query with %s is no choice', (_, query) => {
  expect(findQueryProblem(query)).toBeUndefined()
  expect(readChoice(query)).toBeUndefined()
})

function with_(changed: object): DcqlQuery {
  const pid = {
    id: 'a',
    format: 'dc+sd-jwt',
    meta: { vct_values: ['urn:eudi:pid:1', 'urn:eudi:pid:de:1', 'urn:eudi:pid:it:1', 'urn:eudi:pid:nl:1'] },
    claims: [{ path: ['family_name'] }],
  }
  return { credentials: [{ ...pid, ...changed }] } as unknown as DcqlQuery
}

test('each claim of each document builds a valid query, alone and with an age, that is read as the same choice', () => {
  let built = 0
  for (const document of DOCUMENTS) {
    const ages = hasAges(document) ? ['age_over_18'] : []
    for (const claims of [ages, ...claimsOf(document).flatMap(claim => [[claim], [...ages, claim]])]) {
      const { query } = buildQuery({ documents: [document], claims })
      if (!query) continue
      built++
      expect(findQueryProblem(query)).toBeUndefined()
      expect(findRulesProblem(null, query)).toBeUndefined()
      expect(readChoice(query)).toEqual({ documents: [document], claims })
    }
  }
  expect(built).toBeGreaterThan(100)
})

test('a document that lacks a chosen claim is left out by name, and without any there is no query', () => {
  const { query, leftOut } = buildQuery({ documents: ['pid', 'mdl'], claims: ['family_name', 'email'] })
  expect(query?.credentials.map(({ id }) => id)).toEqual(['pid_sd', 'pid_mdoc'])
  expect(leftOut).toEqual([{ document: 'mdl', claims: ['email'] }])
  expect(buildQuery({ documents: ['mdl'], claims: ['email'] })).toEqual({
    query: null,
    leftOut: [{ document: 'mdl', claims: ['email'] }],
  })
  expect(buildQuery({ documents: [], claims: ['email'] })).toEqual({ query: null, leftOut: [] })
  expect(buildQuery({ documents: ['pid'], claims: [] })).toEqual({ query: null, leftOut: [] })
})
