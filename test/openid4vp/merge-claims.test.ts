import { describe, expect, test } from 'bun:test'
import { mergeClaims, mergedName } from '../../src/openid4vp/merge-claims.ts'

const NAMESPACE = 'org.iso.18013.5.1'

/** Found by the fuzz of the routes: each of them was looked up among what every object has. */
const INHERITED = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__', '__defineGetter__']

describe.each(INHERITED)('an mdoc element called %s', element => {
  test('keeps its name in what a query asks for', () => {
    expect(mergedName('mso_mdoc', [NAMESPACE, element])).toBe(element)
  })

  test('is merged like any other', () => {
    const elements = Object.fromEntries([[element, 'x']])
    const merged = mergeClaims([{ format: 'mso_mdoc', claims: { [NAMESPACE]: elements } }])
    expect(Object.entries(merged)).toEqual([[element, 'x']])
  })
})

test('an element that has another name among the merged ones gets it', () => {
  expect(mergedName('mso_mdoc', [NAMESPACE, 'resident_city'])).toBe('address.locality')
  const claims = { [NAMESPACE]: { birth_date: '2000-01-01', resident_city: 'Bonn' } }
  expect(mergeClaims([{ format: 'mso_mdoc', claims }])).toEqual({ birthdate: '2000-01-01', address: { locality: 'Bonn' } })
})
