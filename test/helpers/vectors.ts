// Public test vectors lie beside the repository, where they exist; they are never part of it.
import { test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const FOLDER = resolve(import.meta.dir, '../../../shared/vectors')

export type Vector<Input> = {
  id: string
  kind: string
  title: string
  input: Input
  context?: Record<string, string>
  trust?: { anchors_der_b64: string[] }
  expect: { outcome: 'value' | 'accept' | 'accept-legacy' | 'reject' | 'policy' | 'error'; reason?: string } & Record<
    string,
    unknown
  >
}

/** The vectors of a file; none, and a skipped test that says so, where the folder is missing. */
export function vectors<Input>(file: string): Vector<Input>[] {
  const path = resolve(FOLDER, file)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')).vectors
  test.skip(`SKIPPED: ../shared/vectors/${file} is not there, so its vectors were not run`, () => {})
  return []
}

/** A file that is one vector; undefined, and a skipped test that says so, where it is missing. */
export function vectorFile<Content>(file: string): Content | undefined {
  const path = resolve(FOLDER, file)
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  test.skip(`SKIPPED: ../shared/vectors/${file} is not there, so it was not run`, () => {})
  return undefined
}

/** The tests of a real file; one skipped test that says so where it is missing. */
export function withVector(file: string, define: (bytes: Uint8Array) => void): void {
  const path = resolve(FOLDER, file)
  if (existsSync(path)) define(new Uint8Array(readFileSync(path)))
  else test.skip(`SKIPPED: ../shared/vectors/${file} is not there, so its tests were not run`, () => {})
}
