import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { findDcqlProblem } from '../../src/openid4vp/dcql/dcql.ts'
import { askedBy, hintsFor } from '../../src/templates/minimise.ts'
import { dcqlQuery } from './dcql.ts'
import { spoiltText } from './values.ts'

test('2,000 queries that wallets can be asked with are taken, and put into words', () => {
  fc.assert(
    fc.property(dcqlQuery, query => {
      expect(findDcqlProblem(query)).toBeUndefined()
      expect(askedBy(query as never).length).toBeGreaterThan(0)
      hintsFor(query as never)
    }),
    { numRuns: 2000 },
  )
})

test('3,000 with one fault are answered without a throw, by a short problem or none, and many of the faults are found', () => {
  let found = 0
  fc.assert(
    fc.property(spoiltText({}, {}, dcqlQuery), text => {
      const query = readJson(text)
      const problem = findDcqlProblem(query)
      if (problem) {
        found++
        expect(problem.path.length + problem.reason.length).toBeLessThan(400)
      } else if (query !== undefined) askedBy(query as never)
    }),
    { numRuns: 3000 },
  )
  expect(found).toBeGreaterThan(1000)
})

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
