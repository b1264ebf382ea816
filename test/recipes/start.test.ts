import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { START } from '../helpers/merchant.ts'

const pageOf = (name: string) => readFileSync(resolve(import.meta.dir, '../../src/handbook/pages/recipes', `${name}.md`), 'utf8')

test('digital-credentials.md says how its server is started with its environment, as the tests start it', () => {
  expect(pageOf('digital-credentials')).toContain(`\`${START}\``)
})

test('shopify.md and the README of the project name every setting or the file that has them', () => {
  const project = resolve(import.meta.dir, '../../src/sdk/shopify')
  const page = pageOf('shopify')
  const settings = readFileSync(resolve(project, '.env.example'), 'utf8').matchAll(/^(\w+)=/gm)
  for (const [, setting] of settings) expect(page).toContain(`\`${setting}\``)
  for (const text of [page, readFileSync(resolve(project, 'README.md'), 'utf8')]) {
    expect(text).toContain('npm start')
    expect(text).toContain('.env.example')
    expect(text).toContain('./scripts/bun run build:shops')
  }
})
