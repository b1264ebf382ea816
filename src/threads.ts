import { dirname } from 'node:path'

/** Where the binary keeps what it was built from. */
const IN_BINARY = /^(\/\$bunfs|B:[\\/]~BUN)[\\/]/

/**
 * A thread of this program, by its path below src/. The binary has it under the same path, if it is an entry point (scripts/build/compile.ts); it must not
 * be asked for by `import.meta.url`, which there is still the path on the machine that built it.
 */
export function hireThread(path: string): Worker {
  const place = IN_BINARY.test(Bun.main) ? `${dirname(Bun.main)}/${path}.js` : new URL(`./${path}.ts`, import.meta.url).href
  return new Worker(place, { smol: true })
}
