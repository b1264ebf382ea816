// Rules of a merchant's own templates: conditions on the merged claims of a presentation that is sound otherwise.
import { afterAll, describe, expect, test } from 'bun:test'
import { browseAudit } from '../../src/audit/browse.ts'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import type { Rule } from '../../src/openid4vp/rules.ts'
import { vpToken } from '../../src/sandbox/wallet/wallet.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, startWithTenant } from '../helpers/app.ts'
import { encryptedTo, formOf, openSession, postTo, presentBy, readOf, type Session, verdictOf } from '../helpers/exchange.ts'
import { forgeSigner, holderOfPid, PID, trust } from '../helpers/forger.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

let saved = 0

const { app, ...tenant } = await startWithTenant({ resolve: async () => [] })
const party = { app, key: tenant.key }
const signer = await forgeSigner()
await trust(app, signer)

const asking = (...paths: (string | null)[][]): DcqlQuery => ({
  credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: [PID] }, claims: paths.map(path => ({ path })) }],
})

async function template(query: DcqlQuery, rules?: Rule[]): Promise<string> {
  const key = `own_${++saved}`
  await saveTemplate(app.deps, { tenantId: tenant.id, key, title: 'Own', query, rules }, 'test')
  return key
}

/** Answers with a PID of exactly these claims. */
async function answeredBy(claims: object, query: DcqlQuery, rules?: Rule[]): Promise<Verification> {
  const { verification } = await presentBy(party, await holderOfPid(signer, claims), {
    body: { template: await template(query, rules) },
  })
  return verification
}

const AGE_18 = asking(['age_equal_or_over', '18'])

describe('a template without rules', () => {
  test('a template without rules that asks for age_over_18 fails a minor with claim_not_satisfied, as a built-in one does', async () => {
    const { verification } = await verifyWith(app, tenant.key, 'minor', { body: { template: await template(AGE_18) } })
    expect(verification).toMatchObject({
      status: 'failed',
      error: { code: 'claim_not_satisfied' },
      credentials: [
        {
          findings: [{ check: 'environment' }, { check: 'rule', status: 'fail', detail: expect.stringContaining('age_over_18') }],
        },
      ],
    })
    expect(verification).not.toHaveProperty('claims')
  })

  test('a template without rules that asks for age_over_18 completes with an adult, and returns all that was asked for', async () => {
    const own = await template(asking(['age_equal_or_over', '18'], ['birthdate']))
    const { verification } = await verifyWith(app, tenant.key, 'adult', { body: { template: own } })
    expect([verification.status, verification.claims]).toEqual(['completed', { age_over_18: true, birthdate: '1990-08-12' }])
  })

  test('a template without rules that asks for age_over_18 in an mdoc fails a minor, too', async () => {
    const claims = [{ path: ['org.iso.18013.5.1', 'age_over_18'] }]
    const query: DcqlQuery = {
      credentials: [{ id: 'mdl', format: 'mso_mdoc', meta: { doctype_value: 'org.iso.18013.5.1.mDL' }, claims }],
    }
    const { verification } = await verifyWith(app, tenant.key, 'minor', { body: { template: await template(query) } })
    expect(verdictOf(verification)).toMatchObject({ outcome: 'claim_not_satisfied', failed: ['rule'] })
  })

  test.each([
    ['denied', { 18: false }, 'claim_not_satisfied'],
    ['the string "true"', { 18: 'true' }, 'claim_not_satisfied'],
    ['true', { 18: true }, 'completed'],
  ])('a template without rules judges an age that is %s', async (_, age_equal_or_over, outcome) => {
    expect(verdictOf(await answeredBy({ age_equal_or_over }, AGE_18)).outcome).toBe(outcome)
  })

  test('a template without rules takes a larger age that is true for the one that is asked for', async () => {
    const holder = await holderOfPid(signer, { age_equal_or_over: { 21: true } })
    const session = await openSession(party, { template: await template(AGE_18) })
    const query = asking(['age_equal_or_over']) as never
    const vp_token = await vpToken({ ...session.request, query }, holder, { now: app.clock.now() })
    await postTo(session, await encryptedTo(session, { state: session.request.state, vp_token }))
    expect(await readOf(session)).toMatchObject({ status: 'completed', claims: { age_over_21: true } })
  })

  test('a template without rules needs every age that is asked for', async () => {
    const query = asking(['age_equal_or_over', '16'], ['age_equal_or_over', '18'])
    const verification = await answeredBy({ age_equal_or_over: { 16: true, 18: false } }, query)
    expect(verification.credentials?.[0]?.findings).toEqual([
      { check: 'rule', status: 'fail', detail: 'The rule on age_over_18 is broken: the holder is not shown to be 18 or over.' },
    ])
  })

  test('a template without rules completes whatever other claims say', async () => {
    expect((await answeredBy({ member: false }, asking(['member']))).claims).toEqual({ member: false })
  })
})

describe('rules of a template', () => {
  const MEMBER: Rule = { claim: 'member.active', is: true }
  const COUNTRY: Rule = { claim: 'nationalities', one_of: ['DE', 'FR', 3] }
  const ADULT: Rule = { claim: 'birthdate', age_at_least: 18 }

  test.each<[string, object, Rule, string]>([
    ['a boolean that is as it must be', { member: { active: true } }, MEMBER, 'completed'],
    ['a boolean that is not', { member: { active: false } }, MEMBER, 'broken'],
    ['a string in place of a boolean', { member: { active: 'true' } }, MEMBER, 'broken'],
    ['a number in place of a boolean', { member: { active: 1 } }, MEMBER, 'broken'],
    ['a list in place of a boolean', { member: { active: [true] } }, MEMBER, 'broken'],
    ['no object where the dots lead', { member: 'active' }, MEMBER, 'broken'],
    ['an object without the claim', { member: { since: 2020 } }, MEMBER, 'broken'],
    ['false where false is wanted', { member: false }, { claim: 'member', is: false }, 'completed'],
    ['null where false is wanted', { member: null }, { claim: 'member', is: false }, 'broken'],
    ['a list with an allowed element', { nationalities: ['AT', 'DE'] }, COUNTRY, 'completed'],
    ['a list without one', { nationalities: ['AT'] }, COUNTRY, 'broken'],
    ['an allowed value that is no list', { nationalities: 'FR' }, COUNTRY, 'completed'],
    ['an allowed number', { nationalities: 3 }, COUNTRY, 'completed'],
    ['an allowed number as a string', { nationalities: '3' }, COUNTRY, 'broken'],
    ['a value in another case', { nationalities: ['de'] }, COUNTRY, 'broken'],
    ['an 18th birthday today', { birthdate: '2008-03-04' }, ADULT, 'completed'],
    ['an 18th birthday tomorrow', { birthdate: '2008-03-05' }, ADULT, 'broken'],
    ['a birth date without a day', { birthdate: '1990-08' }, ADULT, 'broken'],
    ['a birth date with zeros for what is not known', { birthdate: '1990-00-00' }, ADULT, 'broken'],
    ['a birth date that is no string', { birthdate: 19900812 }, ADULT, 'broken'],
  ])('a rule is judged by %s', async (_, claims, rule, outcome) => {
    const verification = await answeredBy(claims, asking([rule.claim.split('.')[0]!]), [rule])
    expect(verdictOf(verification).outcome).toBe(outcome === 'broken' ? 'claim_not_satisfied' : outcome)
    const details = verification.credentials?.[0]?.findings.map(({ check, detail }) => `${check}: ${detail}`)
    if (outcome === 'broken') expect(details).toEqual([expect.stringContaining(`rule: The rule on ${rule.claim} is broken: `)])
    else expect([verification.claims, details]).toEqual([{ ...claims }, []])
  })

  test('a rule finds a claim whose own name has dots', async () => {
    const name = 'https://club.example/member'
    const rules: Rule[] = [{ claim: name, is: true }]
    expect((await answeredBy({ [name]: true }, asking([name]), rules)).status).toBe('completed')
    expect((await answeredBy({ [name]: false }, asking([name]), rules)).status).toBe('failed')
  })

  test('all broken rules are reported, without a value in any message', async () => {
    const query = asking(['member'], ['nationalities'], ['birthdate'])
    const rules: Rule[] = [{ claim: 'member', is: true }, COUNTRY, ADULT]
    const verification = await answeredBy({ member: 'gold', nationalities: ['ZZ'], birthdate: '2019-01-01' }, query, rules)
    expect(verification.credentials?.[0]?.findings.map(({ detail }) => detail)).toEqual([
      'The rule on member is broken: the claim is no boolean, so it proves nothing.',
      'The rule on nationalities is broken: its value is not among the allowed ones.',
      'The rule on birthdate is broken: the holder is not shown to be 18 or over.',
    ])
    expect(JSON.stringify([verification.error, verification.credentials?.[0]?.findings])).not.toMatch(/gold|ZZ|2019/)
  })

  test('rules replace the default: an age without a rule may be denied, and one with a rule may have to be', async () => {
    const rules: Rule[] = [{ claim: 'age_over_21', is: false }]
    const query = asking(['age_equal_or_over', '18'], ['age_equal_or_over', '21'])
    expect((await answeredBy({ age_equal_or_over: { 18: false, 21: false } }, query, rules)).status).toBe('completed')
    expect((await answeredBy({ age_equal_or_over: { 18: true, 21: true } }, query, rules)).status).toBe('failed')
  })

  test('an empty list of rules completes a session whose age is denied', async () => {
    expect((await answeredBy({ age_equal_or_over: { 18: false } }, AGE_18, [])).claims).toEqual({ age_over_18: false })
  })

  test('rules come last: a credential that nobody trusts is reported as such, whatever it claims', async () => {
    const stranger = await forgeSigner()
    const holder = await holderOfPid(stranger, { age_equal_or_over: { 18: false } })
    const { verification } = await presentBy(party, holder, { body: { template: await template(AGE_18) } })
    expect(verdictOf(verification)).toMatchObject({ outcome: 'issuer_untrusted', failed: ['issuer_chain'] })
  })

  test('the rules of a session are those it was created with, whatever the template says later', async () => {
    const key = await template(AGE_18, [])
    const save = (rules?: Rule[]) =>
      saveTemplate(app.deps, { tenantId: tenant.id, key, title: 'Own', query: AGE_18, rules }, 'test')
    const holder = await holderOfPid(signer, { age_equal_or_over: { 18: false } })
    const outcomeOf = async (session: Session) => {
      await postTo(session, await formOf(session, holder))
      return verdictOf(await readOf(session)).outcome
    }
    const lenient = await openSession(party, { template: key })
    await save()
    const strict = await openSession(party, { template: key })
    await save([])
    expect([await outcomeOf(lenient), await outcomeOf(strict)]).toEqual(['completed', 'claim_not_satisfied'])
  })
})

test('a query in the request has no rules: the merchant gets what the document says', async () => {
  const { verification } = await verifyWith(app, tenant.key, 'minor', { body: { template: undefined, query: AGE_18 } })
  expect([verification.status, verification.claims]).toEqual(['completed', { age_over_18: false }])
})

test.each([
  ['2026-02-28T23:59:59.999Z', 'claim_not_satisfied'],
  ['2026-03-01T00:00:00.000Z', 'completed'],
])('a birth date of 29 February 2008 makes 18 years on 1 March, by the UTC clock of the server: %s', async (now, outcome) => {
  const { app: own, id, key } = await startWithTenant({ resolve: async () => [], now: Date.parse(now) })
  await trust(own, signer)
  const rules: Rule[] = [{ claim: 'birthdate', age_at_least: 18 }]
  await saveTemplate(own.deps, { tenantId: id, key: 'own', title: 'Own', query: asking(['birthdate']), rules }, 'test')
  const holder = await holderOfPid(signer, { birthdate: '2008-02-29' }, { payload: { iat: Date.parse('2026-02-20') / 1000 } })
  const { verification } = await presentBy({ app: own, key }, holder, { body: { template: 'own' } })
  expect(verdictOf(verification).outcome).toBe(outcome)
})

describe('the purpose of a template', () => {
  const save = async (purpose: string) => {
    const key = `own_${++saved}`
    await saveTemplate(app.deps, { tenantId: tenant.id, key, title: 'Own', query: asking(['member']), purpose }, 'test')
    return key
  }

  test('the purpose of a template stands in for one that a creation leaves out: in the answer, the request, the page and the audit chain', async () => {
    const session = await openSession(party, { template: await save('To let you in') })
    expect([session.created.purpose, (await readOf(session)).purpose]).toEqual(['To let you in', 'To let you in'])
    expect(session.request.query.credential_sets).toEqual([{ options: [['pid']], purpose: 'To let you in' }] as never)
    const page = await app.call<{ purpose: string }>('GET', `/v/${session.created.id}/data`)
    expect(page.body.purpose).toBe('To let you in')
    const { records } = await browseAudit(app.deps, { tenantId: tenant.id, limit: 1 })
    expect(records[0]).toMatchObject({ action: 'verification.created', details: { purpose: 'To let you in' } })
  })

  test('the purpose of a creation replaces that of the template', async () => {
    const { created, request } = await openSession(party, { template: await save('To let you in'), purpose: 'To sell you wine' })
    expect(created.purpose).toBe('To sell you wine')
    expect(request.query.credential_sets).toEqual([{ options: [['pid']], purpose: 'To sell you wine' }] as never)
  })
})
