import { describe, expect, test } from 'bun:test'
import { type DcqlQuery, findDcqlProblem } from '../../src/openid4vp/dcql/dcql.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { effectiveRules, findRulesProblem } from '../../src/templates/rules.ts'

const sdJwt = (...paths: (string | number | null)[][]): DcqlQuery => ({
  credentials: [
    { id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: paths.map(path => ({ path })) },
  ],
})
const mdoc = (...elements: string[]): DcqlQuery => ({
  credentials: [
    {
      id: 'mdl',
      format: 'mso_mdoc',
      meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
      claims: elements.map(element => ({ path: ['org.iso.18013.5.1', element] })),
    },
  ],
})
const PERSON = sdJwt(
  ['age_equal_or_over', '18'],
  ['birthdate'],
  ['nationalities', null],
  ['address', 'country'],
  ['place_of_birth'],
)

describe('rules that are accepted', () => {
  test.each<[string, DcqlQuery, unknown]>([
    ['none at all', PERSON, undefined],
    ['null, the default', PERSON, null],
    ['an empty list', PERSON, []],
    [
      'one of each kind',
      PERSON,
      [
        { claim: 'age_over_18', is: true },
        { claim: 'nationalities', one_of: ['DE', 1, true] },
        { claim: 'birthdate', age_at_least: 21 },
      ],
    ],
    ['a claim that is asked for inside an object', PERSON, [{ claim: 'address.country', one_of: ['DE'] }]],
    ['a claim inside an object that is asked for whole', PERSON, [{ claim: 'place_of_birth.country', one_of: ['DE'] }]],
    ['an age of all ages', sdJwt(['age_equal_or_over']), [{ claim: 'age_over_18', is: true }]],
    ['an element of an mdoc by its merged name', mdoc('birth_date'), [{ claim: 'birthdate', age_at_least: 18 }]],
    ['as many as there may be', PERSON, Array(50).fill({ claim: 'age_over_18', is: true })],
  ])('%s', (_, query, rules) => {
    expect(findDcqlProblem(query)).toBeUndefined()
    expect(findRulesProblem(rules, query)).toBeUndefined()
  })

  test('the default of every built-in template', () => {
    for (const { query } of BUILTIN_TEMPLATES.values()) expect(findRulesProblem(null, query)).toBeUndefined()
  })
})

describe('rules that are refused, with their place and the reason', () => {
  const KINDS = /^A rule is one of \{"claim":"age_over_18","is":true\}, /
  test.each<[string, unknown, string, RegExp]>([
    ['an object in place of the list', { claim: 'age_over_18', is: true }, '', /must be an array of up to 50 rules/],
    ['a text in place of the list', 'none', '', /must be an array/],
    ['too many', Array(51).fill({ claim: 'age_over_18', is: true }), '', /more than 50 rules/],
    ['a rule that is no object', [true], '[0]', KINDS],
    ['a rule that is null', [null], '[0]', KINDS],
    ['a rule without a condition', [{ claim: 'age_over_18' }], '[0]', KINDS],
    ['a rule with two conditions', [{ claim: 'birthdate', is: true, age_at_least: 18 }], '[0]', KINDS],
    ['an unknown member', [{ claim: 'age_over_18', is: true, not: 1 }], '[0]', /^Write it like .*; not: unexpected property\.$/],
    ['a text for a boolean', [{ claim: 'age_over_18', is: 'true' }], '[0]', /; is: expected boolean\.$/],
    ['a claim without a name', [{ claim: '', is: true }], '[0]', /; claim: expected a string of 1 to 256 characters\.$/],
    ['a claim with a name that is too long', [{ claim: 'x'.repeat(257), is: true }], '[0]', /1 to 256 characters/],
    ['no values', [{ claim: 'nationalities', one_of: [] }], '[0]', /; one_of: .*1\.$/],
    ['more values than there may be', [{ claim: 'nationalities', one_of: Array(101).fill('DE') }], '[0]', /; one_of: .*100\.$/],
    ['a value that is null', [{ claim: 'nationalities', one_of: [null] }], '[0]', /; one_of\.0: /],
    ['a value that is too long', [{ claim: 'nationalities', one_of: ['x'.repeat(257)] }], '[0]', /; one_of\.0: /],
    ['an age by another claim', [{ claim: 'age_over_18', age_at_least: 18 }], '[0]', /; claim: expected 'birthdate'\.$/],
    ['an age of nothing', [{ claim: 'birthdate', age_at_least: 0 }], '[0]', /; age_at_least: /],
    ['an age of 121', [{ claim: 'birthdate', age_at_least: 121 }], '[0]', /; age_at_least: /],
    ['an age that is no whole number', [{ claim: 'birthdate', age_at_least: 17.5 }], '[0]', /; age_at_least: /],
    [
      'a claim that is not asked for',
      [
        { claim: 'age_over_18', is: true },
        { claim: 'level', is: true },
      ],
      '[1].claim',
      /never delivers "level"/,
    ],
    ['an object that is never whole', [{ claim: 'address', is: true }], '[0].claim', /a rule can be on age_over_18, birthdate, /],
    ['the name of an element', [{ claim: 'age_equal_or_over.18', is: true }], '[0].claim', /never delivers/],
    ['an element inside a list', [{ claim: 'nationalities.0', is: true }], '[0].claim', /never delivers/],
  ])('%s', (_, rules, path, reason) => {
    expect(findRulesProblem(rules, PERSON)).toEqual({ path, reason: expect.stringMatching(reason) })
  })

  test('claims of a query that takes several credentials, which are never merged', () => {
    const [pid] = sdJwt(['age_equal_or_over', '18']).credentials
    const query: DcqlQuery = { credentials: [{ ...pid!, multiple: true }] }
    expect(findRulesProblem(null, query)).toEqual({ path: '', reason: expect.stringMatching(/give rules, or \[\] for none\.$/) })
    expect(findRulesProblem([{ claim: 'age_over_18', is: true }], query)?.path).toBe('[0].claim')
    expect(findRulesProblem([], query)).toBeUndefined()
  })

  test('claims inside the elements of a list', () => {
    const problem = findRulesProblem([{ claim: 'degrees.type', one_of: ['MD'] }], sdJwt(['degrees', null, 'type']))
    expect(problem).toEqual({ path: '[0].claim', reason: expect.stringMatching(/no claim that a rule can be on/) })
  })

  test('a query that asks for more ages than there may be rules', () => {
    const query = sdJwt(...Array.from({ length: 51 }, (_, age) => ['age_equal_or_over', String(age)]))
    expect(findRulesProblem(null, query)?.reason).toMatch(/asks for more than 50 ages/)
  })
})

test('the default rules are on every age that is asked for, once, under its merged name', () => {
  const [a] = sdJwt(['age_equal_or_over', '18'], ['age_over_21'], ['family_name']).credentials
  const [b] = mdoc('age_over_18', 'age_in_years').credentials
  expect(effectiveRules({ credentials: [a!, b!] }, null)).toEqual([
    { claim: 'age_over_18', is: true },
    { claim: 'age_over_21', is: true },
  ])
})
