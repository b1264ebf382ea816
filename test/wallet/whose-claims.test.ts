// Several credentials in one answer: only claims of those that answer the query are passed on, and
// none proves an age for another.
import { afterAll, describe, expect, test } from 'bun:test'
import { type Holder, type VpToken, vpToken } from '../../src/sandbox/wallet/wallet.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, type ErrorBody, startApp } from '../helpers/app.ts'
import { authorityKey, isAuthority, signsCertificates } from '../helpers/certificates.ts'
import {
  encryptedTo,
  openSession,
  type Presenting,
  postTo,
  presentBy,
  readOf,
  type Session,
  verdictOf,
} from '../helpers/exchange.ts'
import {
  alwaysShown,
  type ForgedElement,
  forgeMdoc,
  forgeSdJwt,
  forgeSigner,
  holderOfPid,
  holderWith,
  MDL_NAMESPACE,
  newLeaf,
  newRoot,
  PID,
  type Signer,
  signerFrom,
  trust,
} from '../helpers/forger.ts'
import { type CredentialQuery, mdocQuery, sdJwtQuery } from '../helpers/queries.ts'

afterAll(cleanUp)

const app = await startApp({ resolve: async () => [] })
const party = { app, key: (await app.tenant()).key }
const signer = await forgeSigner()
await trust(app, signer)

const licenceQuery = (id: string, elements: string[]) =>
  mdocQuery(
    id,
    elements.map(element => [MDL_NAMESPACE, element]),
  )

const pidOf = (claims: object, by = signer, vct = PID): Promise<Holder> => holderOfPid(by, claims, { vct })
const licenceOf = (elements: Record<string, ForgedElement[2]>, by = signer): Promise<Holder> =>
  holderWith(async key => [
    await forgeMdoc(by, key, {
      elements: Object.entries({ issuing_country: 'UT', ...elements }).map(([name, value]) => [MDL_NAMESPACE, name, value]),
    }),
  ])

/** The form of a wallet that shows more or less than the query asks for: `asked` instead of it. */
const presented = ({ request, app }: Session, holder: Holder, ...asked: CredentialQuery[]): Promise<VpToken> =>
  vpToken({ ...request, query: { credentials: asked } as never }, holder, { now: app.clock.now() })

type Token = [holder: Holder, asked: CredentialQuery] | ((session: Session) => Promise<VpToken>)

async function answered(body: object, ...tokens: Token[]): Promise<Verification> {
  const session = await openSession(party, body)
  const tokenOf = (token: Token) => (typeof token === 'function' ? token(session) : presented(session, ...token))
  const vp_token = Object.assign({}, ...(await Promise.all(tokens.map(tokenOf))))
  const { status } = await postTo(session, await encryptedTo(session, { state: session.request.state, vp_token }))
  expect(status).toBe(200)
  return await readOf(session)
}

describe('an answer with more than one option of a set', () => {
  const body = { template: 'age_over_18_photo' }
  const photo = new Uint8Array([0xff, 0xd8, 0xff, 1])
  const licence = licenceQuery('mdl', ['age_over_18', 'portrait'])
  const pid = sdJwtQuery('pid_sd', [['age_equal_or_over'], ['picture']])
  const friend = () => pidOf({ age_equal_or_over: { 21: true }, picture: 'data:image/jpeg;base64,RlJJRU5E' })

  test("a minor's own licence is not made older by the document of a friend", async () => {
    const minor = await licenceOf({ age_over_18: false, portrait: photo })
    const lender = await friend()
    const verification = await answered(body, [minor, licence], [lender, pid])
    expect(verdictOf(verification).outcome).toBe('claim_not_satisfied')
    expect(verification.credentials).toHaveLength(2)
  })

  test('a minor is not made older by the document of a friend that is asked for first', async () => {
    const lender = await licenceOf({ age_over_18: true, portrait: photo })
    const minor = await pidOf({ age_equal_or_over: { 18: false }, picture: 'data:image/jpeg;base64,TUlOT1I=' })
    const verification = await answered(body, [lender, licence], [minor, pid])
    expect(verdictOf(verification).outcome).toBe('claim_not_satisfied')
  })

  test('the claims are those of the first option, and of nobody else', async () => {
    const adult = await licenceOf({ age_over_18: true, portrait: photo })
    const other = await friend()
    const verification = await answered(body, [other, pid], [adult, licence])
    expect(verification.claims).toEqual({ age_over_18: true, picture: Buffer.from(photo).toString('base64url') })
  })

  test('a document that is not needed has to be valid, too', async () => {
    const adult = await licenceOf({ age_over_18: true, portrait: photo })
    const stranger = await pidOf({ age_equal_or_over: { 18: true }, picture: 'x' }, await forgeSigner())
    const verification = await answered(body, [adult, licence], [stranger, pid])
    expect(verdictOf(verification).outcome).toBe('issuer_untrusted')
  })
})

const warningsOf = ({ credentials = [] }: Verification) =>
  credentials.map(({ findings }) =>
    findings.filter(({ check }) => check === 'merge').map(({ status, detail }) => [status, detail]),
  )

describe('two credentials that both hold a claim', () => {
  const OTHER = 'urn:example:residence:1'
  const ofOther = { meta: { vct_values: [OTHER] } }

  test.each(['dc+sd-jwt', 'mso_mdoc'])(
    'two credentials keep their own object; of the merged claims the first is whole: %s',
    async format => {
      const first = await pidOf({ address: { locality: 'Berlin' } })
      const isMdoc = format === 'mso_mdoc'
      const second = isMdoc
        ? await licenceOf({ resident_street: 'Fake Street 1' })
        : await pidOf({ address: { street_address: 'Fake Street 1' } }, signer, OTHER)
      const asked = isMdoc ? licenceQuery('b', ['resident_street']) : sdJwtQuery('b', [['address']], ofOther)
      const credentials = [sdJwtQuery('a', [['address']]), asked]
      const verification = await answered({ query: { credentials } }, [first, credentials[0]!], [second, asked])
      expect(verification.status).toBe('completed')
      expect(verification.credentials?.[0]?.claims).toEqual({ address: { locality: 'Berlin' } })
      expect(JSON.stringify(verification.credentials?.[1]?.claims)).toContain('Fake Street 1')
      expect(verification.claims).toEqual({ address: { locality: 'Berlin' } })
    },
  )

  test('two credentials are merged in the order of the query, whatever the order of the answer, with a warning on the later one', async () => {
    const [first, second] = [
      await pidOf({ given_name: 'Erika', family_name: 'Mustermann' }),
      await pidOf({ given_name: 'Mallory', family_name: 'Mustermann', birthdate: '1990-08-12' }, signer, OTHER),
    ]
    const names = [['given_name'], ['family_name']]
    const credentials = [sdJwtQuery('b', names), sdJwtQuery('a', [...names, ['birthdate']], ofOther)]
    const tokens: Token[] = [
      [first, credentials[0]!],
      [second, credentials[1]!],
    ]
    const claims = { given_name: 'Erika', family_name: 'Mustermann', birthdate: '1990-08-12' }
    const warning = ['warning', expect.stringMatching(/: given_name, family_name\.$/)]
    const inOrder = await answered({ query: { credentials } }, ...tokens)
    const reversed = await answered({ query: { credentials } }, ...tokens.toReversed())
    expect([inOrder.claims, reversed.claims]).toEqual([claims, claims])
    expect(warningsOf(inOrder)).toEqual([[], [warning]])
    expect(warningsOf(reversed)).toEqual([[warning], []])
    expect(JSON.stringify([warningsOf(inOrder), warningsOf(reversed)])).not.toContain('Mallory')
  })

  test('two credentials get no warning when one of them does not answer the query', async () => {
    const credentials = [sdJwtQuery('a', [['family_name']]), sdJwtQuery('b', [['family_name']], ofOther)]
    const [first, second] = [await pidOf({ family_name: 'One' }), await pidOf({ family_name: 'Two' }, signer, OTHER)]
    const verification = await answered(
      { query: { credentials, credential_sets: [{ options: [['a'], ['b']] }] } },
      [second, credentials[1]!],
      [first, credentials[0]!],
    )
    expect(verification.claims).toEqual({ family_name: 'One' })
    expect(warningsOf(verification)).toEqual([[], []])
  })
})

test('credentials of a query that may be answered by several are never merged', async () => {
  const several = { ...sdJwtQuery('people', [['given_name']]), multiple: true }
  const own = sdJwtQuery('own', [['family_name']])
  const [erika, max] = [await pidOf({ given_name: 'Erika', family_name: 'Mustermann' }), await pidOf({ given_name: 'Max' })]
  const both = async (session: Session) => {
    const tokens = await Promise.all([erika, max].map(holder => presented(session, holder, several)))
    return { people: tokens.flatMap(({ people = [] }) => people) }
  }
  const verification = await answered({ query: { credentials: [several, own] } }, both, [erika, own])
  expect(verification.status).toBe('completed')
  expect(verification.claims).toEqual({ family_name: 'Mustermann' })
  expect(verification.credentials?.map(({ claims }) => claims)).toEqual([
    { given_name: 'Erika' },
    { given_name: 'Max' },
    { family_name: 'Mustermann' },
  ])
  const one = await answered({ query: { credentials: [several] } }, [max, several])
  expect([one.status, one.claims]).toEqual(['completed', {}])
})

describe('the claims of a credential that fails', () => {
  const body = { query: { credentials: [sdJwtQuery('pid', [['family_name']])] } }
  const resultOf = async (holder: Holder, presenting: Presenting = {}) => {
    const { verification } = await presentBy(party, holder, { body, ...presenting })
    const [credential] = verification.credentials ?? []
    return { outcome: verification.error?.code, trusted: credential?.trusted, claims: credential?.claims }
  }
  const mustermann = () => pidOf({ family_name: 'Mustermann' })

  test('claims are kept back when the signature of their credential is invalid, and its issuer is not trusted either', async () => {
    const forged = await resultOf(await mustermann(), { mutations: { issuerSignatureFlip: true } })
    expect(forged).toEqual({ outcome: 'signature_invalid', trusted: false, claims: {} })
    const unsigned = await holderWith(async key => [
      await forgeSdJwt(signer, key, { disclosures: [alwaysShown(['salt', 'nickname', 'X'])] }),
    ])
    expect(await resultOf(unsigned)).toEqual({ outcome: 'signature_invalid', trusted: false, claims: {} })
  })

  test('claims are kept back when the holder did not prove possession', async () => {
    const outcome = await resultOf(await mustermann(), { mutations: { holderSignatureFlip: true } })
    expect(outcome).toEqual({ outcome: 'holder_binding_invalid', trusted: true, claims: {} })
  })

  test('claims are kept back when the issuer is not trusted', async () => {
    const outcome = await resultOf(await pidOf({ family_name: 'Mustermann' }, await forgeSigner()))
    expect(outcome).toEqual({ outcome: 'issuer_untrusted', trusted: false, claims: {} })
  })

  test('claims of a genuine credential that has only expired are shown', async () => {
    const expired = await holderWith(async key => [await forgeSdJwt(signer, key, { payload: { exp: 1 } })])
    expect(await resultOf(expired)).toEqual({
      outcome: 'credential_expired',
      trusted: true,
      claims: { family_name: 'Mustermann' },
    })
  })
})

describe('trusted_authorities of type aki', () => {
  const aki = async ({ publicKey }: CryptoKeyPair): Promise<string> =>
    Buffer.from((await authorityKey({ publicKey } as CryptoKeyPair)).keyId ?? '', 'hex').toString('base64url')
  const plain = sdJwtQuery('pid', [['family_name']])
  const asking = (...values: string[]) => ({
    query: { credentials: [{ ...plain, trusted_authorities: values.map(value => ({ type: 'aki', values: [value] })) }] },
  })
  const outcomeOf = async (body: object, by: Signer) => {
    const holder = await pidOf({ family_name: 'Mustermann' }, by)
    // As a wallet that does not look at it.
    const verification = await answered(body, [holder, plain])
    return verification.error?.code ?? verification.status
  }

  /** root → middle → leaf; the root is trusted. */
  async function chained() {
    const root = await newRoot()
    const middle = await newRoot({
      issuer: root,
      extensions: [isAuthority(0), signsCertificates(), await authorityKey(root.keys)],
    })
    const made = await signerFrom(await newLeaf(middle), { above: [middle], root })
    await trust(party.app, made)
    return { root, middle, made }
  }

  test('trusted_authorities holds for the key of any authority of the chain, and for one value of several', async () => {
    const { root, middle, made } = await chained()
    const stranger = await aki((await newRoot()).keys)
    expect(await outcomeOf(asking(await aki(middle.keys)), made)).toBe('completed')
    expect(await outcomeOf(asking(await aki(root.keys)), made)).toBe('completed')
    expect(await outcomeOf(asking(stranger, await aki(root.keys)), made)).toBe('completed')
  })

  test('trusted_authorities refuses a trusted issuer of another authority', async () => {
    const { made } = await chained()
    expect(await outcomeOf(asking(await aki((await newRoot()).keys)), made)).toBe('query_not_satisfied')
  })

  test('trusted_authorities is not satisfied by a certificate that is sent along and leads elsewhere', async () => {
    const root = await newRoot()
    const wanted = await newRoot()
    // Anybody can certify the key of a trusted authority under its name, and write into that what they like.
    const forger = await newRoot()
    const extensions = [isAuthority(), signsCertificates(), await authorityKey(wanted.keys)]
    const cross = await newRoot({ name: root.name, keys: root.keys, issuer: forger, extensions })
    const made = await signerFrom(await newLeaf(root), { above: [cross], root })
    await trust(party.app, made)
    expect(await outcomeOf({ query: { credentials: [plain] } }, made)).toBe('completed')
    expect(await outcomeOf(asking(await aki(wanted.keys)), made)).toBe('query_not_satisfied')
  })

  test.each(['etsi_tl', 'openid_federation'])('trusted_authorities of the type %s is refused at creation', async type => {
    const query = { credentials: [{ ...plain, trusted_authorities: [{ type, values: ['https://list.example'] }] }] }
    const { app } = party
    const tenant = await app.tenant()
    const create = async (body: object) => {
      const { status, body: said } = await app.call<ErrorBody>('POST', '/v1/verifications', { key: tenant.key, body })
      return [status, said.error.code, said.error.message]
    }
    const reason = expect.stringContaining('credentials[0].trusted_authorities[0].type: Only "aki" is enforced here')
    expect(await create({ query })).toEqual([400, 'invalid_request', reason])
  })
})

describe.each([['x'], [null], [1], [[]], [true]])('ages that are no object but %j', ages => {
  test.each([
    ['a query', { query: { credentials: [sdJwtQuery('pid', [['age_equal_or_over', '18']])] } }, 'pid'],
    ['a built-in template', { template: 'age_over_18' }, 'pid_sd'],
    ['all of it', { query: { credentials: [sdJwtQuery('pid', [['age_equal_or_over']])] } }, 'pid'],
  ])('end in a verdict, trusted or not: %s', async (title, body, id) => {
    for (const by of [signer, await forgeSigner()]) {
      const holder = await pidOf({ age_equal_or_over: ages }, by)
      const verification = await answered(body, session => presented(session, holder, sdJwtQuery(id, [['age_equal_or_over']])))
      const isAll = title === 'all of it'
      const expected = by === signer ? (isAll ? 'completed' : 'query_not_satisfied') : 'issuer_untrusted'
      expect(verdictOf(verification).outcome).toBe(expected)
      if (isAll && by === signer) expect(verification.claims).toEqual({ age_equal_or_over: ages })
    }
  })
})

test('an age that is denied is not proven by a higher one', async () => {
  const holder = await licenceOf({ age_over_18: false, age_over_21: true })
  const verification = await answered({ template: 'age_over_18' }, session =>
    presented(session, holder, licenceQuery('mdl', ['age_over_18', 'age_over_21'])),
  )
  expect(verdictOf(verification).outcome).toBe('claim_not_satisfied')
})

describe('a driving licence', () => {
  const ASKED = ['family_name', 'issuing_country', 'issuing_jurisdiction']
  const body = { query: { credentials: [licenceQuery('mdl', ASKED)] } }

  async function signerOf(name: string): Promise<Signer> {
    const root = await newRoot()
    const made = await signerFrom(await newLeaf(root, { name }), { root })
    await trust(party.app, made)
    return made
  }

  test.each([
    ['C=UT, ST=UT-CA, CN=Signer', 'UT', 'UT-CA', 'completed'],
    ['C=UT, ST=UT-CA, CN=Signer', 'UT', 'UT-NY', 'issuer_untrusted'],
    ['C=UT, ST=UT-CA, CN=Signer', 'DE', 'UT-CA', 'issuer_untrusted'],
    ['C=UT, CN=Signer', 'UT', 'UT-NY', 'completed'],
  ])('signed by %s that says %s and %s: %s', async (name, issuing_country, issuing_jurisdiction, outcome) => {
    const holder = await licenceOf({ family_name: 'X', issuing_country, issuing_jurisdiction }, await signerOf(name))
    const { verification } = await presentBy(party, holder, { body })
    expect(verdictOf(verification).outcome).toBe(outcome)
  })
})

test('a stranger who saw the QR code cannot change what the wallet may answer with', async () => {
  const credentials = [sdJwtQuery('sd', [['family_name']]), licenceQuery('md', ['family_name'])]
  const session = await openSession(party, { query: { credentials, credential_sets: [{ options: [['sd'], ['md']] }] } })
  const token = await presented(session, await pidOf({ family_name: 'Mustermann' }), credentials[0]!)
  const wallet_metadata = JSON.stringify({ vp_formats_supported: { mso_mdoc: {} } })
  const fetched = await party.app.call('POST', `/wallet/request/${session.created.id}`, {
    raw: new URLSearchParams({ wallet_metadata }),
  })
  expect(fetched.status).toBe(200)
  await postTo(session, await encryptedTo(session, { state: session.request.state, vp_token: token }))
  expect((await readOf(session)).claims).toEqual({ family_name: 'Mustermann' })
})

test('a request by value names the formats it asks for', async () => {
  const { app } = party
  const tenant = await app.tenant()
  const query = { credentials: [sdJwtQuery('pid', [['family_name']])] } as never
  await saveTemplate(app.deps, { tenantId: tenant.id, key: 'own', title: 'Own', query, profile: 'eu-av' }, 'test')
  const formatsOf = async (template: string) => {
    const { body } = await app.call<Verification>('POST', '/v1/verifications', { key: tenant.key, body: { template } })
    const metadata = new URL(body.wallet_uri ?? '').searchParams.get('client_metadata')
    return Object.keys(JSON.parse(metadata ?? '').vp_formats_supported)
  }
  expect([await formatsOf('eu_av_age_18'), await formatsOf('own')]).toEqual([['mso_mdoc'], ['dc+sd-jwt']])
})
