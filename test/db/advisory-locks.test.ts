import { expect, test } from 'bun:test'
import { resolve } from 'node:path'

const SRC = resolve(import.meta.dir, '../../src')

test('every advisory lock of PostgreSQL has a number of its own', async () => {
  const files = await Array.fromAsync(new Bun.Glob('**/*.ts').scan(SRC))
  const texts = await Promise.all(files.map(file => Bun.file(`${SRC}/${file}`).text()))
  const numbers = texts.flatMap(text => [...text.matchAll(/_LOCK = ([\d_]+)$/gm)].map(([, number]) => number))
  expect(numbers.length).toBeGreaterThan(2)
  expect(new Set(numbers).size).toBe(numbers.length)
})
