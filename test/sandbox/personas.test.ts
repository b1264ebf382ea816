// The behaviour of each persona, judged by other verifiers.
import { describe, expect, test } from 'bun:test'
import { makeHolder } from '../../src/sandbox/issuer/issuer.ts'
import { PERSONAS, type PersonaId } from '../../src/sandbox/personas.ts'
import { verifyMdoc, verifySdJwt } from './foreign.ts'
import { holderOf, issuer, mdlQuery, newSession, presentTo, random, sdJwtQuery } from './world.ts'

const FORMATS = ['dc+sd-jwt', 'mso_mdoc'] as const

/** The error of the other verifier; undefined if it accepts. */
async function complaint(persona: PersonaId, format: (typeof FORMATS)[number]): Promise<string | undefined> {
  const isMdoc = format === 'mso_mdoc'
  const session = await newSession({ query: isMdoc ? mdlQuery('age_over_18') : sdJwtQuery(['age_equal_or_over', '18']) })
  const { token } = await presentTo(session, await holderOf(persona))
  try {
    if (isMdoc) await verifyMdoc(token.mdl![0]!, session)
    else {
      const { age_equal_or_over: ages } = await verifySdJwt(token.pid![0]!, session)
      // This verifier ignores an unreferenced disclosure.
      if (Object.keys(ages as object).length === 0) return 'no digest for the disclosure'
    }
  } catch (error) {
    return (error as Error).message
  }
}

test('every persona has a title and one sentence of explanation in two languages', () => {
  for (const [id, persona] of Object.entries(PERSONAS)) {
    expect(persona.id).toBe(id as PersonaId)
    for (const text of Object.values(persona.explanation)) expect(text).toMatch(/^[A-ZÄÖÜ][^.]*\.$/)
    expect(Object.keys(persona.title)).toEqual(['en', 'de'])
  }
})

describe.each(FORMATS)('%s', format => {
  test.each(['adult', 'minor'] as const)('the presentation of the persona %s verifies', async persona => {
    expect(await complaint(persona, format)).toBeUndefined()
  })

  const WRONG: [PersonaId, Record<(typeof FORMATS)[number], RegExp>][] = [
    ['expired', { 'dc+sd-jwt': /expired/i, mso_mdoc: /valid/i }],
    ['not_yet_valid', { 'dc+sd-jwt': /not yet valid|not active/i, mso_mdoc: /valid/i }],
    ['untrusted_issuer', { 'dc+sd-jwt': /no chain/, mso_mdoc: /chain|trusted/i }],
    ['tampered_claim', { 'dc+sd-jwt': /disclosure|digest/i, mso_mdoc: /digest/i }],
    ['wrong_device_key', { 'dc+sd-jwt': /key binding|signature/i, mso_mdoc: /signature/i }],
    ['replay', { 'dc+sd-jwt': /nonce/i, mso_mdoc: /signature/i }],
  ]
  test.each(WRONG)('the persona %s is refused for its own defect', async (persona, reasons) => {
    expect(await complaint(persona, format)).toMatch(reasons[format])
  })
})

test('the persona revoked has a wrong status only', async () => {
  expect(await complaint('revoked', 'dc+sd-jwt')).toMatch(/status/i)
  expect(await complaint('revoked', 'mso_mdoc')).toBeUndefined()
})

test('the adult is 18 or over and the minor is not, today and in ten years', async () => {
  for (const year of [2026, 2036]) {
    expect(await agesIn(year, 'adult')).toEqual({ 16: true, 18: true, 21: true, 65: false })
    expect(await agesIn(year, 'minor')).toEqual({ 16: false, 18: false, 21: false, 65: false })
  }
})

async function agesIn(year: number, persona: PersonaId): Promise<unknown> {
  const { credentials } = await makeHolder(issuer, persona, Date.UTC(year, 0, 1), random)
  return credentials.find(({ type }) => type === 'urn:eudi:pid:1')?.claims.age_equal_or_over
}
