import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { SmallMap } from '../../src/openid4vp/small-map.ts'

test('SmallMap behaves like Map for any number of entries', () => {
  const key = fc.oneof(fc.integer({ min: -3, max: 30 }), fc.integer({ min: -3, max: 30 }).map(String))
  fc.assert(
    fc.property(fc.uniqueArray(key, { maxLength: 20 }), fc.array(key), (keys, asked) => {
      const map = new SmallMap<string | number, object>()
      const model = new Map<string | number, object>()
      for (const each of keys) {
        const value = { each }
        expect(map.has(each)).toBe(false)
        map.add(each, value)
        model.set(each, value)
        expect(map.get(each)).toBe(value)
      }
      expect(map.size).toBe(model.size)
      expect(map.keys()).toEqual([...model.keys()])
      expect(map.entries()).toEqual([...model])
      expect([...map]).toEqual([...model])
      for (const each of [...keys, ...asked]) {
        expect(map.get(each)).toBe(model.get(each) as object)
        expect(map.has(each)).toBe(model.has(each))
      }
    }),
  )
})

test('SmallMap with a hundred thousand entries is searched without delay', () => {
  const map = new SmallMap<number, number>()
  let found = 0
  for (let key = 0; key < 100_000; key++) if (!map.has(key)) map.add(key, key)
  for (let key = 0; key < 100_000; key++) if (map.get(key) === key) found++
  expect(found).toBe(100_000)
})
