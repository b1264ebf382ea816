import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Fault = { number: string; tests: { file: string; title: string }[]; script: string }

const FAULTS: Fault[] = readFileSync(join(import.meta.dir, 'FAULTS.md'), 'utf8')
  .split('\n')
  .filter(line => /^\| [DFPN]\d/.test(line))
  .map(line => {
    const [, number = '', , tests = '', script = ''] = line.split('|').map(cell => cell.trim())
    return { number, script, tests: tests.split('<br>').flatMap(each => testOf(each) ?? []) }
  })

function testOf(text: string): { file: string; title: string } | undefined {
  const [, file, title] = /^`(.+?)`: (.+)$/.exec(text) ?? []
  return file !== undefined && title !== undefined ? { file, title } : undefined
}

test('every test that FAULTS.md names is there, under its title', () => {
  const named = FAULTS.flatMap(({ tests }) => tests)
  const missing = named.filter(({ file, title }) => {
    const path = join(import.meta.dir, file)
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(title)
  })
  expect(missing).toEqual([])
  expect(named.length).toBeGreaterThan(70)
})

test('every fault is named once and has a test or a script, and every script is there', () => {
  expect(FAULTS.length).toBe(88)
  expect(new Set(FAULTS.map(({ number }) => number)).size).toBe(FAULTS.length)
  expect(FAULTS.filter(({ tests, script }) => tests.length === 0 && script === '')).toEqual([])
  const scripts = FAULTS.flatMap(({ script }) => (script === '' ? [] : [script]))
  expect(scripts.filter(script => !existsSync(join(import.meta.dir, `${script}.ts`)))).toEqual([])
})
