import { expect, test } from 'bun:test'
import { AUDIT_ACTIONS } from '../../src/audit/chain.ts'
import * as de from '../../src/web/dashboard/settings/audit/de.ts'
import * as en from '../../src/web/dashboard/settings/audit/en.ts'

test.each([
  ['English', en.audit.actions],
  ['German', de.audit.actions],
])('everything that leaves a record has words in %s, and nothing else has', (_, words: Record<string, string>) => {
  expect(Object.keys(words).sort()).toEqual([...AUDIT_ACTIONS].sort())
  expect(Object.entries(words).filter(([action, text]) => text === '' || text === action)).toEqual([])
})
