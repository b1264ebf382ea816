// The builder of templates: documents and claims to a query and back.
import { expect, test } from 'bun:test'
import { type DcqlQuery, findQueryProblem } from '../../src/openid4vp/dcql/dcql.ts'
import { buildQuery, type Choice, readChoice, STEPS_MAX, type Step } from '../../src/templates/build.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { claimsOf, DOCUMENTS, hasAges } from '../../src/templates/catalogue.ts'
import { ALIASES } from '../../src/templates/forms.ts'
import { findRulesProblem } from '../../src/templates/rules.ts'

const builtin = (key: string): DcqlQuery => BUILTIN_TEMPLATES.get(key)!.query
const step = (documents: Step['documents'], claims: string[], format: Step['format'] = null): Step => ({
  documents,
  claims,
  format,
})
const inOneStep = (documents: Step['documents'], claims: string[]): Choice => ({ steps: [step(documents, claims)] })

test.each([
  ['age_over_18', [step(['proof_of_age', 'pid', 'mdl', 'photo_id'], ['age_over_18'])]],
  ['eu_av_age_18', [step(['proof_of_age'], ['age_over_18'])]],
  ['identity_basic', [step(['pid', 'mdl'], ['family_name', 'given_name', 'birthdate'])]],
  ['may_drive', [step(['mdl'], ['driving_privileges', 'date_of_expiry', 'picture'])]],
  ['country', [step(['pid'], ['nationalities']), step(['mdl'], ['issuing_country'])]],
  [
    'age_over_18_or_birthdate',
    [step(['proof_of_age', 'pid', 'mdl'], ['age_over_18'], 'dc+sd-jwt'), step(['pid'], ['birthdate'])],
  ],
] as [string, Step[]][])('the query of %s is read as steps: first this document, else that', (key, steps) => {
  expect(readChoice(builtin(key))).toEqual({ steps })
})

test.each([...[...BUILTIN_TEMPLATES.values(), ...ALIASES.values()].map(({ key, query }) => [key, query] as const)])(
  'a query that the builder makes of %s asks in the same order for the same',
  (_, query) => {
    expect(withNumbers(buildQuery(readChoice(query)!).query!)).toEqual(withNumbers(query))
  },
)

/** Ids are names of the author's own. */
function withNumbers({ credentials, credential_sets }: DcqlQuery): object {
  const numbers = new Map(credentials.map(({ id }, index) => [id, String(index)]))
  return {
    credentials: credentials.map(each => ({ ...each, id: numbers.get(each.id) })),
    credential_sets: credential_sets?.map(set => ({ ...set, options: set.options.map(ids => ids.map(id => numbers.get(id))) })),
  }
}

test('documents that are offered in an order of their own stay in it', () => {
  const { credentials } = builtin('identity_basic')
  const [sd, pid, mdl] = credentials
  const query = { credentials, credential_sets: [{ options: [[mdl!.id], [sd!.id], [pid!.id]] }] }
  const choice = readChoice(query)!
  expect(choice.steps.map(({ documents }) => documents)).toEqual([['mdl'], ['pid']])
  expect(buildQuery(choice).query?.credentials).toEqual([mdl!, sd!, pid!])
})

test('a later step asks the same document under an id of its own', () => {
  const steps = [step(['pid'], ['age_over_18'], 'dc+sd-jwt'), step(['pid'], ['birthdate'], 'dc+sd-jwt')]
  const { query } = buildQuery({ steps })
  expect(query?.credentials.map(({ id }) => id)).toEqual(['pid_sd', 'pid_sd_2'])
  expect(findQueryProblem(query)).toBeUndefined()
})

test('a query of more steps than the builder has is no choice', () => {
  const claims = claimsOf('pid').slice(0, STEPS_MAX + 1)
  const steps = claims.map(claim => step(['pid'], [claim], 'dc+sd-jwt'))
  expect(readChoice(buildQuery({ steps }).query!)).toBeUndefined()
  expect(readChoice(buildQuery({ steps: steps.slice(1) }).query!)?.steps).toHaveLength(STEPS_MAX)
})

test.each([
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
      const { query } = buildQuery(inOneStep([document], claims))
      if (!query) continue
      built++
      expect(findQueryProblem(query)).toBeUndefined()
      expect(findRulesProblem(null, query)).toBeUndefined()
      expect(readChoice(query)).toEqual(inOneStep([document], claims))
    }
  }
  expect(built).toBeGreaterThan(100)
})

test('a document that lacks a chosen claim is left out by name, and without any there is no query', () => {
  const { query, leftOut } = buildQuery(inOneStep(['pid', 'mdl'], ['family_name', 'email']))
  expect(query?.credentials.map(({ id }) => id)).toEqual(['pid_sd', 'pid_mdoc'])
  expect(leftOut).toEqual([{ step: 0, document: 'mdl', claims: ['email'] }])
  const both = { steps: [step(['pid'], ['email']), step(['mdl'], ['email'])] }
  expect(buildQuery(both).leftOut).toEqual([{ step: 1, document: 'mdl', claims: ['email'] }])
  expect(buildQuery({ steps: [both.steps[1]!] }).query).toBeNull()
  expect(buildQuery(inOneStep([], ['email']))).toEqual({ query: null, leftOut: [] })
  expect(buildQuery(inOneStep(['pid'], []))).toEqual({ query: null, leftOut: [] })
})
