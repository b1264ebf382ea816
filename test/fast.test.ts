import { expect, test } from 'bun:test'
import { whyLeftOut } from './fast.ts'

test.each([
  ['api/usage.test.ts', undefined],
  ['config.test.ts', undefined],
  ['pages/till-verdict.test.ts', 'pages in a browser'],
  ['cli/commands.test.ts', 'processes, upgrades and kills'],
  ['upkeep/upgrade.test.ts', 'processes, upgrades and kills'],
  ['recipes/shopify.test.ts', 'recipes'],
  ['fuzz/parsers.test.ts', 'made-up traffic and long races'],
])('test:fast leaves out what is slow by its kind: %s', (file, why) => {
  expect(whyLeftOut(file)).toBe(why)
})
