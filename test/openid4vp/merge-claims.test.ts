import { describe, expect, test } from 'bun:test'
import { decideAge, mergeClaims, mergedName } from '../../src/openid4vp/merge-claims.ts'

const NAMESPACE = 'org.iso.18013.5.1'

/** Found by fuzzing the routes: names that every object inherits. */
const INHERITED = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', '__defineGetter__']

describe.each(INHERITED)('an mdoc element called %s', element => {
  test('a query finds the element under its own name', () => {
    expect(mergedName('mso_mdoc', [NAMESPACE, element])).toBe(element)
  })

  test('the element is merged like any other', () => {
    const elements = Object.fromEntries([[element, 'x']])
    const merged = mergeClaims([{ format: 'mso_mdoc', claims: { [NAMESPACE]: elements } }])
    expect(Object.entries(merged)).toEqual([[element, 'x']])
  })
})

test('elements are merged under the names of the SD-JWT PID', () => {
  expect(mergedName('mso_mdoc', [NAMESPACE, 'resident_city'])).toBe('address.locality')
  const claims = { [NAMESPACE]: { birth_date: '2000-01-01', resident_city: 'Bonn' } }
  expect(mergeClaims([{ format: 'mso_mdoc', claims }])).toEqual({ birthdate: '2000-01-01', address: { locality: 'Bonn' } })
})

test('merging does not change the claims of a credential', () => {
  const claims = { [NAMESPACE]: { address: { formatted: 'Bonn, Germany' }, resident_city: 'Bonn' } }
  const merged = mergeClaims([{ format: 'mso_mdoc', claims }])
  expect(merged).toEqual({ address: { formatted: 'Bonn, Germany', locality: 'Bonn' } })
  expect(claims[NAMESPACE]).toEqual({ address: { formatted: 'Bonn, Germany' }, resident_city: 'Bonn' })
})

describe('the age from a birth date', () => {
  const NOW = Date.parse('2026-11-15T12:00:00Z')

  test.each([
    ['2008-11-15', true],
    ['2008-11-16', false],
    ['2008-11-15T00:00:00Z', true],
    ['1926-02-28', true],
  ])('a birth date proves an age from the birthday on: %s', (birthdate, over) => {
    expect(decideAge({ birthdate }, 18, NOW)).toBe(over)
  })

  test.each(['0000-05-05', '2008-00-00', '2000-05-00', '2000-13-01', '2001-02-29', '1990-08-12x', '1990-08', '1990', ''])(
    'an incomplete or impossible birth date proves no age: %p',
    birthdate => {
      expect(decideAge({ birthdate }, 18, NOW)).toBeUndefined()
    },
  )

  test('a birth date of a photo ID with unknown digits proves no age', () => {
    const photoId = (birth_date: object) => mergeClaims([{ format: 'mso_mdoc', claims: { [NAMESPACE]: { birth_date } } }])
    expect(photoId({ birth_date: '1990-08-12' })).toEqual({ birthdate: '1990-08-12' })
    expect(photoId({ birth_date: '1990-08-12', approximate_mask: '00000000' })).toEqual({ birthdate: '1990-08-12' })
    const masked = { birth_date: '1990-01-01', approximate_mask: '00001111' }
    expect(photoId(masked)).toEqual({ birthdate: masked })
    expect(decideAge(photoId(masked), 18, NOW)).toBeUndefined()
  })
})
