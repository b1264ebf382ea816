import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findDcqlProblem, findQueryProblem } from '../../src/openid4vp/dcql/dcql.ts'
import { vectors } from '../helpers/vectors.ts'

// Open in the specification; decided as in the OpenID conformance suite.
const POLICY: Record<string, 'accept' | 'reject'> = {
  'bad-id-unicode': 'reject',
  'bad-claim-sets-empty-inner': 'reject',
}

// The vector expects acceptance: a parser's test file with an mso_mdoc query that has `vct_values`
// and no `doctype_value`. OpenID4VP 1.0 § B.2.3 requires `doctype_value` (vector
// bad-doctype-missing), and without it any document would match.
const DISPUTED: Record<string, string> = {
  'eudi-complex_example': 'credentials[1].meta.doctype_value',
}

const SD_JWT = { id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] } }
const MDOC = { id: 'mdl', format: 'mso_mdoc', meta: { doctype_value: 'org.iso.18013.5.1.mDL' } }

const one = (credential: object) => ({ credentials: [credential] })
const sdJwt = (members: object) => one({ ...SD_JWT, ...members })
const mdoc = (members: object) => one({ ...MDOC, ...members })
const withClaims = (credential: object, claims: unknown) => one({ ...credential, claims })
const claim = (members: object) => withClaims(SD_JWT, [members])
const element = (members: object) => withClaims(MDOC, [members])
const namedClaims = (...ids: string[]) => ids.map(id => ({ id, path: [id] }))
const withClaimSets = (claim_sets: unknown, claims: unknown = namedClaims('a', 'b')) => sdJwt({ claims, claim_sets })
const aki = (values: unknown) => ({ type: 'aki', values })
const withAuthorities = (trusted_authorities: unknown) => sdJwt({ trusted_authorities })
const withSets = (credential_sets: unknown) => ({ ...one(SD_JWT), credential_sets })
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

function everyMember() {
  return {
    credentials: [
      {
        ...SD_JWT,
        multiple: true,
        require_cryptographic_holder_binding: false,
        trusted_authorities: [
          aki(['s9tIpPmhxdiuNkHMEWNpYim8S8Y']),
          { type: 'etsi_tl', values: ['https://lotl.example.com'] },
          { type: 'openid_federation', values: ['https://trustanchor.example.com'] },
        ],
        claims: [
          { id: 'a', path: ['address', 'country'], values: ['DE', 1, true] },
          { id: 'b', path: ['nationalities', null] },
        ],
        claim_sets: [['a', 'b'], ['b']],
      },
      { ...MDOC, claims: [{ path: ['org.iso.18013.5.1', 'age_over_18'], intent_to_retain: true }] },
    ],
    credential_sets: [{ options: [['pid'], ['mdl', 'pid']], required: false, purpose: 'To rent a car' }],
  }
}

test.each(vectors<{ dcql_query: unknown }>('dcql-query.json').map(vector => [vector.id, vector.title, vector] as const))(
  '%s: %s',
  (id, _, vector) => {
    const problem = findDcqlProblem(vector.input.dcql_query)
    if (id in DISPUTED) return expect(problem?.path).toBe(DISPUTED[id])
    const { outcome } = vector.expect
    const decision = outcome === 'policy' ? POLICY[id] : outcome
    expect(decision).toBeOneOf(['accept', 'reject'])
    if (decision === 'accept') expect(problem).toBeUndefined()
    else expect(problem).toEqual({ path: expect.any(String), reason: expect.any(String) })
  },
)

const ACCEPTED: [string, unknown][] = [
  ['every member of DCQL 1.0 at once', everyMember()],
  [
    'claims that are never selectively disclosable',
    withClaims(SD_JWT, [{ path: ['iss'] }, { path: ['vct'] }, { path: ['cnf', 'jwk'] }]),
  ],
  ['an SD-JWT path with keys, an index and null', claim({ path: ['a', 0, null, 'b'] })],
  [
    'paths where one leads to a part of the other',
    withClaims(SD_JWT, [{ path: ['a'] }, { path: ['a', 'b'] }, { path: ['a', null] }]),
  ],
  ['the number 1 and the name "1" as different claims', withClaims(SD_JWT, [{ path: ['a', 1] }, { path: ['a', '1'] }])],
  ['claims without ids when there are no claim sets', withClaims(MDOC, [{ path: ['n', 'a'] }, { path: ['n', 'b'] }])],
  [
    'the same claim in two credential queries',
    { credentials: ['a', 'b'].map(id => ({ ...SD_JWT, id, claims: [{ path: ['x'] }] })) },
  ],
  [
    'the same claim id in two credential queries',
    { credentials: ['a', 'b'].map(id => ({ ...SD_JWT, id, claims: namedClaims('same') })) },
  ],
  ['a claim that no claim set names', withClaimSets([['a']])],
  ['a credential that no set names', { credentials: [SD_JWT, MDOC], credential_sets: [{ options: [['pid']] }] }],
  ['members of others', { ...one(SD_JWT), 'x-a': 1, note: 'n', purpose: 'p' }],
  ['a member that looks like one that is there', { ...sdJwt({ _id: 7 }), Credentials: 1 }],
  [
    '__proto__ as a member and as a path element',
    JSON.parse(`{"__proto__":{"credentials":1},"credentials":[
    {"__proto__":null,"id":"a","format":"dc+sd-jwt","meta":{"vct_values":["v"],"__proto__":[]},
    "claims":[{"path":["__proto__"]}]}]}`),
  ],
]
test.each(ACCEPTED)('a query is accepted: %s', (_, query) => expect(findDcqlProblem(query)).toBeUndefined())

const REFUSED: [string, unknown, string][] = [
  ['null', null, ''],
  ['an array', [], ''],
  ['a string', 'credentials', ''],
  ['no credentials', {}, 'credentials'],
  ['credentials as an object', { credentials: { 0: SD_JWT } }, 'credentials'],
  ['no credential', { credentials: [] }, 'credentials'],
  ['a credential that is no object', { credentials: [SD_JWT, 'mdl'] }, 'credentials[1]'],
  ['an array as a credential', { credentials: [[]] }, 'credentials[0]'],

  ['no id', sdJwt({ id: undefined }), 'credentials[0].id'],
  ['an empty id', sdJwt({ id: '' }), 'credentials[0].id'],
  ['a number as id', sdJwt({ id: 1 }), 'credentials[0].id'],
  ['an id with a dot', sdJwt({ id: 'a.b' }), 'credentials[0].id'],
  ['an id with a line break at its end', sdJwt({ id: 'a\n' }), 'credentials[0].id'],
  ['an id twice', { credentials: [SD_JWT, MDOC, { ...MDOC, id: 'pid' }] }, 'credentials[2].id'],

  ['no format', sdJwt({ format: undefined }), 'credentials[0].format'],
  ['a format of DCQL that we do not check', sdJwt({ format: 'jwt_vc_json' }), 'credentials[0].format'],
  ['the draft name of SD-JWT VC', sdJwt({ format: 'vc+sd-jwt' }), 'credentials[0].format'],
  ['a list of formats', sdJwt({ format: ['dc+sd-jwt'] }), 'credentials[0].format'],

  ['no meta, SD-JWT', sdJwt({ meta: undefined }), 'credentials[0].meta'],
  ['no meta, mdoc', mdoc({ meta: undefined }), 'credentials[0].meta'],
  ['null as meta', mdoc({ meta: null }), 'credentials[0].meta'],
  ['an SD-JWT with a document type', sdJwt({ meta: MDOC.meta }), 'credentials[0].meta.vct_values'],
  ['an mdoc with credential types', mdoc({ meta: SD_JWT.meta }), 'credentials[0].meta.doctype_value'],
  ['vct_values as a string', sdJwt({ meta: { vct_values: 'v' } }), 'credentials[0].meta.vct_values'],
  ['no credential type', sdJwt({ meta: { vct_values: [] } }), 'credentials[0].meta.vct_values'],
  ['an empty credential type', sdJwt({ meta: { vct_values: ['v', ''] } }), 'credentials[0].meta.vct_values[1]'],
  ['an empty document type', mdoc({ meta: { doctype_value: '' } }), 'credentials[0].meta.doctype_value'],
  ['a list of document types', mdoc({ meta: { doctype_value: ['d'] } }), 'credentials[0].meta.doctype_value'],

  ['multiple as a string', sdJwt({ multiple: 'true' }), 'credentials[0].multiple'],
  [
    'holder binding as null',
    sdJwt({ require_cryptographic_holder_binding: null }),
    'credentials[0].require_cryptographic_holder_binding',
  ],

  ['no trusted authority', withAuthorities([]), 'credentials[0].trusted_authorities'],
  ['a trusted authority as a string', withAuthorities(['aki']), 'credentials[0].trusted_authorities[0]'],
  ['no authority type', withAuthorities([{ values: ['x'] }]), 'credentials[0].trusted_authorities[0].type'],
  [
    'a key identifier of which no bytes are left',
    withAuthorities([aki(['A'])]),
    'credentials[0].trusted_authorities[0].values[0]',
  ],
  ['an unknown authority type', withAuthorities([{ type: 'x5c', values: ['x'] }]), 'credentials[0].trusted_authorities[0].type'],
  ['no authority value', withAuthorities([aki([])]), 'credentials[0].trusted_authorities[0].values'],
  ['a padded key identifier', withAuthorities([aki(['AA=='])]), 'credentials[0].trusted_authorities[0].values[0]'],
  [
    'an empty identifier',
    withAuthorities([{ type: 'etsi_tl', values: [''] }]),
    'credentials[0].trusted_authorities[0].values[0]',
  ],

  ['no claim', withClaims(SD_JWT, []), 'credentials[0].claims'],
  ['null as claims', withClaims(SD_JWT, null), 'credentials[0].claims'],
  ['a claim as a string', withClaims(SD_JWT, ['name']), 'credentials[0].claims[0]'],
  ['a claim without path', claim({ id: 'a' }), 'credentials[0].claims[0].path'],
  ['an empty path', claim({ path: [] }), 'credentials[0].claims[0].path'],
  ['a path as a string', claim({ path: 'name' }), 'credentials[0].claims[0].path'],
  ['a path that begins with null', claim({ path: [null, 'a'] }), 'credentials[0].claims[0].path[0]'],
  ['a path that begins with an index', claim({ path: [0] }), 'credentials[0].claims[0].path[0]'],
  ['a negative index', claim({ path: ['a', -1] }), 'credentials[0].claims[0].path[1]'],
  ['a fractional index', claim({ path: ['a', 1.5] }), 'credentials[0].claims[0].path[1]'],
  ['an index that is no longer exact', claim({ path: ['a', 2 ** 53] }), 'credentials[0].claims[0].path[1]'],
  ['an object in a path', claim({ path: ['a', {}] }), 'credentials[0].claims[0].path[1]'],
  ['an mdoc path of one', element({ path: ['a'] }), 'credentials[0].claims[0].path'],
  ['an mdoc path of three', element({ path: ['n', 'a', 'b'] }), 'credentials[0].claims[0].path'],
  ['an mdoc path with null', element({ path: ['n', null] }), 'credentials[0].claims[0].path'],
  ['an mdoc path with an index', element({ path: ['n', 0] }), 'credentials[0].claims[0].path'],
  ['an mdoc path with an empty namespace', element({ path: ['', 'a'] }), 'credentials[0].claims[0].path'],
  [
    'an SD-JWT claim twice',
    withClaims(SD_JWT, [{ path: ['a', 1] }, { path: ['b'] }, { path: ['a', 1] }]),
    'credentials[0].claims[2].path',
  ],
  ['an mdoc claim twice', withClaims(MDOC, [{ path: ['n', 'a'] }, { path: ['n', 'a'] }]), 'credentials[0].claims[1].path'],
  ['a claim id with a space', claim({ id: 'a b', path: ['a'] }), 'credentials[0].claims[0].id'],
  [
    'a claim id twice',
    withClaims(SD_JWT, [
      { id: 'a', path: ['a'] },
      { id: 'a', path: ['b'] },
    ]),
    'credentials[0].claims[1].id',
  ],
  ['no value', claim({ path: ['a'], values: [] }), 'credentials[0].claims[0].values'],
  ['null as a value', claim({ path: ['a'], values: ['x', null] }), 'credentials[0].claims[0].values[1]'],
  ['a fraction as a value', claim({ path: ['a'], values: [1.5] }), 'credentials[0].claims[0].values[0]'],
  [
    'intent_to_retain as a string',
    element({ path: ['n', 'a'], intent_to_retain: 'no' }),
    'credentials[0].claims[0].intent_to_retain',
  ],

  ['claim sets without claims', sdJwt({ claim_sets: [['a']] }), 'credentials[0].claim_sets'],
  ['claim sets with a claim that has no id', withClaimSets([['a']], [{ path: ['x'] }]), 'credentials[0].claims[0].id'],
  ['no claim set', withClaimSets([]), 'credentials[0].claim_sets'],
  ['an empty claim set', withClaimSets([['a'], []]), 'credentials[0].claim_sets[1]'],
  ['a claim set as a string', withClaimSets(['a']), 'credentials[0].claim_sets[0]'],
  ['a claim set with an unknown id', withClaimSets([['a', 'z']]), 'credentials[0].claim_sets[0][1]'],
  ['a claim set with a number', withClaimSets([[0]]), 'credentials[0].claim_sets[0][0]'],

  ['no credential set', withSets([]), 'credential_sets'],
  ['credential sets as an object', withSets({ options: [['pid']] }), 'credential_sets'],
  ['a credential set as an array', withSets([['pid']]), 'credential_sets[0]'],
  ['no options', withSets([{ required: true }]), 'credential_sets[0].options'],
  ['no option', withSets([{ options: [] }]), 'credential_sets[0].options'],
  ['an option as a string', withSets([{ options: ['pid'] }]), 'credential_sets[0].options[0]'],
  ['an empty option', withSets([{ options: [['pid'], []] }]), 'credential_sets[0].options[1]'],
  ['an option with an unknown id', withSets([{ options: [['pid', 'mdl']] }]), 'credential_sets[0].options[0][1]'],
  ['an option with an inherited name', withSets([{ options: [['constructor']] }]), 'credential_sets[0].options[0][0]'],
  ['required as a string', withSets([{ options: [['pid']], required: 'false' }]), 'credential_sets[0].required'],
  ['a purpose that is no string', withSets([{ options: [['pid']], purpose: { en: 'x' } }]), 'credential_sets[0].purpose'],
  ['an empty purpose', withSets([{ options: [['pid']], purpose: '' }]), 'credential_sets[0].purpose'],

  ['credential for credentials', { credential: [SD_JWT] }, ''],
  ['credentialSets for credential_sets', { ...one(SD_JWT), credentialSets: [] }, ''],
  ['claim for claims', sdJwt({ claim: [{ path: ['a'] }] }), 'credentials[0]'],
  ['vct_value for vct_values', sdJwt({ meta: { vct_value: ['v'] } }), 'credentials[0].meta'],
  ['doctypeValue for doctype_value', mdoc({ meta: { doctypeValue: 'd' } }), 'credentials[0].meta'],
  ['value for values', claim({ path: ['a'], value: ['x'] }), 'credentials[0].claims[0]'],
  ['Type for type', withAuthorities([{ Type: 'aki', values: ['x'] }]), 'credentials[0].trusted_authorities[0]'],
  ['option for options', withSets([{ option: [['pid']] }]), 'credential_sets[0]'],
]
test.each(REFUSED)('a query is refused at the right place: %s', (_, query, path) => {
  const problem = findDcqlProblem(query)
  expect(problem?.path).toBe(path)
  expect(problem?.reason).toMatch(/^[A-Z`].{10,200}\.$/)
})

const LIMITS: [string, number, (count: number) => unknown, string][] = [
  ['credentials', 20, n => ({ credentials: times(n, i => ({ ...SD_JWT, id: `c${i}` })) }), 'credentials'],
  [
    'claims',
    100,
    n =>
      withClaims(
        SD_JWT,
        times(n, i => ({ path: [`c${i}`] })),
      ),
    'credentials[0].claims',
  ],
  ['path elements', 10, n => claim({ path: times(n, () => 'a') }), 'credentials[0].claims[0].path'],
  ['values', 100, n => claim({ path: ['a'], values: times(n, i => i) }), 'credentials[0].claims[0].values'],
  ['claim sets', 20, n => withClaimSets(times(n, () => ['a'])), 'credentials[0].claim_sets'],
  ['ids of a claim set', 100, n => withClaimSets([times(n, () => 'a')]), 'credentials[0].claim_sets[0]'],
  ['credential types', 50, n => sdJwt({ meta: { vct_values: times(n, String) } }), 'credentials[0].meta.vct_values'],
  ['trusted authorities', 20, n => withAuthorities(times(n, () => aki(['AQ']))), 'credentials[0].trusted_authorities'],
  [
    'values of a trusted authority',
    100,
    n => withAuthorities([aki(times(n, i => String(1000 + i)))]),
    'credentials[0].trusted_authorities[0].values',
  ],
  ['credential sets', 10, n => withSets(times(n, () => ({ options: [['pid']] }))), 'credential_sets'],
  ['options', 50, n => withSets([{ options: times(n, () => ['pid']) }]), 'credential_sets[0].options'],
  ['ids of an option', 20, n => withSets([{ options: [times(n, () => 'pid')] }]), 'credential_sets[0].options[0]'],
  ['characters of a credential id', 64, n => sdJwt({ id: 'i'.repeat(n) }), 'credentials[0].id'],
  ['characters of a claim id', 64, n => claim({ id: 'i'.repeat(n), path: ['a'] }), 'credentials[0].claims[0].id'],
  [
    'characters of a credential type',
    1024,
    n => sdJwt({ meta: { vct_values: ['v'.repeat(n)] } }),
    'credentials[0].meta.vct_values[0]',
  ],
  [
    'characters of a document type',
    1024,
    n => mdoc({ meta: { doctype_value: 'd'.repeat(n) } }),
    'credentials[0].meta.doctype_value',
  ],
  ['characters of a name in a path', 1024, n => claim({ path: ['p'.repeat(n)] }), 'credentials[0].claims[0].path[0]'],
  ['characters of an mdoc element', 1024, n => element({ path: ['n', 'e'.repeat(n)] }), 'credentials[0].claims[0].path'],
  ['characters of a value', 1024, n => claim({ path: ['a'], values: ['v'.repeat(n)] }), 'credentials[0].claims[0].values[0]'],
  [
    'characters of a key identifier',
    1024,
    n => withAuthorities([aki(['A'.repeat(n)])]),
    'credentials[0].trusted_authorities[0].values[0]',
  ],
  [
    'characters of a trusted list',
    1024,
    n => withAuthorities([{ type: 'etsi_tl', values: ['u'.repeat(n)] }]),
    'credentials[0].trusted_authorities[0].values[0]',
  ],
  ['characters of a purpose', 300, n => withSets([{ options: [['pid']], purpose: 'p'.repeat(n) }]), 'credential_sets[0].purpose'],
]
test.each(LIMITS)('%s: %d are accepted, one more is refused', (_, max, build, path) => {
  expect(findDcqlProblem(build(max))).toBeUndefined()
  expect(findDcqlProblem(build(max + 1))?.path).toBe(path)
})

describe('reasons', () => {
  test('a reason names the two formats, and the new name of a draft format', () => {
    expect(findDcqlProblem(sdJwt({ format: 'ldp_vc' }))?.reason).toBe(
      'The format must be "dc+sd-jwt" or "mso_mdoc", the only two supported, not "ldp_vc".',
    )
    expect(findDcqlProblem(sdJwt({ format: 'vc+sd-jwt' }))?.reason).toContain('write "dc+sd-jwt"')
  })

  test('an unsupported format is named before what its query lacks', () => {
    expect(findDcqlProblem({ credentials: [{ id: 'c', format: 'jwt_vc' }] })?.path).toBe('credentials[0].format')
    expect(findDcqlProblem({ credentials: [{ id: 'c' }] })?.path).toBe('credentials[0].format')
    expect(findDcqlProblem({ credentials: [{ id: 'c', format: 'dc+sd-jwt' }] })?.path).toBe('credentials[0].meta')
  })

  test('a reason suggests the misspelt member', () => {
    expect(findDcqlProblem(sdJwt({ claim: [] }))?.reason).toContain(
      '"claim" is unknown and wallets would skip it; write `claims`',
    )
  })

  test('a reason states the number of items and the limit', () => {
    expect(findDcqlProblem({ credentials: times(21, () => SD_JWT) })?.reason).toContain(
      '1 to 20 credential queries, and it has 21',
    )
  })

  test.each(['x'.repeat(60_000), '\u0000'.repeat(1000), '😀'.repeat(1000), `a${'😀'.repeat(1000)}`])(
    'a reason quotes at most 64 characters (%#)',
    text => {
      const echoing = [sdJwt({ format: text }), withSets([{ options: [[text]] }]), sdJwt({ [`claim${'-'.repeat(500)}`]: 1 })]
      const reasons = echoing.map(query => findDcqlProblem(query)?.reason ?? '')
      const echoes = reasons.map(reason => /"[^"]*…/.exec(reason)?.[0] ?? '')
      expect(echoes.map(echo => echo.length)).toEqual([64, 64, 64])
      expect(reasons.every(reason => reason.isWellFormed())).toBe(true)
    },
  )
})

describe('trusted authorities', () => {
  test.each(['etsi_tl', 'openid_federation'])('the type %s is valid DCQL, but refused with an alternative', type => {
    const query = withAuthorities([aki(['AQ']), { type, values: ['https://list.example'] }])
    expect(findDcqlProblem(query)).toBeUndefined()
    expect(findQueryProblem(query)).toEqual({
      path: 'credentials[0].trusted_authorities[1].type',
      reason: expect.stringMatching(/^Only "aki" is enforced here: .*vidimus trust add/),
    })
  })

  test('the type aki is accepted', () => {
    expect(findQueryProblem(withAuthorities([aki(['AQ', 's9tIpPmhxdiuNkHMEWNpYim8S8Y'])]))).toBeUndefined()
  })
})

describe('any JSON value', () => {
  const json = fc.jsonValue({ maxDepth: 6 })
  const text = fc.oneof(fc.constantFrom('a', 'b', 'dc+sd-jwt', 'mso_mdoc', 'aki', '__proto__'), fc.string())
  const part = fc.oneof(json, text, fc.array(text), fc.array(fc.array(text)))
  const object = (...members: string[]) =>
    fc.oneof(fc.record(Object.fromEntries(members.map(member => [member, part])), { requiredKeys: [] }), json)
  const credential = fc.record(
    {
      id: text,
      format: fc.constantFrom('dc+sd-jwt', 'mso_mdoc'),
      meta: fc.oneof(fc.constant({ vct_values: ['v'], doctype_value: 'd' }), json),
      trusted_authorities: fc.array(object('type', 'values')),
      claims: fc.array(object('id', 'path', 'values', 'intent_to_retain')),
      claim_sets: part,
      multiple: fc.oneof(fc.boolean(), json),
    },
    { requiredKeys: ['id', 'format', 'meta'] },
  )
  const query = fc.record(
    { credentials: fc.array(fc.oneof(credential, json)), credential_sets: fc.array(object('options', 'required', 'purpose')) },
    { requiredKeys: ['credentials'] },
  )

  test('any JSON value gives a short problem or none, without a throw or a change', () => {
    fc.assert(
      fc.property(fc.oneof(json, query), value => {
        const before = JSON.stringify(value)
        const problem = findDcqlProblem(value)
        expect(JSON.stringify(value)).toBe(before)
        if (problem) expect(problem.path.length + problem.reason.length).toBeLessThan(400)
      }),
      { numRuns: 2000 },
    )
  })
})
