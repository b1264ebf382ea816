import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MUTANTS } from '../scripts/mutant-list.ts'

const ROOT = join(import.meta.dir, '..')

test('every mutant still fits exactly one place of its file, changes it, and names tests that exist', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(40)
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
  const stale = MUTANTS.filter(({ file, from }) => readFileSync(join(ROOT, file), 'utf8').split(from).length !== 2)
  expect(stale.map(({ name, file }) => `${name}: ${file}`)).toEqual([])
  expect(MUTANTS.filter(({ from, to }) => from === to)).toEqual([])
  expect(MUTANTS.flatMap(({ tests }) => tests).filter(file => !existsSync(join(ROOT, file)))).toEqual([])
})
