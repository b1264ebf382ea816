import { describe, expect, test } from 'bun:test'
import type { ReadCredential } from '../../src/openid4vp/credential.ts'
import { answeringIds, withoutFormats } from '../../src/openid4vp/dcql/credential-sets.ts'
import type { ClaimPath, CredentialQuery, DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { checkAgainstQuery, Matching, selectPath } from '../../src/openid4vp/dcql/match.ts'
import { readVpToken, UnreadableResponse } from '../../src/openid4vp/exchange/response.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { vectors } from '../helpers/vectors.ts'

describe('vectors: dcql-path.json', () => {
  for (const { id, title, input, expect: expected } of vectors<{ credential: unknown; path: ClaimPath }>('dcql-path.json')) {
    test(`${id}: ${title}`, async () => {
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
      test(`${id}: ${title}`, async () => {
        expect(isSatisfied(input.dcql_query, input.vp_token)).toBe(expected.outcome === 'accept')
      })
    } else {
      // Over-disclosure is not refused: unrequested claims are dropped.
      test(`${id}: ${title}`, async () => {
        const credential = read(input.processed_payload, String(input.processed_payload.vct))
        expect(await answers(input.credential_query, credential)).toBe(expected.outcome !== 'reject')
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

async function match(query: CredentialQuery, credential: ReadCredential, matching = new Matching(async () => {})) {
  const findings = new Findings(() => 0)
  const claims = await checkAgainstQuery(findings, query, matching.of(credential), [])
  return { claims, holds: findings.holds('query'), detail: findings.all.find(({ check }) => check === 'query')?.detail }
}

const answers = async (query: CredentialQuery, credential: ReadCredential): Promise<boolean> =>
  (await match(query, credential)).holds

const requestedClaims = async (query: CredentialQuery, claims: Record<string, unknown>) =>
  (
    await match(
      query,
      read(claims, query.format === 'mso_mdoc' ? query.meta.doctype_value : query.meta.vct_values[0]!, query.format),
    )
  ).claims

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

  test('a requested age is answered by a higher one only if that is true', async () => {
    expect(await answers(mdl(['age_over_18']), licence({ age_over_21: true }))).toBe(true)
    expect(await answers(mdl(['age_over_18']), licence({ age_over_16: true }))).toBe(false)
    expect(await answers(mdl(['age_over_18']), licence({ age_over_21: false }))).toBe(false)
    expect(await answers(mdl(['age_over_18']), licence({ age_over_21: 'true' }))).toBe(false)
    expect(await answers(mdl(['age_over_18']), licence({ age_over_18: false, age_over_21: true }))).toBe(true)
    expect(await answers(pid([['age_equal_or_over', '18']]), read({ age_equal_or_over: { 21: true } }, 'urn:eudi:pid:1'))).toBe(
      true,
    )
    expect(await answers(pid([['age_equal_or_over', '18']]), read({ age_equal_or_over: {} }, 'urn:eudi:pid:1'))).toBe(false)
  })

  test('the nearest higher age is returned under its own name', async () => {
    const claims = { 'org.iso.18013.5.1': { age_over_65: true, age_over_21: true, family_name: 'x' } }
    expect(await requestedClaims(mdl(['age_over_18']), claims)).toEqual({ 'org.iso.18013.5.1': { age_over_21: true } })
  })
})

test('a credential of another type or format does not answer the query', async () => {
  expect(await answers(pid([]), read({}, 'urn:eudi:pid:2'))).toBe(false)
  expect(await answers(pid([]), read({}, 'urn:eudi:pid:1', 'mso_mdoc'))).toBe(false)
  expect(await answers(pid([]), read({}, 'urn:eudi:pid:1'))).toBe(true)
})

test('only requested claims are returned', async () => {
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
  expect(await requestedClaims(pid(paths), claims)).toEqual({
    family_name: 'Doe',
    address: { locality: 'Köln', country: 'DE' },
    nationalities: ['DE', 'FR'],
    degrees: [{ type: 'a' }, { type: 'b' }],
  })
  expect(await requestedClaims({ ...pid([]), claims: undefined }, claims)).toEqual({})
})

test('a number in a path matches any element that fits, because undisclosed elements are removed', async () => {
  const claims = { list: ['plain', { b: 'yes' }, { c: 1 }], none: ['plain'] }
  expect(selectPath(claims, ['list', 0, 'b'], 'any')).toEqual(['yes'])
  expect(selectPath(claims, ['none', 0, 'b'], 'any')).toBeUndefined()
  expect(selectPath(claims, ['list', null, 'b'], 'any')).toBeUndefined()
  expect(selectPath(claims, ['list', 0, 'b'], 'exact')).toBeUndefined()
  expect(await answers(pid([['list', 0, 'b']]), read(claims, 'urn:eudi:pid:1'))).toBe(true)
  expect(await requestedClaims(pid([['list', 0, 'b']]), claims)).toEqual({ list: [{ b: 'yes' }, {}] })
})

test('a requested value must match in type and value', async () => {
  const query: CredentialQuery = { ...pid([]), claims: [{ path: ['n'], values: [1, 'x', true] }] }
  const given = (n: unknown) => answers(query, read({ n }, 'urn:eudi:pid:1'))
  expect(await Promise.all([1, 'x', true].map(given))).toEqual([true, true, true])
  expect(await Promise.all(['1', 'X', 'true', 0, null, { 0: 1 }].map(given))).toEqual([false, false, false, false, false, false])
})

describe('a query without unsupported formats', () => {
  const both: DcqlQuery = {
    credentials: [pid([]), mdl([])],
    credential_sets: [{ options: [['pid'], ['mdl']] }, { required: false, options: [['pid']] }],
  }

  test('a query loses options in unsupported formats, and sets without options', async () => {
    expect(withoutFormats(both, new Set(['mso_mdoc']))).toEqual({
      credentials: [mdl([])],
      credential_sets: [{ options: [['mdl']] }],
    })
    expect(withoutFormats(both, new Set(['mso_mdoc', 'dc+sd-jwt']))).toEqual(both)
  })

  test('a query is unchanged if nothing would be left', async () => {
    const optional = { ...both, credential_sets: [{ required: false, options: [['pid']] }] }
    expect(withoutFormats(optional, new Set(['mso_mdoc']))).toBe(optional)
    expect(withoutFormats(both, new Set(['ldp_vc']))).toBe(both)
    expect(withoutFormats({ credentials: both.credentials }, new Set(['mso_mdoc']))).toEqual({ credentials: both.credentials })
  })
})

describe('the steps of an answer', () => {
  const ages = (count: number): ClaimPath[] => Array.from({ length: count }, (_, index) => ['a', `age_over_${index + 1}`])
  const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, true]))

  test('the names of an object are read once, however many missing ages are asked for', async () => {
    const credential = read({ a: { ...names(4900), age_over_999: true } }, 'urn:eudi:pid:1')
    const { holds, claims } = await match(pid(ages(100)), credential)
    expect([holds, claims]).toEqual([true, { a: { age_over_999: true } }])
  })

  test('claims are looked up once for all claim sets', async () => {
    const claims = Array.from({ length: 50 }, (_, index) => ({ id: `c${index}`, path: ['a', index], values: [1] }))
    const query = { ...pid([]), claims, claim_sets: Array.from({ length: 20 }, () => claims.map(({ id }) => id)) }
    const { detail } = await match(query, read({ a: Array(1900).fill(0) }, 'urn:eudi:pid:1'))
    expect(detail).toBe('No set of the claims that were asked for is complete.')
  })

  test('the texts that are returned count by their length', async () => {
    const query = pid([['a']])
    const matched = (chars: number) => match(query, read({ a: 'x'.repeat(chars) }, 'urn:eudi:pid:1'))
    expect((await matched(3_000_000)).holds).toBe(true)
    expect((await matched(3_300_000)).detail).toStartWith('Comparing the answer with the query takes more than 200,000 steps.')
  })

  test('once they are used up, nothing more of the answer matches', async () => {
    const matching = new Matching(async () => {})
    const small = read({ a: 1 }, 'urn:eudi:pid:1')
    expect((await match(pid([['a']]), small, matching)).holds).toBe(true)
    await match(pid([['a', null]]), read({ a: Array(250_000).fill(0) }, 'urn:eudi:pid:1'), matching)
    expect((await match(pid([['a']]), small, matching)).holds).toBe(false)
  })
})
