import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const RECIPES = resolve(import.meta.dir, '../../src/handbook/pages/recipes')

test('a recipe that works with live keys says how their sessions come to trust an issuer, and what happens without', () => {
  const pages = readdirSync(RECIPES).map(name => ({ name, text: readFileSync(join(RECIPES, name), 'utf8') }))
  const live = pages.filter(({ text }) => /vk_live_|--env live --scopes/.test(text))
  expect(live.map(({ name }) => name).toSorted()).toEqual(['lan-venue.md', 'shopify.md', 'woocommerce.md'])
  for (const { name, text } of live) {
    expect([name, text.includes('`vidimus trust add FILE.pem --env live`')]).toEqual([name, true])
    expect([name, text.includes('`issuer_untrusted`')]).toEqual([name, true])
  }
})
