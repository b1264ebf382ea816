import { expect, test } from 'bun:test'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryDir } from './app.ts'
import { hashOfSources, MADE_OF } from './program.ts'

test('another program is built after any change of what it is made of, and none without a change', () => {
  const root = temporaryDir()
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  for (const name of MADE_OF) write(/\.\w+$/.test(name) ? name : `${name}/deep/file.ts`, name)
  const seen = [hashOfSources(root)]
  const changes = [
    () => write('src/deep/file.ts', 'changed'),
    () => write('src/new.ts', ''),
    () => renameSync(join(root, 'src/new.ts'), join(root, 'src/renamed.ts')),
    () => write('drizzle/0001.sql', 'CREATE'),
    () => write('package.json', '{}'),
    () => write('bun.lock', '{}'),
  ]
  for (const change of changes) {
    change()
    expect(seen).not.toContain(hashOfSources(root))
    seen.push(hashOfSources(root))
  }
  expect(hashOfSources(root)).toBe(seen.at(-1) ?? '')
})
