import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { START } from '../helpers/merchant.ts'

test.each(['shopify.md', 'keycloak.md'])(
  '%s says how its server is started with its environment, as the tests start it',
  page => {
    expect(readFileSync(resolve(import.meta.dir, '../../src/handbook/recipes', page), 'utf8')).toContain(`\`${START}\``)
  },
)
