import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { applyTo, describeMisfit, findPlaces } from './fit.ts'
import { MUTANTS } from './list.ts'

const ROOT = join(import.meta.dir, '../..')

test('every mutant fits exactly one place of its room', () => {
  const misfits = MUTANTS.map(mutant => ({ mutant, places: findPlaces(ROOT, mutant) })).filter(
    ({ places }) => places.length !== 1,
  )
  expect(misfits.map(({ mutant, places }) => describeMisfit(ROOT, mutant, places))).toEqual([])
})

test('every mutant changes its file, leaves it well-formed, and names tests that exist', () => {
  const changed = MUTANTS.map(mutant => ({ name: mutant.name, ...applyTo(ROOT, mutant) }))
  expect(changed.filter(({ file, text }) => text === readFileSync(join(ROOT, file), 'utf8'))).toEqual([])
  // A file that cannot be loaded fails every test, and shows nothing about them.
  expect(changed.filter(({ file, text }) => !parses(file, text)).map(({ name }) => name)).toEqual([])
  expect(MUTANTS.flatMap(({ tests }) => tests).filter(file => !existsSync(join(ROOT, file)))).toEqual([])
  expect(MUTANTS.filter(({ tests }) => tests.length === 0)).toEqual([])
})

function parses(file: string, text: string): boolean {
  try {
    new Bun.Transpiler({ loader: file.endsWith('.tsx') ? 'tsx' : 'ts' }).transformSync(text)
    return true
  } catch {
    return false
  }
}

test('mutants have different names, and every list is used', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
  const lists = readdirSync(import.meta.dir).filter(name => !/^(fit|list|run|list\.test)\.ts$/.test(name))
  expect(lists.sort()).toEqual([...new Set(MUTANTS.map(({ room }) => `${room}.ts`))].sort())
})

describe('a mutant', () => {
  const mutant = { name: 'late', room: 'clock', within: 'isOver', from: 'until(at, 10) <= now', to: 'false', tests: [] }
  const inFiles = (files: Record<string, string>) => {
    const root = temporaryDir()
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), text)
    }
    return root
  }
  const once = 'const now = 1\n\nexport function isOver(at: number) {\n  return until(at, 10) <= now\n}\n'

  test('replaces its pattern in its declaration only', () => {
    const root = inFiles({ 'src/clock/a.ts': `${once}\nconst isNew = (at: number) => until(at, 10) <= now\n` })
    expect(applyTo(root, mutant).text).toContain('return false\n}\n\nconst isNew = (at: number) => until(at, 10) <= now')
  })

  test('still fits when the file moves inside its room or the line is wrapped', () => {
    const wrapped = 'function isOver(\n  at: number,\n) {\n  return until(\n    at,\n    10,\n  ) <=\n    now\n}\n'
    const root = inFiles({ 'src/clock/deep/b.ts': wrapped })
    expect(applyTo(root, mutant)).toEqual({
      file: 'src/clock/deep/b.ts',
      text: 'function isOver(\n  at: number,\n) {\n  return false\n}\n',
    })
  })

  test('does not fit twice, and names the room it was moved to', () => {
    const twice = inFiles({ 'src/clock/a.ts': once, 'src/clock/b.ts': once })
    expect(() => applyTo(twice, mutant)).toThrow('fits 2 places of "isOver" in src/clock: src/clock/a.ts, src/clock/b.ts')
    const moved = inFiles({ 'src/time/a.ts': once })
    expect(() => applyTo(moved, mutant)).toThrow("it fits src/time/a.ts: move it to that room's list")
  })
})
