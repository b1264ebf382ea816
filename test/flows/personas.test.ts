// The sandbox's personas, in both formats, from creation to the merchant's answer.
import { beforeAll, describe, expect, test } from 'bun:test'
import { PERSONAS, type PersonaId } from '../../src/sandbox/personas.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { createVerification, startApp, type TestApp } from '../helpers/app.ts'
import { answerWith, type FormatChoice, holderOf, verifyWith } from '../helpers/wallet.ts'

let app: TestApp
let key: string
let liveKey: string

beforeAll(async () => {
  app = await startApp()
  ;({ key, liveKey } = await app.tenant())
})

const FORMATS: FormatChoice[] = ['dc+sd-jwt', 'mso_mdoc']

const OUTCOMES: Record<Exclude<PersonaId, 'replay'>, string> = {
  adult: 'completed',
  minor: 'claim_not_satisfied',
  expired: 'credential_expired',
  not_yet_valid: 'credential_not_yet_valid',
  revoked: 'credential_revoked',
  revoked_identifier: 'credential_revoked',
  untrusted_issuer: 'issuer_untrusted',
  tampered_claim: '',
  wrong_device_key: 'holder_binding_invalid',
  declines: 'wallet_declined',
}

test('every persona has a test here', () => {
  expect(Object.keys(PERSONAS).sort()).toEqual([...Object.keys(OUTCOMES), 'replay'].sort())
})

describe.each(FORMATS)('%s', format => {
  test('adult: completed, with the merged claim, the credential and the word sandbox on it', async () => {
    const { exchange, verification } = await verifyWith(app, key, 'adult', { format })
    expect([exchange.status, exchange.body]).toEqual([200, {}])
    expect(verification).toEqual({
      id: expect.any(String),
      status: 'completed',
      template: 'age_over_18',
      claims: { age_over_18: true },
      credentials: [
        {
          format,
          doctype_or_vct: format === 'mso_mdoc' ? 'eu.europa.ec.av.1' : 'urn:eudi:pid:1',
          claims: format === 'mso_mdoc' ? { 'eu.europa.ec.av.1': { age_over_18: true } } : { age_equal_or_over: { '18': true } },
          issuer: { common_name: expect.any(String), country: 'UT' },
          trusted: true,
          signature_valid: true,
          holder_binding_valid: true,
          findings: [{ check: 'environment', status: 'warning', detail: 'sandbox issuer' }],
        },
      ],
      created_at: expect.any(String),
      expires_at: expect.any(String),
      responded_at: expect.any(String),
    })
  })

  test.each(Object.entries(OUTCOMES).filter(([, code]) => code !== 'completed' && code !== ''))(
    '%s: %s',
    async (persona, code) => {
      const { exchange, verification } = await verifyWith(app, key, persona as PersonaId, { format })
      expect(exchange.status).toBe(200)
      expect([verification.status, verification.error?.code]).toEqual(['failed', code])
      expect(verification).not.toHaveProperty('claims')
      if (persona !== 'declines') expect(verification.credentials).toHaveLength(1)
    },
  )

  test('tampered_claim: signature_invalid in either format', async () => {
    const { verification } = await verifyWith(app, key, 'tampered_claim', { format })
    expect([verification.status, verification.error?.code]).toEqual(['failed', 'signature_invalid'])
  })

  test('replay: what was presented to one session is refused by the next', async () => {
    const holder = await holderOf(app, 'adult')
    const first = await createVerification(app, key)
    const exchange = await answerWith(app, holder, first.wallet_uri ?? '', { format })
    expect(exchange.status).toBe(200)
    const { vpToken, fetchRequest } = await import('../../src/sandbox/wallet/wallet.ts')
    const { fetchOf } = await import('../helpers/wallet.ts')
    const third = await createVerification(app, key)
    const request = await fetchRequest(third.wallet_uri ?? '', fetchOf(app), { now: app.clock.now() })
    const token = await vpToken(request, holder, { now: app.clock.now(), accept: credential => credential.format === format })
    const second = await createVerification(app, key)
    await answerWith(app, holder, second.wallet_uri ?? '', { mutations: { replay: token } })
    const { body } = await app.call<Verification>('GET', `/v1/verifications/${second.id}`, { key })
    expect([body.status, body.error?.code]).toEqual(['failed', 'holder_binding_invalid'])
  })

  test('the sandbox issuer means nothing to a live session, and the finding says that no issuer is trusted yet', async () => {
    const { verification } = await verifyWith(app, liveKey, 'adult', { format })
    expect([verification.status, verification.error?.code]).toEqual(['failed', 'issuer_untrusted'])
    const [finding] = verification.credentials?.[0]?.findings ?? []
    expect(finding).toMatchObject({ check: 'issuer_chain', status: 'fail' })
    expect(finding?.detail).toMatch(/no issuers? (is|are) trusted yet/i)
  })
})

describe('templates', () => {
  test('identity_basic gives one name set from either format', async () => {
    const claims = async (format: FormatChoice) =>
      (await verifyWith(app, key, 'adult', { format, body: { template: 'identity_basic' } })).verification.claims
    const [sdJwt, mdoc] = [await claims('dc+sd-jwt'), await claims('mso_mdoc')]
    expect(Object.keys(sdJwt ?? {}).sort()).toEqual(['birthdate', 'family_name', 'given_name'])
    expect(mdoc).toEqual(sdJwt)
  })

  test('address and nationality give the same claims from either format', async () => {
    for (const template of ['address', 'country']) {
      const claims = async (format: FormatChoice) =>
        (await verifyWith(app, key, 'adult', { format, body: { template } })).verification.claims
      expect(await claims('mso_mdoc')).toEqual(await claims('dc+sd-jwt'))
    }
  })

  test('merged claims and credential have only the claims that were asked for', async () => {
    const { verification } = await verifyWith(app, key, 'adult', { body: { template: 'country' } })
    expect(Object.keys(verification.claims ?? {})).toEqual(['nationalities'])
    expect(JSON.stringify(verification.credentials?.[0]?.claims)).not.toContain('family_name')
  })

  test.each(['driving_licence', 'may_drive', 'photo_id', 'pid_mandatory', 'age_over_18_photo', 'age_over_65_mdoc'])(
    '%s can be answered',
    async template => {
      const { verification } = await verifyWith(app, key, 'adult', { body: { template } })
      expect(verification.status).toBe(template === 'age_over_65_mdoc' ? 'failed' : 'completed')
    },
  )

  test('the EU age app profile: by value, unencrypted, decided on the server', async () => {
    const adult = await verifyWith(app, key, 'adult', { body: { template: 'eu_av_age_18' } })
    expect([adult.exchange.status, adult.verification.status, adult.verification.claims]).toEqual([
      200,
      'completed',
      { age_over_18: true },
    ])
    const minor = await verifyWith(app, key, 'minor', { body: { template: 'eu_av_age_18' } })
    expect([minor.verification.status, minor.verification.error?.code]).toEqual(['failed', 'claim_not_satisfied'])
  })

  test('a birth date that is asked for only to tell the age is dropped, whatever the outcome', async () => {
    for (const persona of ['adult', 'minor'] as const) {
      const { verification } = await verifyWith(app, key, persona, {
        body: { template: 'age_over_18_or_birthdate' },
        // Of the PID in mdoc form the template asks for the birth date only.
        accept: ({ type }) => type === 'eu.europa.ec.eudi.pid.1',
      })
      expect(verification.status).toBe(persona === 'adult' ? 'completed' : 'failed')
      const { claims, credentials } = verification
      expect(claims).toEqual(persona === 'adult' ? { age_over_18: true } : undefined)
      expect(credentials?.[0]?.claims).toEqual({ 'eu.europa.ec.eudi.pid.1': {} })
    }
  })
})
