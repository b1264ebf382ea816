// What an answer may cost: a shop chooses the size of a query and a wallet that of an answer, and nobody else waits for their product.
import { describe, expect, test } from 'bun:test'
import { newPrivateJwk, publicJwk, signJwt } from '../../src/sandbox/es256.ts'
import type { HostedVerification, Verification } from '../../src/verifications/schema.ts'
import { type ErrorBody, NOON, startWithTenant } from '../helpers/app.ts'
import { listOrigin, presentThrough, tell } from '../helpers/dc.ts'
import { encryptedTo, openSession, postTo, presentBy, readOf, verdictOf } from '../helpers/exchange.ts'
import {
  alwaysShown,
  digestOf,
  forgeMdoc,
  forgeSdJwt,
  forgeSigner,
  holderWith,
  MDL_NAMESPACE,
  type SdJwtWish,
  trust,
} from '../helpers/forger.ts'
import { mdocQuery, sdJwtQuery } from '../helpers/queries.ts'

const { app, key, id: tenantId } = await startWithTenant()
const party = { app, key }
const signer = await forgeSigner()
await trust(app, signer)
await listOrigin(app, tenantId)

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** The query of the issue: each claim has to look at every element of the list. */
const claims = numbers(100).map(i => ({
  id: `c${i}`,
  path: ['a', i],
  values: numbers(100).map(v => (i === 99 ? 7 : v === 99 ? 9 : 100 + v)),
}))
const DEAR = {
  query: { credentials: [{ ...sdJwtQuery('pid', []), claims, claim_sets: numbers(20).map(() => claims.map(({ id }) => id)) }] },
}
const zeros = (count: number) => [...Array<number>(count).fill(0), 9]

const detailsOf = ({ credentials = [] }: { credentials?: { findings: { check: string; detail?: string }[] }[] }) =>
  credentials.flatMap(({ findings }) => findings.map(({ check, detail }) => [check, detail]))

/** Presents a PID as it is forged, whatever was asked for. */
async function show(body: object, wish: SdJwtWish, { by = signer, isOfSession = true } = {}): Promise<Verification> {
  const session = await openSession(party, body)
  const device = await newPrivateJwk()
  const { sdJwt, alsoShown = [] } = await forgeSdJwt(by, publicJwk(device), { claims: {}, ...wish })
  const shown = sdJwt + alsoShown.map(text => `${text}~`).join('')
  const { clientId: aud, nonce, state } = session.request
  const proof = { aud, nonce: isOfSession ? nonce : 'other', iat: NOON / 1000, sd_hash: digestOf(shown) }
  const presentation = shown + (await signJwt(device, { typ: 'kb+jwt' }, proof))
  const answered = await postTo(session, await encryptedTo(session, { state, vp_token: { pid: [presentation] } }))
  expect(answered.status).toBe(200)
  return await readOf(session)
}

const LIMIT = [
  'query',
  'Comparing the answer with the query takes more than 200,000 steps. Ask for fewer claims, and for fewer with a number or null in their path.',
]
const TOO_MANY = 'it has more than 10,000 elements, names and values.'

/** The elements, names and values beside the list itself. */
const AROUND_THE_LIST = 40

describe('an SD-JWT with a long list', () => {
  test('an answer whose comparison takes more than 200,000 steps fails as query_not_satisfied, and the finding names the limit', async () => {
    const verification = await show(DEAR, { payload: { a: zeros(9800) } })
    expect(verdictOf(verification)).toMatchObject({ outcome: 'query_not_satisfied', trusted: [true], failed: ['query'] })
    expect(detailsOf(verification)).toContainEqual(LIMIT)
    expect(verification.credentials?.[0]?.claims).toEqual({})
  })

  test('a list of 1,900 elements is compared with the same query, and its claims are shown', async () => {
    const query = {
      credentials: [{ ...sdJwtQuery('pid', []), claims: claims.slice(0, 99).map(claim => ({ ...claim, values: [9] })) }],
    }
    const verification = await show({ query }, { payload: { a: zeros(1900) } })
    expect(verification.status).toBe('completed')
    expect(verification.claims).toEqual({ a: zeros(1900) })
  })

  test.each([
    ['in the signed part', { payload: { a: zeros(10_000) } }],
    [
      'in disclosures together',
      () => {
        const disclosures = numbers(11).map(i => alwaysShown([`s${i}`, `n${i}`, zeros(1000)]))
        return { disclosures, digests: disclosures.map(digestOf) }
      },
    ],
  ])('more than 10,000 elements %s are presentation_malformed, and the finding names the limit', async (_, wish) => {
    const verification = await show(
      { query: { credentials: [sdJwtQuery('pid', [['vct']])] } },
      typeof wish === 'function' ? wish() : wish,
    )
    expect(verdictOf(verification).outcome).toBe('presentation_malformed')
    expect(detailsOf(verification)).toContainEqual(['format', `The credential cannot be read: ${TOO_MANY}`])
  })

  test('a list of just under 10,000 elements is read', async () => {
    const verification = await show(
      { query: { credentials: [sdJwtQuery('pid', [['vct']])] } },
      { payload: { a: zeros(10_000 - AROUND_THE_LIST) } },
    )
    expect(verification.status).toBe('completed')
  })
})

describe('a presentation that is not proven', () => {
  test('a presentation of an unknown issuer is not compared with the query, however it answers it', async () => {
    const verification = await show(DEAR, { payload: { a: zeros(9800) } }, { by: await forgeSigner() })
    expect(verdictOf(verification)).toMatchObject({ outcome: 'issuer_untrusted', failed: ['issuer_chain'] })
    expect(verification.credentials?.[0]?.claims).toEqual({})
  })

  test('a presentation without a valid proof of possession is not compared with the query', async () => {
    const verification = await show(DEAR, { payload: { a: [1] } }, { isOfSession: false })
    expect(verdictOf(verification)).toMatchObject({ outcome: 'holder_binding_invalid', failed: ['holder_binding'] })
  })

  test('an expired presentation is compared with the query as well', async () => {
    const verification = await show(DEAR, { payload: { a: [1], exp: 1 } })
    expect(verdictOf(verification)).toMatchObject({ outcome: 'credential_expired', failed: ['validity', 'query'] })
  })
})

describe('a licence with many elements', () => {
  const many = (count: number, value: (index: number) => unknown = () => true) =>
    holderWith(async deviceKey => [
      await forgeMdoc(signer, deviceKey, {
        elements: [
          [MDL_NAMESPACE, 'issuing_country', 'UT'] as const,
          ...numbers(count).map(i => [MDL_NAMESPACE, `age_over_${i}`, value(i)] as const),
        ],
      }),
    ])
  const asked = (queries: number, elements: number, more: object = {}) => ({
    query: {
      credentials: numbers(queries).map(q =>
        mdocQuery(
          `mdl${q}`,
          numbers(elements).map(i => [MDL_NAMESPACE, `age_over_${i}`]),
          more,
        ),
      ),
    },
  })

  /** The wallet sends the licence once for each query, and each of them answers every query. */
  async function throughBrowser(queries: number, elements: number): Promise<Verification> {
    const body = asked(queries, elements, { multiple: true })
    const { body: created } = await app.call<Verification>('POST', '/v1/verifications', { key, body })
    await presentThrough(app, created.id, await many(60), { protocol: 'org-iso-mdoc' })
    return (await app.call<Verification>('GET', `/v1/verifications/${created.id}`, { key })).body
  }

  test('one licence that answers four queries of 30 elements through the browser has a result for each', async () => {
    const { status, credentials = [] } = await throughBrowser(4, 30)
    expect(status).toBe('completed')
    expect(new Set(credentials.map(({ claims }) => Object.keys(claims[MDL_NAMESPACE] as object).length))).toEqual(new Set([30]))
  })

  test('the steps of an answer count over all its documents and queries, through the browser as well', async () => {
    const verification = await throughBrowser(20, 50)
    expect(verdictOf(verification).outcome).toBe('query_not_satisfied')
    expect(detailsOf(verification)).toContainEqual(LIMIT)
  })

  test('elements with more than 10,000 names and values are presentation_malformed in a form', async () => {
    const holder = await many(10, () => Array(1100).fill(0))
    const { verification } = await presentBy(party, holder, { body: asked(1, 10) })
    expect(verdictOf(verification).outcome).toBe('presentation_malformed')
    expect(detailsOf(verification)).toContainEqual(['format', `The mdoc cannot be read: ${TOO_MANY}`])
  })

  test('elements with more than 10,000 names and values are presentation_malformed through the browser', async () => {
    const holder = await many(10, () => Array(1100).fill(0))
    const { body: created } = await app.call<{ id: string }>('POST', '/v1/verifications', { key, body: asked(1, 10) })
    const told = await presentThrough(app, created.id, holder, { protocol: 'org-iso-mdoc' })
    expect(told.body).toMatchObject({ status: 'failed' })
    const { body } = await app.call<{ error: { code: string } }>('GET', `/v1/verifications/${created.id}`, { key })
    expect(body.error.code).toBe('presentation_malformed')
  })
})

test("a browser's answer with more than 1,000 values beside the response is refused before it is read", async () => {
  const { body: created } = await app.call<{ id: string }>('POST', '/v1/verifications', {
    key,
    body: { template: 'age_over_18' },
  })
  const { status, body } = await tell(app, created.id, {
    protocol: 'org-iso-mdoc',
    data: { response: '', more: Array(1001).fill([]) },
  })
  expect([status, body.error?.message]).toEqual([400, 'body: more than 1000 values'])
})

test('a query with 10,001 values is refused at creation, and the refusal names both numbers', async () => {
  const values = (count: number) => numbers(count)
  const of = (last: number) => ({
    credentials: numbers(2).map(q => ({
      ...sdJwtQuery(`q${q}`, []),
      claims: numbers(50 + q).map(i => ({ path: [`c${i}`], values: values(i === 50 ? last : 100) })),
    })),
  })
  const create = (last: number) => app.call<ErrorBody>('POST', '/v1/verifications', { key, body: { query: of(last) } })
  const refused = await create(1)
  expect(refused.status).toBe(400)
  expect(refused.body.error).toMatchObject({
    code: 'invalid_request',
    message: 'query: A query may have 10000 values in all, and this one has 10001; leave some out.',
  })
})

describe('the hosted page of a query with hundreds of combinations', () => {
  const letters = [...'abcdefghijklmnopqrst']
  const credentials = letters.map(id => ({
    ...sdJwtQuery(
      id,
      numbers(60).map(i => [`${id}${i}`]),
    ),
    meta: { vct_values: [`urn:${id}`] },
  }))
  /** No two options have the same claims. */
  const options = (set: number) =>
    numbers(50).map(i => letters.filter((_, at) => ((i + 1) * (set + 3)) & (1 << (at % 10)) || at === set))
  const query = { credentials, credential_sets: numbers(10).map(set => ({ options: options(set) })) }

  test('the data of the page stays as small as a large query, and says how many combinations are not listed', async () => {
    const { created } = await openSession(party, { query })
    const { body, text } = await app.call<HostedVerification>('GET', `/v/${created.id}/data`)
    expect(text.length).toBeLessThan(150_000)
    const [first, ...others] = body.shares
    expect(first!.alternatives.length).toBeGreaterThan(1)
    expect(others.at(-1)!.more!.count).toBeGreaterThan(10)
    const documents = body.shares.flatMap(({ alternatives, more }) => [
      ...alternatives.flatMap(each => each.documents),
      ...(more?.documents ?? []),
    ])
    expect(new Set(documents).size).toBe(letters.length)
  })
})
