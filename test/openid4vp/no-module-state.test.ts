// State between calls belongs to an object that the caller makes (createVerifier, createSandbox).
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const SRC = join(import.meta.dir, '../../src')

/** A variable, or an empty collection that can only be meant to be filled. */
const STATE = [
  /^(?:export )?(?:let|var) .*/gm,
  /^(?:export )?const .*= new (?:Map|Set|WeakMap|WeakSet|Lru|Array)\b(?:<.*>)?\((?!\[|Object|\.).*/gm,
  /^(?:export )?const (?!.*readonly).*= (?:\[\]|\{\}|Buffer\.alloc\w*\(.*|new Uint8Array\([^)].*)$/gm,
]

test.each(['openid4vp', 'sandbox'])('no module of src/%s keeps anything between calls', async room => {
  const files = await Array.fromAsync(new Bun.Glob(`${room}/**/*.ts`).scan(SRC))
  expect(files.length).toBeGreaterThan(20)
  for (const file of files) {
    const text = await Bun.file(join(SRC, file)).text()
    expect(STATE.flatMap(kind => text.match(kind) ?? []).map(line => `${file}: ${line}`)).toEqual([])
  }
})
