import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { verifyMdoc, verifySdJwt } from './foreign.ts'
import { holderOf, issuer, mdlQuery, newSession, presentTo, sdJwtQuery } from './world.ts'

const ALWAYS_OPEN = ['iss', 'vct', 'iat', 'nbf', 'exp', 'cnf', 'status', 'address']

test('an SD-JWT presentation verifies with @sd-jwt/sd-jwt-vc and shows only the requested claims', async () => {
  const session = await newSession({
    query: sdJwtQuery(['age_equal_or_over', '18'], ['nationalities', null], ['address', 'locality'], ['family_name']),
  })
  const { token, exchange } = await presentTo(session, await holderOf('adult'))
  const payload = await verifySdJwt(token.pid![0]!, session)
  expect(
    Object.keys(payload)
      .filter(name => !ALWAYS_OPEN.includes(name))
      .sort(),
  ).toEqual(['age_equal_or_over', 'family_name', 'nationalities'])
  expect(payload).toMatchObject({
    vct: 'urn:eudi:pid:1',
    family_name: 'Mustermann',
    nationalities: ['DE', 'AT'],
    status: { status_list: { uri: 'https://verifier.example/sandbox/status-list' } },
  })
  expect(payload.age_equal_or_over).toEqual({ 18: true })
  expect(payload.address).toEqual({ locality: 'Köln' })
  expect(exchange).toMatchObject({ status: 200, redirectUri: 'https://verifier.example/done#response_code=1' })
})

test('a requested object is shown with all members, an array element alone', async () => {
  const session = await newSession({ query: sdJwtQuery(['place_of_birth'], ['nationalities', 1]) })
  const { token } = await presentTo(session, await holderOf('adult'))
  const payload = await verifySdJwt(token.pid![0]!, session)
  expect(payload.place_of_birth).toEqual({ country: 'DE', region: 'BE', locality: 'Berlin' })
  expect(payload.nationalities).toEqual(['AT'])
})

test('an SD-JWT query without claims gets no disclosure', async () => {
  const query: DcqlQuery = { credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] } }] }
  const session = await newSession({ query })
  const { token } = await presentTo(session, await holderOf('adult'))
  expect(token.pid![0]!.split('~')).toHaveLength(2)
  expect(Object.keys(await verifySdJwt(token.pid![0]!, session)).sort()).toEqual([...ALWAYS_OPEN].sort())
})

test('a credential has decoys: more digests than disclosures, sorted', async () => {
  const pid = (await holderOf('adult')).credentials.find(({ format }) => format === 'dc+sd-jwt')
  if (pid?.format !== 'dc+sd-jwt') throw new Error('the persona has a PID')
  const { _sd } = JSON.parse(Buffer.from(pid.sdJwt.split('.')[1]!, 'base64url').toString())
  const known = pid.sdJwt.split('~').map(text => createHash('sha256').update(text).digest('base64url'))
  expect(_sd.filter((digest: string) => !known.includes(digest))).toHaveLength(2)
  expect(_sd).toEqual([..._sd].sort())
})

test('an mdoc presentation verifies with @owf/mdoc and shows only the requested claims', async () => {
  const session = await newSession({ query: mdlQuery('age_over_18', 'birth_date', 'driving_privileges', 'portrait') })
  const { token } = await presentTo(session, await holderOf('adult'))
  const document = await verifyMdoc(token.mdl![0]!, session)
  const claims = document.issuerSigned.getPrettyClaims('org.iso.18013.5.1') as Record<string, unknown>
  expect(document.docType).toBe('org.iso.18013.5.1.mDL')
  expect(Object.keys(claims).sort()).toEqual(['age_over_18', 'birth_date', 'driving_privileges', 'portrait'])
  expect(claims.age_over_18).toBe(true)
  expect(String(claims.birth_date)).toContain('1990')
  expect(Buffer.from(claims.portrait as Uint8Array).subarray(0, 3)).toEqual(Buffer.of(0xff, 0xd8, 0xff))
  expect(claims.driving_privileges).toHaveLength(3)
})

test('unencrypted answers verify in both formats, the mdoc without a thumbprint in its handover', async () => {
  const query = { credentials: [...sdJwtQuery(['birthdate']).credentials, ...mdlQuery('birth_date').credentials] }
  const session = await newSession({ query, mode: 'direct_post' })
  const { token, members } = await presentTo(session, await holderOf('adult'))
  expect(session.forms[0]!.has('response')).toBe(false)
  expect(members.state).toBe(session.parameters.state)
  expect(await verifySdJwt(token.pid![0]!, session)).toMatchObject({ birthdate: '1990-08-12' })
  await verifyMdoc(token.mdl![0]!, session, { isEncrypted: false })
})

test.each(['A128GCM', 'A256GCM'] as const)(
  'the answer is encrypted with %s to the key of the request, and names its kid',
  async enc => {
    const session = await newSession({ query: mdlQuery('age_over_18') })
    const { members, header } = await presentTo(session, await holderOf('adult'), { enc })
    expect(header).toMatchObject({ alg: 'ECDH-ES', enc, kid: 'session-key' })
    expect(Object.keys(members).sort()).toEqual(['state', 'vp_token'])
    expect([...session.forms[0]!.keys()]).toEqual(['response'])
  },
)

test('only a credential of the requested authority is selected, by its key identifier', async () => {
  const [aki = ''] = (await holderOf('adult')).credentials[0]!.authorityKeyIds
  const asked = (value: string): DcqlQuery => ({
    credentials: mdlQuery('age_over_18').credentials.map(one => ({
      ...one,
      trusted_authorities: [{ type: 'aki', values: [value] }],
    })),
  })
  const session = await newSession({ query: asked(aki) })
  expect((await presentTo(session, await holderOf('adult'))).token.mdl).toHaveLength(1)
  expect((await presentTo(session, await holderOf('untrusted_issuer'))).members.error).toBe('access_denied')
  expect(issuer.anchor.byteLength).toBeGreaterThan(300)
})

test('the first claim set whose values the holder has is selected', async () => {
  const [{ id, format, meta }] = mdlQuery().credentials as [DcqlQuery['credentials'][number] & { format: 'mso_mdoc' }]
  const claims = [
    { id: 'a', path: ['org.iso.18013.5.1', 'age_over_65'], values: [true] },
    { id: 'b', path: ['org.iso.18013.5.1', 'age_over_18'], values: [true] },
  ]
  const session = await newSession({ query: { credentials: [{ id, format, meta, claims, claim_sets: [['a'], ['b']] }] } })
  const { token } = await presentTo(session, await holderOf('adult'))
  const document = await verifyMdoc(token.mdl![0]!, session)
  expect(document.issuerSigned.getPrettyClaims('org.iso.18013.5.1')).toEqual({ age_over_18: true })
})
