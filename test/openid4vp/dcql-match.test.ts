import { describe, expect, test } from 'bun:test'
import type { ReadCredential } from '../../src/openid4vp/credential.ts'
import type { ClaimPath, CredentialQuery, DcqlQuery } from '../../src/openid4vp/dcql.ts'
import { answeringIds, checkAgainstQuery, requestedClaims, selectPath, withoutFormats } from '../../src/openid4vp/dcql-match.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { readVpToken, UnreadableResponse } from '../../src/openid4vp/response.ts'
import { vectors } from '../helpers/vectors.ts'

describe('vectors: dcql-path.json', () => {
  for (const { id, title, input, expect: expected } of vectors<{ credential: unknown; path: ClaimPath }>('dcql-path.json')) {
    test(`${id}: ${title}`, () => {
      expect(selectPath(input.credential, input.path, 'exact')).toEqual(
        expected.outcome === 'value' ? (expected.selected as unknown[]) : undefined,
      )
    })
  }
})

describe('vectors: dcql-response.json', () => {
  type Input = {
    dcql_query: DcqlQuery
    vp_token: unknown
    credential_query: CredentialQuery
    processed_payload: Record<string, unknown>
  }
  for (const { id, title, kind, input, expect: expected } of vectors<Input>('dcql-response.json')) {
    if (kind === 'dcql.response') {
      test(`${id}: ${title}`, () => {
        expect(isSatisfied(input.dcql_query, input.vp_token)).toBe(expected.outcome === 'accept')
      })
    } else {
      // Over-disclosure is not refused: unrequested claims are dropped.
      test(`${id}: ${title}`, () => {
        const credential = read(input.processed_payload, String(input.processed_payload.vct))
        expect(answers(input.credential_query, credential)).toBe(expected.outcome !== 'reject')
      })
    }
  }
})

function isSatisfied(query: DcqlQuery, vpToken: unknown): boolean {
  if (id(vpToken).some(each => !query.credentials.some(({ id }) => id === each))) {
    expect(() => readVpToken(query, vpToken)).toThrow(UnreadableResponse)
    return false
  }
  const token = readVpToken(query, vpToken)
  if (token.kind !== 'presentations') return false
  return answeringIds(query, new Set(token.presentations.map(({ query: { id } }) => id))) !== undefined
}

const id = (vpToken: unknown) => Object.keys(vpToken as object)

const read = (claims: Record<string, unknown>, type: string, format: ReadCredential['format'] = 'dc+sd-jwt'): ReadCredential => ({
  format,
  type,
  claims,
  signed: '',
  chain: [],
  status: undefined,
})

function answers(query: CredentialQuery, credential: ReadCredential): boolean {
  const findings = new Findings(() => 0)
  checkAgainstQuery(findings, query, credential, [])
  return findings.holds('query')
}

const pid = (claims: ClaimPath[]): CredentialQuery => ({
  id: 'pid',
  format: 'dc+sd-jwt',
  meta: { vct_values: ['urn:eudi:pid:1'] },
  claims: claims.map(path => ({ path })),
})

const mdl = (elements: string[]): CredentialQuery => ({
  id: 'mdl',
  format: 'mso_mdoc',
  meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
  claims: elements.map(element => ({ path: ['org.iso.18013.5.1', element] })),
})

describe('a requested age', () => {
  const licence = (ages: Record<string, unknown>) => read({ 'org.iso.18013.5.1': ages }, 'org.iso.18013.5.1.mDL', 'mso_mdoc')

  test('a requested age is answered by a higher one only if that is true', () => {
    expect(answers(mdl(['age_over_18']), licence({ age_over_21: true }))).toBe(true)
    expect(answers(mdl(['age_over_18']), licence({ age_over_16: true }))).toBe(false)
    expect(answers(mdl(['age_over_18']), licence({ age_over_21: false }))).toBe(false)
    expect(answers(mdl(['age_over_18']), licence({ age_over_21: 'true' }))).toBe(false)
    expect(answers(mdl(['age_over_18']), licence({ age_over_18: false, age_over_21: true }))).toBe(true)
    expect(answers(pid([['age_equal_or_over', '18']]), read({ age_equal_or_over: { 21: true } }, 'urn:eudi:pid:1'))).toBe(true)
    expect(answers(pid([['age_equal_or_over', '18']]), read({ age_equal_or_over: {} }, 'urn:eudi:pid:1'))).toBe(false)
  })

  test('the nearest higher age is returned under its own name', () => {
    const claims = { 'org.iso.18013.5.1': { age_over_65: true, age_over_21: true, family_name: 'x' } }
    expect(requestedClaims(mdl(['age_over_18']), claims)).toEqual({ 'org.iso.18013.5.1': { age_over_21: true } })
  })
})

test('a credential of another type or format does not answer the query', () => {
  expect(answers(pid([]), read({}, 'urn:eudi:pid:2'))).toBe(false)
  expect(answers(pid([]), read({}, 'urn:eudi:pid:1', 'mso_mdoc'))).toBe(false)
  expect(answers(pid([]), read({}, 'urn:eudi:pid:1'))).toBe(true)
})

test('only requested claims are returned', () => {
  const claims = {
    family_name: 'Doe',
    address: { locality: 'Köln', street_address: 'x', country: 'DE' },
    nationalities: ['DE', 'FR'],
    degrees: [
      { type: 'a', university: 'u' },
      { type: 'b', university: 'v' },
    ],
    secret: 1,
  }
  const paths: ClaimPath[] = [
    ['family_name'],
    ['address', 'locality'],
    ['address', 'country'],
    ['nationalities', null],
    ['degrees', null, 'type'],
    ['absent'],
  ]
  expect(requestedClaims(pid(paths), claims)).toEqual({
    family_name: 'Doe',
    address: { locality: 'Köln', country: 'DE' },
    nationalities: ['DE', 'FR'],
    degrees: [{ type: 'a' }, { type: 'b' }],
  })
  expect(requestedClaims({ ...pid([]), claims: undefined }, claims)).toEqual({})
})

test('a number in a path matches any element that fits, because undisclosed elements are removed', () => {
  const claims = { list: ['plain', { b: 'yes' }, { c: 1 }], none: ['plain'] }
  expect(selectPath(claims, ['list', 0, 'b'], 'any')).toEqual(['yes'])
  expect(selectPath(claims, ['none', 0, 'b'], 'any')).toBeUndefined()
  expect(selectPath(claims, ['list', null, 'b'], 'any')).toBeUndefined()
  expect(selectPath(claims, ['list', 0, 'b'], 'exact')).toBeUndefined()
  expect(answers(pid([['list', 0, 'b']]), read(claims, 'urn:eudi:pid:1'))).toBe(true)
  expect(requestedClaims(pid([['list', 0, 'b']]), claims)).toEqual({ list: [{ b: 'yes' }, {}] })
})

test('a requested value must match in type and value', () => {
  const query: CredentialQuery = { ...pid([]), claims: [{ path: ['n'], values: [1, 'x', true] }] }
  const given = (n: unknown) => answers(query, read({ n }, 'urn:eudi:pid:1'))
  expect([1, 'x', true].map(given)).toEqual([true, true, true])
  expect(['1', 'X', 'true', 0, null, { 0: 1 }].map(given)).toEqual([false, false, false, false, false, false])
})

describe('a query without unsupported formats', () => {
  const both: DcqlQuery = {
    credentials: [pid([]), mdl([])],
    credential_sets: [{ options: [['pid'], ['mdl']] }, { required: false, options: [['pid']] }],
  }

  test('a query loses options in unsupported formats, and sets without options', () => {
    expect(withoutFormats(both, new Set(['mso_mdoc']))).toEqual({
      credentials: [mdl([])],
      credential_sets: [{ options: [['mdl']] }],
    })
    expect(withoutFormats(both, new Set(['mso_mdoc', 'dc+sd-jwt']))).toEqual(both)
  })

  test('a query is unchanged if nothing would be left', () => {
    const optional = { ...both, credential_sets: [{ required: false, options: [['pid']] }] }
    expect(withoutFormats(optional, new Set(['mso_mdoc']))).toBe(optional)
    expect(withoutFormats(both, new Set(['ldp_vc']))).toBe(both)
    expect(withoutFormats({ credentials: both.credentials }, new Set(['mso_mdoc']))).toEqual({ credentials: both.credentials })
  })
})
