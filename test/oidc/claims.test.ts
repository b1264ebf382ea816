// What a client is told of the person, by the names of OpenID Connect.
import { describe, expect, test } from 'bun:test'
import { claimsFor } from '../../src/oidc/claims.ts'

describe('claims', () => {
  test('keep their names, and a name is made of both', () => {
    const merged = {
      given_name: 'Erika',
      family_name: 'Mustermann',
      birthdate: '1964-08-12',
      age_over_18: true,
      nationalities: ['DE'],
    }
    expect(claimsFor(merged)).toEqual({ claims: { ...merged, name: 'Erika Mustermann' }, left_out: [] })
    expect(claimsFor({ given_name: 'Erika' }).claims).toEqual({ given_name: 'Erika' })
  })

  test('with a mailbox or a number say that it is not proven', () => {
    expect(
      claimsFor({ email: 'a@b.example', phone_number: '+49', email_verified: true, phone_number_verified: true }).claims,
    ).toEqual({
      email: 'a@b.example',
      phone_number: '+49',
      email_verified: false,
      phone_number_verified: false,
    })
  })

  test.each(
    'iss sub aud exp nbf iat jti azp nonce auth_time acr amr at_hash c_hash s_hash sid cnf status vct txn scope client_id _claim_names _claim_sources verified_claims name'.split(
      ' ',
    ),
  )('named %s by a credential are dropped', name => {
    expect(claimsFor({ [name]: 'forged', given_name: 'Erika' })).toEqual({ claims: { given_name: 'Erika' }, left_out: [] })
  })

  test('that are pictures, or too long, are left out and named', () => {
    const long = 'x'.repeat(2049)
    expect(claimsFor({ portrait: 'AAAA', picture: 'data:,', photo: 'data:image/png;base64,AA', long, short: 'x' })).toEqual({
      claims: { short: 'x' },
      left_out: ['portrait', 'picture', 'photo', 'long'],
    })
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`claim_${i}`, 'x'.repeat(2000)]))
    const { claims, left_out } = claimsFor(many)
    expect(Buffer.byteLength(JSON.stringify(claims))).toBeLessThanOrEqual(8192)
    expect(Object.keys(claims)).toHaveLength(4)
    expect(left_out).toHaveLength(6)
  })

  test('with names of the language itself are claims like any other', () => {
    const { claims } = claimsFor(JSON.parse('{"__proto__": "x", "constructor": "y"}'))
    expect(JSON.stringify(claims)).toBe('{"__proto__":"x","constructor":"y"}')
  })
})
