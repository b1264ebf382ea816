import { expect, test } from 'bun:test'
import { whyNotOnPostgres } from './postgres.ts'

test.each([
  ['api/usage.test.ts', undefined],
  ['nodes/races.test.ts', undefined],
  ['db/stores.test.ts', undefined],
  ['json.test.ts', 'no database'],
  ['wallet/list-updates.test.ts', undefined],
  ['wallet/interop.test.ts', 'verdicts on documents, which no row decides'],
  ['openid4vp/cbor.test.ts', 'the protocol and its parsers'],
  ['db/data-dir.test.ts', "SQLite's file: locks, backup, restore, space, upgrades, damage"],
  ['pages/till.test.ts', 'pages and recipes, which see only the API'],
])('test:postgres runs what touches the database, and no other: %s', (file, why) => {
  expect(whyNotOnPostgres(file)).toBe(why)
})
