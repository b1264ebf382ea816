import { dirname } from 'node:path'

/** The paths of embedded files in the built program. */
const IN_BINARY = /^(\/\$bunfs|B:[\\/]~BUN)[\\/]/

/** True in the binary, where sources have no files. */
export const isCompiled = (): boolean => IN_BINARY.test(Bun.main)

/**
 * A thread of this program, by its path below src/. The built program has it under the same path if it is an entry point
 * (scripts/build/compile.ts). `import.meta.url` does not work there: it is the path on the machine that built it.
 */
export function startThread(path: string): Worker {
  const place = isCompiled() ? `${dirname(Bun.main)}/${path}.js` : new URL(`../${path}.ts`, import.meta.url).href
  return new Worker(place, { smol: true })
}

/**
 * Turns on the usual early compilation of code that runs often. The built program begins without
 * it (scripts/build/compile.ts).
 */
export const compileHotCode = (): void => Bun.unsafe.setJITPolicy(1)
