import { expect, test } from 'bun:test'
import { AUDIT_ACTIONS } from '../../src/audit/chain.ts'
import * as de from '../../src/web/shared/strings/de.ts'
import * as en from '../../src/web/shared/strings/en.ts'

test.each([
  ['English', en.dashboard.audit.actions],
  ['German', de.dashboard.audit.actions],
])('everything that leaves a record has words in %s, and nothing else has', (_, words: Record<string, string>) => {
  expect(Object.keys(words).sort()).toEqual([...AUDIT_ACTIONS].sort())
  expect(Object.entries(words).filter(([action, text]) => text === '' || text === action)).toEqual([])
})
