import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ENTRY_POINTS } from '../scripts/build/compile.ts'

const ROOT = resolve(import.meta.dir, '..')

test('every thread is an entry point of the binary, and is started by startThread', async () => {
  const files = await Array.fromAsync(new Bun.Glob('src/**/*.ts').scan(ROOT))
  const texts = await Promise.all(files.map(async file => ({ file, text: await Bun.file(join(ROOT, file)).text() })))
  const hired = texts.flatMap(({ text }) => [...text.matchAll(/startThread\('([^']+)'\)/g)].map(([, path]) => `src/${path}.ts`))
  expect(hired.length).toBeGreaterThan(1)
  expect(ENTRY_POINTS.toSorted()).toEqual(['src/main.ts', ...hired].sort())
  for (const entryPoint of ENTRY_POINTS) expect([entryPoint, existsSync(join(ROOT, entryPoint))]).toEqual([entryPoint, true])
  const others = texts.filter(({ file, text }) => file !== 'src/base/threads.ts' && /new Worker\(/.test(text))
  expect(others.map(({ file }) => file)).toEqual([])
})
