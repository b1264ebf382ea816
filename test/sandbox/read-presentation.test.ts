import { expect, test } from 'bun:test'
import { type Mutations, readPresentation } from '../../src/sandbox/wallet/wallet.ts'
import { holderOf, mdlQuery, newSession, presentTo, sdJwtQuery } from './world.ts'

const sdJwt = async (persona: 'adult' | 'minor' = 'adult', mutations?: Mutations) => {
  const session = await newSession({
    query: sdJwtQuery(['age_equal_or_over', '18'], ['nationalities', null], ['address', 'locality'], ['family_name']),
  })
  const { token } = await presentTo(session, await holderOf(persona), mutations && { mutations })
  return await readPresentation('dc+sd-jwt', token.pid![0]!)
}

const mdoc = async (mutations?: Mutations) => {
  const session = await newSession({ query: mdlQuery('age_over_18', 'birth_date', 'driving_privileges', 'portrait') })
  const { token } = await presentTo(session, await holderOf('adult'), mutations && { mutations })
  return await readPresentation('mso_mdoc', token.mdl![0]!)
}

test('an SD-JWT is shown with its disclosed claims and the data that the holder signed', async () => {
  const { claims, altered, proof } = await sdJwt()
  expect(claims).toEqual({
    family_name: 'Mustermann',
    age_equal_or_over: { 18: true },
    nationalities: ['DE', 'AT'],
    address: { locality: 'Köln' },
  })
  expect(altered).toEqual({})
  expect(proof).toMatchObject({
    nonce: expect.any(String),
    aud: expect.stringMatching(/^x509_hash:/),
    sd_hash: expect.any(String),
  })
})

test('an unsigned disclosure is shown as altered', async () => {
  const { claims, altered } = await sdJwt('minor', { tamperClaim: true })
  expect(altered).toEqual({ 18: true })
  expect(claims).toMatchObject({ family_name: 'Mustermann' })
  expect(claims).not.toHaveProperty('age_equal_or_over')
})

test('an SD-JWT without key binding is shown without a proof', async () => {
  expect((await sdJwt('adult', { dropKb: true })).proof).toBeUndefined()
})

test('an mdoc is shown with its elements by namespace, and pictures by their size', async () => {
  const { claims, altered } = await mdoc()
  expect(claims).toEqual({
    'org.iso.18013.5.1': {
      age_over_18: true,
      birth_date: '1990-08-12',
      driving_privileges: expect.arrayContaining([expect.objectContaining({ vehicle_category_code: 'B' })]),
      portrait: expect.stringMatching(/^\(\d+ bytes\)$/),
    },
  })
  expect(altered).toEqual({})
})

test('an unsigned element is shown as altered', async () => {
  const { claims, altered } = await mdoc({ tamperClaim: true })
  expect(altered).toEqual({ 'org.iso.18013.5.1': { age_over_18: false } })
  expect(Object.keys(claims['org.iso.18013.5.1'] as object)).toEqual(['birth_date', 'portrait', 'driving_privileges'])
})
